//! `fulcrum/events/open`: reads a log on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::RequestId;

use crate::events::OpenTrace;
use crate::pool::{guarded, thread};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsOpen, EventsOpenParams, EventsOpened, Method};
use crate::requests::Deferred;
use crate::state::{Pending, State, Task};

pub(crate) enum Open {}

impl Deferred for Open {
    type Method = EventsOpen;

    fn start(state: &mut State, pending: Pending, params: EventsOpenParams) -> Result<(), Failure> {
        let (run, filter) = (PathBuf::from(params.run), params.filter.map(PathBuf::from));
        let work = state.begin(pending, params.work_done_token);
        work.begin("Opening event trace");
        thread(move || {
            let opened = guarded(EventsOpen::NAME, || {
                OpenTrace::open(&run, filter.as_deref(), &work.progress)
            });
            work.end();
            let opened = opened.map(|(open, opened)| (Arc::new(open), Box::new(opened)));
            work.send(|id| Task::EventsOpened { id, opened });
        })
    }
}

/// The loop: a trace is open.
pub(crate) fn opened(
    state: &mut State,
    id: RequestId,
    opened: Result<(Arc<OpenTrace>, Box<EventsOpened>), Failure>,
) {
    let wanted = !state.requests.incoming.is_completed(&id);
    let opened = opened.map(|(trace, mut opened)| {
        if wanted {
            opened.id = state.add_trace(trace);
        }
        opened
    });
    state.answer(id, opened);
}

//! `fulcrum/events/open`: reads a log on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;

use fulcrum_model::Progress;
use lsp_server::RequestId;

use crate::events::OpenTrace;
use crate::failure::Failure;
use crate::pool::{guarded, thread};
use crate::protocol::{EventsOpen, EventsOpenParams, EventsOpened, Method};
use crate::state::{State, Task};

/// Reads the log on a thread of its own.
pub(crate) fn open(
    state: &mut State,
    id: RequestId,
    params: EventsOpenParams,
    request: &Progress,
) -> Result<(), Failure> {
    let (run, filter) = (PathBuf::from(params.run), params.filter.map(PathBuf::from));
    let work = state.begin(&id, params.work_done_token, request);
    work.begin("Opening event trace");
    thread(move || {
        let opened = guarded(EventsOpen::NAME, || {
            OpenTrace::open(&run, filter.as_deref(), &work.progress)
        });
        work.end();
        let opened = opened.map(|(open, opened)| (Arc::new(open), Box::new(opened)));
        // The loop is gone only when the server is.
        let _ = work.tasks.send(Task::EventsOpened { id, opened });
    })
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

//! `fulcrum/events/compare`: compares two traces on a thread of its own.

use std::sync::Arc;

use fulcrum_model::Progress;
use lsp_server::RequestId;

use super::page::MOST_TABLE;
use crate::events::closed;
use crate::failure::{Failure, response};
use crate::pool::{guarded, thread};
use crate::protocol::{EventsCompare, EventsCompareParams, Method};
use crate::state::{State, Task};

/// Compares on a thread of its own.
pub(crate) fn compare(
    state: &mut State,
    id: RequestId,
    params: EventsCompareParams,
    request: &Progress,
) -> Result<(), Failure> {
    let of = |id: u32| {
        state
            .traces
            .get(&id)
            .map(Arc::clone)
            .ok_or_else(|| closed(id))
    };
    let (a, b) = (of(params.a)?, of(params.b)?);
    let request = request.within(&a.open).within(&b.open);
    let work = state.begin(&id, params.work_done_token.clone(), &request);
    work.begin("Comparing event traces");
    thread(move || {
        let compared = guarded(EventsCompare::NAME, || {
            let progress = work.progress.with_phase("reading events");
            let found = a.compared(params.b, &b, &progress)?;
            let from = usize::try_from(params.from).unwrap_or(usize::MAX);
            let count = params.count.min(MOST_TABLE) as usize;
            Ok(fulcrum_answers::events::comparison(&found, from, count))
        });
        work.end();
        let _ = work.tasks.send(Task::Respond(response(id, compared)));
    })
}

//! `fulcrum/events/compare`: compares two traces on a thread of its own.

use std::sync::Arc;

use super::page::MOST_TABLE;
use crate::events::closed;
use crate::protocol::failure::Failure;
use crate::protocol::{EventsCompare, EventsCompareParams, TraceId};
use crate::requests::{Deferred, background};
use crate::state::{Pending, State};

pub(crate) enum Compare {}

impl Deferred for Compare {
    type Method = EventsCompare;

    fn start(
        state: &mut State,
        pending: Pending,
        params: EventsCompareParams,
    ) -> Result<(), Failure> {
        let trace = |id: TraceId| {
            let open = state.traces.get(&id).map(Arc::clone);
            open.ok_or_else(|| closed(id))
        };
        let (a, b) = (trace(params.a)?, trace(params.b)?);
        let pending = pending.within(&a.open).within(&b.open);
        let token = params.work_done_token.clone();
        let title = "Comparing event traces";
        background::answer::<EventsCompare>(state, pending, token, title, move |work| {
            let progress = work.progress.with_phase("reading events");
            let compared = a.compared(params.b, &b, &progress)?;
            let from = usize::try_from(params.from).unwrap_or(usize::MAX);
            let count = params.count.min(MOST_TABLE) as usize;
            Ok(fulcrum_answers::events::comparison(&compared, from, count))
        })
    }
}

//! `fulcrum/events/queues`: replays a queue.

use fulcrum_model::Progress;

use super::page::page;
use crate::events::{OpenTrace, convert};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsGetQueues, EventsQueues, EventsQueuesParams, TraceId};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

pub(crate) enum Queues {}

impl TraceReading for Queues {
    type Method = EventsGetQueues;

    fn trace(params: &EventsQueuesParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsQueuesParams,
        progress: &Progress,
    ) -> Result<EventsQueues, Failure> {
        queues(open, &params, progress)
    }
}

fn queues(
    open: &OpenTrace,
    params: &EventsQueuesParams,
    progress: &Progress,
) -> Result<EventsQueues, Failure> {
    let order = params.order.map(convert::order);
    let queue = open.queue([&params.put, &params.take], order, progress)?;
    let requests = page(&queue.requests, params.from, params.count);
    let notes = queue.notes.clone();
    Ok(fulcrum_answers::events::queues(&queue, requests, notes))
}

//! `fulcrum/events/children`: what is within a node, in the order of time or by a cost.

use fulcrum_events::Cost;
use fulcrum_model::Progress;

use super::page::page;
use crate::events::{OpenTrace, TreeNode, convert};
use crate::protocol::failure::Failure;
use crate::protocol::{EventsChildrenParams, EventsGetChildren, EventsOrder, EventsRows, TraceId};
use crate::requests::TraceReading;
use crate::snapshot::Snapshot;

/// Rows in one answer.
const MOST_ROWS: u32 = 1_000;

pub(crate) enum Children {}

impl TraceReading for Children {
    type Method = EventsGetChildren;

    fn trace(params: &EventsChildrenParams) -> TraceId {
        params.id
    }

    fn run(
        open: &OpenTrace,
        _: &Snapshot,
        params: EventsChildrenParams,
        progress: &Progress,
    ) -> Result<EventsRows, Failure> {
        children(open, &params, progress)
    }
}

fn children(
    open: &OpenTrace,
    params: &EventsChildrenParams,
    progress: &Progress,
) -> Result<EventsRows, Failure> {
    let at = TreeNode::new(params.thread, params.node);
    let (thread, node) = at.raw();
    let count = params.count.min(MOST_ROWS) as usize;
    let total = open.indexed.count(thread, node, progress)?;
    let total = total.ok_or_else(|| at.absent())?;
    let cost = match params.order.unwrap_or_default() {
        EventsOrder::Time => None,
        EventsOrder::Wall => Some(Cost::Wall),
        EventsOrder::Cpu => Some(Cost::Cpu),
        EventsOrder::SelfWall => Some(Cost::SelfWall),
    };
    let rows = match cost {
        None => {
            let found = open
                .indexed
                .children(thread, node, params.from, count, progress)?;
            let found = found.ok_or_else(|| at.absent())?;
            found.iter().map(|it| convert::row(open, it)).collect()
        }
        Some(cost) => {
            let sorted = open.sorted(at, cost, progress)?;
            page(&sorted, params.from, count as u32)
                .map(|it| convert::row(open, it))
                .collect()
        }
    };
    Ok(EventsRows { rows, total })
}

//! From the engine's types to the protocol's.

use fulcrum_answers::events;
use fulcrum_events::query::Cell;
use fulcrum_events::queues::Order;
use fulcrum_events::{Row, RowWhat, Where};
use serde_json::Value;

use super::OpenTrace;
use crate::protocol::{
    EventsPart, EventsQueueCell, EventsQueueOrder, EventsRow, MethodId, NodeId, ThreadId,
};

pub(crate) fn row(open: &OpenTrace, row: &Row) -> EventsRow {
    let span = matches!(row.what, RowWhat::Span(_));
    let cell = open.cells().get(&(row.thread, row.node)).copied();
    EventsRow {
        thread: ThreadId(row.thread),
        node: NodeId(row.node),
        kind: events::kind(row.kind()),
        name: row.name(&open.indexed.trace),
        method: row.method().map(MethodId),
        object: row.object(),
        start_ns: row.start_ns,
        wall_ns: span.then_some(row.times.wall_ns),
        cpu_ns: row.times.cpu_ns,
        self_wall_ns: span.then_some(row.times.self_wall_ns),
        self_cpu_ns: row.times.self_cpu_ns,
        probes_ns: row.probes_ns,
        children: row.children,
        ended: events::end(row.closing),
        queue: cell.map(|it| EventsQueueCell {
            number: it.number,
            length: it.length,
            wait_ns: it.wait_ns,
        }),
        values: open
            .indexed
            .values_of(row)
            .map(|it| events::call_values(&open.indexed.trace, &it)),
    }
}

pub(crate) fn part(part: EventsPart) -> Where {
    Where {
        thread: part.thread.map(|it| it.0),
        node: part.node.map(|it| it.0),
        from_ns: part.left_ns.unwrap_or(0),
        to_ns: part.right_ns.unwrap_or(u64::MAX),
    }
}

pub(crate) fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Text(text) => text.as_str().into(),
        Cell::Whole(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
    }
}

/// The order that was asked for.
pub(crate) fn order(it: EventsQueueOrder) -> Order {
    match it {
        EventsQueueOrder::Fifo => Order::Fifo,
        EventsQueueOrder::Lifo => Order::Lifo,
        EventsQueueOrder::Identity => Order::Identity,
    }
}

//! From the engine's types to the protocol's.

use fulcrum_events::compare::{Change, Difference, PathSums};
use fulcrum_events::query::{Cell, Kind};
use fulcrum_events::queues::{Order, Queue, QueueObject, QueueSummary, Request};
use fulcrum_events::{Closing, Row, RowWhat, Where};
use serde_json::Value;

use super::OpenTrace;
use crate::protocol::{
    EventsChange, EventsDifference, EventsEnd, EventsKind, EventsPart, EventsPathSums,
    EventsQueueCell, EventsQueueObject, EventsQueueOrder, EventsQueueSummary, EventsQueues,
    EventsRequest, EventsRow,
};

pub(crate) fn row(open: &OpenTrace, row: &Row) -> EventsRow {
    let span = matches!(row.what, RowWhat::Span(_));
    let cell = open.cells().get(&(row.thread, row.node)).copied();
    EventsRow {
        thread: row.thread,
        node: row.node,
        kind: kind(row.kind()),
        name: row.name(&open.indexed.trace),
        method: row.method(),
        object: row.object(),
        start: row.start_ns,
        wall_ns: span.then_some(row.times.wall_ns),
        cpu_ns: row.times.cpu_ns,
        self_wall_ns: span.then_some(row.times.self_wall_ns),
        self_cpu_ns: row.times.self_cpu_ns,
        probes_ns: row.probes_ns,
        children: row.children,
        ended: match row.closing {
            Closing::Ended => EventsEnd::Returned,
            Closing::Thrown => EventsEnd::Thrown,
            Closing::Unwound => EventsEnd::Lost,
            Closing::Open => EventsEnd::Open,
        },
        queue: cell.map(|it| EventsQueueCell {
            number: it.number,
            length: it.length,
            wait_ns: it.wait_ns,
        }),
    }
}

fn kind(kind: Kind) -> EventsKind {
    match kind {
        Kind::Call => EventsKind::Call,
        Kind::Contended => EventsKind::Contended,
        Kind::Wait => EventsKind::Wait,
        Kind::Gc => EventsKind::Gc,
        Kind::Allocation => EventsKind::Allocation,
        Kind::Release => EventsKind::Release,
        Kind::ThreadStart => EventsKind::ThreadStart,
        Kind::ThreadEnd => EventsKind::ThreadEnd,
        Kind::ClassLoad => EventsKind::ClassLoad,
        Kind::ClassUnload => EventsKind::ClassUnload,
        Kind::VmStart => EventsKind::VmStart,
        Kind::VmEnd => EventsKind::VmEnd,
    }
}

pub(crate) fn part(part: EventsPart) -> Where {
    Where {
        thread: part.thread,
        node: part.node,
        from_ns: part.left.unwrap_or(0),
        to_ns: part.right.unwrap_or(u64::MAX),
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

fn request(it: &Request) -> EventsRequest {
    EventsRequest {
        number: it.number,
        put_thread: it.put_thread,
        put_node: it.put_node,
        enqueue: it.enqueue_ns,
        put_length: it.put_length,
        take_thread: it.take.map(|take| take.thread),
        take_node: it.take.map(|take| take.node),
        dispatch: it.take.map(|take| take.dispatch_ns),
        take_length: it.take.map(|take| take.length),
        finish: it.take.and_then(|take| take.finish_ns),
        wait_ns: it.wait_ns(),
        service_ns: it.service_ns(),
        sure: it.sure,
        queue: it.queue,
        object: it.object,
    }
}

/// What was replayed, with a page of its requests.
pub(crate) fn queues<'a>(it: &Queue, page: impl Iterator<Item = &'a Request>) -> EventsQueues {
    EventsQueues {
        order: match it.order {
            Order::Fifo => EventsQueueOrder::Fifo,
            Order::Lifo => EventsQueueOrder::Lifo,
            Order::Identity => EventsQueueOrder::Identity,
        },
        assumed: it.assumed(),
        queues: it.queues.iter().map(queue_object).collect(),
        requests: page.map(request).collect(),
        total: it.requests.len() as u64,
        summary: summary(&it.summary()),
        empty_takes: it.empty_takes,
        thrown: it.thrown,
        rejected: it.rejected,
        before_put: it.before_put,
        mismatched: it.mismatched,
        overtaken: it.overtaken,
        notes: it.notes.clone(),
    }
}

fn queue_object(it: &QueueObject) -> EventsQueueObject {
    EventsQueueObject {
        object: it.object,
        put: it.put,
        taken: it.taken,
        length_max: it.length_max,
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

fn summary(it: &QueueSummary) -> EventsQueueSummary {
    EventsQueueSummary {
        put: it.put,
        taken: it.taken,
        arrival_rate: it.arrival_rate,
        wait_mean: it.wait_mean,
        wait_variance: it.wait_variance,
        wait_max: it.wait_max,
        service_mean: it.service_mean,
        service_variance: it.service_variance,
        length_max: it.length_max,
    }
}

pub(crate) fn difference(it: &Difference) -> EventsDifference {
    EventsDifference {
        role: it.role.clone(),
        path: it.path.clone(),
        change: change(it.change),
        a: it.a.map(sums),
        b: it.b.map(sums),
        self_wall_ns: it.self_wall_ns(),
    }
}

fn change(change: Change) -> EventsChange {
    match change {
        Change::Appeared => EventsChange::Appeared,
        Change::Vanished => EventsChange::Vanished,
        Change::Slower => EventsChange::Slower,
        Change::Faster => EventsChange::Faster,
        Change::Count => EventsChange::Count,
        Change::Same => EventsChange::Same,
    }
}

fn sums(it: PathSums) -> EventsPathSums {
    EventsPathSums {
        count: it.count,
        wall_ns: it.wall_ns,
        cpu_ns: it.cpu_ns,
        self_wall_ns: it.self_wall_ns,
        thread: it.first.0,
        node: it.first.1,
    }
}

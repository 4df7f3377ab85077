//! Event traces.

use fulcrum_events::compare::{Change, Comparison, Difference, PathSums};
use fulcrum_events::query::RowKind;
use fulcrum_events::queues::{Order, Queue, QueueObject, QueueSummary, Request};
use fulcrum_events::{
    Arguments, CallValues, Closing, Contention, Event, Node, Outcome, Returned, Stats, Thread,
    Trace, Value, What,
};
use fulcrum_schema::{
    EventsCallValues, EventsChange, EventsChangeCounts, EventsClassSums, EventsComparison,
    EventsDifference, EventsEnd, EventsEvent, EventsKind, EventsMethodSums, EventsPathSums,
    EventsProbeCosts, EventsQueueObject, EventsQueueOrder, EventsQueueSummary, EventsQueues,
    EventsRequest, EventsRole, EventsStats, EventsSums, EventsThreadSums, EventsThreadTree,
    EventsTreeCall, EventsValue, EventsValueKind, NodeId, ThreadId,
};

/// Sums, with at most `most` methods.
pub fn stats(trace: &Trace, stats: &Stats, most: usize, notes: Vec<String>) -> EventsStats {
    let thread = |it: &fulcrum_events::ThreadStats| {
        let thread = trace.thread(it.id);
        EventsThreadSums {
            id: it.id,
            name: thread.map(|it| it.name.clone()),
            group: thread.map(|it| it.group.clone()),
            parent: thread.map(|it| it.parent),
            events: it.events,
            wall_ns: it.wall_ns,
            cpu_ns: it.cpu_ns,
        }
    };
    let method = |it: &fulcrum_events::MethodStats| {
        let method = trace.methods.get(&it.method).cloned().unwrap_or_default();
        EventsMethodSums {
            class: method.class,
            method: method.name,
            descriptor: method.descriptor,
            calls: it.calls,
            thrown: it.thrown,
            wall_ns: it.wall_ns,
            cpu_ns: it.cpu_ns,
            self_wall_ns: it.self_wall_ns,
            self_cpu_ns: it.self_cpu_ns,
        }
    };
    let by_class = |sums: &[Contention]| {
        let one = |it: &Contention| EventsClassSums {
            class: trace.class_name(it.class).to_owned(),
            count: it.count,
            wall_ns: it.wall_ns,
        };
        sums.iter().map(one).collect()
    };
    EventsStats {
        threads: stats.threads.iter().map(thread).collect(),
        methods: stats.methods.iter().take(most).map(method).collect(),
        contention: by_class(&stats.contention),
        waiting: by_class(&stats.waiting),
        collections: EventsSums {
            count: stats.collections.0,
            wall_ns: stats.collections.1,
        },
        unbalanced: stats.unbalanced,
        probes: EventsProbeCosts {
            inside_ns: trace.costs.inside_ns,
            outside_ns: trace.costs.outside_ns,
        },
        notes,
    }
}

/// A thread's calls with their values. `name` gives a node's name; `more` says that some calls are left out.
pub fn thread_tree(
    trace: &Trace,
    thread: &Thread,
    rows: &[(Outcome, Option<CallValues>)],
    name: impl Fn(Node) -> String,
    more: bool,
) -> EventsThreadTree {
    let call = |(row, values): &(Outcome, Option<CallValues>)| EventsTreeCall {
        values: values.as_ref().map(|it| call_values(trace, it)),
        depth: row.depth as u32,
        kind: match row.node {
            Node::Call { .. } => EventsKind::Call,
            Node::Contended { .. } => EventsKind::Contended,
            Node::Waiting { .. } => EventsKind::Wait,
            Node::Collection => EventsKind::Gc,
        },
        name: name(row.node),
        start_ns: row.start_ns,
        wall_ns: row.times.wall_ns,
        cpu_ns: row.times.cpu_ns,
        self_wall_ns: row.times.self_wall_ns,
        self_cpu_ns: row.times.self_cpu_ns,
        ended: end(row.closing),
    };
    EventsThreadTree {
        id: thread.id,
        name: thread.name.clone(),
        group: thread.group.clone(),
        more,
        calls: rows.iter().map(call).collect(),
    }
}

/// A call's arguments and result.
pub fn call_values(trace: &Trace, values: &CallValues) -> EventsCallValues {
    let given = values.arguments.as_ref();
    EventsCallValues {
        arguments: given.map(|it| list(trace, it)),
        more_arguments: given.map_or(0, more_arguments),
        returned: values.returned.as_ref().map(|it| value(trace, it)),
        text: values.shown(trace),
    }
}

fn list(trace: &Trace, given: &Arguments) -> Vec<EventsValue> {
    given.values.iter().map(|it| value(trace, it)).collect()
}

fn more_arguments(given: &Arguments) -> u32 {
    given.all.saturating_sub(given.values.len() as u32)
}

fn value(trace: &Trace, it: &Value) -> EventsValue {
    EventsValue {
        kind: match it {
            Value::Unknown => EventsValueKind::Unknown,
            Value::Integer(_) | Value::Unsigned(_) => EventsValueKind::Integer,
            Value::Boolean(_) => EventsValueKind::Boolean,
            Value::Character(_) => EventsValueKind::Character,
            Value::Single(_) | Value::Double(_) => EventsValueKind::Real,
            Value::Text { .. } => EventsValueKind::Text,
            Value::Null => EventsValueKind::Null,
            Value::Object { .. } => EventsValueKind::Object,
            Value::Address(_) => EventsValueKind::Address,
            Value::Named { .. } => EventsValueKind::Named,
        },
        value: it.plain(trace),
        cut: matches!(it, Value::Text { cut: true, .. }),
    }
}

/// One event.
pub fn event(trace: &Trace, event: &Event) -> EventsEvent {
    let mut out = without_details(trace, event);
    if let Some(number) = event.what.method() {
        match trace.methods.get(&number) {
            Some(method) => {
                out.class = Some(method.class.clone());
                out.method = Some(method.name.clone());
                out.descriptor = Some(method.descriptor.clone());
            }
            None => out.method = Some(format!("method {number}")),
        }
    }
    add_details(&mut out, trace, &event.what);
    out
}

/// The fields that all kinds of event have.
fn without_details(trace: &Trace, event: &Event) -> EventsEvent {
    EventsEvent {
        time_ns: event.wall_ns,
        cpu_ns: event.cpu_ns,
        thread: event.thread,
        event: event.what.name(),
        skipped: (event.skipped > 0).then_some(event.skipped),
        class: event
            .what
            .class()
            .map(|class| trace.class_name(class).to_owned()),
        method: None,
        descriptor: None,
        receiver: None,
        argument: None,
        object: None,
        value: None,
        arguments: None,
        more_arguments: None,
        returned: None,
        timeout_ms: None,
        timed_out: None,
        bytes: None,
        interval_bytes: None,
        name: None,
        group: None,
        parent: None,
        daemon: None,
        r#virtual: None,
        earlier: None,
        probed: None,
        machine: None,
    }
}

/// Adds the fields of this kind of event.
fn add_details(out: &mut EventsEvent, trace: &Trace, what: &What) {
    match what {
        What::Objects {
            receiver, argument, ..
        } => {
            out.receiver = Some(*receiver);
            out.argument = Some(*argument);
        }
        What::Result { value, .. } => match value {
            Returned::Object(object) => out.object = Some(*object),
            Returned::Boolean(value) => out.value = Some(*value),
        },
        What::Arguments { given, .. } => {
            out.arguments = Some(list(trace, given));
            out.more_arguments = Some(more_arguments(given));
        }
        What::Returned { value: it, .. } => out.returned = Some(value(trace, it)),
        What::ContendedEnter { object, .. }
        | What::ContendedEntered { object, .. }
        | What::Release { object } => out.object = Some(*object),
        What::Wait {
            object, timeout_ms, ..
        } => {
            out.object = Some(*object);
            out.timeout_ms = Some(*timeout_ms);
        }
        What::Waited {
            object, timed_out, ..
        } => {
            out.object = Some(*object);
            out.timed_out = Some(*timed_out);
        }
        What::Allocation {
            object,
            bytes,
            interval,
            ..
        } => {
            out.object = Some(*object);
            out.bytes = Some(*bytes);
            out.interval_bytes = Some(*interval);
        }
        What::ThreadStart {
            name,
            group,
            parent,
            daemon,
            virtual_thread,
            earlier,
        } => {
            out.name = Some(name.clone());
            out.group = Some(group.clone());
            out.parent = Some(*parent);
            out.daemon = Some(*daemon);
            out.r#virtual = Some(*virtual_thread);
            out.earlier = Some(*earlier);
        }
        What::ClassLoad { probed, .. } => out.probed = Some(*probed),
        What::VmStart { machine } => out.machine = Some(machine.clone()),
        _ => {}
    }
}

/// The kind of a row.
pub fn kind(kind: RowKind) -> EventsKind {
    match kind {
        RowKind::Call => EventsKind::Call,
        RowKind::Contended => EventsKind::Contended,
        RowKind::Wait => EventsKind::Wait,
        RowKind::Gc => EventsKind::Gc,
        RowKind::Allocation => EventsKind::Allocation,
        RowKind::Release => EventsKind::Release,
        RowKind::ThreadStart => EventsKind::ThreadStart,
        RowKind::ThreadEnd => EventsKind::ThreadEnd,
        RowKind::ClassLoad => EventsKind::ClassLoad,
        RowKind::ClassUnload => EventsKind::ClassUnload,
        RowKind::VmStart => EventsKind::VmStart,
        RowKind::VmEnd => EventsKind::VmEnd,
    }
}

/// How an event ended.
pub fn end(closing: Closing) -> EventsEnd {
    match closing {
        Closing::Ended => EventsEnd::Returned,
        Closing::Thrown => EventsEnd::Thrown,
        Closing::Unwound => EventsEnd::Lost,
        Closing::Open => EventsEnd::Open,
    }
}

/// A queue replay, with some of its requests.
pub fn queues<'a>(
    it: &Queue,
    page: impl Iterator<Item = &'a Request>,
    notes: Vec<String>,
) -> EventsQueues {
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
        notes,
    }
}

fn request(it: &Request) -> EventsRequest {
    EventsRequest {
        number: it.number,
        put_thread: ThreadId(it.put_thread),
        put_node: NodeId(it.put_node),
        enqueue_ns: it.enqueue_ns,
        put_length: it.put_length,
        take_thread: it.take.map(|take| ThreadId(take.thread)),
        take_node: it.take.map(|take| NodeId(take.node)),
        dispatch_ns: it.take.map(|take| take.dispatch_ns),
        take_length: it.take.map(|take| take.length),
        finish_ns: it.take.and_then(|take| take.finish_ns),
        wait_ns: it.wait_ns(),
        service_ns: it.service_ns(),
        sure: it.sure,
        queue: it.queue,
        object: it.object,
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

fn summary(it: &QueueSummary) -> EventsQueueSummary {
    EventsQueueSummary {
        put: it.put,
        taken: it.taken,
        arrival_rate: it.arrival_rate,
        wait_mean_seconds: it.wait_mean,
        wait_variance_seconds2: it.wait_variance,
        wait_max_seconds: it.wait_max,
        service_mean_seconds: it.service_mean,
        service_variance_seconds2: it.service_variance,
        length_max: it.length_max,
    }
}

/// Two traces, with `count` rows from `from`.
pub fn comparison(found: &Comparison, from: usize, count: usize) -> EventsComparison {
    let mut counts = EventsChangeCounts::default();
    for row in &found.rows {
        *match row.change {
            Change::Appeared => &mut counts.appeared,
            Change::Vanished => &mut counts.vanished,
            Change::Slower => &mut counts.slower,
            Change::Faster => &mut counts.faster,
            Change::Count => &mut counts.count,
            Change::Same => &mut counts.same,
        } += 1;
    }
    let roles = found.roles.iter().map(|it| EventsRole {
        name: it.name.clone(),
        a: it.a,
        b: it.b,
    });
    let page = found.rows.iter().skip(from).take(count);
    EventsComparison {
        roles: roles.collect(),
        rows: page.map(difference).collect(),
        total: found.rows.len() as u64,
        counts,
        notes: found.notes.clone(),
    }
}

fn difference(it: &Difference) -> EventsDifference {
    EventsDifference {
        role: it.role.clone(),
        path: it.path.clone(),
        change: match it.change {
            Change::Appeared => EventsChange::Appeared,
            Change::Vanished => EventsChange::Vanished,
            Change::Slower => EventsChange::Slower,
            Change::Faster => EventsChange::Faster,
            Change::Count => EventsChange::Count,
            Change::Same => EventsChange::Same,
        },
        a: it.a.map(sums),
        b: it.b.map(sums),
        self_wall_ns: it.self_wall_ns(),
    }
}

fn sums(it: PathSums) -> EventsPathSums {
    EventsPathSums {
        count: it.count,
        wall_ns: it.wall_ns,
        cpu_ns: it.cpu_ns,
        self_wall_ns: it.self_wall_ns,
        thread: ThreadId(it.first.0),
        node: NodeId(it.first.1),
    }
}

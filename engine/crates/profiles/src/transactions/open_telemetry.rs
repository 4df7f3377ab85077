//! A run as OpenTelemetry has it: profiles whose samples lead to spans, and these spans. A span is a transaction; those in it are
//! its stages, each what threads of one name did in one process.

use std::collections::HashMap;

use fulcrum_model::call_tree::ValueType;
use fulcrum_profile_formats::open_telemetry::{
    Attribute, Identity, LinkedProfiles, Period, Span, SpanKind, Spans, Value,
};
use fulcrum_transaction_records::run::{Lane, Run, Trace, TraceStage, Traces};
use fulcrum_transactions::latency::InstanceId;
use fulcrum_transactions::stitch::Linked;
use fulcrum_transactions::{NO_TRANSACTION, ProcessId, SpanId, TraceId, TypeId};

/// The files of a run.
#[derive(Debug)]
pub struct Telemetry {
    /// CPU time and samples. Those that were taken in a transaction lead to the span of its stage.
    pub profiles: LinkedProfiles,
    /// Transactions with their stages.
    pub spans: Spans,
}

/// Makes them of a run that was opened with its traces; of one type, or of all. Numbers of traces are those that requests
/// brought; all others follow from the run, and are the same each time.
pub fn telemetry(run: &Run, only: Option<TypeId>) -> Telemetry {
    let traces = &run.traces;
    let is_wanted = |of: TypeId| only.is_none_or(|only| only == of);
    let wanted = traces.transactions.iter().filter(|it| is_wanted(it.of));
    let wanted: Vec<Numbered<'_>> = wanted.map(|it| Numbered::of(it, traces)).collect();
    let mut spans = Spans::default();
    for it in &wanted {
        add_spans(it, run.stitched.type_name(it.trace.of), traces, &mut spans);
    }
    let types = [ValueType::new("cpu", "ns"), ValueType::new("samples", "")];
    let mut profiles = LinkedProfiles::new(&types, taken(traces));
    let links = Links::of(&wanted, traces);
    for linked in run.stitched.linked().filter(|it| is_wanted(it.of)) {
        let name = run.stitched.type_name(linked.of);
        add_samples(&linked, name, &links, &mut profiles);
    }
    Telemetry { profiles, spans }
}

/// When the transactions were.
fn taken(traces: &Traces) -> Period {
    let all = traces.transactions.iter();
    let from = all.clone().map(|it| it.from_ns).min();
    let to = all.map(|it| it.to_ns).max();
    match (from, to) {
        (Some(from), Some(to)) => period(traces, from, to),
        _ => Period::default(),
    }
}

fn period(traces: &Traces, from_ns: u64, to_ns: u64) -> Period {
    let unix = |ns: u64| ns.saturating_add_signed(traces.unix_offset_ns);
    Period {
        from_ns: unix(from_ns),
        to_ns: unix(to_ns.max(from_ns)),
    }
}

/// A transaction with its numbers.
struct Numbered<'a> {
    trace: &'a Trace,
    id: TraceId,
    span: SpanId,
    /// Of each of its stages.
    stages: Vec<SpanId>,
}

impl<'a> Numbered<'a> {
    fn of(trace: &'a Trace, traces: &Traces) -> Self {
        // The process without the run: the same alone and among others.
        let process = trace.process.0 & 0xffff_ffff_ffff;
        let began_ns = period(traces, trace.from_ns, trace.from_ns).from_ns;
        let own = [process, began_ns, trace.id.0].map(u64::to_le_bytes);
        let [process, began, number] = &own;
        let own = TraceId::of(&[b"transaction", process, began, number]);
        let id = trace.parent.map_or(own, |it| it.trace);
        // Several transactions may belong to the trace that their requests brought.
        let span = SpanId::of(&[id.bytes(), own.bytes()]);
        let stage = |it: &TraceStage| {
            let lane = &traces.lanes[it.lane as usize];
            let process = lane.process.0.to_le_bytes();
            SpanId::of(&[span.bytes(), &process, lane.thread.as_bytes()])
        };
        Numbered {
            trace,
            id,
            span,
            stages: trace.stages.iter().map(stage).collect(),
        }
    }
}

/// The attributes of a process.
fn process(id: ProcessId, program: &str) -> [Attribute<'_>; 3] {
    [
        ("service.name", Value::Text(program)),
        ("process.executable.name", Value::Text(program)),
        ("process.pid", Value::Number(id.number().into())),
    ]
}

fn add_spans(of: &Numbered<'_>, name: &str, traces: &Traces, spans: &mut Spans) {
    let trace = of.trace;
    let resource = spans.resource(&process(trace.process, &trace.program));
    let span = Span {
        trace: of.id.bytes(),
        id: of.span.bytes(),
        parent: trace.asked_in.as_ref().map(SpanId::bytes),
        flags: trace.parent.map_or(0, |it| it.flags),
        name,
        kind: SpanKind::Server,
        time: period(traces, trace.from_ns, trace.to_ns),
        attributes: &[("fulcrum.replied", Value::Flag(trace.replied))],
    };
    spans.add(resource, &span);
    for (stage, id) in trace.stages.iter().zip(&of.stages) {
        let lane: &Lane = &traces.lanes[stage.lane as usize];
        let resource = spans.resource(&process(lane.process, &lane.program));
        let worked_ns = i64::try_from(stage.worked_ns).unwrap_or(i64::MAX);
        let is_elsewhere = lane.process != trace.process;
        spans.add(
            resource,
            &Span {
                id: id.bytes(),
                parent: Some(of.span.bytes()),
                name: &lane.thread,
                kind: match is_elsewhere {
                    true => SpanKind::Server,
                    false => SpanKind::Internal,
                },
                time: period(traces, stage.from_ns, stage.to_ns),
                attributes: &[
                    ("thread.name", Value::Text(&lane.thread)),
                    ("thread.id", Value::Number(lane.tid.into())),
                    ("fulcrum.worked_ns", Value::Number(worked_ns)),
                ],
                ..span
            },
        );
    }
}

/// From samples to spans.
struct Links<'a> {
    transactions: HashMap<InstanceId, &'a Numbered<'a>>,
    lanes: HashMap<(ProcessId, &'a str), u32>,
}

impl<'a> Links<'a> {
    fn of(wanted: &'a [Numbered<'a>], traces: &'a Traces) -> Self {
        let lanes = (0..).zip(&traces.lanes);
        Links {
            transactions: wanted.iter().map(|it| (it.trace.id, it)).collect(),
            lanes: lanes
                .map(|(row, it)| ((it.process, &*it.thread), row))
                .collect(),
        }
    }

    /// The span of what a thread did for a transaction. Where its stage is not known, as of a thread that has got another name, it
    /// is the transaction's own.
    fn find(&self, of: InstanceId, process: ProcessId, thread: &str) -> Option<(TraceId, SpanId)> {
        let it = self.transactions.get(&of)?;
        let lane = self.lanes.get(&(process, thread));
        let stage = lane.and_then(|lane| {
            let stages = &it.trace.stages;
            stages.iter().position(|stage| stage.lane == *lane)
        });
        Some((it.id, stage.map_or(it.span, |at| it.stages[at])))
    }
}

fn add_samples(linked: &Linked<'_>, name: &str, links: &Links<'_>, into: &mut LinkedProfiles) {
    let resource = into.resource(&process(linked.process, linked.program));
    let mut attributes = vec![into.attribute(("thread.name", Value::Text(linked.thread)))];
    if name != NO_TRANSACTION {
        attributes.push(into.attribute(("span.name", Value::Text(name))));
    }
    let functions = linked.functions.iter();
    let locations: Vec<u32> = functions.map(|(_, it)| into.location(it)).collect();
    for it in &linked.samples {
        let span = it
            .instance
            .and_then(|it| links.find(it, linked.process, linked.thread));
        let link = span.map_or(0, |(trace, span)| into.link(trace.bytes(), span.bytes()));
        let stack = match it.function {
            None => 0,
            Some(function) => into.stack(&path(linked, &locations, function)),
        };
        let values = [it.cost.cpu_ns, it.cost.samples];
        let values = values.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        let identity = Identity {
            stack,
            link,
            attributes: attributes.clone(),
        };
        into.add(resource, identity, &values);
    }
}

/// The locations from the outermost function to this one.
fn path(linked: &Linked<'_>, locations: &[u32], function: u32) -> Vec<u32> {
    let caller = |&it: &u32| linked.functions[it as usize].0;
    let inwards = std::iter::successors(Some(function), caller);
    let mut path: Vec<u32> = inwards.map(|it| locations[it as usize]).collect();
    path.reverse();
    path
}

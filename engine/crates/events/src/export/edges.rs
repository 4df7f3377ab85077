//! The beginnings and ends that timelines consist of, in the order of time, thread by thread.

use std::io;

use fulcrum_model::{Cancelled, Progress};

use crate::reader::event::{Event, What};
use crate::reader::open::{Thread, Trace};
use crate::tree::stack::Node;
use crate::tree::visit::TraceRange;
use crate::tree::walk::{Passed, Walk, parking};
use crate::values::{CallValues, Value};

/// A beginning, an end, or an event without a duration.
pub(crate) enum Edge<'a> {
    /// The next edges belong to this thread.
    Thread(&'a Thread),
    Begin(Node, Moment),
    /// The innermost node ends, with the call's values if the log has them.
    End(Moment, Option<&'a CallValues>),
    /// An event without a duration.
    Point(&'a What, Moment),
}

/// A moment.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) ns: u64,
    pub(crate) cpu_ns: Option<u64>,
}

/// Why an export ended early.
#[derive(Debug)]
pub enum ExportError {
    /// It was cancelled.
    Cancelled,
    /// Writing failed.
    Io(io::Error),
}

impl From<Cancelled> for ExportError {
    fn from(_: Cancelled) -> ExportError {
        ExportError::Cancelled
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> ExportError {
        ExportError::Io(error)
    }
}

/// Visits the edges of nodes that begin within the scope. Returns what had to be left out.
pub(crate) fn edges(
    trace: &Trace,
    scope: &TraceRange,
    progress: &Progress,
    mut show: impl FnMut(Edge<'_>) -> io::Result<()>,
) -> Result<Vec<String>, ExportError> {
    let parking = parking(trace);
    let mut problems = Vec::new();
    let mut passed = Passed::new(progress, scope.threads(trace));
    for thread in scope.threads(trace) {
        passed.enter(thread);
        show(Edge::Thread(thread))?;
        let mut walk = Walk::new(trace, thread.id, &parking);
        loop {
            let event = walk.step_with(&passed)?;
            let now = Moment {
                ns: walk.now.0,
                cpu_ns: walk.now.1,
            };
            for (outcome, open) in &walk.ended {
                if scope.has_time(outcome.start_ns) {
                    show(Edge::End(now, walk.values_of(open.node)))?;
                }
            }
            let Some(Event { wall_ns, what, .. }) = event else {
                break;
            };
            if !scope.has_time(wall_ns) {
                continue;
            }
            if walk.began {
                let open = walk.open.last().expect("it was opened just now");
                show(Edge::Begin(open.what, now))?;
            } else if walk.point.is_some() {
                show(Edge::Point(&what, now))?;
            }
        }
        problems.extend_from_slice(walk.problems());
    }
    passed.finish()?;
    Ok(problems)
}

/// The arguments and result of a call, with the names `argument 1`, `argument 2`, `returned`.
pub(crate) fn named(values: &CallValues) -> Vec<(String, &Value)> {
    let given = values.arguments.iter().flat_map(|it| &it.values);
    let mut named: Vec<_> = (1..)
        .zip(given)
        .map(|(n, value)| (format!("argument {n}"), value))
        .collect();
    let returned = values.returned.iter();
    named.extend(returned.map(|value| ("returned".to_owned(), value)));
    named
}

/// A value as a text. A truncated one is marked.
pub(crate) fn text(trace: &Trace, value: &Value) -> String {
    let more = match value {
        Value::Text { cut: true, .. } => "…",
        _ => "",
    };
    value.plain(trace) + more
}

/// The title and category of a node in a timeline.
pub(crate) fn title(trace: &Trace, node: Node) -> (String, &'static str) {
    match node {
        Node::Call { method } => (trace.method_name(method), "call"),
        Node::Contended { class, .. } => (
            format!("contended {}", trace.class_name(class)),
            "contended",
        ),
        Node::Waiting { class, .. } => (format!("wait {}", trace.class_name(class)), "wait"),
        Node::Collection => ("garbage collection".to_owned(), "gc"),
    }
}

/// The title of an event without a duration. `None` for the beginnings and ends of threads, which tracks show.
pub(crate) fn point_title(trace: &Trace, what: &What) -> Option<String> {
    let class = what.class().map(|class| trace.class_name(class));
    match what {
        What::Allocation { .. } | What::ClassLoad { .. } | What::ClassUnload { .. } => {
            Some(format!("{} {}", what.name(), class.unwrap_or("?")))
        }
        What::VmStart { .. } | What::VmEnd | What::Release { .. } => Some(what.name().to_owned()),
        _ => None,
    }
}

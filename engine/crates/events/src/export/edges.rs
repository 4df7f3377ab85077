//! Beginnings and ends in the order of time, thread by thread: what timelines are made of.

use std::io;

use fulcrum_model::{Cancelled, Progress};

use crate::reader::event::{Event, What};
use crate::reader::open::{Thread, Trace};
use crate::tree::stack::Node;
use crate::tree::visit::TraceRange;
use crate::tree::walk::{Passed, Walk, parking};
use crate::values::{CallValues, Value};

/// What happens in a thread.
pub(crate) enum Edge<'a> {
    /// The next edges are this thread's.
    Thread(&'a Thread),
    Begin(Node, Moment),
    /// The innermost ends; with what it was given and returned, where the log tells it.
    End(Moment, Option<&'a CallValues>),
    /// Something without a duration.
    Point(&'a What, Moment),
}

/// When.
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
    /// The file takes no more.
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

/// Shows the edges of what begins within the scope, and what had to be left out of the log.
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

/// What a call was given and returned, one by one, as timelines name it: `argument 1`, `argument 2`, `returned`.
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

/// A value as a text of its own: what is cut says so.
pub(crate) fn text(trace: &Trace, value: &Value) -> String {
    let more = match value {
        Value::Text { cut: true, .. } => "…",
        _ => "",
    };
    value.plain(trace) + more
}

/// What a timeline calls something, and its category.
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

/// What a timeline calls an event without a duration. Threads' own are its tracks' ends and are not drawn.
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

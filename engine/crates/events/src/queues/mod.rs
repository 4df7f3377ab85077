//! Queue replay (JPMT §5.3): request numbers, lengths and times in a queue, from the calls that put into it and take from it.
//!
//! A log tells no arguments and no results, so requests are told apart by their order: the n-th put that returned and the n-th
//! take that returned with something are of one request, as in any queue that is first in, first out. What contradicts that
//! is found and said: a take that goes on for a second although the queue is not empty means rejected puts or several
//! queues. A take that returns while the queue is empty has got nothing. What ends by an exception has put or taken nothing.

mod replay;
mod suggest;

use std::collections::{HashMap, HashSet};

use crate::index::Cancelled;
use crate::names::matches;
use crate::open::Trace;
use crate::rows::Wanted;
use crate::visit::Scope;
use crate::walk::{Walk, parking};

use replay::{Operation, collect, replay};
pub use suggest::suggestions;

/// A queue that was replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// In the order in which they were put.
    pub requests: Vec<Request>,
    /// Takes that returned without a request.
    pub empty_takes: u64,
    /// Puts and takes that ended by an exception.
    pub thrown: u64,
    /// What could not be matched and why, and what the log lacks. Whole sentences.
    pub notes: Vec<String>,
}

/// A request. Times are nanoseconds since the log's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// From 1, in the order in which puts returned.
    pub number: u64,
    /// The thread that put it.
    pub put_thread: u32,
    /// The put's node.
    pub put_node: u64,
    /// When it was in the queue: when the put returned, or when it was taken if that was earlier.
    pub enqueue_ns: u64,
    /// Requests in the queue after the put.
    pub put_length: u64,
    /// `None`: it was never taken.
    pub take: Option<Take>,
    /// False from where on the log contradicts that this is one queue, first in, first out.
    pub sure: bool,
}

/// How a request left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// The thread that took it.
    pub thread: u32,
    /// The take's node.
    pub node: u64,
    /// When the take returned.
    pub dispatch_ns: u64,
    /// Requests in the queue after it.
    pub length: u64,
    /// When the thread came back for another request, or ended. `None`: neither is in the log.
    pub finish_ns: Option<u64>,
}

impl Request {
    /// How long it was in the queue.
    pub fn wait_ns(&self) -> Option<u64> {
        self.take.map(|it| it.dispatch_ns - self.enqueue_ns)
    }

    /// From being taken to when its thread came back.
    pub fn service_ns(&self) -> Option<u64> {
        let take = self.take?;
        Some(take.finish_ns?.saturating_sub(take.dispatch_ns))
    }
}

/// Sums over all requests of a queue. Seconds; `None` where there is nothing to add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueSummary {
    /// Requests that were put.
    pub put: u64,
    /// Of these, taken.
    pub taken: u64,
    /// Puts a second, from the first to the last.
    pub arrival_rate: Option<f64>,
    /// Mean time in the queue.
    pub wait_mean: Option<f64>,
    /// Its variance, seconds squared; of the requests themselves (divided by their number).
    pub wait_variance: Option<f64>,
    /// Longest time in the queue.
    pub wait_max: Option<f64>,
    /// Mean time from being taken to when the thread came back.
    pub service_mean: Option<f64>,
    /// Its variance, likewise.
    pub service_variance: Option<f64>,
    /// Most requests in the queue.
    pub length_max: u64,
}

/// Why a queue cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueError {
    /// It is not wanted any more.
    Cancelled,
    /// No logged method has this name; those whose names are like it.
    NoSuchMethod(String, Vec<String>),
    /// A method is both.
    Both(String),
}

impl From<Cancelled> for QueueError {
    fn from(_: Cancelled) -> QueueError {
        QueueError::Cancelled
    }
}

impl std::fmt::Display for QueueError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueueError::Cancelled => f.write_str("cancelled"),
            QueueError::NoSuchMethod(name, near) => {
                write!(
                    f,
                    "the log has no method {name}: say CLASS.METHOD, in which * stands for anything"
                )?;
                match near.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; it has {}", near.join(", ")),
                }
            }
            QueueError::Both(name) => write!(
                f,
                "{name} would be both a put and a take: name them more precisely"
            ),
        }
    }
}

impl std::error::Error for QueueError {}

/// Replays a queue. `put` and `take` name methods: `CLASS.METHOD` with or without its package; `*` stands for anything. Of
/// calls inside each other only the outermost counts.
///
/// # Errors
/// When there are no such methods, or it is not wanted any more.
pub fn queue(
    trace: &Trace,
    scope: &Scope,
    put: &str,
    take: &str,
    wanted: Wanted<'_>,
) -> Result<Queue, QueueError> {
    let (puts, takes) = (methods(trace, put)?, methods(trace, take)?);
    if let Some(both) = puts.intersection(&takes).min() {
        return Err(QueueError::Both(trace.method_name(*both)));
    }
    let mut queue = Queue::default();
    let mut operations = Vec::new();
    let parking = parking(trace);
    for thread in scope.threads(trace) {
        let mut walk = Walk::new(trace, thread.id, &parking);
        let problems = collect(
            &mut walk,
            thread.id,
            &puts,
            &takes,
            &mut operations,
            &mut queue.thrown,
            wanted,
        )?;
        queue.notes.extend(problems);
    }
    let end_ns = operations
        .iter()
        .map(|it: &Operation| it.end_ns)
        .max()
        .unwrap_or(0);
    operations.retain(|it| !(it.put && it.open));
    // What the log does not see returning comes last.
    operations.sort_by_key(|it| (it.open, it.end_ns, !it.put, it.thread, it.node));
    replay(&operations, end_ns, &mut queue);
    Ok(queue)
}

fn methods(trace: &Trace, pattern: &str) -> Result<HashSet<u32>, QueueError> {
    let anywhere = format!("*.{pattern}");
    let names = || {
        trace
            .methods
            .iter()
            .map(|(id, it)| (*id, format!("{}.{}", it.class, it.name)))
    };
    let found: HashSet<u32> = names()
        .filter(|(_, name)| matches(pattern, name) || matches(&anywhere, name))
        .map(|(id, _)| id)
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let last = pattern
        .rsplit(['.', '*'])
        .next()
        .unwrap_or("")
        .to_lowercase();
    let mut near: Vec<String> = names()
        .map(|(_, name)| name)
        .filter(|name| !last.is_empty() && name.to_lowercase().contains(&last))
        .collect();
    near.sort();
    near.dedup();
    near.truncate(5);
    Err(QueueError::NoSuchMethod(pattern.to_owned(), near))
}

/// What the *queueing* column says at a put or a take (JPMT, Figs. 10 and 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueCell {
    /// The request; `None` when it is not sure which one it was.
    pub number: Option<u64>,
    /// Requests in the queue after the call.
    pub length: u64,
    /// At a take: how long the request was in the queue, nanoseconds.
    pub wait_ns: Option<u64>,
}

/// The queueing column, by thread and node.
pub type Cells = HashMap<(u32, u64), QueueCell>;

impl Queue {
    /// Sums over all requests.
    pub fn summary(&self) -> QueueSummary {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let waits: Vec<f64> = self
            .requests
            .iter()
            .filter_map(Request::wait_ns)
            .map(seconds)
            .collect();
        let services: Vec<f64> = self
            .requests
            .iter()
            .filter_map(Request::service_ns)
            .map(seconds)
            .collect();
        let (wait_mean, wait_variance) = moments(&waits);
        let (service_mean, service_variance) = moments(&services);
        let lengths = self.requests.iter().map(|it| it.put_length);
        let arrival_rate = match (self.requests.first(), self.requests.last()) {
            (Some(first), Some(last)) if last.enqueue_ns > first.enqueue_ns => {
                Some((self.requests.len() - 1) as f64 / seconds(last.enqueue_ns - first.enqueue_ns))
            }
            _ => None,
        };
        QueueSummary {
            put: self.requests.len() as u64,
            taken: waits.len() as u64,
            arrival_rate,
            wait_mean,
            wait_variance,
            wait_max: waits.iter().copied().reduce(f64::max),
            service_mean,
            service_variance,
            length_max: lengths.max().unwrap_or(0),
        }
    }

    /// The queueing column.
    pub fn cells(&self) -> Cells {
        let mut cells = HashMap::new();
        for request in &self.requests {
            let number = request.sure.then_some(request.number);
            let put = QueueCell {
                number,
                length: request.put_length,
                wait_ns: None,
            };
            cells.insert((request.put_thread, request.put_node), put);
            if let Some(take) = request.take {
                let cell = QueueCell {
                    number,
                    length: take.length,
                    wait_ns: number.and(request.wait_ns()),
                };
                cells.insert((take.thread, take.node), cell);
            }
        }
        cells
    }
}

/// Mean and variance.
fn moments(values: &[f64]) -> (Option<f64>, Option<f64>) {
    if values.is_empty() {
        return (None, None);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
    (Some(mean), Some(squares / count))
}

//! Queue replay (JPMT §5.3): request numbers, lengths and times in a queue, from the calls that put into it and take from it.
//!
//! A log tells no arguments and no results, so requests are told apart by their order: the n-th put that returned and the n-th
//! take that returned with something are of one request, as in any queue that is first in, first out. What contradicts that
//! is found and said: a take that goes on for a second although the queue is not empty means rejected puts or several
//! queues. A take that returns while the queue is empty has got nothing. What ends by an exception has put or taken nothing.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::index::{Cancelled, Index};
use crate::names::matches;
use crate::open::Trace;
use crate::rows::Wanted;
use crate::stack::{Closing, Node};
use crate::visit::Scope;
use crate::walk::{Walk, parking};

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

/// A take may go on for so long although there is a request: it may not have got a processor.
const PATIENCE_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
struct Operation {
    put: bool,
    thread: u32,
    node: u64,
    start_ns: u64,
    end_ns: u64,
    finish_ns: Option<u64>,
    /// The log ended before.
    open: bool,
}

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

/// The outermost puts and takes of a thread; those that ended by an exception are only counted.
fn collect(
    walk: &mut Walk<'_>,
    thread: u32,
    puts: &HashSet<u32>,
    takes: &HashSet<u32>,
    operations: &mut Vec<Operation>,
    thrown: &mut u64,
    wanted: Wanted<'_>,
) -> Result<Vec<String>, Cancelled> {
    let is = |set: &HashSet<u32>, node: Node| matches!(node, Node::Call { method } if set.contains(&method));
    // The depth of the outermost open one.
    let mut outermost: Option<usize> = None;
    let mut last_take: Option<usize> = None;
    let mut steps: u64 = 0;
    loop {
        let event = walk.step();
        if event.is_none() {
            walk.finish();
        }
        steps += 1;
        if steps.is_multiple_of(1 << 14) && !wanted() {
            return Err(Cancelled);
        }
        for (outcome, open) in &walk.ended {
            if outermost != Some(outcome.depth) {
                continue;
            }
            outermost = None;
            let put = is(puts, outcome.node);
            if outcome.closing == Closing::Thrown {
                *thrown += 1;
                continue;
            }
            if outcome.closing == Closing::Unwound {
                continue;
            }
            operations.push(Operation {
                put,
                thread,
                node: open.node,
                start_ns: outcome.start_ns,
                end_ns: outcome.end_ns,
                finish_ns: None,
                open: outcome.closing == Closing::Open,
            });
            if !put {
                last_take = Some(operations.len() - 1);
            }
        }
        let Some(event) = event else { break };
        if walk.began && outermost.is_none() {
            let open = walk.open.last().expect("it was opened just now");
            let (put, take) = (is(puts, open.what), is(takes, open.what));
            if put || take {
                outermost = Some(walk.open.len() - 1);
            }
            if take && let Some(last) = last_take.take() {
                operations[last].finish_ns = Some(event.wall_ns);
            }
        }
        if event.what == crate::event::What::ThreadEnd
            && let Some(last) = last_take.take()
        {
            operations[last].finish_ns = Some(event.wall_ns);
        }
    }
    Ok(walk.problems().to_vec())
}

fn replay(operations: &[Operation], end_ns: u64, queue: &mut Queue) {
    let puts: Vec<&Operation> = operations.iter().filter(|it| it.put).collect();
    let (mut enqueued, mut returned) = (0, 0);
    let mut waiting: VecDeque<usize> = VecDeque::new();
    // The first request that contradicts the order, and how long its take went on.
    let mut doubt: Option<(usize, u64)> = None;
    for operation in operations {
        if operation.put {
            // One that was taken before it returned is through already.
            if returned == enqueued {
                enqueue(queue, &mut waiting, operation, operation.end_ns);
                enqueued += 1;
            }
            returned += 1;
            continue;
        }
        if operation.open {
            if let Some(first) = waiting.front() {
                let since = operation.start_ns.max(queue.requests[*first].enqueue_ns);
                if end_ns.saturating_sub(since) > PATIENCE_NS && doubt.is_none() {
                    doubt = Some((*first, end_ns - since));
                }
            }
            continue;
        }
        if waiting.is_empty()
            && let Some(put) = puts.get(enqueued)
            && put.start_ns <= operation.end_ns
        {
            // The request was handed over while the put was still returning.
            enqueue(queue, &mut waiting, put, operation.end_ns);
            enqueued += 1;
        }
        let Some(first) = waiting.pop_front() else {
            queue.empty_takes += 1;
            continue;
        };
        let request = &mut queue.requests[first];
        let late = operation
            .end_ns
            .saturating_sub(operation.start_ns.max(request.enqueue_ns));
        if late > PATIENCE_NS && doubt.is_none() {
            doubt = Some((first, late));
        }
        request.take = Some(Take {
            thread: operation.thread,
            node: operation.node,
            dispatch_ns: operation.end_ns,
            length: waiting.len() as u64,
            finish_ns: operation.finish_ns,
        });
    }
    if let Some((first, late)) = doubt {
        for request in &mut queue.requests[first..] {
            request.sure = false;
        }
        queue.notes.push(format!(
            "From request {} on requests cannot be told apart: a take went on for {:.1} s although the queue was not empty. Some \
             puts were rejected, there are several queues, or it is not first in, first out.",
            first + 1,
            late as f64 / 1e9
        ));
    }
    if queue.empty_takes > 0 {
        queue.notes.push(format!(
            "{} takes returned while the queue was empty: they are taken to have got nothing.",
            queue.empty_takes
        ));
    }
    if queue.thrown > 0 {
        queue.notes.push(format!(
            "{} puts and takes ended by an exception and count for nothing.",
            queue.thrown
        ));
    }
    if !waiting.is_empty() {
        queue
            .notes
            .push(format!("{} requests were never taken.", waiting.len()));
    }
}

fn enqueue(queue: &mut Queue, waiting: &mut VecDeque<usize>, put: &Operation, at_ns: u64) {
    let number = queue.requests.len();
    waiting.push_back(number);
    queue.requests.push(Request {
        number: number as u64 + 1,
        put_thread: put.thread,
        put_node: put.node,
        enqueue_ns: at_ns,
        put_length: waiting.len() as u64,
        take: None,
        sure: true,
    });
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

/// Pairs of methods of a class that look as if they put and took, the most called first: at most ten.
pub fn suggestions(trace: &Trace, index: &Index) -> Vec<(String, String)> {
    const PUTS: [&str; 10] = [
        "add", "addLast", "put", "offer", "enqueue", "push", "submit", "send", "insert", "execute",
    ];
    const TAKES: [&str; 10] = [
        "get",
        "take",
        "poll",
        "dequeue",
        "pop",
        "remove",
        "receive",
        "next",
        "removeFirst",
        "await",
    ];
    let calls = |id: u32| index.calls.get(id as usize).copied().unwrap_or(0);
    let mut by_class: HashMap<&str, [Option<(u64, &str)>; 2]> = HashMap::new();
    for (id, method) in &trace.methods {
        for (side, names) in [PUTS, TAKES].iter().enumerate() {
            let count = calls(*id);
            if count > 0 && names.contains(&method.name.as_str()) {
                let best = &mut by_class.entry(&method.class).or_default()[side];
                *best = (*best).max(Some((count, &method.name)));
            }
        }
    }
    let pairs = by_class.into_iter().filter_map(|(class, [put, take])| {
        let ((puts, put), (takes, take)) = (put?, take?);
        Some((
            puts.min(takes),
            format!("{class}.{put}"),
            format!("{class}.{take}"),
        ))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    pairs.truncate(10);
    pairs
        .into_iter()
        .map(|(_, put, take)| (put, take))
        .collect()
}

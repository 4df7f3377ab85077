//! Queue replay (JPMT §5.3): request numbers, lengths and times in a queue, from the calls that put into it and take from it.
//!
//! If the log has the objects of these calls (`identifymethod` in its filter), a take belongs to the request whose object it returns,
//! whatever the queue's order is, and queues are distinguished by the receivers of the calls. Otherwise requests are identified by their
//! order: in any first-in, first-out queue, the n-th put that returned and the n-th take that returned something belong to the same request.
//! Contradictions to the order are reported: if a take lasts for a second although the queue is not empty, puts were rejected, there are
//! several queues, or the order is another. A take that returns while the queue is empty returned nothing. A call that ends by an
//! exception has put or taken nothing.

mod collect;
mod identity;
mod order;
mod queue;
mod replay;
mod suggest;

use std::collections::{BTreeSet, HashMap, HashSet};

use fulcrum_model::text::counted;
use fulcrum_model::{Cancelled, Progress};
use fulcrum_stats::Moments;

use crate::matches;
use crate::reader::open::Trace;
use crate::tree::visit::TraceRange;
use crate::tree::walk::{Passed, Walk, parking};

use collect::{Collector, Methods};
pub use queue::{Order, Queue, QueueObject, Request, Take};
pub use suggest::suggestions;

/// A summary of all requests of a queue. Times are in seconds. `None` without any values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueueSummary {
    /// The number of requests that were put.
    pub put: u64,
    /// The number of them that were taken.
    pub taken: u64,
    /// Puts per second, from the first to the last.
    pub arrival_rate: Option<f64>,
    /// The mean time in the queue.
    pub wait_mean: Option<f64>,
    /// Its variance, in seconds squared: that of the requests themselves (divided by their number).
    pub wait_variance: Option<f64>,
    /// The longest time in the queue.
    pub wait_max: Option<f64>,
    /// The mean time from being taken until the thread came back.
    pub service_mean: Option<f64>,
    /// Its variance, likewise.
    pub service_variance: Option<f64>,
    /// The greatest length of the queue.
    pub length_max: u64,
}

/// Why a queue cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueError {
    /// It was cancelled.
    Cancelled,
    /// No logged method has this name. With similar names.
    NoSuchMethod(String, Vec<String>),
    /// A method would be both a put and a take.
    Both(String),
    /// The log does not have the objects that are put or taken.
    NoObjects(String, String),
}

impl From<Cancelled> for QueueError {
    fn from(_: Cancelled) -> QueueError {
        QueueError::Cancelled
    }
}

impl std::fmt::Display for QueueError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QueueError::Cancelled => Cancelled.fmt(f),
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
            QueueError::NoObjects(put, take) => write!(
                f,
                "the log does not tell what {put} is given and {take} returns: record it with `identifymethod CLASS METHOD` in \
                 the filter for both, or choose fifo or lifo"
            ),
        }
    }
}

impl std::error::Error for QueueError {}

/// Replays a queue. `put` and `take` name methods: `CLASS.METHOD` with or without its package, with `*` for any text, several separated by
/// commas. Of nested calls, only the outermost counts. Without an order, they are joined by objects if the log has them, and otherwise first
/// in, first out.
///
/// # Errors
/// When there are no such methods, when the log does not have the objects that the order needs, or `progress` was cancelled.
pub fn queue(
    trace: &Trace,
    scope: &TraceRange,
    [put, take]: [&str; 2],
    order: Option<Order>,
    progress: &Progress,
) -> Result<Queue, QueueError> {
    let (puts, takes) = (methods(trace, put)?, methods(trace, take)?);
    if let Some(both) = puts.intersection(&takes).min() {
        return Err(QueueError::Both(trace.method_name(*both)));
    }
    let mut queue = Queue::default();
    let mut operations = Vec::new();
    let parking = parking(trace);
    let mut passed = Passed::new(progress, scope.threads(trace));
    let methods = Methods {
        puts: &puts,
        takes: &takes,
    };
    for thread in scope.threads(trace) {
        passed.enter(thread);
        let mut walk = Walk::new(trace, thread.id, &parking);
        let collector = Collector::new(thread.id, methods, &mut operations, &mut queue);
        collector.run(&mut walk, &passed)?;
    }
    // Calls that never return in the log come last.
    operations.sort_by_key(|it| (it.open, it.end_ns, !it.is_put(), it.thread, it.node));
    let best = Order::best(&operations);
    queue.order = order.unwrap_or(best);
    match (queue.order, best) {
        (Order::Identity, Order::Identity) => identity::join(&operations, &mut queue),
        (Order::Identity, _) => return Err(QueueError::NoObjects(put.into(), take.into())),
        _ => replay::join(&operations, &mut queue),
    }
    queue.count();
    queue.notes.extend(drains(trace, &puts));
    passed.finish()?;
    Ok(queue)
}

/// A note if the log has calls that take several requests at once from a class with puts.
fn drains(trace: &Trace, puts: &HashSet<u32>) -> Option<String> {
    let classes = puts.iter().filter_map(|id| trace.methods.get(id));
    let classes: HashSet<&str> = classes.map(|it| &*it.class).collect();
    let drains = trace.methods.values();
    let drains = drains.filter(|it| TAKES_SEVERAL.contains(&&*it.name));
    let drains = drains.filter(|it| classes.contains(&*it.class));
    let names: BTreeSet<String> = drains
        .map(|it| format!("{}.{}", it.class, it.name))
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "The log has calls of {}, each of which may take several requests at once: these are not replayed, and requests \
             seem to stay in the queue.",
            names.join(" and ")
        )
    })
}

/// The methods of `java.util.concurrent`'s queues, and of collections that are used as queues, that put one element.
pub const PUTS: [&str; 11] = [
    "put",
    "offer",
    "add",
    "push",
    "transfer",
    "tryTransfer",
    "putFirst",
    "putLast",
    "offerFirst",
    "offerLast",
    "addLast",
];
/// The methods that take one element.
pub const TAKES: [&str; 10] = [
    "take",
    "poll",
    "remove",
    "pop",
    "takeFirst",
    "takeLast",
    "pollFirst",
    "pollLast",
    "removeFirst",
    "removeLast",
];
/// The methods that take several elements at once, which cannot be replayed.
const TAKES_SEVERAL: [&str; 2] = ["drainTo", "clear"];

/// The logged methods of one class, or several with `*`, that put into a queue and that take from it, as [`queue`] expects them.
///
/// # Errors
/// When the log has no such put, or no such take.
pub fn methods_of(trace: &Trace, class: &str) -> Result<[String; 2], QueueError> {
    let all = |names: &[&str]| {
        let names = names.iter().map(|name| format!("{class}.{name}"));
        let (found, missing): (Vec<_>, Vec<_>) =
            names.partition(|name| !named(trace, name).is_empty());
        match found.is_empty() {
            true => Err(QueueError::NoSuchMethod(
                missing.join(" or "),
                near(trace, class),
            )),
            false => Ok(found.join(",")),
        }
    };
    Ok([all(&PUTS)?, all(&TAKES)?])
}

fn methods(trace: &Trace, patterns: &str) -> Result<HashSet<u32>, QueueError> {
    let mut all = HashSet::new();
    for pattern in patterns.split(',').map(str::trim) {
        let found = named(trace, pattern);
        if found.is_empty() {
            return Err(QueueError::NoSuchMethod(
                pattern.to_owned(),
                near(trace, pattern),
            ));
        }
        all.extend(found);
    }
    Ok(all)
}

fn full_names(trace: &Trace) -> impl Iterator<Item = (u32, String)> {
    let methods = trace.methods.iter();
    methods.map(|(id, it)| (*id, format!("{}.{}", it.class, it.name)))
}

fn named(trace: &Trace, pattern: &str) -> HashSet<u32> {
    let anywhere = format!("*.{pattern}");
    full_names(trace)
        .filter(|(_, name)| matches(pattern, name) || matches(&anywhere, name))
        .map(|(id, _)| id)
        .collect()
}

/// Some methods with similar names.
fn near(trace: &Trace, pattern: &str) -> Vec<String> {
    let last = pattern
        .rsplit(['.', '*'])
        .next()
        .unwrap_or("")
        .to_lowercase();
    let mut near: Vec<String> = full_names(trace)
        .map(|(_, name)| name)
        .filter(|name| !last.is_empty() && name.to_lowercase().contains(&last))
        .collect();
    near.sort();
    near.dedup();
    near.truncate(5);
    near
}

/// The contents of the *queueing* column at a put or a take (JPMT, Figs. 10 and 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueCell {
    /// The request. `None` if uncertain.
    pub number: Option<u64>,
    /// The length of the queue after the call.
    pub length: u64,
    /// At a take, the request's time in the queue, in nanoseconds.
    pub wait_ns: Option<u64>,
}

/// The queueing column, by thread and node.
pub type Cells = HashMap<(u32, u64), QueueCell>;

impl Queue {
    /// Summarises each queue, and notes what was left out.
    fn count(&mut self) {
        let mut places: HashMap<Option<u64>, usize> = HashMap::new();
        for request in &self.requests {
            let at = *places.entry(request.queue).or_insert_with(|| {
                self.queues.push(QueueObject {
                    object: request.queue,
                    put: 0,
                    taken: 0,
                    length_max: 0,
                });
                self.queues.len() - 1
            });
            let queue = &mut self.queues[at];
            queue.put += 1;
            queue.taken += u64::from(request.take.is_some());
            queue.length_max = queue.length_max.max(request.put_length);
        }
        let left = self.requests.iter().filter(|it| it.take.is_none()).count() as u64;
        self.note(
            self.thrown,
            ["put or take", "puts and takes"],
            "ended by an exception: left out.",
        );
        self.note(
            self.rejected,
            ["put", "puts"],
            "returned false and thus rejected the object: left out.",
        );
        self.note(left, ["request was", "requests were"], "never taken.");
    }

    /// Notes what happened to so many of something, unless to none.
    fn note(&mut self, count: u64, [one, several]: [&str; 2], what: &str) {
        if count > 0 {
            let them = counted(count, one, several);
            self.notes.push(format!("{them} {what}"));
        }
    }

    /// A summary of all requests.
    pub fn summary(&self) -> QueueSummary {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let waits = || self.requests.iter().filter_map(Request::wait_ns);
        let services = self.requests.iter().filter_map(Request::service_ns);
        let wait: Moments = waits().map(seconds).collect();
        let service: Moments = services.map(seconds).collect();
        let lengths = self.requests.iter().map(|it| it.put_length);
        let arrival_rate = match (self.requests.first(), self.requests.last()) {
            (Some(first), Some(last)) if last.enqueue_ns > first.enqueue_ns => {
                Some((self.requests.len() - 1) as f64 / seconds(last.enqueue_ns - first.enqueue_ns))
            }
            _ => None,
        };
        QueueSummary {
            put: self.requests.len() as u64,
            taken: waits().count() as u64,
            arrival_rate,
            wait_mean: wait.mean(),
            wait_variance: wait.variance(),
            wait_max: waits().max().map(seconds),
            service_mean: service.mean(),
            service_variance: service.variance(),
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

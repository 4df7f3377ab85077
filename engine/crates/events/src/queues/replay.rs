//! Joins by an order: puts and takes one after another, in the order of their ends.

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::collect::{Action, Operation};
use super::queue::{Order, Queue, Request, Take, number};

/// A take may last this long although there is a request, because it may wait for a processor.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A contradiction: a take lasted this long although this request was in the queue.
struct Doubt {
    request: usize,
    late_ns: u64,
}

/// Joins puts and takes, which are in the order of their ends, queue by queue if the log distinguishes queues.
pub(crate) fn join(operations: &[Operation], queue: &mut Queue) {
    let end_ns = operations.iter().map(|it| it.end_ns).max().unwrap_or(0);
    let mut operations: Vec<&Operation> = operations.iter().collect();
    operations.retain(|it| !(it.is_put() && it.open));
    // Takes that are known to have returned nothing.
    let known_empty = queue.empty_takes;
    let mut doubts = Vec::new();
    if are_distinguishable(&operations) {
        let mut by_queue: BTreeMap<Option<u64>, Vec<&Operation>> = BTreeMap::new();
        for operation in operations {
            by_queue
                .entry(operation.receiver)
                .or_default()
                .push(operation);
        }
        for those in by_queue.values() {
            doubts.extend(replay(those, end_ns, queue));
        }
    } else {
        doubts.extend(replay(&operations, end_ns, queue));
        // The queue of a take is not known.
        queue.requests.iter_mut().for_each(|it| it.queue = None);
    }
    let numbers = number(queue);
    let order = match queue.order {
        Order::Lifo => "last in, first out",
        Order::Fifo | Order::Identity => "first in, first out",
    };
    for Doubt { request, late_ns } in doubts {
        queue.notes.push(format!(
            "From request {} on, requests cannot be told apart: a take lasted {:.1} s although the queue was not empty. \
             Either some puts were rejected, or there are several queues, or the queue is not {order}.",
            numbers[request],
            late_ns as f64 / 1e9
        ));
    }
    for (count, what) in [
        (
            queue.before_put,
            "returned an object while the queue was empty: the queue does not keep this order.",
        ),
        (
            queue.mismatched,
            "returned an object other than the next one: the queue does not keep this order.",
        ),
        (
            queue.empty_takes - known_empty,
            "returned while the queue was empty: presumably nothing.",
        ),
    ] {
        queue.note(count, ["take", "takes"], what);
    }
}

/// Whether the receivers of calls are queues: each call has one, and takes have receivers that puts have, too.
fn are_distinguishable(operations: &[&Operation]) -> bool {
    let of = |action: Action| -> HashSet<Option<u64>> {
        let those = operations.iter().filter(|it| it.action == action);
        those.map(|it| it.receiver).collect()
    };
    let (puts, takes) = (of(Action::Put), of(Action::Take));
    !puts.contains(&None) && !takes.contains(&None) && !puts.is_disjoint(&takes)
}

/// Replays one queue.
fn replay(operations: &[&Operation], end_ns: u64, queue: &mut Queue) -> Option<Doubt> {
    let puts: Vec<&Operation> = operations
        .iter()
        .filter(|it| it.is_put())
        .copied()
        .collect();
    let (mut enqueued, mut returned) = (0, 0);
    let mut waiting: VecDeque<usize> = VecDeque::new();
    let mut doubt: Option<Doubt> = None;
    let mut suspect = |request: usize, late_ns: u64| {
        if late_ns > PATIENCE_NS && doubt.is_none() {
            doubt = Some(Doubt { request, late_ns });
        }
    };
    for operation in operations {
        if operation.is_put() {
            // A request that was taken before its put returned has already been handled.
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
                suspect(*first, end_ns.saturating_sub(since));
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
        let Some(oldest) = waiting.front().copied() else {
            // A take that returned an object did have a request.
            match operation.object {
                Some(_) => queue.before_put += 1,
                None => queue.empty_takes += 1,
            }
            continue;
        };
        let since = operation.start_ns.max(queue.requests[oldest].enqueue_ns);
        suspect(oldest, operation.end_ns.saturating_sub(since));
        take(queue, &mut waiting, operation);
    }
    if let Some(Doubt { request, .. }) = doubt {
        for request in &mut queue.requests[request..] {
            request.sure = false;
        }
    }
    doubt
}

/// Takes a request from the queue, which is not empty.
fn take(queue: &mut Queue, waiting: &mut VecDeque<usize>, operation: &Operation) {
    let next = match queue.order {
        Order::Lifo => waiting.pop_back(),
        Order::Fifo | Order::Identity => waiting.pop_front(),
    };
    let request = &mut queue.requests[next.expect("a request is waiting")];
    request.take = Some(Take {
        thread: operation.thread,
        node: operation.node,
        dispatch_ns: operation.end_ns,
        length: waiting.len() as u64,
        finish_ns: operation.finish_ns,
    });
    if let (Some(put), Some(taken)) = (request.object, operation.object)
        && put != taken
    {
        queue.mismatched += 1;
        request.sure = false;
    }
}

fn enqueue(queue: &mut Queue, waiting: &mut VecDeque<usize>, put: &Operation, at_ns: u64) {
    waiting.push_back(queue.requests.len());
    queue.requests.push(Request {
        put_length: waiting.len() as u64,
        ..Request::of(put, at_ns)
    });
}

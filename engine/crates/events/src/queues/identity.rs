//! Joins by objects: a take belongs to the request whose object it returns.

use std::collections::{HashMap, VecDeque};

use super::collect::Operation;
use super::queue::{Queue, Request, Take, number};

/// Joins puts and takes, which are in the order of their ends.
pub(crate) fn join(operations: &[Operation], queue: &mut Queue) {
    let (mut put, unknown_puts) = puts_by_object(operations);
    let mut unknown_takes = 0_u64;
    let mut taken: HashMap<usize, &Operation> = HashMap::new();
    for take in operations.iter().filter(|it| !it.is_put() && !it.open) {
        let Some(object) = take.object else {
            unknown_takes += 1;
            continue;
        };
        let puts = put.entry(object).or_default();
        match puts.front().copied() {
            // An object cannot be in the queue before its put has begun.
            Some(at) if operations[at].start_ns <= take.end_ns => {
                puts.pop_front();
                taken.insert(at, take);
            }
            _ => queue.before_put += 1,
        }
    }
    for (at, put) in operations.iter().enumerate().filter(|(_, it)| it.is_put()) {
        let take = taken.get(&at);
        // A put that is still open when the log ends has not put anything yet.
        if put.object.is_none() || (put.open && take.is_none()) {
            continue;
        }
        let enqueue_ns = take.map_or(put.end_ns, |take| put.end_ns.min(take.end_ns));
        queue.requests.push(Request {
            take: take.map(|take| Take {
                thread: take.thread,
                node: take.node,
                dispatch_ns: take.end_ns,
                length: 0,
                finish_ns: take.finish_ns,
            }),
            ..Request::of(put, enqueue_ns)
        });
    }
    number(queue);
    lengths(&mut queue.requests);
    queue.overtaken = Some(overtaken(operations, &taken));
    let takes = ["take", "takes"];
    queue.note(
        queue.before_put,
        takes,
        "returned an object that was never put: it was in the queue before the log began, or got there in another way.",
    );
    let unknown = "left out: the object is not known.";
    queue.note(unknown_puts, ["put", "puts"], unknown);
    queue.note(unknown_takes, takes, unknown);
}

/// The puts of each object, in the order of their beginnings, and the number of puts whose object is unknown. An object may be put
/// again after it was taken.
fn puts_by_object(operations: &[Operation]) -> (HashMap<u64, VecDeque<usize>>, u64) {
    let mut put: HashMap<u64, VecDeque<usize>> = HashMap::new();
    let mut unknown = 0;
    let mut by_start: Vec<usize> = (0..operations.len())
        .filter(|at| operations[*at].is_put())
        .collect();
    by_start.sort_by_key(|at| operations[*at].start_ns);
    for at in by_start {
        match operations[at].object {
            Some(object) => put.entry(object).or_default().push_back(at),
            None => unknown += u64::from(!operations[at].open),
        }
    }
    (put, unknown)
}

/// Computes the length of the queue after each put and each take.
fn lengths(requests: &mut [Request]) {
    let mut steps: Vec<(u64, bool, usize)> = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        steps.push((request.enqueue_ns, false, at));
        steps.extend(request.take.map(|take| (take.dispatch_ns, true, at)));
    }
    steps.sort_unstable();
    let mut there: HashMap<Option<u64>, u64> = HashMap::new();
    for (_, leaves, at) in steps {
        let request = &mut requests[at];
        let there = there.entry(request.queue).or_default();
        match (leaves, &mut request.take) {
            (true, Some(take)) => {
                *there -= 1;
                take.length = *there;
            }
            _ => {
                *there += 1;
                request.put_length = *there;
            }
        }
    }
}

/// The number of requests that were certainly taken after one that was put later: neither the two puts nor the two takes overlap.
fn overtaken(operations: &[Operation], taken: &HashMap<usize, &Operation>) -> u64 {
    let mut by_queue: HashMap<Option<u64>, Vec<(&Operation, &Operation)>> = HashMap::new();
    for (at, take) in taken {
        let put = &operations[*at];
        by_queue.entry(put.receiver).or_default().push((put, take));
    }
    let mut count = 0;
    for pairs in by_queue.values_mut() {
        pairs.sort_by_key(|(put, _)| put.start_ns);
        // For each pair, the earliest end of a take among it and all pairs whose puts began later.
        let mut earliest: Vec<u64> = pairs.iter().map(|(_, take)| take.end_ns).collect();
        for at in (1..earliest.len()).rev() {
            earliest[at - 1] = earliest[at - 1].min(earliest[at]);
        }
        for (put, take) in pairs.iter() {
            let later = pairs.partition_point(|(other, _)| other.start_ns <= put.end_ns);
            count += u64::from(earliest.get(later).is_some_and(|end| *end < take.start_ns));
        }
    }
    count
}

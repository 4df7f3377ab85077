//! The replay itself: puts and takes in the order of their ends.

use std::collections::{HashSet, VecDeque};

use super::{Queue, Request, Take};
use crate::index::Cancelled;
use crate::rows::Wanted;
use crate::stack::{Closing, Node};
use crate::walk::Walk;

/// A take may go on for so long although there is a request: it may not have got a processor.
const PATIENCE_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub put: bool,
    pub thread: u32,
    pub node: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub finish_ns: Option<u64>,
    /// The log ended before.
    pub open: bool,
}

/// The outermost puts and takes of a thread; those that ended by an exception are only counted.
pub fn collect(
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
    loop {
        let event = walk.step_if(|_| wanted())?;
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

pub fn replay(operations: &[Operation], end_ns: u64, queue: &mut Queue) {
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

//! Puts and takes, from the events of threads.

use std::collections::HashSet;

use fulcrum_model::Cancelled;

use super::queue::{Queue, Request};
use crate::event::{Returned, What};
use crate::stack::{Closing, Node};
use crate::walk::{Passed, Walk};

/// A put or a take.
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
    /// What it was called on; `None` when that is not told, or it is static.
    pub receiver: Option<u64>,
    /// What was put or taken; `None` when that is not told.
    pub object: Option<u64>,
}

impl Request {
    /// A request that was put and not taken so far; nothing is known of the queue's length.
    pub fn of(put: &Operation, enqueue_ns: u64) -> Request {
        Request {
            number: 0,
            queue: put.receiver,
            object: put.object,
            put_thread: put.thread,
            put_node: put.node,
            enqueue_ns,
            put_length: 0,
            take: None,
            sure: true,
        }
    }
}

/// The objects of a call, as far as they are told.
#[derive(Clone, Copy, Default)]
struct Objects {
    receiver: u64,
    argument: u64,
    result: Option<Returned>,
}

impl Objects {
    /// Whether nothing was put or taken: there was no place, or nothing there.
    fn is_nothing(&self, put: bool) -> bool {
        match self.result {
            Some(Returned::Boolean(yes)) => !yes,
            Some(Returned::Object(object)) => !put && object == 0,
            None => false,
        }
    }

    fn object(&self, put: bool) -> Option<u64> {
        let object = match (put, self.result) {
            (true, _) => self.argument,
            (false, Some(Returned::Object(object))) => object,
            (false, _) => 0,
        };
        known(object)
    }
}

fn known(object: u64) -> Option<u64> {
    (object > 0).then_some(object)
}

/// The methods whose calls are puts and takes, by their numbers.
#[derive(Clone, Copy)]
pub struct Methods<'a> {
    pub puts: &'a HashSet<u32>,
    pub takes: &'a HashSet<u32>,
}

/// The outermost puts and takes of a thread. Those that ended by an exception, and those that are known to have put or taken
/// nothing, are only counted.
pub fn collect(
    walk: &mut Walk<'_>,
    thread: u32,
    methods: Methods<'_>,
    operations: &mut Vec<Operation>,
    queue: &mut Queue,
    passed: &Passed<'_>,
) -> Result<(), Cancelled> {
    let is = |set: &HashSet<u32>, node: Node| matches!(node, Node::Call { method } if set.contains(&method));
    // The depth of the outermost open one.
    let mut outermost: Option<usize> = None;
    let mut objects = Objects::default();
    // Since when the last take is being served.
    let mut last_take: Option<usize> = None;
    loop {
        let event = walk.step_with(passed)?;
        for (outcome, open) in &walk.ended {
            if outermost != Some(outcome.depth) {
                continue;
            }
            outermost = None;
            let objects = std::mem::take(&mut objects);
            let put = is(methods.puts, outcome.node);
            match outcome.closing {
                Closing::Thrown => {
                    queue.thrown += 1;
                    continue;
                }
                Closing::Unwound => continue,
                Closing::Ended if objects.is_nothing(put) => {
                    let count = match put {
                        true => &mut queue.rejected,
                        false => &mut queue.empty_takes,
                    };
                    *count += 1;
                    continue;
                }
                Closing::Ended | Closing::Open => {}
            }
            operations.push(Operation {
                put,
                thread,
                node: open.node,
                start_ns: outcome.start_ns,
                end_ns: outcome.end_ns,
                finish_ns: None,
                open: outcome.closing == Closing::Open,
                receiver: known(objects.receiver),
                object: objects.object(put),
            });
            if !put {
                last_take = Some(operations.len() - 1);
            }
        }
        let Some(event) = event else { break };
        if walk.began && outermost.is_none() {
            let open = walk.open.last().expect("it was opened just now");
            let put = is(methods.puts, open.what);
            let take = is(methods.takes, open.what);
            if put || take {
                outermost = Some(walk.open.len() - 1);
            }
            if take && let Some(last) = last_take.take() {
                operations[last].finish_ns = Some(event.wall_ns);
            }
        }
        // Of the calls inside, no object counts.
        let own = outermost.is_some_and(|at| at + 1 == walk.open.len());
        match event.what {
            What::Objects {
                receiver, argument, ..
            } if own => (objects.receiver, objects.argument) = (receiver, argument),
            What::Result { value, .. } if own => objects.result = Some(value),
            What::ThreadEnd => {
                if let Some(last) = last_take.take() {
                    operations[last].finish_ns = Some(event.wall_ns);
                }
            }
            _ => {}
        }
    }
    queue.notes.extend_from_slice(walk.problems());
    Ok(())
}

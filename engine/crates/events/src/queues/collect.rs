//! Collects puts and takes from the events of threads.

use std::collections::HashSet;

use fulcrum_model::Cancelled;

use super::queue::{Queue, Request};
use crate::reader::event::{Event, Returned, What};
use crate::tree::stack::{Closing, Node, Outcome};
use crate::tree::walk::{Open, Passed, Walk};

/// What a call does to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Put,
    Take,
}

/// A put or a take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) action: Action,
    pub(crate) thread: u32,
    pub(crate) node: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) finish_ns: Option<u64>,
    /// Whether the log ended before it.
    pub(crate) open: bool,
    /// The object on which it was called. `None` if the log does not have it, or the method is static.
    pub(crate) receiver: Option<u64>,
    /// The object that was put or taken. `None` if the log does not have it.
    pub(crate) object: Option<u64>,
}

impl Operation {
    pub(crate) fn is_put(&self) -> bool {
        self.action == Action::Put
    }
}

impl Request {
    /// A request that was put and not taken yet. The queue's length is not known yet.
    pub(crate) fn of(put: &Operation, enqueue_ns: u64) -> Request {
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

/// The objects of a call, as far as the log has them.
#[derive(Clone, Copy, Default)]
struct Objects {
    receiver: u64,
    argument: u64,
    result: Option<Returned>,
}

impl Objects {
    /// Whether nothing was put or taken, because the queue was full or empty.
    fn is_nothing(&self, action: Action) -> bool {
        match self.result {
            Some(Returned::Boolean(yes)) => !yes,
            Some(Returned::Object(object)) => action == Action::Take && object == 0,
            None => false,
        }
    }

    fn object(&self, action: Action) -> Option<u64> {
        let object = match (action, self.result) {
            (Action::Put, _) => self.argument,
            (Action::Take, Some(Returned::Object(object))) => object,
            (Action::Take, _) => 0,
        };
        known(object)
    }
}

fn known(object: u64) -> Option<u64> {
    (object > 0).then_some(object)
}

/// The methods whose calls are puts and takes, by their numbers.
#[derive(Clone, Copy)]
pub(crate) struct Methods<'a> {
    pub(crate) puts: &'a HashSet<u32>,
    pub(crate) takes: &'a HashSet<u32>,
}

impl Methods<'_> {
    fn action(self, node: Node) -> Option<Action> {
        let is =
            |set: &HashSet<u32>| matches!(node, Node::Call { method } if set.contains(&method));
        match (is(self.puts), is(self.takes)) {
            (true, _) => Some(Action::Put),
            (false, true) => Some(Action::Take),
            (false, false) => None,
        }
    }
}

/// Collects the outermost puts and takes of a thread. Those that ended by an exception, and those that are known to have put or
/// taken nothing, are only counted.
pub(crate) struct Collector<'a> {
    thread: u32,
    methods: Methods<'a>,
    operations: &'a mut Vec<Operation>,
    queue: &'a mut Queue,
    /// The depth of the outermost open call.
    outermost: Option<usize>,
    objects: Objects,
    /// The last take, while its request is being served.
    last_take: Option<usize>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        thread: u32,
        methods: Methods<'a>,
        operations: &'a mut Vec<Operation>,
        queue: &'a mut Queue,
    ) -> Collector<'a> {
        Collector {
            thread,
            methods,
            operations,
            queue,
            outermost: None,
            objects: Objects::default(),
            last_take: None,
        }
    }

    /// Reads the thread's events.
    pub(crate) fn run(mut self, walk: &mut Walk<'_>, passed: &Passed<'_>) -> Result<(), Cancelled> {
        loop {
            let event = walk.step_with(passed)?;
            for (outcome, open) in &walk.ended {
                if self.outermost == Some(outcome.depth) {
                    self.outermost = None;
                    self.ended(outcome, open);
                }
            }
            let Some(event) = event else { break };
            self.event(&event, walk);
        }
        self.queue.notes.extend_from_slice(walk.problems());
        Ok(())
    }

    /// The outermost call ended.
    fn ended(&mut self, outcome: &Outcome, open: &Open) {
        let objects = std::mem::take(&mut self.objects);
        let action = self.methods.action(outcome.node).unwrap_or(Action::Take);
        match outcome.closing {
            Closing::Thrown => {
                self.queue.thrown += 1;
                return;
            }
            Closing::Unwound => return,
            Closing::Ended if objects.is_nothing(action) => {
                match action {
                    Action::Put => self.queue.rejected += 1,
                    Action::Take => self.queue.empty_takes += 1,
                }
                return;
            }
            Closing::Ended | Closing::Open => {}
        }
        self.operations.push(Operation {
            action,
            thread: self.thread,
            node: open.node,
            start_ns: outcome.start_ns,
            end_ns: outcome.end_ns,
            finish_ns: None,
            open: outcome.closing == Closing::Open,
            receiver: known(objects.receiver),
            object: objects.object(action),
        });
        if action == Action::Take {
            self.last_take = Some(self.operations.len() - 1);
        }
    }

    fn event(&mut self, event: &Event, walk: &Walk<'_>) {
        if walk.began && self.outermost.is_none() {
            let open = walk.open.last().expect("it was opened just now");
            let action = self.methods.action(open.what);
            if action.is_some() {
                self.outermost = Some(walk.open.len() - 1);
            }
            if action == Some(Action::Take) {
                self.finish_service(event.wall_ns);
            }
        }
        // Objects of inner calls do not count.
        let own = self.outermost.is_some_and(|at| at + 1 == walk.open.len());
        match event.what {
            What::Objects {
                receiver, argument, ..
            } if own => (self.objects.receiver, self.objects.argument) = (receiver, argument),
            What::Result { value, .. } if own => self.objects.result = Some(value),
            What::ThreadEnd => self.finish_service(event.wall_ns),
            _ => {}
        }
    }

    /// The thread has served the request that it took last.
    fn finish_service(&mut self, at_ns: u64) {
        if let Some(last) = self.last_take.take() {
            self.operations[last].finish_ns = Some(at_ns);
        }
    }
}

//! Requests: what a process does for one is a task; what all processes do for one that came from outside is an instance.

use std::rc::Rc;

use fulcrum_transactions::Synopsis;

use super::thread::{Doing, Hold};
use super::world::World;
use crate::index::{ChannelId, EndId};

/// Row of [`World::tasks`].
pub(crate) type TaskId = usize;
/// Row of [`World::instances`].
pub(crate) type InstanceId = u32;

/// What a process does for one request.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub process: usize,
    pub instance: InstanceId,
    /// Who asked for it, and who asked for that.
    pub origin: Option<Rc<Origin>>,
    /// Its latest context.
    pub context: Synopsis,
    /// When it was last worked on, on its process's clock.
    pub active_ns: u64,
    /// Something was sent to whoever asked, or they are gone.
    pub is_over: bool,
}

/// For whom a process worked when it sent a message, and who had asked it.
#[derive(Debug)]
pub(crate) struct Origin {
    pub process: usize,
    pub doing: Doing,
    pub hold: Hold,
    pub before: Option<Rc<Origin>>,
}

impl Origin {
    /// For whom a process worked when it sent what led here.
    pub fn find(self: &Rc<Self>, process: usize) -> Option<(Doing, Hold)> {
        let mut at = Some(self);
        while let Some(origin) = at {
            if origin.process == process {
                return Some((origin.doing, origin.hold));
            }
            at = origin.before.as_ref();
        }
        None
    }
}

/// One execution of a transaction. Times are those of the clock of the process where it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// In the process where it began.
    pub task: TaskId,
    pub process: usize,
    pub began_ns: u64,
    /// When its last answer was sent, and in which context.
    pub answered: Option<(u64, Synopsis)>,
}

/// Who begins on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// This side asks.
    Asks,
    /// This side is asked.
    IsAsked,
}

/// One side of a stream, with all processes that have it.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub role: Option<Role>,
    /// The request that came last by it.
    pub request: Option<Request>,
    /// What the first request continued, in which process.
    pub base: Option<(usize, Synopsis)>,
    /// The first bytes of what came since something was last sent.
    pub head: Vec<u8>,
    pub open_ends: usize,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub process: usize,
    /// For whom it worked.
    pub doing: Doing,
    /// The context with the call path that sent.
    pub sent: Synopsis,
}

/// A request that came by a stream.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub task: TaskId,
    pub is_answered: bool,
    /// It has the name that its first bytes tell.
    pub is_named: bool,
    /// `None`: it came from outside.
    pub sender: Option<Sender>,
}

impl World<'_> {
    /// Begins a task; with it an instance, unless the request is a part of one.
    pub(super) fn begin_task(
        &mut self,
        process: usize,
        instance: Option<InstanceId>,
        origin: Option<Rc<Origin>>,
        time_ns: u64,
    ) -> TaskId {
        let task = self.tasks.len();
        let instance = instance.unwrap_or_else(|| {
            self.instances.push(Instance {
                task,
                process,
                began_ns: time_ns,
                answered: None,
            });
            (self.instances.len() - 1) as InstanceId
        });
        self.tasks.push(Task {
            process,
            instance,
            origin,
            context: Synopsis::EMPTY,
            active_ns: time_ns,
            is_over: false,
        });
        task
    }

    /// The side by which an end receives. Who writes into a pipe has another one.
    pub(super) fn side(&mut self, end: EndId) -> &mut Side {
        let end = &self.index.ends[end];
        match self.index.channels[end.channel].is_pipe {
            true => &mut self.sides[end.channel][1],
            false => &mut self.sides[end.channel][end.side],
        }
    }

    /// The side by which an end sends.
    pub(super) fn sending_side(&mut self, end: EndId) -> &mut Side {
        let end = &self.index.ends[end];
        &mut self.sides[end.channel][end.side]
    }

    /// The request of a side that is still to be answered, if this process works on it.
    pub(super) fn open_task(&mut self, end: EndId) -> Option<TaskId> {
        let process = self.index.ends[end].process;
        let request = self.side(end).request.as_ref()?;
        let (task, is_answered) = (request.task, request.is_answered);
        (!is_answered && self.tasks[task].process == process).then_some(task)
    }

    /// An answer goes out: the instance that began by this request ends here, unless more follows.
    pub(super) fn answers(&mut self, end: EndId, by: Doing, time_ns: u64) {
        let side = self.sending_side(end);
        side.head.clear();
        let Some(request) = &mut side.request else {
            return;
        };
        request.is_answered = true;
        let task = request.task;
        self.tasks[task].is_over = true;
        let instance = &mut self.instances[self.tasks[task].instance as usize];
        if instance.task != task {
            return;
        }
        let process = self.index.ends[end].process;
        let is_of_task =
            by.task.map(|it| self.tasks[it].instance) == Some(self.tasks[task].instance);
        let context = match (is_of_task && instance.process == process, instance.answered) {
            (true, _) => by.context,
            (false, Some((_, context))) => context,
            (false, None) => self.tasks[task].context,
        };
        // Another process that answers has the same clock: it has the same end.
        instance.answered = Some((time_ns, context));
    }

    /// A process has no descriptor of the end any more.
    pub(super) fn closed(&mut self, end: EndId) {
        let side = self.sending_side(end);
        side.open_ends = side.open_ends.saturating_sub(1);
        if side.open_ends == 0
            && let Some(request) = self.side(end).request.take()
        {
            self.tasks[request.task].is_over = true;
        }
    }

    /// What a side begins with.
    pub(super) fn new_side(&self, channel: ChannelId, side: usize) -> Side {
        use fulcrum_wire::transactions::Via;
        let ends = &self.index.channels[channel].sides[side];
        let via = |wanted: Via| ends.iter().any(|&it| self.index.ends[it].via == wanted);
        Side {
            role: match () {
                () if self.index.channels[channel].is_pipe => None,
                () if via(Via::Accepted) => Some(Role::IsAsked),
                () if via(Via::Connected) => Some(Role::Asks),
                () => None,
            },
            open_ends: ends.len(),
            ..Side::default()
        }
    }
}

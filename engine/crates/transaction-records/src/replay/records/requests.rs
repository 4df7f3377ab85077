//! Requests. A task is what one process does for a request. An instance is what all processes do for a request from
//! outside.

use std::rc::Rc;

use fulcrum_transactions::Synopsis;

use crate::index::{ChannelId, EndId};
use crate::replay::state::doing::{Doing, InstanceId, Origin, TaskId};
use crate::replay::state::request::{Instance, Role, Side, Task};
use crate::replay::state::world::World;

impl World<'_> {
    /// Begins a task, and an instance unless the request is part of one.
    pub(in crate::replay) fn begin_task(
        &mut self,
        process: usize,
        instance: Option<InstanceId>,
        origin: Option<Rc<Origin>>,
        time_ns: u64,
    ) -> TaskId {
        let task = TaskId(self.tasks.len());
        let instance = instance.unwrap_or_else(|| {
            self.instances.push(Instance {
                task,
                process,
                began_ns: time_ns,
                answered: None,
                trace: None,
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

    /// The side on which an end receives. For a pipe, the writer has another side.
    pub(in crate::replay) fn side(&mut self, end: EndId) -> &mut Side {
        let end = &self.index.ends[end];
        match self.index.channels[end.channel].is_pipe {
            true => &mut self.sides[end.channel][1],
            false => &mut self.sides[end.channel][end.side],
        }
    }

    /// The side on which an end sends.
    pub(in crate::replay) fn sending_side(&mut self, end: EndId) -> &mut Side {
        let end = &self.index.ends[end];
        &mut self.sides[end.channel][end.side]
    }

    /// The unanswered request of a side, if this process works on it.
    pub(in crate::replay) fn open_task(&mut self, end: EndId) -> Option<TaskId> {
        let process = self.index.ends[end].process;
        let request = self.side(end).request.as_ref()?;
        let (task, is_answered) = (request.task, request.is_answered);
        (!is_answered && self.tasks[task].process == process).then_some(task)
    }

    /// An answer is sent. The instance that began with the request ends here, unless more follows.
    pub(in crate::replay) fn answers(&mut self, end: EndId, by: Doing, time_ns: u64) {
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
        // If another process answers, it has the same clock, because it has the same end.
        instance.answered = Some((time_ns, context));
    }

    /// The process has closed its last descriptor of the end.
    pub(in crate::replay) fn closed(&mut self, end: EndId) {
        let side = self.sending_side(end);
        side.open_ends = side.open_ends.saturating_sub(1);
        if side.open_ends == 0
            && let Some(request) = self.side(end).request.take()
        {
            self.tasks[request.task].is_over = true;
        }
    }

    /// The initial state of a side.
    pub(in crate::replay) fn new_side(&self, channel: ChannelId, side: usize) -> Side {
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

//! The state that records change.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_transactions::recognise::Recognition;
use fulcrum_transactions::{Name, Step, Synopsis, TraceId};
use fulcrum_wire::transactions::{Head, Record};

use super::direction::{Direction, EndState};
use super::doing::{Doing, Hold, InstanceId, Moment, ThreadRow};
use super::process::Process;
use super::request::{Instance, Side, Task};
use super::thread::Thread;
use super::wait::WaitsFor;
use crate::index::{ChannelId, EndId, Index};
use crate::log::Log;
use crate::names::Resolvers;

/// What a record may depend on, and what has become possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::replay) enum Cause {
    /// Bytes in one direction of a channel.
    Bytes(ChannelId, usize),
    /// A thread was created, by process and number.
    Spawn(usize, u32),
    /// A process was created, by its row.
    Fork(usize),
    /// An item was produced, by process.
    Item(usize, u64),
    /// All threads of a process have ended.
    Done(usize),
}

/// The state of all processes.
pub(crate) struct World<'a> {
    pub(in crate::replay) index: &'a Index,
    pub(in crate::replay) resolver: &'a Resolvers<'a>,
    pub(in crate::replay) recognition: Recognition,
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    /// By process and number.
    pub(in crate::replay) thread_of: HashMap<(usize, u32), ThreadRow>,
    /// By channel and sending side.
    pub(in crate::replay) directions: Vec<[Direction; 2]>,
    pub(in crate::replay) sides: Vec<[Side; 2]>,
    pub(in crate::replay) ends: Vec<EndState>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) instances: Vec<Instance>,
    /// The latest transaction of each trace.
    pub(in crate::replay) traced: HashMap<TraceId, InstanceId>,
    /// Records that continued although what they depend on had not happened.
    pub(crate) forced: u64,
    /// What has become possible since this was last taken.
    pub(in crate::replay) possible: Vec<Cause>,
    /// How many windows of each run have ended. Runs without pauses may be missing.
    pub(in crate::replay) windows_ended: Vec<u32>,
    /// The first task that may still be worked for.
    pub(in crate::replay) first_of_window: usize,
    /// Ends that were used in this window.
    pub(in crate::replay) touched: Vec<EndId>,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        logs: &[Log<'_>],
        index: &'a Index,
        resolver: &'a Resolvers<'a>,
        recognition: Recognition,
    ) -> Self {
        let mut world = World {
            index,
            resolver,
            recognition,
            processes: Vec::new(),
            threads: Vec::new(),
            thread_of: HashMap::new(),
            directions: (0..index.channels.len())
                .map(|it| Direction::both(index, ChannelId(it)))
                .collect(),
            sides: Vec::new(),
            ends: vec![EndState::default(); index.ends.len()],
            tasks: Vec::new(),
            instances: Vec::new(),
            traced: HashMap::new(),
            forced: 0,
            possible: Vec::new(),
            windows_ended: Vec::new(),
            first_of_window: 0,
            touched: Vec::new(),
        };
        world.sides = (0..index.channels.len())
            .map(ChannelId)
            .map(|it| [world.new_side(it, 0), world.new_side(it, 1)])
            .collect();
        for (row, log) in logs.iter().enumerate() {
            let mut process = Process::new(row, index.processes[row].run, index.processes[row].key);
            process.threads_left = log.threads().len();
            let first = world.threads.len();
            process.rows = first..first + process.threads_left;
            for it in log.threads() {
                let thread = ThreadRow(world.threads.len());
                world.thread_of.insert((row, it.number), thread);
                let from_ns = it.names.first().map_or(0, |(from, _)| *from);
                process.add_thread(it.tid, from_ns, thread);
                let new = Thread::new(row, it.number, it.tid, it.names.clone());
                world.threads.push(new);
            }
            world.processes.push(process);
        }
        world
    }

    /// What a thread's next record depends on, or `None` if it can continue.
    pub(in crate::replay) fn obstacle(
        &self,
        thread: ThreadRow,
        (head, record): (Head, &Record<'_>),
    ) -> Option<Cause> {
        let it = &self.threads[thread];
        let process = it.process;
        if self.is_of_pause(process, head, record) {
            return None;
        }
        if !it.has_begun {
            let cause = self.beginning(process, it.number);
            if cause.is_some() {
                return cause;
            }
        }
        match *record {
            Record::Receive {
                stream,
                offset,
                length,
                ..
            } => {
                let &end = self.index.end_of.get(&(process, stream))?;
                self.missing_bytes(end, offset, length)
            }
            Record::Consume { item, .. } | Record::Handler { item, .. } => {
                let is_to_come = self.index.items.get(&(process, item))?.produced;
                let is_there = self.processes[process].items.contains_key(&item);
                (is_to_come && !is_there).then_some(Cause::Item(process, item))
            }
            _ => None,
        }
    }

    /// Whether a record was written in a pause although it is only of use in windows: its thread noticed the pause late.
    fn is_of_pause(&self, process: usize, head: Head, record: &Record<'_>) -> bool {
        !record.lasts() && !self.index.is_open(process, head.time_ns)
    }

    /// What a thread's beginning depends on.
    fn beginning(&self, process: usize, number: u32) -> Option<Cause> {
        if self.index.spawned.contains(&(process, number)) {
            let is_made = self.processes[process].spawned.contains_key(&number);
            return (!is_made).then_some(Cause::Spawn(process, number));
        }
        match self.processes[process].has_begun {
            true => None,
            false => self.process_beginning(process),
        }
    }

    /// What a process's beginning depends on.
    fn process_beginning(&self, process: usize) -> Option<Cause> {
        let process = self.continued_of(process);
        let info = &self.index.processes[process];
        if let Some(before) = info.before {
            let is_over = self.processes[before].threads_left == 0;
            return (!is_over).then_some(Cause::Done(before));
        }
        let parent = info.parent?;
        let is_made = self.processes[parent].forked.contains_key(&info.key.pid);
        let is_to_come = self.index.is_made_by(process, parent);
        (is_to_come && !is_made).then_some(Cause::Fork(process))
    }

    /// The process itself, or its predecessor before `exec` if the process did nothing of note in between.
    pub(in crate::replay) fn continued_of(&self, process: usize) -> usize {
        let mut at = process;
        for _ in 0..self.processes.len() {
            match self.index.processes[at].before {
                Some(before) if self.is_silent(before) => at = before,
                _ => break,
            }
        }
        at
    }

    /// Whether a process has nothing to replay.
    fn is_silent(&self, process: usize) -> bool {
        let it = &self.processes[process];
        !it.has_begun && it.threads_left == 0
    }

    /// Applies a thread's next record.
    pub(in crate::replay) fn apply(&mut self, thread: ThreadRow, head: Head, record: &Record<'_>) {
        if self.is_of_pause(self.threads[thread].process, head, record) {
            return;
        }
        self.begin(thread, head.time_ns);
        let starts_anew = matches!(record, Record::Idle { .. } | Record::Event { .. });
        if head.path != 0 && !starts_anew {
            self.settle(thread, head.path);
        }
        let goes_on = matches!(
            record,
            Record::Spawn { .. } | Record::Fork { .. } | Record::Produce { .. }
        );
        if goes_on {
            self.keep_waits(thread, WaitsFor::Other);
        }
        let waits = matches!(record, Record::Wait { .. } | Record::JavaWait { .. });
        if goes_on || waits || matches!(record, Record::Send { .. }) {
            self.ends_pause(thread, record);
        }
        match *record {
            Record::Spawn { thread: new } => self.spawns(thread, new, head.path),
            Record::Fork { child } => self.forks(thread, child, head.path),
            Record::Open { stream, .. } => self.opens(thread, stream),
            Record::Close { stream } => {
                let process = self.threads[thread].process;
                if let Some(&end) = self.index.end_of.get(&(process, stream)) {
                    self.closed(end);
                }
            }
            Record::Send { .. } => self.sends(thread, head, record),
            Record::Receive { .. } => self.receives(thread, head, record),
            Record::Idle { began_ns } => self.idles(thread, head, began_ns),
            Record::Event { stream, .. } => self.receives_event(thread, stream, head.time_ns),
            Record::Wait { .. } | Record::JavaWait { .. } => self.waited(thread, head, record),
            Record::Release { lock, .. } => self.released(thread, head, lock),
            Record::JavaRelease { condition, method } => {
                self.released_in_java(thread, condition, method);
            }
            Record::Produce { item } => self.produces(thread, item, head.path),
            Record::Consume { item, list } => self.consumes(thread, head, item, list),
            Record::Handler { .. } => self.handles(thread, head, record),
            Record::Returned { depth } => self.returns(thread, depth, head.time_ns),
            Record::Register { stream, interest } => self.registers(thread, stream, interest),
            Record::Span { .. } => {
                self.is_in_span(thread, head.time_ns, record);
                return;
            }
            // These may be written when they are first needed, which is after the work that needs them began.
            Record::Program(_)
            | Record::Module { .. }
            | Record::Path { .. }
            | Record::Function { .. }
            | Record::Context(_)
            | Record::Note(_) => return,
            Record::Begin { .. } | Record::End | Record::Demote { .. } => {}
        }
        // Whether an event brought a new request is known once the request is read.
        let is_notified = matches!(record, Record::Event { .. } | Record::Handler { .. });
        let prepares = matches!(
            record,
            Record::Open { .. } | Record::Produce { .. } | Record::Register { .. }
        );
        if !is_notified && !prepares {
            self.record_flow(thread);
        }
        if head.path != 0 && !starts_anew {
            self.narrow_scope(thread, head.path);
        }
        self.is_active(thread, head.time_ns);
    }

    fn is_active(&mut self, thread: ThreadRow, time_ns: u64) {
        let it = &mut self.threads[thread];
        it.last_ns = it.last_ns.max(time_ns);
        if let Some(task) = it.task {
            let task = &mut self.tasks[task];
            task.active_ns = task.active_ns.max(time_ns);
        }
    }

    /// A thread has no more records.
    pub(in crate::replay) fn ends(&mut self, thread: ThreadRow) {
        self.record_flow(thread);
        self.end_waits(thread);
        let process = self.threads[thread].process;
        let left = &mut self.processes[process].threads_left;
        *left -= 1;
        if *left == 0 {
            self.possible.push(Cause::Done(process));
        }
    }

    /// From now on a thread works for this.
    pub(in crate::replay) fn works_for(&mut self, thread: ThreadRow, doing: Doing, time_ns: u64) {
        let instance = self.instance_of(doing);
        if let Some(task) = doing.task {
            self.tasks[task].context = doing.context;
        }
        let it = &mut self.threads[thread];
        it.activity.resume(doing.context);
        it.hold = Hold::Seen;
        if it.task != doing.task {
            it.scope = None;
            it.task = doing.task;
        }
        if doing != Doing::default() {
            it.pause = None;
        }
        it.remember(Moment {
            time_ns,
            context: doing.context,
            instance,
            is_to_come: false,
        });
    }

    /// From this time on a thread worked for nothing.
    pub(in crate::replay) fn rested(&mut self, thread: ThreadRow, from_ns: u64) {
        self.threads[thread].remember(Moment {
            time_ns: from_ns,
            context: Synopsis::EMPTY,
            instance: None,
            is_to_come: false,
        });
    }

    pub(in crate::replay) fn instance_of(&self, doing: Doing) -> Option<InstanceId> {
        doing.task.map(|it| self.tasks[it].instance)
    }

    pub(in crate::replay) fn path(&mut self, process: usize, path: u32) -> Step {
        self.processes[process].path(self.index, self.resolver, path)
    }

    /// The functions of a call path, outermost first.
    pub(in crate::replay) fn path_names(&mut self, process: usize, path: u32) -> Rc<[Name]> {
        self.processes[process].path_names(self.index, self.resolver, path)
    }

    /// The context that continues with a call path.
    pub(in crate::replay) fn append_path(
        &mut self,
        process: usize,
        context: Synopsis,
        path: u32,
    ) -> Synopsis {
        self.processes[process].append_path(self.index, self.resolver, context, path)
    }

    /// The call path as a context of its own.
    pub(in crate::replay) fn alone(&mut self, process: usize, path: u32) -> Synopsis {
        self.append_path(process, Synopsis::EMPTY, path)
    }

    pub(in crate::replay) fn append(
        &mut self,
        process: usize,
        context: Synopsis,
        step: Step,
    ) -> Synopsis {
        self.processes[process].dictionary.append(context, step)
    }

    pub(crate) fn index(&self) -> &'a Index {
        self.index
    }

    pub(crate) fn resolver(&self) -> &'a Resolvers<'a> {
        self.resolver
    }

    /// All records have been taken.
    pub(crate) fn finish(&mut self) {
        for row in 0..self.threads.len() {
            self.end_waits(ThreadRow(row));
        }
    }
}

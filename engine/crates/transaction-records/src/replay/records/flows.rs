//! How transactions pass from one thread, process or handler to another (Whodunit §3.5, §4).

use std::rc::Rc;

use fulcrum_transactions::{FlowKind, Name, Step, Synopsis, TakenOver};
use fulcrum_wire::transactions::{Head, Record};

use super::scope::common;
use crate::index::EndId;
use crate::process::file_name;
use crate::replay::state::doing::{Doing, Hold, TaskId, ThreadRow};
use crate::replay::state::process::{Continued, Handed, Item, Outgoing};
use crate::replay::state::thread::{Event, Pause};
use crate::replay::state::wait::WaitsFor;
use crate::replay::state::world::{Cause, World};

impl World<'_> {
    /// A thread's first record: it continues the work of its creator.
    pub(in crate::replay) fn begin(&mut self, thread: ThreadRow, time_ns: u64) {
        let it = &mut self.threads[thread];
        if it.has_begun {
            return;
        }
        it.has_begun = true;
        let (process, number) = (it.process, it.number);
        let is_first = !self.processes[process].has_begun;
        self.processes[process].has_begun = true;
        match self.processes[process].spawned.get(&number).copied() {
            Some(continued) => self.continues_thread(thread, continued, time_ns),
            None if is_first => self.continues_process(thread, time_ns),
            None => {}
        }
    }

    fn continues_thread(&mut self, thread: ThreadRow, by: Continued, time_ns: u64) {
        let process = self.threads[thread].process;
        let name = self.threads[thread].name_at(time_ns).to_owned();
        let dictionary = &mut self.processes[process].dictionary;
        let stage = Step::Stage(dictionary.names.intern(&name));
        let to = dictionary.append(Synopsis::EMPTY, stage);
        let flows = &mut self.processes[process].flows;
        flows.add(FlowKind::Stage, by.context, to, 1);
        if by.of == Doing::default() {
            self.threads[thread].base = by.context;
            return;
        }
        let context = by.context;
        self.works_for(thread, Doing { context, ..by.of }, time_ns);
        self.threads[thread].hold = Hold::Made;
    }

    fn continues_process(&mut self, thread: ThreadRow, time_ns: u64) {
        let process = self.threads[thread].process;
        let info = &self.index.processes[process];
        let made = &self.index.processes[self.continued_of(process)];
        let handed = match (made.before, made.parent) {
            (Some(before), _) => self.handed_at_exec(before, process),
            (None, Some(parent)) => {
                let forked = &self.processes[parent].forked;
                forked.get(&made.key.pid).cloned()
            }
            (None, None) => None,
        };
        let Some(handed) = handed else { return };
        let dictionary = &mut self.processes[process].dictionary;
        let Ok(arrival) = dictionary.receive(&handed.outgoing.chain) else {
            return;
        };
        let context = arrival.context();
        let program = Step::Stage(dictionary.names.intern(info.name()));
        let to = dictionary.append(Synopsis::EMPTY, program);
        let flows = &mut self.processes[process].flows;
        flows.add(FlowKind::Stage, context, to, 1);
        let of = handed.origin.doing;
        if of == Doing::default() {
            self.threads[thread].base = context;
            return;
        }
        let instance = self.instance_of(of);
        let task = instance.map(|it| {
            let origin = Some(handed.origin.clone());
            self.begin_task(process, Some(it), origin, time_ns)
        });
        self.works_for(thread, Doing { context, task }, time_ns);
    }

    /// The last work of a process before it executed another program, taken from the thread that was active last.
    fn handed_at_exec(&mut self, before: usize, process: usize) -> Option<Handed> {
        let rows = self.processes[before].rows.clone().map(ThreadRow);
        let thread = rows.max_by_key(|&it| self.threads[it].last_ns)?;
        let last = &self.threads[thread];
        let (doing, base) = (last.doing(), last.base);
        let from = if doing.context.is_empty() {
            base
        } else {
            doing.context
        };
        if from.is_empty() {
            return None;
        }
        let program = &self.index.processes[process].program;
        let dictionary = &mut self.processes[before].dictionary;
        let name = format!("exec {}", file_name(program));
        let at = Step::Stage(dictionary.names.intern(&name));
        let sent = dictionary.append(from, at.clone());
        let chain = dictionary.send(from, at);
        let outgoing = Rc::new(Outgoing { chain, sent });
        let origin = self.origin(thread);
        Some(Handed { outgoing, origin })
    }

    /// A thread creates another one.
    pub(in crate::replay) fn spawns(&mut self, thread: ThreadRow, new: u32, path: u32) {
        let process = self.threads[thread].process;
        let of = self.threads[thread].doing();
        let base = self.threads[thread].base;
        let from = if of.context.is_empty() {
            base
        } else {
            of.context
        };
        let context = self.append_path(process, from, path);
        let continued = Continued { of, context };
        self.processes[process].spawned.insert(new, continued);
        self.possible.push(Cause::Spawn(process, new));
    }

    /// A thread creates a process.
    pub(in crate::replay) fn forks(&mut self, thread: ThreadRow, child: u32, path: u32) {
        let process = self.threads[thread].process;
        let of = self.threads[thread].doing();
        let base = self.threads[thread].base;
        let from = if of.context.is_empty() {
            base
        } else {
            of.context
        };
        let outgoing = self.outgoing(process, from, path);
        let origin = self.origin(thread);
        let handed = Handed { outgoing, origin };
        self.processes[process].forked.insert(child, handed);
        let made = self.index.processes.iter().enumerate();
        let made = made.filter(|(_, it)| it.key.pid == child && it.parent == Some(process));
        self.possible.extend(made.map(|(row, _)| Cause::Fork(row)));
    }

    /// A thread produces something for others (§3.5).
    pub(in crate::replay) fn produces(&mut self, thread: ThreadRow, item: u64, path: u32) {
        let process = self.threads[thread].process;
        let of = self.threads[thread].doing();
        let uses = self.index.items.get(&(process, item));
        let uses = uses.copied().unwrap_or_default();
        if uses.consumed == 0 && uses.handled == 0 {
            return;
        }
        if let Some(before) = self.processes[process].items.get_mut(&item) {
            // One call serves both. If they belong to different transactions, it counts for neither.
            if before.of.task != of.task {
                before.of = Doing::default();
                before.produced = Synopsis::EMPTY;
            }
            return;
        }
        // What an event library calls continues only the context (Figure 4, line 12).
        let produced = match uses.consumed > 0 {
            true => {
                let at = self.path(process, path);
                let dictionary = &mut self.processes[process].dictionary;
                self.threads[thread].activity.hand_on(dictionary, at)
            }
            false => of.context,
        };
        let item_of = Item {
            of,
            produced,
            left: uses.consumed + uses.handled,
            window: self.window_of(process),
        };
        self.processes[process].items.insert(item, item_of);
        self.possible.push(Cause::Item(process, item));
    }

    /// A thread consumes what was produced, through a list of producers and consumers (§3.5).
    pub(in crate::replay) fn consumes(
        &mut self,
        thread: ThreadRow,
        head: Head,
        item: u64,
        list: u32,
    ) {
        let process = self.threads[thread].process;
        let Some(item) = self.processes[process].take_item(item) else {
            return;
        };
        // Work without a request does not take a thread away from a request: it comes from a pool that another thread
        // fills.
        let at_work = |it: TaskId| !self.tasks[it].is_over;
        let is_for_nobody =
            item.of.task.is_none() && self.threads[thread].task.is_some_and(at_work);
        let is_gone = item.window != self.window_of(process);
        if !self.index.has_flow(process, list) || is_for_nobody || is_gone {
            return;
        }
        if head.path != 0 && self.is_of_machine(process, head.path) {
            return;
        }
        let dictionary = &self.processes[process].dictionary;
        let activity = &mut self.threads[thread].activity;
        let taken = activity.take_over(dictionary, item.produced);
        let context = activity.context();
        self.record_flow(thread);
        let task = item.of.task;
        let is_own = task.is_some() && task == self.threads[thread].task;
        match taken {
            TakenOver::New if !is_own => self.drop_idle_waits(thread),
            TakenOver::New | TakenOver::Own => self.keep_waits(thread, WaitsFor::Other),
        }
        self.threads[thread].event = None;
        self.works_for(thread, Doing { context, task }, head.time_ns);
        let to = self.alone(process, head.path);
        let flows = &mut self.processes[process].flows;
        flows.add(FlowKind::Memory, item.produced, to, 1);
    }

    /// A thread waits for more work.
    pub(in crate::replay) fn idles(&mut self, thread: ThreadRow, head: Head, began_ns: u64) {
        self.end_waits(thread);
        self.record_flow(thread);
        let process = self.threads[thread].process;
        let wait: Rc<[Name]> = match head.path {
            0 => Rc::new([]),
            path => self.path_names(process, path),
        };
        let it = &mut self.threads[thread];
        let before = match (it.task, it.pause.take()) {
            (Some(_), _) => it.scope.clone().map(|scope| (it.doing(), scope)),
            (None, pause) => pause.map(|it| (it.doing, it.scope)),
        };
        let from_ns = began_ns.max(it.last_ns);
        it.keep_handling();
        it.event = None;
        it.base = Synopsis::EMPTY;
        self.works_for(thread, Doing::default(), from_ns);
        let it = &mut self.threads[thread];
        it.loop_path = head.path;
        self.threads[thread].pause = before
            .filter(|(doing, scope)| self.is_in_midst(process, *doing, (scope, &wait)))
            .map(|(doing, scope)| Pause {
                doing,
                scope,
                until_ns: head.time_ns,
            });
    }

    /// A thread that paused during some work, and was told of nothing else, continues the work.
    pub(in crate::replay) fn ends_pause(&mut self, thread: ThreadRow, record: &Record<'_>) {
        let it = &self.threads[thread];
        if it.doing() != Doing::default() || it.event.is_some() {
            return;
        }
        let Some(pause) = it.pause.clone() else {
            return;
        };
        if let Record::Send { stream, .. } = record
            && let Some(&end) = self.index.end_of.get(&(it.process, *stream))
        {
            let used = self.ends[end].used.task;
            let is_of_other = used.is_some() && used != pause.doing.task;
            if is_of_other || self.open_task(end).is_some() {
                return;
            }
        }
        self.works_for(thread, pause.doing, pause.until_ns);
        self.threads[thread].scope = Some(pause.scope);
    }

    /// Takes another call path of a thread's work into account.
    pub(in crate::replay) fn narrow_scope(&mut self, thread: ThreadRow, path: u32) {
        let it = &self.threads[thread];
        if it.task.is_none() {
            return;
        }
        let process = it.process;
        let names = self.path_names(process, path);
        match &mut self.threads[thread].scope {
            Some(scope) => scope.truncate(common(scope, &names)),
            scope @ None => *scope = Some(names.to_vec()),
        }
    }

    /// An event loop tells a thread that a stream is ready (§4.1).
    pub(in crate::replay) fn receives_event(
        &mut self,
        thread: ThreadRow,
        stream: u32,
        time_ns: u64,
    ) {
        let process = self.threads[thread].process;
        let end = self.index.end_of.get(&(process, stream)).copied();
        let end = end.filter(|_| stream != 0);
        let base = match end {
            None => Doing::default(),
            Some(end) => self.continued_by_event(end),
        };
        self.drop_idle_waits(thread);
        self.record_flow(thread);
        self.threads[thread].event = Some(Event {
            end,
            base,
            time_ns,
            handler: None,
            flow: None,
            is_settled: false,
        });
        self.works_for(thread, base, time_ns);
    }

    /// The task of the latest request on a stream, answered or not, if it belongs to this process.
    pub(in crate::replay) fn current_task(&mut self, end: EndId) -> Option<TaskId> {
        let process = self.index.ends[end].process;
        let task = self.side(end).request.as_ref()?.task;
        (self.tasks[task].process == process).then_some(task)
    }

    /// The first call path after an event reveals the handler: what the loop, which had waited, called.
    pub(in crate::replay) fn settle(&mut self, thread: ThreadRow, path: u32) {
        let it = &mut self.threads[thread];
        let Some(event) = it.event.as_mut().filter(|it| !it.is_settled) else {
            return;
        };
        event.is_settled = true;
        let (base, time_ns) = (event.base, event.time_ns);
        let process = it.process;
        let waiting = self.threads[thread].loop_path;
        let (index, resolver) = (self.index, self.resolver);
        let named = &mut self.processes[process];
        let Some(name) = (waiting != 0)
            .then(|| named.handler(index, resolver, waiting, path))
            .flatten()
        else {
            return;
        };
        let handler = Step::Handler(name);
        if let Some(event) = &mut self.threads[thread].event {
            event.handler = Some(handler.clone());
        }
        self.executes(thread, base, handler, time_ns);
    }

    /// A handler executes what was produced in a context (Figure 4, line 5).
    pub(in crate::replay) fn executes(
        &mut self,
        thread: ThreadRow,
        base: Doing,
        handler: Step,
        time_ns: u64,
    ) {
        let process = self.threads[thread].process;
        let context = self.append(process, base.context, handler);
        if let Some(event) = &mut self.threads[thread].event {
            event.flow = Some((base.context, context));
        }
        self.works_for(thread, Doing { context, ..base }, time_ns);
    }
}

impl World<'_> {
    /// Records the flow through the latest event, unless that is done.
    pub(in crate::replay) fn record_flow(&mut self, thread: ThreadRow) {
        let it = &mut self.threads[thread];
        let process = it.process;
        let Some((from, to)) = it.event.as_mut().and_then(|it| it.flow.take()) else {
            return;
        };
        if !from.is_empty() && from != to {
            let flows = &mut self.processes[process].flows;
            flows.add(FlowKind::Event, from, to, 1);
        }
    }
}

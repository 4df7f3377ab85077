//! Handlers called by event libraries (Whodunit §4.1, Figure 4), and tasks executed by executors (§4.2, Figure 5).

use fulcrum_transactions::Step;
use fulcrum_wire::transactions::{Calling, Head, Record};

use crate::index::EndId;
use crate::replay::state::doing::{Doing, ThreadRow};
use crate::replay::state::thread::{Event, Handling};
use crate::replay::state::wait::WaitsFor;
use crate::replay::state::world::World;

/// The most nested handlers that are kept.
const MOST: usize = 64;

impl World<'_> {
    /// A library calls a handler, or an executor runs a task.
    pub(in crate::replay) fn handles(
        &mut self,
        thread: ThreadRow,
        head: Head,
        record: &Record<'_>,
    ) {
        let &Record::Handler {
            item,
            function,
            stream,
            depth,
            how,
        } = record
        else {
            return;
        };
        let process = self.threads[thread].process;
        let item = self.processes[process].take_item(item);
        let registered = item.map(|it| it.of).unwrap_or_default();
        let end = self.index.end_of.get(&(process, stream)).copied();
        let end = end.filter(|_| stream != 0);
        self.nests(thread, depth, how);
        let base = match how {
            Calling::Onward => self.threads[thread].doing(),
            Calling::Taken if registered.task.is_none() && self.is_at_work(thread) => {
                self.threads[thread].doing()
            }
            _ => self.continued_by_handler(registered, how, end),
        };
        let handler = self.step_of(process, function, base, how);
        let around = self.threads[thread].event.clone();
        if how != Calling::Onward {
            self.drop_idle_waits(thread);
        }
        self.record_flow(thread);
        // What another handler was told has ended, but not what the loop was told.
        let around = around.filter(|it| how == Calling::Onward || !it.is_settled);
        let noted_end = around.as_ref().and_then(|it| it.end);
        // What a library has read for a handler belongs to that handler.
        let is_same = handler.is_some() && around.is_some_and(|it| it.handler == handler);
        self.threads[thread].event = Some(Event {
            end: end.or(noted_end),
            base,
            time_ns: head.time_ns,
            handler: handler.clone(),
            flow: None,
            is_settled: true,
        });
        match handler.filter(|_| !is_same) {
            Some(handler) => self.executes(thread, base, handler, head.time_ns),
            None => self.works_for(thread, base, head.time_ns),
        }
        let handlers = &mut self.threads[thread].handlers;
        if handlers.len() < MOST {
            handlers.push(Handling::default());
        }
    }

    /// Whether the thread works for a request that has not been answered.
    fn is_at_work(&self, thread: ThreadRow) -> bool {
        let task = self.threads[thread].task;
        task.is_some_and(|it| !self.tasks[it].is_over)
    }

    /// How a handler continues what it was called for. Work without a request is not split into tasks, and interrupted work
    /// continues unchanged.
    fn step_of(
        &mut self,
        process: usize,
        function: u64,
        base: Doing,
        how: Calling,
    ) -> Option<Step> {
        let is_task = matches!(how, Calling::Task | Calling::Taken);
        let is_nobodys = is_task && base == Doing::default();
        if function == 0 || is_nobodys {
            return None;
        }
        let (index, resolver) = (self.index, self.resolver);
        let name = self.processes[process].handler_at(index, resolver, function);
        name.map(Step::Handler)
    }

    /// From now on, the thread is in the innermost of `depth` handlers.
    fn nests(&mut self, thread: ThreadRow, depth: u32, how: Calling) {
        let around = (depth.saturating_sub(1) as usize).min(MOST);
        let it = &mut self.threads[thread];
        match (around, how) {
            (0, Calling::Task | Calling::Taken) => it.keep_before_tasks(),
            (0, _) => it.before_tasks = None,
            _ => {}
        }
        if it.handlers.len() <= around {
            it.keep_handling();
        }
        // Others have returned without being recorded, or the record of their caller was lost.
        it.handlers.resize_with(around, Handling::default);
    }

    /// What a handler continues: what it was registered for, until that has ended, and then the work of its stream.
    fn continued_by_handler(&mut self, of: Doing, how: Calling, end: Option<EndId>) -> Doing {
        if self.is_open(of) {
            return of;
        }
        let of_stream = end.map(|end| self.continued_by_event(end));
        let of_stream = of_stream.filter(|it| it.task.is_some());
        match of_stream {
            Some(it) if self.is_open(it) => it,
            _ if how != Calling::Again || of.task.is_none() => of,
            // A repeating handler does not continue a finished transaction for ever.
            _ => of_stream.unwrap_or_default(),
        }
    }

    /// The handler at this depth has returned to the one around it, or to its library.
    pub(in crate::replay) fn returns(&mut self, thread: ThreadRow, depth: u32, time_ns: u64) {
        self.record_flow(thread);
        let it = &mut self.threads[thread];
        it.handlers.truncate(depth.saturating_sub(1) as usize);
        let around = match it.handlers.last() {
            Some(handling) => handling.clone(),
            None => it.before_tasks.take().unwrap_or_default(),
        };
        match around.doing == Doing::default() {
            true => self.end_waits(thread),
            false => self.keep_waits(thread, WaitsFor::Other),
        }
        self.threads[thread].event = around.event;
        self.works_for(thread, around.doing, time_ns);
    }
}

//! Windows of a recording. What began in one is not followed into the next: whatever happened in between was not recorded.

use crate::index::EndId;
use crate::replay::state::direction::Message;
use crate::replay::state::doing::{Doing, TaskId, ThreadRow};
use crate::replay::state::world::World;
use crate::windows::Windows;

impl World<'_> {
    /// The run of a thread.
    pub(in crate::replay) fn run_of(&self, thread: ThreadRow) -> usize {
        self.index.processes[self.threads[thread].process].run
    }

    /// The number of windows of a process's run that have ended.
    pub(in crate::replay) fn window_of(&self, process: usize) -> u32 {
        let run = self.index.processes[process].run;
        self.windows_ended.get(run).copied().unwrap_or(0)
    }

    /// A window of a run has ended at this time.
    pub(in crate::replay) fn ends_window(&mut self, run: usize, end_ns: u64) {
        for row in 0..self.threads.len() {
            if self.run_of(ThreadRow(row)) == run {
                self.leaves_window(ThreadRow(row), end_ns);
            }
        }
        for row in self.first_of_window..self.tasks.len() {
            let task = &mut self.tasks[TaskId(row)];
            task.is_over |= self.index.processes[task.process].run == run;
        }
        self.first_of_window = self.tasks.len();
        for end in std::mem::take(&mut self.touched) {
            if self.index.processes[self.index.ends[end].process].run == run {
                self.forgets_use(end);
            } else {
                self.touched.push(end);
            }
        }
        for process in &mut self.processes {
            if self.index.processes[process.row()].run == run {
                process.forgets_items();
            }
        }
        if self.windows_ended.len() <= run {
            self.windows_ended.resize(run + 1, 0);
        }
        self.windows_ended[run] += 1;
    }

    fn leaves_window(&mut self, thread: ThreadRow, end_ns: u64) {
        self.end_waits(thread);
        self.record_flow(thread);
        self.works_for(thread, Doing::default(), end_ns);
        let it = &mut self.threads[thread];
        it.event = None;
        it.pause = None;
        it.joined = None;
        it.before_tasks = None;
        it.handlers.clear();
    }

    fn forgets_use(&mut self, end: EndId) {
        let state = &mut self.ends[end];
        state.used = Doing::default();
        state.sent = None;
        state.registered = None;
        state.is_touched = false;
        let side = self.side(end);
        side.request = None;
        side.head.clear();
        let (channel, sending) = self.incoming(end);
        self.directions[channel][sending].goes_on = true;
    }

    /// Whether what a process receives was sent in an earlier window, or in a pause.
    pub(in crate::replay) fn is_of_earlier_window(
        &self,
        end: EndId,
        message: Option<&Message>,
    ) -> bool {
        match message {
            Some(message) => message.window != self.window_of(message.origin.process),
            None => {
                let process = self.index.ends[end].process;
                self.window_of(process) > 0 && self.has_writers(end)
            }
        }
    }

    /// Whether a recorded process may have read or written in a pause what another one wrote or read in a window.
    pub(in crate::replay) fn may_pass_in_pauses(&self, end: EndId) -> bool {
        let of = &self.index.ends[end];
        let pauses = self.index.windows(of.process).and_then(Windows::last);
        let channel = &self.index.channels[of.channel];
        pauses.is_some() && (channel.is_pipe || !channel.sides[1 - of.side].is_empty())
    }

    /// Whether processes that are recorded write what arrives at an end.
    fn has_writers(&self, end: EndId) -> bool {
        let (channel, sending) = self.incoming(end);
        let channel = &self.index.channels[channel];
        match channel.is_pipe {
            true => channel.sides[0].len() > 1,
            false => !channel.sides[sending].is_empty(),
        }
    }

    /// The thread continues something that began in an earlier window, or in a pause.
    pub(in crate::replay) fn continues_unseen(&mut self, thread: ThreadRow, time_ns: u64) {
        self.drop_idle_waits(thread);
        self.works_for(thread, Doing::default(), time_ns);
    }

    /// The end is used: this is forgotten with the window.
    pub(in crate::replay) fn touches(&mut self, end: EndId) {
        let state = &mut self.ends[end];
        if !state.is_touched {
            state.is_touched = true;
            self.touched.push(end);
        }
    }
}

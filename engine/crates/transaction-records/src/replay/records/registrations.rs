//! Registrations with event loops: for which transaction the next event of a stream is (Whodunit §4.1).
//!
//! A connection to another server is used for one transaction after the other. A program that writes when its event loop tells it
//! that it may registers the connection for the next transaction while the last use was for an earlier one. The event is for
//! whoever registered, as for a handler of an event library.

use fulcrum_wire::transactions::Interest;

use crate::index::EndId;
use crate::replay::state::direction::Registered;
use crate::replay::state::doing::{Doing, Hold, ThreadRow};
use crate::replay::state::request::Role;
use crate::replay::state::world::World;

impl World<'_> {
    /// A thread registers a stream. If it works for no transaction, nothing changes: some programs register everything in one
    /// place of their event loop.
    pub(in crate::replay) fn registers(
        &mut self,
        thread: ThreadRow,
        stream: u32,
        interest: Interest,
    ) {
        let process = self.threads[thread].process;
        let Some(&end) = self.index.end_of.get(&(process, stream)) else {
            return;
        };
        let by = self.threads[thread].doing();
        self.touches(end);
        match interest {
            Interest::Nothing => self.ends[end].registered = None,
            Interest::Read | Interest::Write if by.task.is_none() => {}
            Interest::Read | Interest::Write => {
                self.ends[end].registered = Some(Registered { by, interest });
            }
        }
    }

    /// What an event of a stream is for.
    pub(in crate::replay) fn continued_by_event(&mut self, end: EndId) -> Doing {
        // The asker waits for the work of the whole transaction, whatever stream it used last.
        if let Some(task) = self.current_task(end) {
            return Doing {
                context: self.tasks[task].context,
                task: Some(task),
            };
        }
        let is_asked = self.side(end).role == Some(Role::IsAsked);
        let state = &self.ends[end];
        let used = state.used;
        match state.registered {
            // What arrives there is a request of its own.
            Some(_) if is_asked => used,
            Some(it) if it.by.task != used.task && self.is_for_registrant(it, used) => {
                self.latest(it.by)
            }
            _ => used,
        }
    }

    /// Who waits for an answer on a stream: whoever sent last, or, once that has ended, whoever has registered to read since.
    pub(in crate::replay) fn awaits_answer(&self, end: EndId) -> Option<(Doing, Hold)> {
        let state = &self.ends[end];
        let (sent, hold) = state.sent?;
        match state.registered {
            Some(it) if it.interest == Interest::Read && self.is_for_registrant(it, sent) => {
                Some((self.latest(it.by), Hold::Seen))
            }
            _ => Some((sent, hold)),
        }
    }

    /// Whether an event is for whoever registered, and not for whoever used the stream before.
    fn is_for_registrant(&self, registered: Registered, used: Doing) -> bool {
        match registered.interest {
            // Only who has something to write waits until that is possible.
            Interest::Write => true,
            // Whoever asked before may still be waiting for the answer.
            Interest::Read => !self.is_open(used) && self.is_open(registered.by),
            Interest::Nothing => false,
        }
    }

    /// Whether this is for a request that has not been answered.
    pub(in crate::replay) fn is_open(&self, of: Doing) -> bool {
        of.task.is_some_and(|it| !self.tasks[it].is_over)
    }

    /// A transaction's work as far as it has come since.
    fn latest(&self, of: Doing) -> Doing {
        match of.task {
            Some(task) if self.is_open(of) => Doing {
                context: self.tasks[task].context,
                task: Some(task),
            },
            _ => of,
        }
    }
}

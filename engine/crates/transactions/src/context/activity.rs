//! On whose behalf a thread works, and how that changes (Whodunit §3.5, §4, §5).

use std::collections::VecDeque;

use super::chain::{Chain, UnknownLink};
use super::dictionary::{Arrival, Dictionary};
use super::step::Step;
use crate::Synopsis;

/// What a thread has handed on, at most this often, is remembered to recognise what comes back.
const MOST_HANDED_ON: usize = 256;

/// A thread's current context: the paper's `curr_tran_ctxt` (Figures 4 and 5).
#[derive(Clone, Debug, Default)]
pub struct Activity {
    context: Synopsis,
    /// What the thread gave to others within the process, and in which context it was then; the latest last.
    handed_on: VecDeque<(Synopsis, Synopsis)>,
}

/// What a thread took over within a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenOver {
    /// Another thread's transaction.
    New,
    /// Its own, which another thread worked on in between.
    Own,
}

impl Activity {
    /// The context in which the thread works now.
    pub fn context(&self) -> Synopsis {
        self.context
    }

    /// The thread goes on in a context in which it, or another thread of its process, worked before.
    pub fn resume(&mut self, context: Synopsis) {
        self.context = context;
    }

    /// The thread works for nobody now: it waits for work.
    pub fn rest(&mut self) {
        self.context = Synopsis::EMPTY;
    }

    /// A handler or a stage begins to execute what was produced in the context `of` (Figure 4, line 5; Figure 5, line 5).
    pub fn execute(&mut self, dictionary: &mut Dictionary, of: Synopsis, by: Step) {
        self.context = dictionary.append(of, by);
    }

    /// The transaction goes on here with this step: a request is recognised.
    pub fn go_on(&mut self, dictionary: &mut Dictionary, step: Step) {
        self.context = dictionary.append(self.context, step);
    }

    /// The thread hands its transaction on from this call path: what it produces has the returned context (§3.5).
    pub fn hand_on(&mut self, dictionary: &mut Dictionary, at: Step) -> Synopsis {
        let produced = dictionary.append(self.context, at);
        self.handed_on.retain(|(it, _)| *it != produced);
        if self.handed_on.len() == MOST_HANDED_ON {
            self.handed_on.pop_front();
        }
        self.handed_on.push_back((produced, self.context));
        produced
    }

    /// The thread consumes what was produced in a context (§3.5).
    ///
    /// When it begins with what this thread itself has handed on, its own transaction has come back, and the context is again
    /// that in which the thread was then: the rule for replies (§5) within a process. So a list of free objects that
    /// only some threads fill and only others empty does not make contexts grow.
    pub fn take_over(&mut self, dictionary: &Dictionary, produced: Synopsis) -> TakenOver {
        let origin = |prefix: Synopsis| {
            let mut handed_on = self.handed_on.iter();
            handed_on
                .find(|(it, _)| *it == prefix)
                .map(|(_, origin)| *origin)
        };
        match dictionary.contexts().prefixes(produced).find_map(origin) {
            Some(origin) => {
                self.context = origin;
                TakenOver::Own
            }
            None => {
                self.context = produced;
                TakenOver::New
            }
        }
    }

    /// The thread sends a message by this call path: the chain that goes beside it (§7.4).
    pub fn send(&self, dictionary: &mut Dictionary, at: Step) -> Chain {
        dictionary.send(self.context, at)
    }

    /// The thread receives a message with this chain (§7.4).
    ///
    /// # Errors
    /// As [`Dictionary::receive`]; the context is then as before.
    pub fn receive(
        &mut self,
        dictionary: &mut Dictionary,
        chain: &Chain,
    ) -> Result<Arrival, UnknownLink> {
        let received = dictionary.receive(chain)?;
        self.context = received.context();
        Ok(received)
    }
}

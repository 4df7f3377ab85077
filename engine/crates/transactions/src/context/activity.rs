//! The transaction that a thread works for, and how it changes (Whodunit §3.5, §4, §5).

use std::collections::VecDeque;

use super::chain::{Chain, UnknownLink};
use super::dictionary::{Arrival, Dictionary};
use super::step::Step;
use crate::Synopsis;

/// The most handed-on contexts remembered to recognise what comes back.
const MOST_HANDED_ON: usize = 256;

/// A thread's current context: the paper's `curr_tran_ctxt` (Figures 4 and 5).
#[derive(Clone, Debug, Default)]
pub struct Activity {
    context: Synopsis,
    /// What the thread handed to others within the process, with its context at the time. The latest is last.
    handed_on: VecDeque<(Synopsis, Synopsis)>,
}

/// What a thread took over within its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenOver {
    /// Another thread's transaction.
    New,
    /// Its own transaction, which another thread worked on in between.
    Own,
}

impl Activity {
    /// The context in which the thread currently works.
    pub fn context(&self) -> Synopsis {
        self.context
    }

    /// The thread continues in a context in which it, or another thread of its process, worked before.
    pub fn resume(&mut self, context: Synopsis) {
        self.context = context;
    }

    /// The thread works for no transaction: it waits for work.
    pub fn rest(&mut self) {
        self.context = Synopsis::EMPTY;
    }

    /// A handler or a stage starts to execute what was produced in the context `of` (Figure 4, line 5; Figure 5, line 5).
    pub fn execute(&mut self, dictionary: &mut Dictionary, of: Synopsis, by: Step) {
        self.context = dictionary.append(of, by);
    }

    /// The transaction continues with this step: a request was recognised.
    pub fn go_on(&mut self, dictionary: &mut Dictionary, step: Step) {
        self.context = dictionary.append(self.context, step);
    }

    /// The thread hands its transaction on from this call path. What it produces has the returned context (§3.5).
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
    /// If that context begins with what this thread itself handed on, its own transaction has come back. The thread then
    /// continues in the context in which it handed it on. This is the rule for replies (§5) applied within a process. It
    /// keeps contexts from growing with a free list that some threads only fill and others only empty.
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

    /// The thread sends a message from this call path. Returns the chain that accompanies the message (§7.4).
    pub fn send(&self, dictionary: &mut Dictionary, at: Step) -> Chain {
        dictionary.send(self.context, at)
    }

    /// The thread receives a message with this chain (§7.4).
    ///
    /// # Errors
    /// As [`Dictionary::receive`]. The context then stays unchanged.
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

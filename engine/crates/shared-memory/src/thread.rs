//! The state of a thread: the locks it holds, its registers, and whether it is watched.

use std::ops::Range;

use crate::ids::Synopsis;
use crate::ids::{CodeAddress, LockId, ThreadId};
use crate::recycling::{Taken, Trial};
use crate::registers::Registers;
use crate::sites::Outcome;
use crate::words::{Accessor, Birth, Locks, Tag, Words};
use crate::{Effect, Mode, Place};

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) stack: Range<u64>,
    /// Held locks in the order in which they were first taken, with their recursion counts.
    pub(crate) held: Vec<(LockId, u32)>,
    pub(crate) phase: Phase,
    pub(crate) registers: Registers,
    /// Tagged words on the thread's own stack.
    pub(crate) own_tags: Vec<u64>,
    /// The objects that it took last (rule 10).
    pub(crate) taken: Taken,
    /// The object that it has just taken, while it is followed.
    pub(crate) trial: Option<Trial>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Native,
    Section(Section),
    Window(Section),
    /// After the first use: what happens to the object is followed (rule 10). Holds the effects left.
    Trial(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) number: u64,
    pub(crate) site: CodeAddress,
    /// The outermost lock.
    pub(crate) lock: LockId,
    /// Effects left until the section runs natively.
    pub(crate) left: u32,
    /// It touched something last touched by another thread.
    pub(crate) foreign: bool,
    /// It read something that an earlier section produced.
    pub(crate) reads_product: bool,
    /// The thread's context at the first store that produced.
    pub(crate) context: Option<Synopsis>,
}

impl Section {
    /// The section's outcome, given its limit on effects.
    pub(crate) fn outcome(&self, most: u32) -> Outcome {
        Outcome {
            foreign: self.foreign,
            produced: self.context.is_some(),
            effects: most.saturating_sub(self.left),
        }
    }
}

impl Thread {
    pub(crate) fn new(stack: Range<u64>) -> Self {
        Thread {
            stack,
            held: Vec::new(),
            phase: Phase::Native,
            registers: Registers::new(),
            own_tags: Vec::new(),
            taken: Taken::new(),
            trial: None,
        }
    }

    pub(crate) fn holds_a_lock(&self) -> bool {
        !self.held.is_empty()
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.phase {
            Phase::Native => Mode::Native,
            Phase::Section(_) | Phase::Window(_) | Phase::Trial(_) => Mode::Watched,
        }
    }

    pub(crate) fn take(&mut self, lock: LockId) {
        match self.held.iter_mut().find(|(it, _)| *it == lock) {
            Some((_, times)) => *times += 1,
            None => self.held.push((lock, 1)),
        }
    }

    pub(crate) fn give_back(&mut self, lock: LockId) -> bool {
        let Some(at) = self.held.iter().position(|(it, _)| *it == lock) else {
            return false;
        };
        self.held[at].1 -= 1;
        if self.held[at].1 == 0 {
            self.held.remove(at);
        }
        true
    }

    pub(crate) fn accessor(&self, thread: ThreadId, section: u64) -> Accessor {
        Accessor {
            thread,
            section,
            locks: Locks::innermost(self.held.iter().map(|(lock, _)| *lock)),
        }
    }

    /// Rule 2, at the start of a section. Tags set by other threads on this stack stay, because they may mark products.
    pub(crate) fn forget_own_tags(&mut self, thread: ThreadId, words: &mut Words) {
        self.registers.forget();
        for address in self.own_tags.drain(..) {
            words.forget_own(address, thread);
        }
    }

    /// Rule 4: after a section, tags move through registers only and no memory is tagged. Returns the product that this
    /// effect uses.
    pub(crate) fn use_after(
        &mut self,
        section: Section,
        effect: Effect,
        words: &Words,
    ) -> Option<Birth> {
        let (used, to_register) = match effect {
            Effect::Move {
                from,
                to: Place::Register(to),
                value,
            } => (Some((from, value)), Some(to)),
            Effect::Move { from, value, .. } | Effect::Use { of: from, value } => {
                (Some((from, value)), None)
            }
            Effect::Overwrite {
                to: Place::Register(to),
                ..
            } => (None, Some(to)),
            Effect::Overwrite { .. } => (None, None),
            Effect::NativeCall => {
                self.registers.forget_those_of_calls();
                (None, None)
            }
        };
        let tag = used.map_or(Tag::None, |(place, value)| match place {
            Place::Register(register) => self.registers.get(register),
            Place::Memory(span) => words.left_by(span, value, section.number),
        });
        if let Some(register) = to_register {
            self.registers.set(register, tag);
            return None;
        }
        match tag {
            Tag::Produced(birth) if birth.section < section.number => Some(birth),
            _ => None,
        }
    }
}

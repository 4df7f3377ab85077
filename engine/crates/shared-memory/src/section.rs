//! What an instruction within a critical section does to tags (Whodunit §3.2).

use crate::ids::CodeAddress;
use crate::ids::Synopsis;
use crate::lists::Lists;
use crate::recycling::Fate;
use crate::thread::{Section, Thread};
use crate::words::{Accessor, Birth, Tag, Words};
use crate::{Effect, Place, Span};

/// Rule 5: a pointer to at most this many bytes before the place where it is stored points from a structure to itself, such
/// as an empty queue's `tail = &head`. Elements of a list are farther apart.
const SELF_REACH: u64 = 16;

/// Applies an effect within a section.
pub(crate) struct Tracker<'a> {
    pub(crate) by: Accessor,
    pub(crate) state: &'a mut Thread,
    pub(crate) section: &'a mut Section,
    pub(crate) words: &'a mut Words,
    pub(crate) lists: &'a mut Lists,
}

impl Tracker<'_> {
    pub(crate) fn apply(
        mut self,
        at: CodeAddress,
        effect: Effect,
        context: impl FnOnce() -> Synopsis,
    ) {
        match effect {
            Effect::Move { from, to, value } => {
                let tag = self.read(from, value);
                match to {
                    Place::Register(to) => self.state.registers.set(to, tag),
                    Place::Memory(to) => {
                        let tag = self.stored(tag, at, to, value, context);
                        self.write(to, value, tag);
                    }
                }
            }
            Effect::Overwrite { to, value } => match to {
                Place::Register(to) => self.state.registers.set(to, Tag::Invalid),
                Place::Memory(to) => self.write(to, value, Tag::Invalid),
            },
            Effect::Use { .. } => {}
            Effect::NativeCall => self.state.registers.forget_those_of_calls(),
        }
    }

    fn read(&mut self, from: Place, value: u64) -> Tag {
        let span = match from {
            Place::Register(register) => return self.state.registers.get(register),
            Place::Memory(span) => span,
        };
        let access = self.words.read(span, value, &self.by);
        self.section.foreign |= access.foreign;
        match access.tag {
            Tag::None if !access.known && !self.is_own(span) => {
                self.words.touch(span, value, &self.by);
            }
            Tag::Produced(birth) if birth.section < self.section.number => {
                self.section.reads_product = true;
            }
            _ => {}
        }
        access.tag
    }

    fn is_own(&self, span: Span) -> bool {
        self.state.stack.contains(&span.address)
    }

    /// The tag of a stored value. An untagged value is this thread's own, and a product unless it is stored on the thread's
    /// stack (rule 1).
    fn stored(
        &mut self,
        tag: Tag,
        at: CodeAddress,
        to: Span,
        value: u64,
        context: impl FnOnce() -> Synopsis,
    ) -> Tag {
        if self.is_own(to) {
            return tag;
        }
        // A NULL from a register is still NULL (§3.3.2).
        let to_nothing = value == 0;
        let to_itself = to.address.wrapping_sub(value) <= SELF_REACH;
        if to.bytes == Span::LONGEST && (to_nothing || to_itself) {
            return Tag::Invalid;
        }
        if tag != Tag::None {
            return tag;
        }
        let Some(&(lock, _)) = self.state.held.last() else {
            return Tag::Invalid;
        };
        if self.words.is_head(to.address, &self.by.locks) {
            return Tag::Invalid;
        }
        let Some(list) = self.lists.produce(lock, at, self.by.thread) else {
            return Tag::Invalid;
        };
        if self.lists.is_undecided(list) {
            let source = self.state.taken.from(value);
            self.lists.put_in(list, to.address, source);
        }
        if let Some(trial) = &self.state.trial
            && let Some(from) = trial.is_put_back(value, self.section.number)
        {
            self.lists.tried(from, Fate::Overwritten { put_into: list });
        }
        Tag::Produced(Birth {
            section: self.section.number,
            context: *self.section.context.get_or_insert_with(context),
            thread: self.by.thread,
            list,
            value,
            site: self.section.site,
            outermost: self.section.lock,
        })
    }

    fn write(&mut self, to: Span, value: u64, tag: Tag) {
        let own = self.is_own(to);
        self.section.foreign |= match own && tag == Tag::None {
            true => self.words.forget(to, self.by.thread),
            false => self.words.write(to, value, tag, &self.by),
        };
        if own && tag != Tag::None {
            self.state.own_tags.push(to.address);
        }
    }
}

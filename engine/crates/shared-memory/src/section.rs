//! What an instruction within a critical section does to tags (Whodunit §3.2).

use crate::ids::CodeAddress;
use crate::lists::Lists;
use crate::recycling::Fate;
use crate::routines::{Routine, Routines, Seen};
use crate::thread::Thread;
use crate::words::{Accessor, Birth, Tag, Words};
use crate::{Context, Effect, Place, Role, Span};

/// Rule 5: a pointer to at most this many bytes before the place where it is stored points from a structure to itself, such
/// as an empty queue's `tail = &head`. Elements of a list are farther apart.
const SELF_REACH: u64 = 16;

/// Applies an effect within a section.
pub(crate) struct Tracker<'a> {
    pub(crate) by: Accessor,
    pub(crate) state: &'a mut Thread,
    pub(crate) words: &'a mut Words,
    pub(crate) lists: &'a mut Lists,
    pub(crate) routines: &'a mut Routines,
}

impl Tracker<'_> {
    /// Applies all of these effects. Returns what was seen.
    pub(crate) fn whole(&mut self, effects: &[(CodeAddress, Effect)], context: Context) -> Seen {
        let mut seen = Seen::default();
        for (number, (at, effect)) in effects.iter().enumerate() {
            let is_of_product = self.apply(*at, *effect, context);
            seen.add(number, *effect, is_of_product);
        }
        seen
    }

    /// Applies what matters of these effects.
    pub(crate) fn routine(
        &mut self,
        effects: &[(CodeAddress, Effect)],
        routine: &Routine,
        context: Context,
    ) {
        self.state.section.foreign = true;
        for number in routine.needed.each() {
            let (at, effect) = effects[number];
            match routine.of_products.has(number) {
                true => {
                    self.apply(at, effect, context);
                }
                false => self.store_invalid(effect),
            }
        }
    }

    /// Applies an effect. Returns whether it had to do with a product.
    #[inline]
    pub(crate) fn apply(&mut self, at: CodeAddress, effect: Effect, context: Context) -> bool {
        let is_product = |tag: Tag| matches!(tag, Tag::Produced(_));
        match effect {
            Effect::Move { from, to, value } => {
                let tag = self.read(from, value);
                match to {
                    Place::Register(to) => {
                        // A value of unknown origin may become a product.
                        let matters = is_product(tag)
                            || tag == Tag::None && self.is_shared(from)
                            || self.state.registers.has_product(to);
                        self.state.registers.set(to, tag);
                        matters
                    }
                    Place::Memory(to) => {
                        let before = tag;
                        let tag = self.stored(tag, at, to, value, context);
                        self.write(to, value, tag);
                        is_product(tag) || is_product(before)
                    }
                }
            }
            Effect::Overwrite { to, value } => match to {
                Place::Register(to) => {
                    let matters = self.state.registers.has_product(to);
                    self.state.registers.set(to, Tag::Invalid);
                    matters
                }
                Place::Memory(to) => {
                    self.write(to, value, Tag::Invalid);
                    false
                }
            },
            Effect::Use { .. } => false,
            Effect::NativeCall => {
                self.state.registers.forget_those_of_calls();
                true
            }
        }
    }

    /// Applies a store of which it is known that it has nothing to do with products.
    #[inline]
    pub(crate) fn store_invalid(&mut self, effect: Effect) {
        if let Effect::Move {
            to: Place::Memory(to),
            value,
            ..
        }
        | Effect::Overwrite {
            to: Place::Memory(to),
            value,
        } = effect
            && !self.is_own(to)
        {
            self.words.write(to, value, Tag::Invalid, &self.by);
        }
    }

    #[inline]
    fn read(&mut self, from: Place, value: u64) -> Tag {
        let span = match from {
            Place::Register(register) => return self.state.registers.get(register),
            Place::Memory(span) => span,
        };
        if self.is_own(span) && self.words.is_clear(span) {
            return Tag::None;
        }
        let access = self.words.read(span, value, &self.by);
        self.state.section.foreign |= access.foreign;
        match access.tag {
            Tag::None if !access.known && !self.is_own(span) => {
                self.words.touch(span, value, &self.by);
            }
            Tag::Produced(birth) if birth.section < self.state.section.number => {
                self.state.products.add(birth);
            }
            _ => {}
        }
        access.tag
    }

    #[inline]
    fn is_shared(&self, place: Place) -> bool {
        matches!(place, Place::Memory(span) if !self.is_own(span))
    }

    #[inline]
    fn is_own(&self, span: Span) -> bool {
        self.state.stack.contains(&span.address)
    }

    /// The tag of a stored value. An untagged value is this thread's own, and a product unless it is stored on the thread's
    /// stack (rule 1).
    fn stored(&mut self, tag: Tag, at: CodeAddress, to: Span, value: u64, context: Context) -> Tag {
        if self.is_own(to) {
            return tag;
        }
        // A NULL from a register is still NULL (§3.3.2).
        let to_nothing = value == 0;
        let to_itself = to.address.wrapping_sub(value) <= SELF_REACH;
        if to.bytes() == Span::LONGEST && (to_nothing || to_itself) {
            return Tag::Invalid;
        }
        if tag != Tag::None {
            return tag;
        }
        let Some(&(lock, _)) = self.state.held.last() else {
            return Tag::Invalid;
        };
        if self.words.is_head(to.address, self.by.locks) {
            return Tag::Invalid;
        }
        let Some(list) = self
            .lists
            .produce((lock, at), self.by.thread, self.state.section.place())
        else {
            return Tag::Invalid;
        };
        if self.lists.is_undecided(list) {
            let source = self.state.taken.from(value);
            self.lists.put_in(list, to.address, source);
        }
        if let Some(trial) = &self.state.trial
            && let Some(from) = trial.is_put_back(value, self.state.section.number)
        {
            self.lists.tried(from, Fate::Overwritten { put_into: list });
        }
        Tag::Produced(Birth {
            section: self.state.section.number,
            context: *self
                .state
                .section
                .context
                .get_or_insert_with(|| context(Role::Producer)),
            thread: self.by.thread,
            list,
            value,
        })
    }

    #[inline]
    fn write(&mut self, to: Span, value: u64, tag: Tag) {
        let own = self.is_own(to);
        self.state.section.foreign |= match own && tag == Tag::None {
            true => self.words.forget(to, self.by.thread),
            false => self.words.write(to, value, tag, &self.by),
        };
        if own && tag != Tag::None {
            self.state.own_tags.push(to.address);
        }
    }
}

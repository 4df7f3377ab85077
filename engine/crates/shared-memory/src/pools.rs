//! Lists of free objects that some threads only fill and others only empty (rule 10).
//!
//! Such a list looks like a queue: what one thread puts in, another one takes out. Its objects go round in a circle: a thread takes one
//! from the list and hands it on through a queue, and whoever takes it from the queue gives it back to the list. Seen from the
//! queue, the circle is the same. A queue of answers is also such a circle if the same objects carry requests and answers.
//!
//! A list is one of free objects if all of this holds:
//! - No object is new to it: each of its first objects came to the thread that gives it back through another list. A queue's first
//!   object is new.
//! - It is a stack, linked through its objects, because nobody cares about their order. Answers are taken in order.
//! - Whoever takes an object from it puts the object into a list from which objects are given back to it.

use crate::ids::{CodeAddress, ListId, LockId, ThreadId};

/// None of the first pushes onto a list of free objects is of a new object.
const FIRST: u32 = 16;
/// This many of its pushes were seen to link an object to the one before.
const LINKED: u32 = 2;
/// This many of its objects were seen to be used again.
const REUSED: u32 = 8;
/// Objects may come to a list of free objects through at most this many other lists.
const MOST_SOURCES: usize = 64;
/// A link to the next object is at most this many bytes behind the beginning of an object.
const LINK_REACH: u64 = 512;

/// A store of a thread's own value into memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) lock: LockId,
    /// The storing instruction.
    pub(crate) store: CodeAddress,
    pub(crate) by: ThreadId,
    /// The target.
    pub(crate) word: u64,
    pub(crate) value: u64,
    pub(crate) link: Link,
}

/// Whether a push links the object to the one that the word pointed to before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The word pointed to nothing, or what it pointed to is not known.
    Unknown,
    /// The push links the object.
    Present,
    /// The push does not link the object, or does not store an address.
    Absent,
}

/// The latest values that a section stored in memory, for [`Link`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stored([(u64, u64); 2]);

impl Stored {
    /// The section stores a value at an address.
    pub(crate) fn add(&mut self, address: u64, value: u64) {
        self.0 = [(address, value), self.0[0]];
    }

    /// Whether a push of `object` onto a word that held `before` links the object.
    pub(crate) fn link(&self, object: u64, before: Option<u64>) -> Link {
        let Some(before) = before.filter(|it| *it != 0) else {
            return Link::Unknown;
        };
        let is_link = |(address, value): &(u64, u64)| {
            *value == before && address.wrapping_sub(object) < LINK_REACH
        };
        match self.0.iter().any(is_link) {
            true => Link::Present,
            false => Link::Absent,
        }
    }
}

/// What is known about the use of a list.
#[derive(Debug)]
pub(crate) enum Use {
    /// Until now, everything is as with a list of free objects.
    Undecided(Evidence),
    /// It is something else, such as a queue.
    Other,
}

/// What suggests that a list is one of free objects.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The head of the stack.
    word: u64,
    given_back: u32,
    linked: u32,
    reused: u32,
    /// The lists through which objects came to the threads that give them back.
    sources: Vec<ListId>,
}

impl Use {
    /// A list that starts with this word.
    pub(crate) fn new(word: u64) -> Self {
        Use::Undecided(Evidence {
            word,
            given_back: 0,
            linked: 0,
            reused: 0,
            sources: Vec::new(),
        })
    }

    /// Whether the list may be one of free objects.
    pub(crate) fn is_undecided(&self) -> bool {
        matches!(self, Use::Undecided(_))
    }

    /// A thread pushes an object. `source` is the list through which the object came to the thread, or `None` if it is new.
    pub(crate) fn pushed(&mut self, push: &Push, source: Option<ListId>) {
        if let Use::Undecided(evidence) = self
            && !evidence.allows(push, source)
        {
            *self = Use::Other;
        }
    }

    /// An object from the list is pushed into another one by the thread that took it.
    pub(crate) fn reused(&mut self, into: ListId) {
        if let Use::Undecided(evidence) = self
            && evidence.sources.contains(&into)
        {
            evidence.reused += 1;
        }
    }

    /// Whether the list is one of free objects.
    pub(crate) fn is_pool(&self) -> bool {
        match self {
            Use::Undecided(it) => {
                it.given_back >= FIRST && it.linked >= LINKED && it.reused >= REUSED
            }
            Use::Other => false,
        }
    }
}

impl Evidence {
    /// Takes a push into account. Returns whether the list still may be one of free objects.
    fn allows(&mut self, push: &Push, source: Option<ListId>) -> bool {
        if push.word != self.word || push.link == Link::Absent {
            return false;
        }
        self.linked += u32::from(push.link == Link::Present);
        let Some(source) = source else {
            return self.given_back >= FIRST;
        };
        self.given_back = self.given_back.saturating_add(1);
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
        self.sources.len() <= MOST_SOURCES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_what_the_word_held_stored_in_the_object() {
        const OBJECT: u64 = 0x5000;
        const BEFORE: u64 = 0x4000;
        for (address, value, before, expected) in [
            (OBJECT, BEFORE, Some(BEFORE), Link::Present),
            (OBJECT + 48, BEFORE, Some(BEFORE), Link::Present),
            (OBJECT + LINK_REACH, BEFORE, Some(BEFORE), Link::Absent),
            (OBJECT - 8, BEFORE, Some(BEFORE), Link::Absent),
            (OBJECT, BEFORE + 8, Some(BEFORE), Link::Absent),
            (OBJECT, 0, Some(0), Link::Unknown),
            (OBJECT, BEFORE, None, Link::Unknown),
        ] {
            let mut stored = Stored::default();
            stored.add(address, value);
            stored.add(0x9000, 7);
            let found = stored.link(OBJECT, before);
            assert_eq!(found, expected, "{address:x} {value:x} {before:?}");
        }
    }
}

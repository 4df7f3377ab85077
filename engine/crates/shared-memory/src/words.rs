//! What is known of memory: which words carry a context, and who touched them last (Whodunit §3.2, the dictionary).

use std::collections::BTreeMap;

use crate::Span;
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, LockId, ThreadId};
use crate::lists::ListId;

/// What a location is associated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Nothing: a value from before the section.
    None,
    /// The paper's *invlctxt*: a value that no transaction came with.
    Invalid,
    /// A value that a thread produced.
    Produced(Birth),
}

/// Where a value comes from. Moves keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth {
    pub section: u64,
    pub context: Synopsis,
    pub thread: ThreadId,
    pub list: ListId,
    pub site: CodeAddress,
}

/// The locks of a section, of many the innermost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Locks([Option<LockId>; 4]);

impl Locks {
    pub fn innermost(held: impl DoubleEndedIterator<Item = LockId>) -> Self {
        let mut locks = Locks::default();
        for (slot, lock) in locks.0.iter_mut().zip(held.rev()) {
            *slot = Some(lock);
        }
        locks
    }

    fn shares_one_with(&self, other: &Locks) -> bool {
        let mine = self.0.iter().flatten();
        mine.into_iter().any(|it| other.0.contains(&Some(*it)))
    }
}

/// Who reads or writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor {
    pub thread: ThreadId,
    pub section: u64,
    pub locks: Locks,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    bytes: u8,
    value: u64,
    tag: Tag,
    locks: Locks,
    toucher: ThreadId,
    section: u64,
}

impl Word {
    fn new(span: Span, value: u64, tag: Tag, by: &Accessor) -> Self {
        Word {
            bytes: span.bytes,
            value,
            tag,
            locks: by.locks,
            toucher: by.thread,
            section: by.section,
        }
    }
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub tag: Tag,
    /// Another thread touched it last.
    pub foreign: bool,
}

/// The words that sections touched, by their addresses. No two overlap.
#[derive(Debug)]
pub(crate) struct Words {
    words: BTreeMap<u64, Word>,
    limit: usize,
    forgotten: u64,
}

impl Words {
    pub fn new(limit: usize) -> Self {
        Words {
            words: BTreeMap::new(),
            limit,
            forgotten: 0,
        }
    }

    /// Words forgotten because of the limit.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// A section reads a word. Only part of a produced word is no product.
    pub fn read(&mut self, span: Span, value: u64, by: &Accessor) -> Access {
        if let Some(word) = self.words.get_mut(&span.address)
            && word.bytes == span.bytes
        {
            let foreign = word.toucher != by.thread;
            // §3.2: what was stored under another lock is flushed; rule 6: so is what something unseen has overwritten.
            if word.value != value || !word.locks.shares_one_with(&by.locks) {
                word.tag = Tag::None;
                word.value = value;
                word.locks = by.locks;
            }
            word.toucher = by.thread;
            word.section = by.section;
            let tag = word.tag;
            return Access { tag, foreign };
        }
        let mut access = Access {
            tag: Tag::None,
            foreign: false,
        };
        for (_, word) in self.overlapping(span) {
            access.foreign |= word.toucher != by.thread;
            if word.tag != Tag::None {
                access.tag = Tag::Invalid;
            }
        }
        access
    }

    /// Remembers that a section touched a word of which nothing is known.
    pub fn touch(&mut self, span: Span, value: u64, by: &Accessor) {
        if self.overlapping(span).next().is_none() {
            self.insert(span, value, Tag::None, by);
        }
    }

    /// A section writes a word. Whether another thread touched it last.
    pub fn write(&mut self, span: Span, value: u64, tag: Tag, by: &Accessor) -> bool {
        if let Some(word) = self.words.get_mut(&span.address)
            && word.bytes == span.bytes
        {
            // No two words overlap, so this is the only one.
            let foreign = word.toucher != by.thread;
            *word = Word::new(span, value, tag, by);
            return foreign;
        }
        let foreign = self.forget(span, by.thread);
        self.insert(span, value, tag, by);
        foreign
    }

    /// Forgets what is known of these bytes. Whether another thread touched some of them last.
    pub fn forget(&mut self, span: Span, thread: ThreadId) -> bool {
        let overlapped: Vec<(u64, ThreadId)> = self
            .overlapping(span)
            .map(|(address, word)| (address, word.toucher))
            .collect();
        for (address, _) in &overlapped {
            self.words.remove(address);
        }
        overlapped.iter().any(|(_, toucher)| *toucher != thread)
    }

    /// The tag of a word that this section touched last, as long as it has the value of then.
    pub fn left_by(&self, span: Span, value: u64, section: u64) -> Tag {
        let word = self.words.get(&span.address);
        let same = |it: &&Word| (it.bytes, it.value, it.section) == (span.bytes, value, section);
        word.filter(same).map_or(Tag::None, |it| it.tag)
    }

    /// Forgets a word unless another thread touched it since.
    pub fn forget_own(&mut self, address: u64, thread: ThreadId) {
        if self
            .words
            .get(&address)
            .is_some_and(|it| it.toucher == thread)
        {
            self.words.remove(&address);
        }
    }

    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, &Word)> {
        let range = span.range();
        let first = range.start.saturating_sub(u64::from(Span::LONGEST) - 1);
        let near = self.words.range(first..range.end);
        near.map(|(&address, word)| (address, word))
            .filter(move |(address, word)| address + u64::from(word.bytes) > range.start)
    }

    fn insert(&mut self, span: Span, value: u64, tag: Tag, by: &Accessor) {
        if self.words.len() >= self.limit {
            self.forget_older_half();
        }
        self.words
            .insert(span.address, Word::new(span, value, tag, by));
    }

    fn forget_older_half(&mut self) {
        let before = self.words.len();
        let mut sections: Vec<u64> = self.words.values().map(|it| it.section).collect();
        let (_, &mut median, _) = sections.select_nth_unstable(before / 2);
        self.words.retain(|_, word| word.section > median);
        self.forgotten += (before - self.words.len()) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(address: u64, bytes: u8) -> Span {
        Span::new(address, bytes).unwrap()
    }

    fn accessor(thread: u32, section: u64, lock: u64) -> Accessor {
        Accessor {
            thread: ThreadId(thread),
            section,
            locks: Locks::innermost([LockId(lock)].into_iter()),
        }
    }

    /// What thread 2 reads of eight bytes at 100 that thread 1 stored under lock 9 with the value 7.
    fn check(span: Span, value: u64, lock: u64, expect: Access) {
        let mut words = Words::new(10);
        let stored = Span::new(100, 8).unwrap();
        words.write(stored, 7, Tag::Invalid, &accessor(1, 1, 9));
        let found = words.read(span, value, &accessor(2, 2, lock));
        assert_eq!(found, expect, "{span:?} {value} {lock}");
    }

    #[test]
    fn a_tag_is_read_where_and_as_it_was_stored() {
        let access = |tag, foreign| Access { tag, foreign };
        check(span(100, 8), 7, 9, access(Tag::Invalid, true));
        check(span(100, 8), 8, 9, access(Tag::None, true));
        check(span(100, 8), 7, 3, access(Tag::None, true));
        check(span(100, 4), 7, 9, access(Tag::Invalid, true));
        check(span(107, 8), 7, 9, access(Tag::Invalid, true));
        check(span(93, 8), 7, 9, access(Tag::Invalid, true));
        check(span(92, 8), 7, 9, access(Tag::None, false));
        check(span(108, 8), 7, 9, access(Tag::None, false));
    }

    #[test]
    fn a_store_replaces_all_that_it_overlaps() {
        let mut words = Words::new(10);
        for (address, section) in [(100, 1), (104, 2), (108, 3)] {
            words.write(span(address, 4), 1, Tag::Invalid, &accessor(1, section, 9));
        }
        assert!(words.write(span(102, 4), 1, Tag::None, &accessor(2, 4, 9)));
        let left: Vec<u64> = words.words.keys().copied().collect();
        assert_eq!(left, [102, 108]);
        assert!(!words.write(span(102, 4), 1, Tag::None, &accessor(2, 4, 9)));
    }

    #[test]
    fn the_limit_forgets_what_was_touched_longest_ago() {
        let mut words = Words::new(4);
        for n in 1..100 {
            words.write(span(n * 8, 8), 1, Tag::Invalid, &accessor(1, n, 9));
            assert!(words.len() <= 4);
            let before = (n - 1) * 8;
            assert!(n == 1 || words.words.contains_key(&before), "{n}");
        }
        assert_eq!(words.forgotten() + words.len() as u64, 99);
    }
}

//! The state of memory words: which carry a context, and which thread touched them last (Whodunit §3.2, the dictionary).

use crate::Span;
use crate::ids::Synopsis;
use crate::ids::{CodeAddress, ListId, LockId, ThreadId};
use crate::numbers::Map;

/// The tag of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Untagged: a value from before the section.
    None,
    /// The paper's *invlctxt*: a value that came with no transaction.
    Invalid,
    /// A value produced by a thread.
    Produced(Birth),
}

/// The origin of a value, which moves preserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Birth {
    pub(crate) section: u64,
    pub(crate) context: Synopsis,
    pub(crate) thread: ThreadId,
    pub(crate) list: ListId,
    /// The stored value.
    pub(crate) value: u64,
    pub(crate) site: CodeAddress,
    /// The outermost lock of the section.
    pub(crate) outermost: LockId,
}

/// The innermost locks of a section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Locks([Option<LockId>; 4]);

impl Locks {
    pub(crate) fn innermost(held: impl DoubleEndedIterator<Item = LockId>) -> Self {
        let mut locks = Locks::default();
        for (slot, lock) in locks.0.iter_mut().zip(held.rev()) {
            *slot = Some(lock);
        }
        locks
    }

    fn shares_one_with(&self, other: &Locks) -> bool {
        // Usually both are the same.
        let first = self.0[0];
        if first.is_some() && first == other.0[0] {
            return true;
        }
        let mine = self.0.iter().flatten();
        mine.into_iter().any(|it| other.0.contains(&Some(*it)))
    }
}

/// The heads of lists of free objects (rule 10), with their locks. What is stored there is no product, even if it is stored
/// unseen, in sections that are no longer watched.
#[derive(Debug, Default)]
struct Heads(Map<u64, LockId>);

impl Heads {
    /// The tag of a value of unknown origin.
    #[inline]
    fn unknown(&mut self, address: u64, locks: &Locks) -> Tag {
        match self.0.is_empty() || !self.has(address, locks) {
            true => Tag::None,
            false => Tag::Invalid,
        }
    }

    /// Under another lock, the memory has become something else.
    fn has(&mut self, address: u64, locks: &Locks) -> bool {
        let lock = self.0.get(&address);
        let is_head = lock.is_some_and(|it| locks.0.contains(&Some(*it)));
        if lock.is_some() && !is_head {
            self.0.remove(&address);
        }
        is_head
    }
}

/// The thread and section that access a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor {
    pub(crate) thread: ThreadId,
    pub(crate) section: u64,
    pub(crate) locks: Locks,
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

/// The result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) tag: Tag,
    /// Another thread touched the word last.
    pub(crate) foreign: bool,
    /// Some of the bytes have known state.
    pub(crate) known: bool,
}

/// The size and alignment, in bytes, of the groups in which words begin.
const GROUP: u64 = 8;
/// The most words that can overlap a span: one begins before it, and one at each of its bytes.
const MOST_OVERLAPPING: usize = 1 + Span::LONGEST as usize;

/// The words that sections touched, by address. No two overlap.
///
/// Most instructions touch a known word, or a place on their own stack with no known word near it. Either takes one lookup.
#[derive(Debug)]
pub(crate) struct Words {
    words: Map<u64, Word>,
    /// For each group, a bit for each byte at which a word begins.
    starts: Map<u64, u8>,
    /// The number of words that end in another group than they begin in.
    crossing: usize,
    heads: Heads,
    limit: usize,
    forgotten: u64,
}

impl Words {
    pub(crate) fn new(limit: usize) -> Self {
        Words {
            words: Map::default(),
            starts: Map::default(),
            crossing: 0,
            heads: Heads::default(),
            limit,
            forgotten: 0,
        }
    }

    /// The number of words forgotten because of the limit.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// A section reads a word. Part of a produced word is not a product.
    pub(crate) fn read(&mut self, span: Span, value: u64, by: &Accessor) -> Access {
        if let Some(word) = self.words.get_mut(&span.address)
            && word.bytes == span.bytes
        {
            let foreign = word.toucher != by.thread;
            // §3.2: a store under another lock is flushed. Rule 6: so is a value that was overwritten unseen.
            if word.value != value || !word.locks.shares_one_with(&by.locks) {
                word.tag = self.heads.unknown(span.address, &by.locks);
                word.value = value;
                word.locks = by.locks;
            }
            word.toucher = by.thread;
            word.section = by.section;
            let tag = word.tag;
            return Access {
                tag,
                foreign,
                known: true,
            };
        }
        let mut access = Access {
            tag: Tag::None,
            foreign: false,
            known: false,
        };
        if self.is_clear(span) {
            access.tag = self.heads.unknown(span.address, &by.locks);
            return access;
        }
        for (_, word) in self.overlapping(span) {
            access.known = true;
            access.foreign |= word.toucher != by.thread;
            if word.tag != Tag::None {
                access.tag = Tag::Invalid;
            }
        }
        access
    }

    /// Records that a section touched a word with no known state.
    pub(crate) fn touch(&mut self, span: Span, value: u64, by: &Accessor) {
        if self.is_clear(span) || self.overlapping(span).next().is_none() {
            self.insert(span, value, Tag::None, by);
        }
    }

    /// A section writes a word. Returns whether another thread touched it last.
    pub(crate) fn write(&mut self, span: Span, value: u64, tag: Tag, by: &Accessor) -> bool {
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

    /// Forgets the state of these bytes. Returns whether another thread touched any of them last.
    #[inline]
    pub(crate) fn forget(&mut self, span: Span, thread: ThreadId) -> bool {
        !self.is_clear(span) && self.forget_overlapping(span, thread)
    }

    fn forget_overlapping(&mut self, span: Span, thread: ThreadId) -> bool {
        let mut found = [0; MOST_OVERLAPPING];
        let mut count = 0;
        let mut foreign = false;
        for ((address, word), place) in self.overlapping(span).zip(&mut found) {
            foreign |= word.toucher != thread;
            *place = address;
            count += 1;
        }
        for address in &found[..count] {
            self.remove(*address);
        }
        foreign
    }

    /// This word is the head of a list of free objects under this lock.
    pub(crate) fn add_head(&mut self, address: u64, lock: LockId) {
        self.heads.0.insert(address, lock);
    }

    /// Whether a word is the head of a list of free objects under one of these locks.
    #[inline]
    pub(crate) fn is_head(&mut self, address: u64, locks: &Locks) -> bool {
        self.heads.unknown(address, locks) == Tag::Invalid
    }

    /// The tag of a word that this section touched last, if it still has the same value.
    pub(crate) fn left_by(&self, span: Span, value: u64, section: u64) -> Tag {
        let word = self.words.get(&span.address);
        let same = |it: &&Word| (it.bytes, it.value, it.section) == (span.bytes, value, section);
        word.filter(same).map_or(Tag::None, |it| it.tag)
    }

    /// Forgets a word unless another thread has touched it since.
    pub(crate) fn forget_own(&mut self, address: u64, thread: ThreadId) {
        let word = self.words.get(&address);
        if word.is_some_and(|it| it.toucher == thread) {
            self.remove(address);
        }
    }

    /// Whether there is certainly no known word near a span, as is common on a thread's own stack.
    #[inline]
    fn is_clear(&self, span: Span) -> bool {
        let group = span.address / GROUP;
        self.crossing == 0
            && !crosses(span.address, span.bytes)
            && !self.starts.contains_key(&group)
    }

    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, &Word)> {
        let range = span.range();
        let (first, last) = (range.start / GROUP, (range.end - 1) / GROUP);
        let first = match self.crossing {
            0 => first,
            _ => first.saturating_sub(1),
        };
        let near = (first..=last).flat_map(move |group| self.beginning_in(group));
        near.filter(move |(address, word)| {
            *address < range.end && address + u64::from(word.bytes) > range.start
        })
    }

    fn beginning_in(&self, group: u64) -> impl Iterator<Item = (u64, &Word)> {
        let mut starts = self.starts.get(&group).copied().unwrap_or(0);
        let addresses = std::iter::from_fn(move || {
            let first = starts.trailing_zeros();
            starts &= starts.wrapping_sub(1);
            (first < u8::BITS).then(|| group * GROUP + u64::from(first))
        });
        addresses.filter_map(move |address| Some((address, self.words.get(&address)?)))
    }

    fn insert(&mut self, span: Span, value: u64, tag: Tag, by: &Accessor) {
        if self.words.len() >= self.limit {
            self.forget_older_half();
        }
        let before = self
            .words
            .insert(span.address, Word::new(span, value, tag, by));
        debug_assert!(before.is_none(), "no two words overlap");
        self.note(span.address, span.bytes);
    }

    /// Records where a word begins.
    fn note(&mut self, address: u64, bytes: u8) {
        *self.starts.entry(address / GROUP).or_default() |= 1_u8 << (address % GROUP);
        self.crossing += usize::from(crosses(address, bytes));
    }

    fn remove(&mut self, address: u64) {
        let Some(word) = self.words.remove(&address) else {
            return;
        };
        self.crossing -= usize::from(crosses(address, word.bytes));
        let group = address / GROUP;
        if let Some(starts) = self.starts.get_mut(&group) {
            *starts &= !(1_u8 << (address % GROUP));
            if *starts == 0 {
                self.starts.remove(&group);
            }
        }
    }

    fn forget_older_half(&mut self) {
        let before = self.words.len();
        let mut sections: Vec<u64> = self.words.values().map(|it| it.section).collect();
        let (_, &mut median, _) = sections.select_nth_unstable(before / 2);
        self.words.retain(|_, word| word.section > median);
        self.forgotten += (before - self.words.len()) as u64;
        self.starts.clear();
        self.crossing = 0;
        let left: Vec<(u64, u8)> = self.words.iter().map(|it| (*it.0, it.1.bytes)).collect();
        for (address, bytes) in left {
            self.note(address, bytes);
        }
    }
}

/// Whether a word ends in another group than it begins in.
fn crosses(address: u64, bytes: u8) -> bool {
    address % GROUP + u64::from(bytes) > GROUP
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

    /// Expects what thread 2 reads from the eight bytes at 100 that thread 1 stored under lock 9 with the value 7.
    fn check(span: Span, value: u64, lock: u64, expect: Access) {
        let mut words = Words::new(10);
        let stored = Span::new(100, 8).unwrap();
        words.write(stored, 7, Tag::Invalid, &accessor(1, 1, 9));
        let found = words.read(span, value, &accessor(2, 2, lock));
        assert_eq!(found, expect, "{span:?} {value} {lock}");
    }

    #[test]
    fn a_tag_is_read_where_and_as_it_was_stored() {
        let known = |tag| Access {
            tag,
            foreign: true,
            known: true,
        };
        let unknown = Access {
            tag: Tag::None,
            foreign: false,
            known: false,
        };
        check(span(100, 8), 7, 9, known(Tag::Invalid));
        check(span(100, 8), 8, 9, known(Tag::None));
        check(span(100, 8), 7, 3, known(Tag::None));
        check(span(100, 4), 7, 9, known(Tag::Invalid));
        check(span(107, 8), 7, 9, known(Tag::Invalid));
        check(span(93, 8), 7, 9, known(Tag::Invalid));
        check(span(92, 8), 7, 9, unknown);
        check(span(108, 8), 7, 9, unknown);
    }

    #[test]
    fn a_store_replaces_all_that_it_overlaps() {
        let mut words = Words::new(10);
        for (address, section) in [(100, 1), (104, 2), (108, 3)] {
            words.write(span(address, 4), 1, Tag::Invalid, &accessor(1, section, 9));
        }
        assert!(words.write(span(102, 4), 1, Tag::None, &accessor(2, 4, 9)));
        let mut left: Vec<u64> = words.words.keys().copied().collect();
        left.sort_unstable();
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

    /// Compares the words with a simple list that is searched linearly.
    #[test]
    fn words_are_those_of_a_list_that_is_searched() {
        let mut random = 7_u64;
        let mut below = |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % bound
        };
        let mut words = Words::new(1000);
        let mut list: Vec<(u64, u8, u32)> = Vec::new();
        for section in 1..20_000 {
            let span = span(1000 + below(64), 1 + below(8) as u8);
            let thread = below(3) as u32;
            let overlaps = |it: &(u64, u8, u32)| {
                it.0 < span.range().end && it.0 + u64::from(it.1) > span.address
            };
            let foreign = list.iter().any(|it| overlaps(it) && it.2 != thread);
            let known = list.iter().any(overlaps);
            match below(3) {
                0 => {
                    let by = accessor(thread, section, 9);
                    assert_eq!(
                        words.write(span, 1, Tag::Invalid, &by),
                        foreign,
                        "{section}"
                    );
                    list.retain(|it| !overlaps(it));
                    list.push((span.address, span.bytes, thread));
                }
                1 => {
                    assert_eq!(words.forget(span, ThreadId(thread)), foreign, "{section}");
                    list.retain(|it| !overlaps(it));
                }
                _ => {
                    words.touch(span, 1, &accessor(thread, section, 9));
                    if !known {
                        list.push((span.address, span.bytes, thread));
                    }
                }
            }
            assert_eq!(words.len(), list.len(), "{section}");
        }
    }
}

//! The state of memory words: which carry a context, and which thread touched them last (Whodunit §3.2, the dictionary).

use crate::Span;
use crate::ids::Synopsis;
use crate::ids::{ListId, LockId, ThreadId};
use crate::numbers::Map;
use crate::table::Table;

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
}

/// The innermost locks of a section, at most four. Usually there is only one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Locks {
    innermost: LockId,
    /// The number of the others, see [`Nested`], or 0 for none.
    others: u32,
}

/// Sets of locks outside of the innermost one.
#[derive(Debug, Default)]
struct Nested {
    /// By their numbers, from 1.
    sets: Vec<[Option<LockId>; 3]>,
    numbers: Map<[Option<LockId>; 3], u32>,
}

/// The most sets of locks that are told apart. In further ones, only the innermost lock counts.
const MOST_SETS: usize = 1 << 14;

impl Nested {
    fn number(&mut self, outer: &[(LockId, u32)]) -> u32 {
        let mut set = [None; 3];
        for (slot, (lock, _)) in set.iter_mut().zip(outer.iter().rev()) {
            *slot = Some(*lock);
        }
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        if self.sets.len() >= MOST_SETS {
            return 0;
        }
        self.sets.push(set);
        let number = self.sets.len() as u32;
        self.numbers.insert(set, number);
        number
    }

    /// All of these locks.
    fn all(&self, locks: Locks) -> impl Iterator<Item = LockId> {
        let at = locks.others.checked_sub(1);
        let others = at.and_then(|it| self.sets.get(it as usize));
        let others = others.into_iter().flatten().flatten().copied();
        core::iter::once(locks.innermost).chain(others)
    }

    #[inline]
    fn share_one(&self, a: Locks, b: Locks) -> bool {
        a.innermost == b.innermost || (a.others | b.others != 0 && self.share_another(a, b))
    }

    #[cold]
    fn share_another(&self, a: Locks, b: Locks) -> bool {
        self.all(a).any(|it| self.all(b).any(|other| it == other))
    }
}

/// The heads of lists of free objects (rule 10), with their locks. What is stored there is no product, even if it is stored
/// unseen, in sections that are no longer watched.
#[derive(Debug, Default)]
struct Heads(Map<u64, LockId>);

impl Heads {
    /// Whether this is such a head. Under another lock, the memory has become something else.
    #[cold]
    fn has(&mut self, address: u64, mut locks: impl Iterator<Item = LockId>) -> bool {
        let Some(lock) = self.0.get(&address).copied() else {
            return false;
        };
        let is_head = locks.any(|it| it == lock);
        if !is_head {
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
            bytes: span.bytes(),
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
/// The number of places that groups are counted in, a power of two.
const PLACES: usize = 1 << 14;
/// A place with more words is not counted any more.
const MANY: u8 = u8::MAX;

/// The place of a group.
#[inline]
fn place(group: u64) -> usize {
    (group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACES.trailing_zeros())) as usize
}

/// The most words that can overlap a span: one begins before it, and one at each of its bytes.
const MOST_OVERLAPPING: usize = 1 + Span::LONGEST as usize;

/// The words that sections touched, by address. No two overlap.
///
/// Most instructions touch a known word, or a place on their own stack with no known word near it. Either takes one lookup.
#[derive(Debug)]
pub(crate) struct Words {
    words: Table<Word>,
    /// For each group, a bit for each byte at which a word begins.
    starts: Map<u64, u8>,
    /// How many words have bytes in the groups of each place, see [`place`].
    near: Vec<u8>,
    heads: Heads,
    nested: Nested,
    limit: usize,
    forgotten: u64,
}

impl Words {
    pub(crate) fn new(limit: usize) -> Self {
        Words {
            words: Table::new(),
            starts: Map::default(),
            near: vec![0; PLACES],
            heads: Heads::default(),
            nested: Nested::default(),
            limit,
            forgotten: 0,
        }
    }

    /// The innermost of the locks that a thread holds, in the order in which it took them.
    #[inline]
    pub(crate) fn locks(&mut self, held: &[(LockId, u32)]) -> Locks {
        let Some(((innermost, _), outer)) = held.split_last() else {
            unreachable!("a section has a lock")
        };
        let others = match outer {
            [] => 0,
            _ => self.nested.number(outer),
        };
        Locks {
            innermost: *innermost,
            others,
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
        if let Some(word) = self.words.get_mut(span.address)
            && word.bytes == span.bytes()
        {
            let foreign = word.toucher != by.thread;
            // §3.2: a store under another lock is flushed. Rule 6: so is a value that was overwritten unseen.
            if word.value != value || !self.nested.share_one(word.locks, by.locks) {
                let is_head = !self.heads.0.is_empty()
                    && self.heads.has(span.address, self.nested.all(by.locks));
                word.tag = if is_head { Tag::Invalid } else { Tag::None };
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
            if self.is_head(span.address, by.locks) {
                access.tag = Tag::Invalid;
            }
            return access;
        }
        if let Some((address, _)) = self.around(span)
            && let Some(word) = self.words.get(address)
        {
            access.known = true;
            access.foreign = word.toucher != by.thread;
            access.tag = match word.tag {
                Tag::None => Tag::None,
                _ => Tag::Invalid,
            };
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
        if let Some(word) = self.words.get_mut(span.address)
            && word.bytes == span.bytes()
        {
            // No two words overlap, so this is the only one.
            let foreign = word.toucher != by.thread;
            *word = Word::new(span, value, tag, by);
            return foreign;
        }
        if self.is_clear(span) {
            self.insert(span, value, tag, by);
            return false;
        }
        if tag == Tag::Invalid
            && let Some(foreign) = self.write_part(span, value, by)
        {
            return foreign;
        }
        let foreign = self.forget_overlapping(span, by.thread);
        self.insert(span, value, tag, by);
        foreign
    }

    /// A section writes a part of an invalid word, such as one of two counters that others access at once.
    fn write_part(&mut self, span: Span, value: u64, by: &Accessor) -> Option<bool> {
        let (address, within) = self.around(span)?;
        let word = self.words.get_mut(address)?;
        if word.tag != Tag::Invalid || !self.nested.share_one(word.locks, by.locks) {
            return None;
        }
        let foreign = word.toucher != by.thread;
        word.value = within.put(value, word.value);
        word.toucher = by.thread;
        word.section = by.section;
        Some(foreign)
    }

    /// The word that contains a span. No other one overlaps it then.
    fn around(&self, span: Span) -> Option<(u64, Within)> {
        let starts = [span.address, span.address.wrapping_sub(4)];
        starts.into_iter().find_map(|address| {
            let word = self.words.get(address)?;
            Some((address, span.within(address, word.bytes)?))
        })
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
    pub(crate) fn is_head(&mut self, address: u64, locks: Locks) -> bool {
        !self.heads.0.is_empty() && self.heads.has(address, self.nested.all(locks))
    }

    /// The tag of a word that this section touched last, if it still has the same value.
    pub(crate) fn left_by(&self, span: Span, value: u64, section: u64) -> Tag {
        let word = self.words.get(span.address);
        let same = |it: &&Word| (it.bytes, it.value, it.section) == (span.bytes(), value, section);
        word.filter(same).map_or(Tag::None, |it| it.tag)
    }

    /// Forgets a word unless another thread has touched it since.
    pub(crate) fn forget_own(&mut self, address: u64, thread: ThreadId) {
        let word = self.words.get(address);
        if word.is_some_and(|it| it.toucher == thread) {
            self.remove(address);
        }
    }

    /// Whether there is certainly no known word near a span, as is common on a thread's own stack.
    #[inline]
    pub(crate) fn is_clear(&self, span: Span) -> bool {
        let (first, last) = groups(span.address, span.bytes());
        self.near[place(first)] == 0 && (first == last || self.near[place(last)] == 0)
    }

    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, &Word)> {
        let range = span.range();
        let (first, last) = groups(span.address, span.bytes());
        // A word may begin in the group before.
        let near = (first.saturating_sub(1)..=last).flat_map(move |group| self.beginning_in(group));
        near.filter(move |(address, word)| {
            *address < range.end && address + u64::from(word.bytes) > range.start
        })
    }

    fn beginning_in(&self, group: u64) -> impl Iterator<Item = (u64, &Word)> {
        let mut starts = match self.near[place(group)] {
            0 => 0,
            _ => self.starts.get(&group).copied().unwrap_or(0),
        };
        let addresses = std::iter::from_fn(move || {
            let first = starts.trailing_zeros();
            starts &= starts.wrapping_sub(1);
            (first < u8::BITS).then(|| group * GROUP + u64::from(first))
        });
        addresses.filter_map(move |address| Some((address, self.words.get(address)?)))
    }

    fn insert(&mut self, span: Span, value: u64, tag: Tag, by: &Accessor) {
        if self.words.len() >= self.limit {
            self.forget_older_half();
        }
        self.words
            .insert(span.address, Word::new(span, value, tag, by));
        self.note(span.address, span.bytes());
    }

    /// Records where a word begins.
    fn note(&mut self, address: u64, bytes: u8) {
        *self.starts.entry(address / GROUP).or_default() |= 1_u8 << (address % GROUP);
        let (first, last) = groups(address, bytes);
        for group in first..=last {
            let count = &mut self.near[place(group)];
            *count = count.saturating_add(1);
        }
    }

    fn remove(&mut self, address: u64) {
        let Some(word) = self.words.remove(address) else {
            return;
        };
        let (first, last) = groups(address, word.bytes);
        for group in first..=last {
            let count = &mut self.near[place(group)];
            *count -= u8::from(*count != MANY);
        }
        let group = address / GROUP;
        if let Some(starts) = self.starts.get_mut(&group) {
            *starts &= !(1_u8 << (address % GROUP));
            if *starts == 0 {
                self.starts.remove(&group);
            }
        }
    }

    /// Nothing is known of any word.
    pub(crate) fn forget_all(&mut self) {
        self.words = Table::new();
        self.starts.clear();
        self.near.fill(0);
    }

    fn forget_older_half(&mut self) {
        let before = self.words.len();
        let mut sections: Vec<u64> = self.words.iter().map(|it| it.1.section).collect();
        let (_, &mut median, _) = sections.select_nth_unstable(before / 2);
        let is_old = |it: &(u64, &Word)| it.1.section <= median;
        let old: Vec<u64> = self.words.iter().filter(is_old).map(|it| it.0).collect();
        for address in old {
            self.words.remove(address);
        }
        self.forgotten += (before - self.words.len()) as u64;
        self.starts.clear();
        self.near.fill(0);
        let left: Vec<(u64, u8)> = self.words.iter().map(|it| (it.0, it.1.bytes)).collect();
        for (address, bytes) in left {
            self.note(address, bytes);
        }
    }
}

/// The first and the last group with bytes of a word.
#[inline]
fn groups(address: u64, bytes: u8) -> (u64, u64) {
    (address / GROUP, (address + u64::from(bytes) - 1) / GROUP)
}

/// A part of a word.
#[derive(Clone, Copy, Debug)]
struct Within {
    shift: u32,
    mask: u64,
}

impl Span {
    /// The part of a word that this is.
    fn within(self, address: u64, bytes: u8) -> Option<Within> {
        let offset = self.address.checked_sub(address)?;
        let is_within = offset + self.bytes <= u64::from(bytes);
        is_within.then(|| Within {
            shift: 8 * offset as u32,
            mask: u64::MAX >> (64 - 8 * self.bytes as u32),
        })
    }
}

impl Within {
    /// A word with this part replaced.
    fn put(self, part: u64, whole: u64) -> u64 {
        whole & !(self.mask << self.shift) | (part & self.mask) << self.shift
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
            locks: Locks {
                innermost: LockId(lock),
                others: 0,
            },
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
        let mut left: Vec<u64> = words.words.iter().map(|it| it.0).collect();
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
            assert!(n == 1 || words.words.get(before).is_some(), "{n}");
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
        let mut list: Vec<(u64, u8, u32, Tag)> = Vec::new();
        for section in 1..20_000 {
            let span = span(1000 + below(64), 1 + below(8) as u8);
            let thread = below(3) as u32;
            let overlaps = |it: &(u64, u8, u32, Tag)| {
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
                    let around = list.iter().position(|it| {
                        span.within(it.0, it.1).is_some()
                            && [0, 4].contains(&(span.address - it.0))
                            && (it.1 == span.bytes() || it.3 == Tag::Invalid)
                    });
                    let (address, bytes) = match around {
                        Some(at) => (list[at].0, list[at].1),
                        None => (span.address, span.bytes()),
                    };
                    list.retain(|it| !overlaps(it));
                    list.push((address, bytes, thread, Tag::Invalid));
                }
                1 => {
                    assert_eq!(words.forget(span, ThreadId(thread)), foreign, "{section}");
                    list.retain(|it| !overlaps(it));
                }
                _ => {
                    words.touch(span, 1, &accessor(thread, section, 9));
                    if !known {
                        list.push((span.address, span.bytes(), thread, Tag::None));
                    }
                }
            }
            assert_eq!(words.len(), list.len(), "{section}");
        }
    }
}

//! The known prefixes of stacks, which are the contexts of the call tree. Most of a stack was seen before, so its names
//! need not be looked up.
//!
//! A prefix is identified by two 64-bit hashes of its names, outermost first. One pass over a line gives the hashes of all
//! its prefixes, and the longest known one is searched from the end. So a line costs a few cache misses, not one for each
//! frame, and the text need not be kept. The hashes have random seeds that no file can know. Among a hundred million
//! contexts, the most that a tree may have, the probability that two are confused is below 2^-60.

use std::hint::black_box;

use fulcrum_model::call_tree::{Forest, NO_NODE};
use memchr::memchr_iter;

use super::text::{Piece, Place};
use crate::collect::interner::{Interner, fold, hash, seed};

/// The context is not known, or not looked up yet.
const UNKNOWN: u32 = u32::MAX;
const EMPTY: Slot = Slot {
    low: 0,
    context: UNKNOWN,
};
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// How many stacks are looked up together, so that their memory accesses overlap.
const BATCH: usize = 16;
/// How many levels from the end of a stack are prefetched. The longest known prefix mostly ends there.
const PREFETCHED: usize = 4;

/// The prefixes that one thread has seen.
pub(crate) struct KnownPrefixes {
    /// The contexts. Frames are numbers of names.
    pub(crate) forest: Forest,
    names: Interner,
    /// Where each name was first seen.
    places: Vec<Place>,
    /// The hash of each context.
    hashes: Vec<Hash>,
    /// Their number is a power of two, at least twice the number of contexts.
    slots: Vec<Slot>,
    seed: Hash,
}

/// The hashes of a context's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash(u64, u64);

impl Hash {
    /// The hash of a context one level below.
    fn below(self, name: &[u8], seed: Hash) -> Hash {
        let (a, b) = (hash(name, seed.0), hash(name, seed.1));
        // The second hash loses nothing from above: different contexts stay different below equal names.
        Hash(
            fold(self.0 ^ a),
            (self.1.rotate_left(29) ^ b).wrapping_mul(FACTOR),
        )
    }

    /// The bits that choose the slot.
    fn low(self) -> u32 {
        self.0 as u32
    }
}

/// A stack split into levels.
#[derive(Clone, Copy, Debug)]
struct Stack<'t> {
    text: &'t str,
    count: i64,
    /// The range of its levels among those of all stacks.
    levels: (usize, usize),
    /// How many of its first levels are those of the previous stack.
    shared: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    low: u32,
    context: u32,
}

/// A prefix of a stack, up to one of its frames.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The byte where the frame ends.
    end: usize,
    hash: Hash,
    context: u32,
}

impl KnownPrefixes {
    pub(crate) fn new() -> Self {
        KnownPrefixes {
            forest: Forest::new(1),
            names: Interner::default(),
            places: Vec::new(),
            hashes: Vec::new(),
            slots: vec![EMPTY; 1 << 10],
            seed: Hash(seed(), seed()),
        }
    }

    /// Where each name was first seen, by its number.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The name with this number.
    pub(crate) fn name(&self, number: u32) -> &str {
        str::from_utf8(self.names.text(number)).expect("names are parts of a text")
    }

    fn find(&self, hash: Hash) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let low = hash.low();
        let mut at = low as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.context == UNKNOWN {
                return None;
            }
            if slot.low == low && self.hashes[slot.context as usize] == hash {
                return Some(slot.context);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a context without cost.
    fn push(&mut self, parent: u32, name: u32, hash: Hash) -> u32 {
        let context = self.forest.push(parent, name);
        self.hashes.push(hash);
        let low = hash.low();
        place(&mut self.slots, Slot { low, context });
        if self.forest.len() * 2 > self.slots.len() {
            let mut slots = vec![EMPTY; self.slots.len() * 2];
            let full = self.slots.iter().filter(|slot| slot.context != UNKNOWN);
            full.for_each(|&slot| place(&mut slots, slot));
            self.slots = slots;
        }
        context
    }
}

fn place(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut at = slot.low as usize & mask;
    while slots[at].context != UNKNOWN {
        at = (at + 1) & mask;
    }
    slots[at] = slot;
}

/// Adds the stacks of a piece to their contexts, in batches.
pub(crate) struct StackBatch<'c, 't> {
    prefixes: &'c mut KnownPrefixes,
    piece: &'t Piece<'t>,
    /// The most contexts that a tree may have.
    most: u32,
    /// The last stack of the previous batch, then those that wait.
    stacks: Vec<Stack<'t>>,
    /// The levels of all these stacks.
    levels: Vec<Level>,
}

/// From this stack on, there are more contexts than a tree may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany<'t>(pub(crate) &'t str);

impl<'c, 't> StackBatch<'c, 't> {
    /// No stacks yet. There may be at most `most` contexts.
    pub(crate) fn new(prefixes: &'c mut KnownPrefixes, piece: &'t Piece<'t>, most: u32) -> Self {
        let nothing = Stack {
            text: "",
            count: 0,
            levels: (0, 0),
            shared: 0,
        };
        StackBatch {
            prefixes,
            piece,
            most,
            stacks: vec![nothing],
            levels: Vec::new(),
        }
    }

    /// Adds a stack of at least one frame, which may wait for [`flush`](StackBatch::flush). Returns false and adds nothing
    /// when it has more than `deepest` frames.
    ///
    /// # Errors
    /// When there would be too many contexts.
    pub(crate) fn push(
        &mut self,
        text: &'t str,
        count: i64,
        deepest: usize,
    ) -> Result<bool, TooMany<'t>> {
        let start = self.levels.len();
        let shared = self.share(text);
        self.split(text, start);
        if self.levels.len() - start > deepest {
            self.levels.truncate(start);
            return Ok(false);
        }
        self.stacks.push(Stack {
            text,
            count,
            levels: (start, self.levels.len()),
            shared,
        });
        if self.stacks.len() > BATCH {
            self.flush()?;
        }
        Ok(true)
    }

    /// Copies the levels that the previous stack shares. Returns their number.
    fn share(&mut self, text: &str) -> usize {
        let before = self.stacks[self.stacks.len() - 1];
        let common = common(before.text.as_bytes(), text.as_bytes());
        let (from, to) = before.levels;
        let shared = self.levels[from..to].partition_point(|level| level.end < common);
        self.levels.extend_from_within(from..from + shared);
        shared
    }

    /// Adds the remaining levels of a stack whose levels begin at `start`.
    fn split(&mut self, text: &str, start: usize) {
        let text = text.as_bytes();
        let seed = self.prefixes.seed;
        let (mut from, mut above) = match self.levels[start..].last() {
            Some(level) => (level.end + 1, level.hash),
            None => (0, seed),
        };
        let rest = from;
        let ends = memchr_iter(b';', &text[rest..]).map(|at| rest + at);
        for end in ends.chain([text.len()]) {
            above = above.below(&text[from..end], seed);
            self.levels.push(Level {
                end,
                hash: above,
                context: UNKNOWN,
            });
            from = end + 1;
        }
    }

    /// Adds the counts of all waiting stacks.
    ///
    /// # Errors
    /// When there would be too many contexts.
    pub(crate) fn flush(&mut self) -> Result<(), TooMany<'t>> {
        self.prefetch();
        for row in 1..self.stacks.len() {
            self.add(row)?;
        }
        let last = self
            .stacks
            .pop()
            .expect("the last stack of the previous batch is always there");
        let (from, to) = last.levels;
        self.levels.truncate(to);
        self.levels.drain(..from);
        self.stacks.clear();
        self.stacks.push(Stack {
            levels: (0, to - from),
            ..last
        });
        Ok(())
    }

    /// Reads the memory that [`add`](StackBatch::add) will need, so that the processor waits for all of it at once.
    fn prefetch(&self) {
        let KnownPrefixes { slots, hashes, .. } = &*self.prefixes;
        let mask = slots.len() - 1;
        let near = |stack: &Stack| {
            let (from, to) = stack.levels;
            &self.levels[to.saturating_sub(PREFETCHED).max(from + stack.shared)..to]
        };
        let slot = |level: &Level| slots[level.hash.low() as usize & mask];
        let waiting = &self.stacks[1..];
        let levels = waiting.iter().flat_map(near);
        black_box(levels.fold(0, |sum, level| sum ^ slot(level).low));
        let known = |level: &&Level| {
            let slot = slot(level);
            slot.context != UNKNOWN && slot.low == level.hash.low()
        };
        let likely = waiting
            .iter()
            .filter_map(|stack| near(stack).iter().rev().find(known));
        black_box(likely.fold(0, |sum, level| sum ^ hashes[slot(level).context as usize].0));
    }

    /// Adds the count of one stack. The one before it is added already.
    fn add(&mut self, row: usize) -> Result<(), TooMany<'t>> {
        let Stack {
            text: stack,
            count,
            levels: (from, to),
            shared,
        } = self.stacks[row];
        let (before, _) = self.stacks[row - 1].levels;
        let (mut known, mut parent) = (to, NO_NODE);
        while known > from {
            let level = self.levels[known - 1];
            let context = match known - from <= shared {
                true => Some(self.levels[before + known - 1 - from].context),
                false => None,
            };
            let context = context.filter(|&context| context != UNKNOWN);
            if let Some(context) = context.or_else(|| self.prefixes.find(level.hash)) {
                self.levels[known - 1].context = context;
                parent = context;
                break;
            }
            known -= 1;
        }
        for row in known..to {
            if self.prefixes.forest.len() >= self.most as usize {
                return Err(TooMany(stack));
            }
            let start = match row == from {
                true => 0,
                false => self.levels[row - 1].end + 1,
            };
            let Level { end, hash, .. } = self.levels[row];
            let name = &stack[start..end];
            let (number, new) = self.prefixes.names.intern(name.as_bytes());
            if new {
                self.prefixes.places.push(self.piece.place(name));
            }
            parent = self.prefixes.push(parent, number, hash);
            self.levels[row].context = parent;
        }
        self.prefixes.forest.add(parent, 0, count);
        Ok(())
    }
}

/// The length of the common prefix in bytes.
fn common(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let mut same = 0;
    for (a, b) in words {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return same + differ.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    let rest = a[same..].iter().zip(&b[same..]);
    same + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use fulcrum_model::call_tree::{CallTreeBuilder, Frame, ValueType};

    use super::*;
    use fulcrum_stats::Random;

    fn piece(text: String) -> Piece<'static> {
        Piece {
            number: 0,
            text: text.into(),
            last: true,
        }
    }

    /// What each context costs, as a tree has it.
    fn contents(prefixes: KnownPrefixes) -> HashMap<String, i64> {
        let types = vec![ValueType::new("samples", "")];
        let mut builder = CallTreeBuilder::new(types).expect("a type");
        let numbers = 0..prefixes.places().len() as u32;
        let names = numbers.map(|number| Frame::function(prefixes.name(number)));
        let ids: Vec<_> = names
            .map(|name| builder.intern(name).expect("room"))
            .collect();
        let sorted = prefixes.forest.sort(&ids);
        builder.graft(sorted).expect("room");
        let tree = builder.finish().expect("room");
        let path = |node| {
            let names: Vec<_> = tree.stack(node).map(|it| &*tree.frame(it).name).collect();
            (names.join(";"), tree.values(0)[node as usize])
        };
        (0..tree.len()).map(path).collect()
    }

    #[test]
    fn stacks_in_any_order_give_the_contexts_of_their_beginnings() {
        let names = ["a", "ab", "", "a much longer name", "ünïcödé"];
        let mut stacks = Vec::new();
        let mut random = Random::new(1);
        let mut below = |n| random.index(n);
        for _ in 0..3000 {
            let length = 1 + below(7);
            let stack: Vec<_> = (0..length).map(|_| names[below(names.len())]).collect();
            stacks.push((stack.join(";"), below(5) as i64));
        }
        let sorted = {
            let mut stacks = stacks.clone();
            stacks.sort();
            stacks
        };
        for stacks in [stacks, sorted] {
            let mut expect: HashMap<String, i64> = HashMap::new();
            let mut prefixes = KnownPrefixes::new();
            let lines: Vec<_> = stacks.iter().map(|it| &*it.0).collect();
            let piece = piece(lines.join("\n"));
            let mut batch = StackBatch::new(&mut prefixes, &piece, 1_000_000);
            for (stack, (_, count)) in piece.text.split('\n').zip(&stacks) {
                for (end, _) in format!("{stack};").match_indices(';') {
                    *expect.entry(stack[..end].to_owned()).or_default() += match end {
                        end if end == stack.len() => *count,
                        _ => 0,
                    };
                }
                let deepest = stack.split(';').count();
                assert_eq!(batch.push(stack, 100, deepest - 1), Ok(false));
                assert_eq!(batch.push(stack, *count, deepest), Ok(true));
            }
            batch.flush().expect("room");
            assert_eq!(prefixes.forest.len(), expect.len());
            assert_eq!(contents(prefixes), expect);
        }
    }

    #[test]
    fn no_more_contexts_than_allowed() {
        let mut prefixes = KnownPrefixes::new();
        let piece = piece("a;b a;b a;c".to_owned());
        let mut batch = StackBatch::new(&mut prefixes, &piece, 2);
        let expected = [Ok(()), Ok(()), Err(TooMany("a;c"))];
        for (stack, expect) in piece.text.split(' ').zip(expected) {
            assert_eq!(batch.push(stack, 1, 9), Ok(true));
            assert_eq!(batch.flush(), expect);
        }
    }

    #[test]
    fn what_two_texts_begin_with() {
        for (a, b, expect) in [
            ("", "", 0),
            ("", "a", 0),
            ("abc", "abd", 2),
            ("0123456789", "0123456789", 10),
            ("0123456789", "012345678", 9),
            ("01234567x", "01234567", 8),
            ("0123456701234567", "01234567012x4567", 11),
        ] {
            assert_eq!(common(a.as_bytes(), b.as_bytes()), expect, "{a} {b}");
            assert_eq!(common(b.as_bytes(), a.as_bytes()), expect, "{b} {a}");
        }
    }
}

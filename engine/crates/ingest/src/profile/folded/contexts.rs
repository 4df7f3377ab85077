//! The contexts that stand in a text, each once: most frames of a stack were seen in the same context before, and need no
//! name to be told.
//!
//! A context is known by the text from its line's beginning to its last frame's end. Hashes of all beginnings of a line come from one
//! pass over it; the longest beginning that is known is looked for from the end. So a line costs a few places in memory
//! that are not in the processor's cache, and not one for each of its frames.

use fulcrum_model::call_tree::{Forest, NO_NODE};
use memchr::memchr_iter;

use super::super::interner::{Interner, fold, hash, seed};

/// Not known which context it is, or whether it is known at all.
const UNKNOWN: u32 = u32::MAX;
const EMPTY: Slot = Slot {
    low: 0,
    context: UNKNOWN,
};

/// Contexts of one thread.
pub struct Contexts<'t> {
    /// Frames by the numbers of `names`.
    pub forest: Forest,
    /// In the order in which they were first seen.
    pub names: Vec<&'t str>,
    numbers: Interner,
    /// The text of each context, where it was first seen.
    texts: Vec<&'t [u8]>,
    /// A power of two, at least twice as many as contexts.
    slots: Vec<Slot>,
    /// The stack before, which often begins alike.
    before: &'t str,
    levels: Vec<Level>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The lower half of the hash, which also tells where in the table it belongs.
    low: u32,
    context: u32,
}

/// The beginning of a stack, up to one of its frames.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Where the frame ends.
    end: usize,
    hash: u64,
    context: u32,
}

impl<'t> Contexts<'t> {
    pub fn new() -> Self {
        Contexts {
            forest: Forest::new(1),
            names: Vec::new(),
            numbers: Interner::default(),
            texts: Vec::new(),
            slots: vec![EMPTY; 1 << 10],
            before: "",
            levels: Vec::new(),
            seed: seed(),
        }
    }

    /// Takes a stack, of at least one frame, apart. How many frames it has.
    pub fn split(&mut self, stack: &'t str) -> usize {
        let text = stack.as_bytes();
        let common = common(self.before.as_bytes(), text);
        while self.levels.pop_if(|level| level.end >= common).is_some() {}
        self.before = stack;
        let (mut start, mut hash_above) = match self.levels.last() {
            Some(level) => (level.end + 1, level.hash),
            None => (0, self.seed),
        };
        let from = start;
        let ends = memchr_iter(b';', &text[from..]).map(|at| from + at);
        for end in ends.chain([text.len()]) {
            hash_above = fold(hash_above ^ hash(&text[start..end], self.seed));
            self.levels.push(Level {
                end,
                hash: hash_above,
                context: UNKNOWN,
            });
            start = end + 1;
        }
        self.levels.len()
    }

    /// Adds to the cost of the stack that was taken apart last.
    ///
    /// # Errors
    /// When there would be more contexts than `most`.
    pub fn add(&mut self, count: i64, most: u32) -> Result<(), TooMany> {
        let stack = self.before;
        let text = stack.as_bytes();
        let mut known = self.levels.len();
        let mut parent = NO_NODE;
        while let Some(level) = known.checked_sub(1).map(|last| &mut self.levels[last]) {
            if level.context == UNKNOWN {
                let slots = &self.slots;
                let found = find(slots, &self.texts, level.hash, &text[..level.end]);
                level.context = found.unwrap_or(UNKNOWN);
            }
            if level.context != UNKNOWN {
                parent = level.context;
                break;
            }
            known -= 1;
        }
        for row in known..self.levels.len() {
            if self.forest.len() >= most as usize {
                return Err(TooMany);
            }
            let start = row
                .checked_sub(1)
                .map_or(0, |above| self.levels[above].end + 1);
            let Level { end, hash, .. } = self.levels[row];
            let name = &stack[start..end];
            let (number, new) = self.numbers.intern(name.as_bytes());
            if new {
                self.names.push(name);
            }
            parent = self.forest.push(parent, number);
            self.texts.push(&text[..end]);
            self.insert(hash, parent);
            self.levels[row].context = parent;
        }
        self.forest.add(parent, 0, count);
        Ok(())
    }

    fn insert(&mut self, hash: u64, context: u32) {
        let low = hash as u32;
        place(&mut self.slots, Slot { low, context });
        if self.forest.len() * 2 > self.slots.len() {
            let mut slots = vec![EMPTY; self.slots.len() * 2];
            let full = self.slots.iter().filter(|slot| slot.context != UNKNOWN);
            full.for_each(|&slot| place(&mut slots, slot));
            self.slots = slots;
        }
    }
}

/// More contexts than a tree may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

fn find(slots: &[Slot], texts: &[&[u8]], hash: u64, text: &[u8]) -> Option<u32> {
    let mask = slots.len() - 1;
    let low = hash as u32;
    let mut at = low as usize & mask;
    loop {
        let slot = slots[at];
        if slot.context == UNKNOWN {
            return None;
        }
        if slot.low == low && texts[slot.context as usize] == text {
            return Some(slot.context);
        }
        at = (at + 1) & mask;
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

/// How many bytes both begin with.
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

    /// What each context costs, as a tree has it.
    fn contents(contexts: Contexts) -> HashMap<String, i64> {
        let types = vec![ValueType::new("samples", "")];
        let mut builder = CallTreeBuilder::new(types).expect("a type");
        let names = contexts.names.iter();
        let ids: Vec<_> = names
            .map(|name| builder.intern(Frame::function(*name)).expect("room"))
            .collect();
        let sorted = contexts.forest.sort(&ids);
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
        let mut state = 1_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) as usize % n
        };
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
            let mut contexts = Contexts::new();
            for (stack, count) in &stacks {
                for (end, _) in format!("{stack};").match_indices(';') {
                    *expect.entry(stack[..end].to_owned()).or_default() += match end {
                        end if end == stack.len() => *count,
                        _ => 0,
                    };
                }
                assert_eq!(contexts.split(stack), stack.split(';').count());
                contexts.add(*count, 1_000_000).expect("room");
            }
            assert_eq!(contexts.forest.len(), expect.len());
            assert_eq!(contents(contexts), expect);
        }
    }

    #[test]
    fn no_more_contexts_than_allowed() {
        let mut contexts = Contexts::new();
        assert_eq!(contexts.split("a;b"), 2);
        assert_eq!(contexts.add(1, 2), Ok(()));
        assert_eq!(contexts.split("a;b"), 2);
        assert_eq!(contexts.add(1, 2), Ok(()));
        assert_eq!(contexts.split("a;c"), 2);
        assert_eq!(contexts.add(1, 2), Err(TooMany));
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

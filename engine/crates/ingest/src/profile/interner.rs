//! Numbers for names, for formats that write each name again and again: folded stacks have tens of millions.
//!
//! What takes time there is waiting for memory. So the table is small and the names stand one behind the other: those of
//! most programs fit the cache of one processor.

use std::hash::{BuildHasher as _, RandomState};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const EMPTY: Slot = Slot {
    tag: 0,
    number: u32::MAX,
};

/// Names, numbered from 0 in the order in which they were first seen.
#[derive(Debug)]
pub struct Interner {
    /// A power of two, at least twice as many as names.
    slots: Vec<Slot>,
    texts: Vec<u8>,
    /// Where each name ends in `texts`.
    ends: Vec<usize>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// A part of the name's hash: names with another one are not looked at.
    tag: u32,
    number: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Interner {
            slots: vec![EMPTY; 64],
            texts: Vec::new(),
            ends: Vec::new(),
            seed: seed(),
        }
    }
}

impl Interner {
    /// A name's number, and whether it is new.
    pub fn intern(&mut self, name: &[u8]) -> (u32, bool) {
        let hash = hash(name, self.seed);
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.number == EMPTY.number {
                break;
            }
            if slot.tag == tag && self.text(slot.number) == name {
                return (slot.number, false);
            }
            at = (at + 1) & mask;
        }
        let number = self.ends.len() as u32;
        assert!(number < EMPTY.number, "a piece of text has fewer names");
        self.slots[at] = Slot { tag, number };
        self.texts.extend_from_slice(name);
        self.ends.push(self.texts.len());
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        (number, true)
    }

    /// A name by its number.
    pub fn text(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[number]]
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for number in 0..self.ends.len() as u32 {
            let hash = hash(self.text(number), self.seed);
            let mut at = hash as usize & mask;
            while slots[at].number != EMPTY.number {
                at = (at + 1) & mask;
            }
            let tag = (hash >> 32) as u32;
            slots[at] = Slot { tag, number };
        }
        self.slots = slots;
    }
}

/// Another number each time, so that no file can be made of names that all fall together.
pub fn seed() -> u64 {
    // The standard library's own seed is random.
    RandomState::new().hash_one(FACTOR)
}

/// Both halves of a product of 128 bits, so that every bit reaches all others.
pub fn fold(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// Eight bytes at a time.
pub fn hash(name: &[u8], seed: u64) -> u64 {
    let length = name.len();
    let mut state = seed;
    let mut add = |word: u64| state = fold(state ^ word);
    // Bytes may be taken twice: the length says which.
    match name {
        [.., _, _, _, _, _, _, _, _] => {
            let (words, rest) = name.as_chunks::<8>();
            words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
            if !rest.is_empty() {
                let last = name.last_chunk().expect("eight bytes or more");
                add(u64::from_le_bytes(*last));
            }
        }
        [a, b, c, d, ..] => {
            let first = u32::from_le_bytes([*a, *b, *c, *d]);
            let last = name.last_chunk().expect("four bytes or more");
            add(u64::from(first) << 32 | u64::from(u32::from_le_bytes(*last)));
        }
        [first, .., last] => add(u64::from_le_bytes([
            *first,
            name[length / 2],
            *last,
            0,
            0,
            0,
            0,
            0,
        ])),
        [one] => add(u64::from(*one)),
        [] => {}
    }
    // Not in the first step, where it could undo a difference of bytes.
    add(seed.rotate_left(32) ^ length as u64);
    state
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn names() -> Vec<String> {
        let mut names: Vec<String> = (0..20_000).map(|n| format!("a.b.Class{n}.run")).collect();
        names.extend((0..40).map(|n| "\0".repeat(n)));
        // One byte differs.
        for length in 1..20 {
            names.extend((0..length).map(|at| "x".repeat(at) + "y" + &"x".repeat(length - at - 1)));
        }
        names
    }

    #[test]
    fn equal_names_have_one_number() {
        let mut interner = Interner::default();
        for round in 0..2 {
            for (n, name) in names().iter().enumerate() {
                let number = interner.intern(name.as_bytes());
                assert_eq!(number, (n as u32, round == 0), "{name:?}");
            }
        }
    }

    #[test]
    fn names_that_are_nearly_alike_do_not_fall_together() {
        let hashes = names().into_iter().map(|name| hash(name.as_bytes(), 7));
        let hashes: Vec<u64> = hashes.collect();
        let all: HashSet<u64> = hashes.iter().copied().collect();
        assert_eq!(all.len(), hashes.len());
        for shift in [0, 8, 32, 56] {
            let mut counts = [0; 256];
            let bytes = hashes.iter().map(|it| (it >> shift) as u8);
            bytes.for_each(|byte| counts[usize::from(byte)] += 1);
            assert!(counts.iter().all(|&count| count < 160), "{counts:?}");
        }
    }

    #[test]
    fn every_table_has_its_own_seed() {
        assert_ne!(Interner::default().seed, Interner::default().seed);
    }
}

//! Numbers for names, for formats that repeat each name in every stack: a file of folded stacks has tens of millions.
//!
//! Interning is bound by memory access. So the table is small and the names are stored next to each other: most programs' names
//! fit a processor's cache.

pub(crate) use fulcrum_model::hashing::{fold, hash, seed};

const EMPTY: Slot = Slot {
    tag: 0,
    number: u32::MAX,
};

/// Names, numbered from 0 in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct Interner {
    /// Their number is a power of two, at least twice the number of names.
    slots: Vec<Slot>,
    texts: Vec<u8>,
    /// Where each name ends in `texts`.
    ends: Vec<usize>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// A part of the name's hash. Names with another tag are not compared.
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
    /// The number of a name, and whether the name is new.
    pub(crate) fn intern(&mut self, name: &[u8]) -> (u32, bool) {
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

    /// The name with this number.
    pub(crate) fn text(&self, number: u32) -> &[u8] {
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

#[cfg(test)]
mod tests {
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
    fn every_table_has_its_own_seed() {
        assert_ne!(Interner::default().seed, Interner::default().seed);
    }
}

//! What matters of sections that do the same again and again, so that not all of their effects must be looked at.
//!
//! A section's way is the sequence of the instructions of its effects. After very many sections with the same way, it is known which
//! effects had to do with products: the store that produces, the load that takes, and moves in between. Of the next ones, only these and
//! other stores are looked at, and the other stores are of invalid values. Some sections are still looked at as a whole.

use crate::ids::{CodeAddress, LockId};
use crate::{Effect, Place};

/// A routine is known after this many sections.
const ENOUGH: u32 = 64;
/// One of so many sections is looked at as a whole then.
const CHECKED: u32 = 64;
/// The number of routines that are remembered, a power of two. Two in one place evict each other.
const PLACES: usize = 256;
/// The most effects of a routine.
pub(crate) const LONGEST: usize = 64;

/// The instructions of a section's effects, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way(u64);

impl Way {
    /// A section begins.
    pub(crate) const fn new(site: CodeAddress, lock: LockId) -> Self {
        Way(site.0 ^ lock.0.rotate_left(32))
    }

    /// Instructions have these effects.
    #[inline]
    pub(crate) fn add(&mut self, effects: &[(CodeAddress, Effect)]) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        // Each effect has a factor of its own, so that no product waits for another one.
        let mut sum = self.0.rotate_left(5) ^ effects.len() as u64;
        let mut factor = FACTOR;
        for (at, effect) in effects {
            // Of an instruction with several effects, not all always happen.
            let kind = match effect {
                Effect::Move { .. } => 0,
                Effect::Overwrite { .. } => 1 << 62,
                Effect::Use { .. } => 2 << 62,
                Effect::NativeCall => 3 << 62,
            };
            sum = sum.wrapping_add((at.0 ^ kind).wrapping_mul(factor));
            factor = factor.wrapping_add(FACTOR << 1);
        }
        self.0 = sum;
    }

    /// The place among so many, a power of two.
    #[inline]
    pub(crate) fn place(self, places: usize) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % places
    }
}

/// Effects of a section, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u64);

impl Marks {
    #[inline]
    pub(crate) fn add(&mut self, number: usize) {
        self.0 |= 1 << (number % LONGEST);
    }

    #[inline]
    pub(crate) fn has(self, number: usize) -> bool {
        self.0 >> (number % LONGEST) & 1 != 0
    }

    /// The numbers, in ascending order.
    #[inline]
    pub(crate) fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (number < LONGEST).then_some(number)
        })
    }
}

/// What was seen of a section's effects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Effects that had to do with products.
    pub(crate) of_products: Marks,
    pub(crate) stores: Marks,
}

impl Seen {
    #[inline]
    pub(crate) fn add(&mut self, number: usize, effect: Effect, is_of_product: bool) {
        if is_of_product {
            self.of_products.add(number);
        }
        if let Effect::Move { to, .. } | Effect::Overwrite { to, .. } = effect
            && matches!(to, Place::Memory(_))
        {
            self.stores.add(number);
        }
    }
}

/// What is known about sections with one way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routine {
    way: Way,
    /// Effects that had to do with products.
    pub(crate) of_products: Marks,
    /// These, and stores.
    pub(crate) needed: Marks,
    /// Sections since something new was seen.
    times: u32,
}

/// All routines.
#[derive(Debug)]
pub(crate) struct Routines(Vec<Option<Routine>>);

impl Routines {
    pub(crate) fn new() -> Self {
        Routines(vec![None; PLACES])
    }

    /// The routine of a section, if it is known well enough.
    #[inline]
    pub(crate) fn expect(&mut self, way: Way) -> Option<Routine> {
        let routine = self.0[way.place(PLACES)].as_mut()?;
        if routine.way != way || routine.times < ENOUGH || routine.times.is_multiple_of(CHECKED) {
            return None;
        }
        routine.times = routine.times.wrapping_add(1).max(ENOUGH);
        Some(*routine)
    }

    /// All effects of a section were looked at.
    pub(crate) fn learn(
        &mut self,
        way: Way,
        Seen {
            of_products,
            stores,
        }: Seen,
    ) {
        let slot = &mut self.0[way.place(PLACES)];
        match slot {
            Some(routine) if routine.way == way => {
                let all = Marks(routine.of_products.0 | of_products.0);
                routine.times = match all == routine.of_products {
                    true => routine.times.wrapping_add(1),
                    false => 0,
                };
                routine.of_products = all;
                routine.needed = Marks(routine.needed.0 | all.0);
            }
            _ => {
                *slot = Some(Routine {
                    way,
                    of_products,
                    needed: Marks(of_products.0 | stores.0),
                    times: 0,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Register, Span};

    fn effects() -> [(CodeAddress, Effect); 3] {
        let register = Place::Register(Register::general(1).unwrap());
        let memory = Place::Memory(Span::new(64, 8).unwrap());
        let moves = |from, to| Effect::Move { from, to, value: 1 };
        [
            (CodeAddress(1), moves(memory, register)),
            (CodeAddress(2), moves(register, memory)),
            (CodeAddress(3), moves(memory, register)),
        ]
    }

    fn way(effects: &[(CodeAddress, Effect)]) -> Way {
        let mut way = Way::new(CodeAddress(7), LockId(8));
        way.add(effects);
        way
    }

    /// All of the effects, of which these had to do with products.
    fn seen(of_products: &[usize]) -> Seen {
        let mut seen = Seen::default();
        for (number, (_, effect)) in effects().into_iter().enumerate() {
            seen.add(number, effect, of_products.contains(&number));
        }
        seen
    }

    #[test]
    fn stores_and_what_had_to_do_with_products_are_looked_at() {
        let (mut routines, effects) = (Routines::new(), effects());
        let mut whole = Vec::new();
        for section in 0..300 {
            match routines.expect(way(&effects)) {
                Some(it) => assert!(it.needed.each().eq([1, 2]), "{section}"),
                None => {
                    whole.push(section);
                    routines.learn(way(&effects), seen(&[2]));
                }
            }
        }
        let expect: Vec<u32> = (0..=65).chain([129, 193, 257]).collect();
        assert_eq!(whole, expect);
        assert!(routines.expect(way(&effects[..2])).is_none());
    }

    #[test]
    fn something_new_begins_it_again() {
        let (mut routines, effects) = (Routines::new(), effects());
        for _ in 0..=ENOUGH {
            routines.learn(way(&effects), seen(&[2]));
        }
        routines.learn(way(&effects), seen(&[]));
        assert!(routines.expect(way(&effects)).is_some());
        routines.learn(way(&effects), seen(&[0]));
        assert!(routines.expect(way(&effects)).is_none());
        for _ in 0..=ENOUGH {
            routines.learn(way(&effects), seen(&[]));
        }
        let needed = routines.expect(way(&effects)).unwrap().needed;
        assert!(needed.each().eq([0, 1, 2]));
    }
}

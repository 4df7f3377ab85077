//! Random draws of virtual speedups (COZ §3.2): half of them the baseline, no order that a program could follow.

use core::slice;

use fulcrum_stats::Random;
use fulcrum_wire::{MAX_LEVELS, NONE};

/// The speedups a session draws from, in ten-thousandths, besides the baseline.
#[derive(Clone, Debug)]
pub struct Levels {
    levels: [u32; MAX_LEVELS],
    count: usize,
}

/// What one line has drawn of its current deck. Zero is a fresh deck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deck {
    levels_drawn: u32,
    baselines_drawn: u32,
}

impl Levels {
    /// `levels` without 0, or only the one that is `fixed`, which is [`NONE`] for a free draw. A longer list is cut at
    /// [`MAX_LEVELS`].
    pub fn new(levels: &[u32], fixed: u32) -> Levels {
        let levels = match &fixed {
            &NONE => levels,
            0 => &[],
            fixed => slice::from_ref(fixed),
        };
        let count = levels.len().min(MAX_LEVELS);
        let mut kept = [0; MAX_LEVELS];
        kept[..count].copy_from_slice(&levels[..count]);
        Levels {
            levels: kept,
            count,
        }
    }

    /// The next speedup for a line. Each line draws without replacement from a deck of its own, which holds every
    /// level once and as many baselines: random in order, balanced in number, so short runs cover all levels.
    pub fn draw(&self, deck: &mut Deck, random: &mut Random) -> u32 {
        let count = self.count as u32;
        if count == 0 {
            return 0;
        }
        if deck.levels_drawn.count_ones() == count && deck.baselines_drawn == count {
            *deck = Deck::default();
        }
        let baselines = count - deck.baselines_drawn;
        let levels = count - deck.levels_drawn.count_ones();
        let mut pick = random.below(u64::from(baselines + levels)) as u32;
        if pick < baselines {
            deck.baselines_drawn += 1;
            return 0;
        }
        pick -= baselines;
        let index = (0..count)
            .filter(|index| deck.levels_drawn & (1 << index) == 0)
            .nth(pick as usize)
            .expect("pick counts the levels that are left");
        deck.levels_drawn |= 1 << index;
        self.levels[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const COARSE: [u32; 4] = [2500, 5000, 7500, 10_000];

    #[test]
    fn a_deck_holds_every_level_once_and_as_many_baselines() {
        let (levels, mut random) = (Levels::new(&COARSE, NONE), Random::new(7));
        let mut deck = Deck::default();
        for _ in 0..50 {
            let mut drawn: Vec<u32> = (0..8)
                .map(|_| levels.draw(&mut deck, &mut random))
                .collect();
            drawn.sort_unstable();
            assert_eq!(drawn, [0, 0, 0, 0, 2500, 5000, 7500, 10_000]);
        }
    }

    #[test]
    fn the_order_is_random() {
        let (levels, mut random) = (Levels::new(&COARSE, NONE), Random::new(1));
        let mut first = [0; 5];
        for _ in 0..4000 {
            let speedup = levels.draw(&mut Deck::default(), &mut random);
            first[(speedup / 2500) as usize] += 1;
        }
        assert!((1800..2200).contains(&first[0]), "{first:?}");
        assert!(
            first[1..].iter().all(|n| (400..600).contains(n)),
            "{first:?}"
        );
    }

    #[test]
    fn every_other_experiment_has_the_fixed_speedup_first_or_second_at_random() {
        let (levels, mut random) = (Levels::new(&COARSE, 4000), Random::new(3));
        let mut deck = Deck::default();
        let mut pairs = [0; 2];
        for _ in 0..500 {
            match [(); 2].map(|()| levels.draw(&mut deck, &mut random)) {
                [0, 4000] => pairs[0] += 1,
                [4000, 0] => pairs[1] += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(pairs.iter().all(|n| (200..300).contains(n)), "{pairs:?}");
        let only_baseline = Levels::new(&COARSE, 0);
        assert!((0..100).all(|_| only_baseline.draw(&mut deck, &mut random) == 0));
    }

    #[test]
    fn a_session_without_levels_measures_the_baseline() {
        let (levels, mut random) = (Levels::new(&[], NONE), Random::new(3));
        assert_eq!(levels.draw(&mut Deck::default(), &mut random), 0);
    }
}

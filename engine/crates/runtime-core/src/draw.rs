//! Random draws of what an experiment does (COZ §3.2): half of them speed something up, in an order that no program can follow.

use core::slice;

use fulcrum_stats::Random;
use fulcrum_wire::{MAX_LEVELS, NONE, PLACEBO};

/// What an experiment does to its target. Speedups are in ten-thousandths, above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// No speedup: what the others are compared with.
    Baseline,
    /// A virtual speedup.
    Speedup(u32),
    /// The pauses of a virtual speedup, made by every thread: its only effect is what pausing costs.
    Placebo(u32),
}

impl Treatment {
    /// As a word of the session, for programs of which a run is one experiment.
    pub fn to_word(self) -> u32 {
        match self {
            Treatment::Baseline => 0,
            Treatment::Speedup(speedup) => speedup,
            Treatment::Placebo(speedup) => speedup + PLACEBO,
        }
    }

    /// The reverse of [`Treatment::to_word`]; [`NONE`] is the baseline.
    pub fn of_word(word: u32) -> Treatment {
        match word {
            0 | NONE => Treatment::Baseline,
            1..PLACEBO => Treatment::Speedup(word),
            PLACEBO.. => Treatment::Placebo(word - PLACEBO),
        }
    }

    /// By how much the target looks faster, ten-thousandths, and whether it is a placebo.
    pub fn speedup(self) -> (u32, bool) {
        match self {
            Treatment::Baseline => (0, false),
            Treatment::Speedup(speedup) => (speedup, false),
            Treatment::Placebo(speedup) => (speedup, true),
        }
    }
}

/// The speedups a session draws from, in ten-thousandths, besides the baseline.
#[derive(Clone, Debug)]
pub struct Levels {
    levels: [u32; MAX_LEVELS],
    /// Those that are drawn from, a bit for each.
    among: u32,
    placebo: bool,
}

/// What one target has drawn from its current decks. Zeros are fresh decks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deck {
    /// A bit for each level.
    speedups: u32,
    /// How many of the draws were none of `speedups`.
    controls: u32,
    /// Of the controls' own deck.
    baselines: u32,
    /// Of the same, a bit for each level.
    placebos: u32,
}

/// Baselines for each placebo. A placebo delays the program as a speedup does, and what placebos say about one target holds for
/// all.
const BASELINES: u32 = 3;

impl Levels {
    /// Draws from `levels` (without 0), or only the one that is `fixed`, which is [`NONE`] for a free draw. A longer list is
    /// cut at [`MAX_LEVELS`]. One of four controls is a placebo; see [`Levels::without_placebos`].
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
            among: ((1_u64 << count) - 1) as u32,
            placebo: true,
        }
    }

    /// Only the levels with a bit in `mask`, in the order in which [`Levels::new`] was given them; all of them if that leaves
    /// none. They draw from the same decks: the levels that are left out catch up when they are drawn again.
    pub fn only(&self, mask: u32) -> Levels {
        let among = match self.among & mask {
            0 => self.among,
            some => some,
        };
        Levels {
            among,
            ..self.clone()
        }
    }

    /// The same levels, but all controls are baselines. Both draw from the same decks.
    pub fn without_placebos(&self) -> Levels {
        Levels {
            placebo: false,
            ..self.clone()
        }
    }

    /// Draws what the next experiment on a target does. Each target draws without replacement from its own decks. One holds
    /// every speedup once and as many controls, so that short runs cover all levels. The controls' deck holds every level's
    /// placebo once and three times as many baselines.
    pub fn draw(&self, deck: &mut Deck, random: &mut Random) -> Treatment {
        let count = self.among.count_ones();
        if count == 0 {
            return Treatment::Baseline;
        }
        if self.left(deck.speedups) == 0 && deck.controls >= count {
            (deck.speedups, deck.controls) = (0, 0);
        }
        let controls = count.saturating_sub(deck.controls);
        if self.picks_first(controls, deck.speedups, random) {
            deck.controls += 1;
            self.control(deck, random)
        } else {
            Treatment::Speedup(self.level(&mut deck.speedups, random))
        }
    }

    fn control(&self, deck: &mut Deck, random: &mut Random) -> Treatment {
        if !self.placebo {
            return Treatment::Baseline;
        }
        let all = BASELINES * self.among.count_ones();
        if self.left(deck.placebos) == 0 && deck.baselines >= all {
            (deck.placebos, deck.baselines) = (0, 0);
        }
        let baselines = all.saturating_sub(deck.baselines);
        if self.picks_first(baselines, deck.placebos, random) {
            deck.baselines += 1;
            Treatment::Baseline
        } else {
            Treatment::Placebo(self.level(&mut deck.placebos, random))
        }
    }

    /// Whether a draw is one of the `first`, rather than one of the levels that are not in `drawn` yet.
    fn picks_first(&self, first: u32, drawn: u32, random: &mut Random) -> bool {
        let levels = self.left(drawn);
        random.below(u64::from(first + levels)) < u64::from(first)
    }

    /// How many levels are not in `drawn` yet.
    fn left(&self, drawn: u32) -> u32 {
        (self.among & !drawn).count_ones()
    }

    /// Draws one of the levels that are not in `drawn` yet. There must be one.
    fn level(&self, drawn: &mut u32, random: &mut Random) -> u32 {
        let left = self.among & !*drawn;
        let pick = random.below(u64::from(left.count_ones())) as usize;
        let index = (0..u32::BITS)
            .filter(|index| left & (1 << index) != 0)
            .nth(pick)
            .expect("pick is less than what is left");
        *drawn |= 1 << index;
        self.levels[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    use Treatment::{Baseline, Placebo, Speedup};

    const COARSE: [u32; 4] = [2500, 5000, 7500, 10_000];

    /// `count` draws of a line.
    fn draws(levels: &Levels, seed: u64, count: usize) -> Vec<Treatment> {
        let (mut deck, mut random) = (Deck::default(), Random::new(seed));
        (0..count)
            .map(|_| levels.draw(&mut deck, &mut random))
            .collect()
    }

    /// What the draws are, in the order of treatments and levels.
    fn sorted(draws: &[Treatment]) -> Vec<Treatment> {
        let mut draws = draws.to_vec();
        draws.sort_by_key(|it| match *it {
            Baseline => (0, 0),
            Speedup(level) => (1, level),
            Placebo(level) => (2, level),
        });
        draws
    }

    #[test]
    fn a_deck_holds_every_level_once_and_as_many_baselines() {
        let levels = Levels::new(&COARSE, NONE).without_placebos();
        let mut all = std::vec![Baseline; 4];
        all.extend(COARSE.map(Speedup));
        for deck in draws(&levels, 7, 400).chunks(8) {
            assert_eq!(sorted(deck), all);
        }
    }

    #[test]
    fn one_of_four_controls_is_a_placebo_at_every_level_in_turn() {
        let levels = Levels::new(&COARSE, NONE);
        let mut all = std::vec![Baseline; 12];
        all.extend(COARSE.map(|level| [Speedup(level); 4]).concat());
        all.extend(COARSE.map(Placebo));
        for decks in draws(&levels, 7, 960).chunks(32) {
            assert_eq!(sorted(decks), all);
            for deck in decks.chunks(8) {
                let speedups = deck.iter().filter(|it| matches!(it, Speedup(_)));
                assert_eq!(speedups.count(), 4, "short runs cover all levels");
            }
        }
    }

    #[test]
    fn a_deck_of_some_levels_is_filled_up_by_the_others() {
        let levels = Levels::new(&COARSE, NONE).without_placebos();
        let some = levels.only(0b1010);
        for seed in 0..50 {
            let (mut deck, mut random) = (Deck::default(), Random::new(seed));
            let mut draw = |levels: &Levels, count: usize| -> Vec<Treatment> {
                let draws = (0..count).map(|_| levels.draw(&mut deck, &mut random));
                sorted(&draws.collect::<Vec<_>>())
            };
            for _ in 0..5 {
                let few = [Baseline, Baseline, Speedup(5000), Speedup(10_000)];
                assert_eq!(draw(&some, 4), few);
            }
            let rest = [Baseline, Baseline, Speedup(2500), Speedup(7500)];
            assert_eq!(draw(&levels, 4), rest);
            assert_eq!(draw(&levels, 8).len(), 8);
        }
    }

    #[test]
    fn a_deck_goes_on_wherever_it_was_left() {
        let levels = Levels::new(&COARSE, NONE);
        let few = [
            levels.only(0b1010),
            levels.only(1),
            levels.only(0),
            levels.clone(),
        ];
        let (mut deck, mut random) = (Deck::default(), Random::new(5));
        let mut times = [0; 2];
        for n in 0..8000 {
            let from = &few[random.index(few.len())];
            let drawn = from.draw(&mut deck, &mut random);
            times[usize::from(matches!(drawn, Speedup(_)))] += 1;
            if let Speedup(level) | Placebo(level) = drawn {
                let index = COARSE.iter().position(|it| *it == level).unwrap();
                assert!(from.among & 1 << index != 0, "{n}: {drawn:?}");
            }
        }
        assert!(times.iter().all(|it| *it > 2000), "{times:?}");
    }

    #[test]
    fn where_they_say_nothing_there_are_no_placebos() {
        let levels = Levels::new(&COARSE, NONE).without_placebos();
        let drawn = draws(&levels, 9, 80);
        let baselines = drawn.iter().filter(|it| **it == Baseline).count();
        assert_eq!(baselines, 40);
        assert!(!drawn.iter().any(|it| matches!(it, Placebo(_))));
    }

    #[test]
    fn the_order_is_random() {
        let levels = Levels::new(&COARSE, NONE);
        let first: Vec<Treatment> = (0..8000).map(|seed| draws(&levels, seed, 1)[0]).collect();
        let times = |wanted| first.iter().filter(|it| **it == wanted).count();
        assert!((2800..3200).contains(&times(Baseline)));
        for level in COARSE {
            assert!((850..1150).contains(&times(Speedup(level))), "{level}");
            assert!((180..320).contains(&times(Placebo(level))), "{level}");
        }
    }

    #[test]
    fn every_other_experiment_has_the_fixed_speedup_first_or_second_at_random() {
        let drawn = draws(&Levels::new(&COARSE, 4000).without_placebos(), 3, 1000);
        let first = drawn.chunks(2).filter(|pair| match pair {
            [Speedup(4000), Baseline] => true,
            [Baseline, Speedup(4000)] => false,
            other => panic!("{other:?}"),
        });
        assert!((200..300).contains(&first.count()));
        let baseline = draws(&Levels::new(&COARSE, 0), 3, 100);
        assert_eq!(baseline, [Baseline; 100]);
    }

    #[test]
    fn a_treatment_survives_the_session() {
        for treatment in [Baseline, Speedup(2500), Speedup(10_000), Placebo(10_000)] {
            assert_eq!(Treatment::of_word(treatment.to_word()), treatment);
        }
        assert_eq!(Treatment::of_word(NONE), Baseline);
    }

    #[test]
    fn a_session_without_levels_measures_the_baseline() {
        let levels = Levels::new(&[], NONE);
        assert_eq!(draws(&levels, 3, 1), [Baseline]);
    }
}

//! End-to-end mode (COZ's `--end-to-end`): a program that just finishes is run again and again, each run one experiment.

use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_model::causal::Recording;
use fulcrum_stats::Random;

use crate::control::now;

/// What is drawn unless one speedup is wanted.
const SPEEDUPS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// Targets with fewer of the samples than this are not worth whole runs.
const LEAST_SHARE: f64 = 0.02;

/// Draws what the next run does.
pub struct Draw {
    random: Random,
    /// As many baselines as speedups, as in every other mode.
    deck: Vec<f64>,
    drawn: Vec<(TargetId, Vec<f64>)>,
}

impl Draw {
    /// `fixed_speedup`: only this one, besides the baseline.
    pub fn new(fixed_speedup: Option<f64>) -> Draw {
        let speedups = fixed_speedup.map_or(SPEEDUPS.to_vec(), |fixed| vec![fixed]);
        Draw {
            random: Random::new(now()),
            deck: speedups.into_iter().flat_map(|it| [0.0, it]).collect(),
            drawn: Vec::new(),
        }
    }

    /// A target in proportion to its samples so far, and a speedup. `None` while there are no samples.
    pub fn next(&mut self, recording: &Recording) -> Option<(TargetId, f64)> {
        let total: u64 = recording.samples.iter().map(|(_, count)| count).sum();
        let mut counts: Vec<(TargetId, u64)> = Vec::new();
        for (target, count) in &recording.samples {
            match counts.iter_mut().find(|(known, _)| known == target) {
                Some((_, sum)) => *sum += count,
                None => counts.push((target.clone(), *count)),
            }
        }
        counts.retain(|(_, count)| *count as f64 >= LEAST_SHARE * total as f64);
        let sum: u64 = counts.iter().map(|(_, count)| count).sum();
        let mut at = self.random.below(sum);
        let target = counts
            .into_iter()
            .find(|(_, count)| {
                let here = at < *count;
                at = at.saturating_sub(*count);
                here
            })
            .map(|(target, _)| target)?;
        let speedup = self.speedup(&target);
        Some((target, speedup))
    }

    /// From a shuffled deck a target: random in order, balanced in number.
    fn speedup(&mut self, target: &TargetId) -> f64 {
        let known = self.drawn.iter().position(|(known, _)| known == target);
        let index = known.unwrap_or_else(|| {
            self.drawn.push((target.clone(), Vec::new()));
            self.drawn.len() - 1
        });
        if self.drawn[index].1.is_empty() {
            self.drawn[index].1 = self.deck.clone();
        }
        let deck = &mut self.drawn[index].1;
        deck.swap_remove(self.random.index(deck.len()))
    }
}

/// Whether another run of the program is wanted.
pub fn goes_on(
    wanted: Option<u64>,
    done: u64,
    duration: Option<Duration>,
    elapsed: Duration,
) -> bool {
    wanted.is_none_or(|wanted| done < wanted) && duration.is_none_or(|limit| elapsed < limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(samples: &[(&str, u64)]) -> Recording {
        Recording {
            samples: samples
                .iter()
                .map(|(target, count)| (target.parse().unwrap(), *count))
                .collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn targets_are_drawn_by_their_samples_and_speedups_evenly() {
        let recording = recording(&[
            ("/a.c:1", 600),
            ("/a.c:2", 300),
            ("/a.c:3", 3),
            ("/a.c:2", 100),
        ]);
        let mut draw = Draw::new(None);
        let mut first = 0;
        let mut speedups = Vec::new();
        for _ in 0..8000 {
            let (target, speedup) = draw.next(&recording).unwrap();
            assert_ne!(target.location.line, 3, "too few samples to be worth runs");
            if target.location.line == 1 {
                first += 1;
                speedups.push(speedup);
            }
        }
        assert!((4500..5100).contains(&first), "{first}");
        let half = speedups.iter().filter(|it| **it == 0.25).count() as f64;
        assert!((half / speedups.len() as f64 - 0.125).abs() < 0.01);
        let decks = speedups.len() / 8 * 8;
        for deck in speedups[..decks].chunks(8) {
            assert_eq!(deck.iter().filter(|it| **it == 0.0).count(), 4);
        }
    }

    #[test]
    fn of_two_runs_one_has_the_fixed_speedup() {
        let recording = recording(&[("/a.c:1", 600)]);
        let mut draw = Draw::new(Some(0.4));
        for _ in 0..100 {
            let pair = [(); 2].map(|()| draw.next(&recording).unwrap().1);
            assert!(pair == [0.0, 0.4] || pair == [0.4, 0.0], "{pair:?}");
        }
    }

    #[test]
    fn without_samples_there_is_nothing_to_draw() {
        assert_eq!(Draw::new(None).next(&recording(&[])), None);
    }

    #[test]
    fn runs_end_by_number_or_by_time() {
        let second = Duration::from_secs(1);
        for (wanted, done, limit, on) in [
            (Some(3), 2, None, true),
            (Some(3), 3, None, false),
            (None, 999, None, true),
            (None, 1, Some(second), false),
            (Some(3), 2, Some(second / 2), false),
            (Some(3), 2, Some(second * 2), true),
        ] {
            assert_eq!(
                goes_on(wanted, done, limit, second),
                on,
                "{wanted:?} {done} {limit:?}"
            );
        }
    }
}

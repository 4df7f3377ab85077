//! End-to-end mode (COZ's `--end-to-end`): a program that just finishes is run again and again. Each run is one experiment.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use fulcrum_model::TargetId;
use fulcrum_model::causal::Recording;
use fulcrum_runtime_core::draw::{Deck, Levels, Treatment};
use fulcrum_stats::Random;

use crate::program::clock::monotonic_ns;

/// A target with a smaller share of the samples is not worth whole runs.
const LEAST_SHARE: f64 = 0.02;

/// Draws the treatments of runs.
pub(crate) struct Draw {
    random: Random,
    levels: Levels,
    decks: BTreeMap<TargetId, Deck>,
}

impl Draw {
    /// Draws from these levels, as every mode does.
    pub(crate) fn new(levels: Levels) -> Draw {
        Draw {
            random: Random::new(monotonic_ns()),
            levels,
            decks: BTreeMap::new(),
        }
    }

    /// Draws a target in proportion to its samples so far, and a treatment. `None` while there are no samples.
    pub(crate) fn next(&mut self, recording: &Recording) -> Option<(TargetId, Treatment)> {
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
        let deck = self.decks.entry(target.clone()).or_default();
        let treatment = self.levels.draw(deck, &mut self.random);
        Some((target, treatment))
    }
}

/// A run that fails with fewer samples in scope, about 15 ms of work, has not done its work.
const LEAST_WORK: u64 = 10;
/// After this many runs without a sample in scope, none is to be expected.
const MOST_EMPTY_RUNS: u64 = 10;

/// How the runs of a program have ended.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    runs: u64,
    failed: u64,
    /// The last failure, as part of a sentence.
    failure: String,
    why_ended: Option<String>,
}

impl Repeats {
    /// Counts the end of a run; `in_scope` is the number of samples in scope in all runs so far. Returns whether another run
    /// is useful.
    pub(crate) fn ended(&mut self, status: ExitStatus, in_scope: u64) -> bool {
        self.runs += 1;
        if !status.success() {
            self.failed += 1;
            self.failure = match status.code() {
                Some(code) => format!("exit status {code}"),
                None => format!("signal {}", status.signal().unwrap_or(0)),
            };
        }
        self.why_ended = self.why_not_again(status, in_scope);
        self.why_ended.is_none()
    }

    fn why_not_again(&self, status: ExitStatus, in_scope: u64) -> Option<String> {
        let Repeats {
            runs,
            failed,
            failure,
            ..
        } = self;
        if status.code().is_none() {
            return Some(format!(
                "Run {runs} of the program ended by {failure}, so it was not run again."
            ));
        }
        if failed == runs && in_scope < LEAST_WORK {
            return Some(format!(
                "The program failed at once ({failure}), so it was not run again: run it by itself to see why, and \
                 check its arguments."
            ));
        }
        (*runs >= MOST_EMPTY_RUNS && in_scope == 0).then(|| {
            format!(
                "In {runs} runs no sample fell into code in scope, so the program was not run again: give each run \
                 more work, a tenth of a second at least."
            )
        })
    }

    /// The number of runs so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// A sentence on why the program was not run as often as requested.
    pub(crate) fn why_ended(&self) -> Option<&str> {
        self.why_ended.as_deref()
    }

    /// A sentence on runs that failed and count nevertheless.
    pub(crate) fn note(&self) -> Option<String> {
        let Repeats {
            runs,
            failed,
            failure,
            ..
        } = self;
        (*failed > 0).then(|| {
            format!(
                "{failed} of {runs} runs failed (the last with {failure}); they count like the others: check that they \
                 did all of their work."
            )
        })
    }
}

/// Whether the limits on runs and time allow another run of the program.
pub(crate) fn allows_another(
    most_runs: Option<u64>,
    runs: u64,
    duration: Option<Duration>,
    elapsed: Duration,
) -> bool {
    most_runs.is_none_or(|most| runs < most) && duration.is_none_or(|limit| elapsed < limit)
}

#[cfg(test)]
mod tests {
    use fulcrum_wire::NONE;

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
    fn targets_are_drawn_by_their_samples_and_each_from_a_deck_of_its_own() {
        let recording = recording(&[
            ("/a.c:1", 600),
            ("/a.c:2", 300),
            ("/a.c:3", 3),
            ("/a.c:2", 100),
        ]);
        let mut draw = Draw::new(Levels::new(&[2500, 5000], NONE));
        let mut first = Vec::new();
        for _ in 0..8000 {
            let (target, treatment) = draw.next(&recording).unwrap();
            assert_ne!(target.location.line, 3, "too few samples to be worth runs");
            if target.location.line == 1 {
                first.push(treatment);
            }
        }
        assert!((4500..5100).contains(&first.len()), "{}", first.len());
        for decks in first.chunks_exact(16) {
            let count = |wanted| decks.iter().filter(|it| **it == wanted).count();
            assert_eq!(count(Treatment::Baseline), 6);
            assert_eq!(count(Treatment::Speedup(2500)), 4);
            assert_eq!(count(Treatment::Placebo(5000)), 1);
        }
    }

    #[test]
    fn without_samples_there_is_nothing_to_draw() {
        let mut draw = Draw::new(Levels::new(&[2500], NONE));
        assert_eq!(draw.next(&recording(&[])), None);
    }

    #[test]
    fn a_program_that_cannot_be_measured_is_not_run_again() {
        // As wait(2) has it: exit statuses above eight bits, signals below.
        let ended = |status: i32, in_scope: u64, runs: u64| {
            let mut repeats = Repeats::default();
            let go_on = (0..runs).all(|_| repeats.ended(ExitStatus::from_raw(status), in_scope));
            assert_eq!(go_on, repeats.why_ended().is_none());
            (go_on, repeats.runs(), repeats.note().is_some())
        };
        for (status, in_scope, runs, expect) in [
            (2 << 8, 0, 5, (false, 1, true)),
            (2 << 8, LEAST_WORK, 5, (true, 5, true)),
            (libc::SIGSEGV, 1000, 5, (false, 1, true)),
            (0, 0, 20, (false, MOST_EMPTY_RUNS, false)),
            (0, 1, 20, (true, 20, false)),
        ] {
            assert_eq!(ended(status, in_scope, runs), expect, "{status} {in_scope}");
        }
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
                allows_another(wanted, done, limit, second),
                on,
                "{wanted:?} {done} {limit:?}"
            );
        }
    }
}

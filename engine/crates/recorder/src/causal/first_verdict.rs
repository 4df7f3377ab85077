//! The search for the first verdict, with which a run begins: experiments concentrate on the lines with the most samples until
//! one of them has a verdict ([`fulcrum_causal::Opening`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_causal::{FLOOR, FirstVerdict, Opening, SPEEDUPS, candidates};
use fulcrum_model::TargetId;
use fulcrum_runs::load_causal;

use super::control;
use super::process::Watched;
use crate::{Options, TargetChoice};

/// How often samples, and then experiments, are examined.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// How long samples are collected before lines are chosen: what a program does first is often not what it does most.
const SAMPLING_TIME: Duration = Duration::from_secs(1);
/// When the search gives up: without a verdict by then, none is to be expected soon.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The search and its state.
pub(crate) struct FirstVerdictSearch {
    state: State,
    /// What a line must be worth for a verdict, if specified.
    worth: Option<f64>,
    last_check: Duration,
    /// The number of experiments at the last check.
    experiments: u64,
    /// The number of processes whose maps concentrate on the lines.
    concentrated: usize,
}

enum State {
    /// The samples do not show yet which lines to test.
    Sampling,
    Testing(Opening),
    Over,
}

impl FirstVerdictSearch {
    /// Begins a search, unless the user has chosen what to experiment on or earlier experiments count.
    pub(crate) fn new(options: &Options) -> FirstVerdictSearch {
        let is_free = options.fixed_speedup.is_none()
            && options.fixed_line.is_none()
            && options.end_to_end.is_none()
            && options.continues.is_none()
            && options.aim.target != TargetChoice::Blocked;
        FirstVerdictSearch {
            state: if is_free {
                State::Sampling
            } else {
                State::Over
            },
            worth: options.first_worth,
            last_check: Duration::ZERO,
            experiments: 0,
            concentrated: 0,
        }
    }

    /// Whether it decides what to experiment on.
    pub(crate) fn is_testing(&self) -> bool {
        matches!(self.state, State::Testing(_))
    }

    /// Continues the search, `elapsed` after the run began. Returns the verdict when there is one.
    pub(crate) fn update(
        &mut self,
        processes: &[Watched],
        folder: &Path,
        elapsed: Duration,
    ) -> Option<FirstVerdict> {
        let waited = elapsed.saturating_sub(self.last_check);
        if matches!(self.state, State::Over) || waited < CHECK_INTERVAL {
            return None;
        }
        self.last_check = elapsed;
        if elapsed >= TIME_LIMIT {
            self.end(processes);
            return None;
        }
        match &mut self.state {
            State::Sampling if elapsed >= SAMPLING_TIME => {
                let lines = candidates(&samples(processes));
                if !lines.is_empty() {
                    let opening = Opening::new(lines);
                    self.state = State::Testing(match self.worth {
                        Some(worth) => opening.worth(worth),
                        None => opening,
                    });
                }
            }
            State::Testing(opening) => {
                let experiments = |it: &Watched| it.block.get().experiments.load(Ordering::Relaxed);
                let all: u64 = processes.iter().map(experiments).sum();
                if all > self.experiments {
                    self.experiments = all;
                    let verdict = opening.interim_analysis(&load_causal(folder).ok()?.recording);
                    if opening.is_over() {
                        self.end(processes);
                    }
                    if verdict.is_some() {
                        return verdict;
                    }
                }
            }
            State::Sampling | State::Over => {}
        }
        self.concentrate(processes);
        None
    }

    /// Makes the experiments of new processes concentrate on the lines.
    fn concentrate(&mut self, processes: &[Watched]) {
        if let State::Testing(opening) = &self.state {
            let levels = control::levels_of(&SPEEDUPS);
            for process in &processes[self.concentrated.min(processes.len())..] {
                process.concentrate(opening.lines(), levels, FLOOR);
            }
            self.concentrated = processes.len();
        }
    }

    /// Ends the search: experiments choose from every line again, at every level.
    pub(crate) fn end(&mut self, processes: &[Watched]) {
        if let State::Testing(opening) = std::mem::replace(&mut self.state, State::Over) {
            for process in processes {
                process.concentrate(opening.lines(), 0, 1.0);
            }
        }
    }
}

/// The number of samples in every target so far, in all processes together.
fn samples(processes: &[Watched]) -> Vec<(TargetId, u64)> {
    let mut sums: BTreeMap<TargetId, u64> = BTreeMap::new();
    for (target, count) in processes.iter().flat_map(Watched::samples) {
        *sums.entry(target).or_default() += count;
    }
    sums.into_iter().collect()
}

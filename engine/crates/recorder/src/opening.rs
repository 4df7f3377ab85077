//! The opening of a run: experiments concentrate on the lines with most samples until one of them has a first verdict
//! ([`fulcrum_causal::Opening`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fulcrum_causal::{FLOOR, FirstVerdict, Opening, SPEEDUPS, candidates};
use fulcrum_model::TargetId;
use fulcrum_runs::load_causal;

use crate::process::Watched;
use crate::{Options, TargetChoice, control};

/// How often samples, and then experiments, are looked at.
const LOOK: Duration = Duration::from_millis(250);
/// What a program does first is often not what it does most.
const SAMPLES: Duration = Duration::from_secs(1);
/// An opening that has brought nothing by then brings nothing soon.
const LONGEST: Duration = Duration::from_secs(30);

/// Where the opening of a run stands.
pub struct Begun {
    state: State,
    /// What a line must be worth for a verdict, where that was said.
    worth: Option<f64>,
    looked: Duration,
    /// Experiments at the last look.
    experiments: u64,
    /// Processes whose maps have been told.
    told: usize,
}

enum State {
    /// Samples do not tell yet which lines to test.
    Sampling,
    Testing(Opening),
    Over,
}

impl Begun {
    /// Not where the user has chosen what experiments do, and where experiments from before count.
    pub fn new(options: &Options) -> Begun {
        let is_free = options.fixed_speedup.is_none()
            && options.fixed_line.is_none()
            && options.end_to_end.is_none()
            && options.continues.is_none()
            && options.aim.target != TargetChoice::Blocked;
        Begun {
            state: if is_free {
                State::Sampling
            } else {
                State::Over
            },
            worth: options.first_worth,
            looked: Duration::ZERO,
            experiments: 0,
            told: 0,
        }
    }

    /// Whether it says what experiments are made on.
    pub fn is_testing(&self) -> bool {
        matches!(self.state, State::Testing(_))
    }

    /// Looks whether there is anything to do or to say, so long after the run began.
    pub fn tend(
        &mut self,
        processes: &[Watched],
        folder: &Path,
        elapsed: Duration,
    ) -> Option<FirstVerdict> {
        if matches!(self.state, State::Over) || elapsed.saturating_sub(self.looked) < LOOK {
            return None;
        }
        self.looked = elapsed;
        if elapsed >= LONGEST {
            self.end(processes);
            return None;
        }
        match &mut self.state {
            State::Sampling if elapsed >= SAMPLES => {
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
                    let verdict = opening.look(&load_causal(folder).ok()?.recording);
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
        self.tell(processes);
        None
    }

    /// Tells the maps of processes that came since.
    fn tell(&mut self, processes: &[Watched]) {
        if let State::Testing(opening) = &self.state {
            let levels = control::levels_of(&SPEEDUPS);
            for process in &processes[self.told.min(processes.len())..] {
                process.concentrate(opening.lines(), levels, FLOOR);
            }
            self.told = processes.len();
        }
    }

    /// The opening is over: experiments are made on every line again, at every level.
    pub fn end(&mut self, processes: &[Watched]) {
        if let State::Testing(opening) = std::mem::replace(&mut self.state, State::Over) {
            for process in processes {
                process.concentrate(opening.lines(), 0, 1.0);
            }
        }
    }
}

/// Samples of every target so far, of all processes.
fn samples(processes: &[Watched]) -> Vec<(TargetId, u64)> {
    let mut sums: BTreeMap<TargetId, u64> = BTreeMap::new();
    for (target, count) in processes.iter().flat_map(Watched::samples) {
        *sums.entry(target).or_default() += count;
    }
    sums.into_iter().collect()
}

//! What a target costs per visit: its samples × the sampling period ÷ visits, over the whole run.
//!
//! Visits are counted in experiments only. The rest of the run goes at the pace of the experiments without virtual speedup.
//! Samples and visits of sped-up experiments belong together: both come faster.

use std::cell::RefCell;
use std::collections::BTreeMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::Recording;
use fulcrum_model::comparison::{Note, Side};

use super::estimate::Positive;
use super::pace::Pace;
use crate::estimate::phase::Correction;

/// coz's period, and ours by default.
const USUAL_PERIOD_NS: u64 = 1_000_000;

type Counts<'a> = BTreeMap<&'a TargetId, (u64, u64)>;

/// What the targets of one run cost.
pub(crate) struct Costs<'a> {
    recording: &'a Recording,
    /// By progress point.
    counts: RefCell<BTreeMap<String, Counts<'a>>>,
}

impl<'a> Costs<'a> {
    pub(crate) fn of(recording: &'a Recording) -> Self {
        Costs {
            recording,
            counts: RefCell::default(),
        }
    }

    /// Notes on what the run on this side does not say.
    pub(crate) fn notes(&self, side: Side) -> Vec<Note> {
        let Recording {
            period_ns,
            samples,
            runtime_ns,
            ..
        } = self.recording;
        let mut notes = Vec::new();
        if samples.iter().all(|&(_, count)| count == 0) || *runtime_ns == 0 {
            notes.push(Note::NoWholeRun(side));
        }
        if period_ns.is_none() {
            notes.push(Note::NoPeriod(side));
        }
        notes
    }

    /// CPU nanoseconds per visit to the progress point `point`. `None` when nothing is known of the target.
    pub(crate) fn per_visit(&self, id: &TargetId, point: &str, pace: &Pace) -> Option<Positive> {
        let mut cache = self.counts.borrow_mut();
        let counts = cache
            .entry(point.to_owned())
            .or_insert_with(|| rates(self.recording, point));
        let (samples, visits) = if counts.is_empty() {
            self.in_experiments(id, point)?
        } else {
            let time = counts.values().map(|&(_, time)| time).max()?;
            let &(samples, time) = counts.get(id).unwrap_or(&(0, time));
            let rest = (time as f64 - pace.duration).max(0.0);
            (samples as f64, pace.visits + rest * pace.rate)
        };
        if visits <= 0.0 {
            return None;
        }
        let period = self.recording.period_ns.unwrap_or(USUAL_PERIOD_NS) as f64;
        // No samples count as half a sample, whose error is wide.
        let samples = samples.max(0.5);
        Some(Positive {
            value: samples * period / visits,
            relative: (1.0 / samples + pace.period.relative.powi(2)).sqrt(),
        })
    }

    /// Samples and visits of the target's own experiments.
    fn in_experiments(&self, id: &TargetId, point: &str) -> Option<(f64, f64)> {
        let own = self
            .recording
            .experiments
            .iter()
            .filter(|it| it.selected == *id);
        let (mut samples, mut visits, mut any) = (0.0, 0.0, false);
        for experiment in own {
            any = true;
            samples += experiment.selected_samples as f64;
            let here = experiment.points.iter().filter(|it| it.name == point);
            visits += here.map(|it| it.count.visits() as f64).sum::<f64>();
        }
        any.then_some((samples, visits))
    }
}

/// `s` and `T` of eq. 8, for a progress point.
fn rates<'a>(recording: &'a Recording, point: &str) -> BTreeMap<&'a TargetId, (u64, u64)> {
    Correction::of(recording).counts(point)
}

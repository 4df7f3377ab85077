//! Prediction against reality: two runs, before and after a change.
//!
//! For each progress point, the experiments without virtual speedup of both runs show what the program gained. For each target,
//! its cost per visit before and after shows how much faster it really became, and the run before predicts what the program
//! should have gained from that. The runs were made at different times, so other changes on the machine are in the numbers, but
//! not in the intervals.

mod cost;
mod estimate;
mod pace;
mod verdict;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{PointProfile, Recording, Target};
use fulcrum_model::comparison::{
    Comparison, Estimate, Note, PointComparison, Side, TargetComparison,
};
use fulcrum_stats::Interval;

use crate::analysis::{Options, analyse};
use crate::prediction::predict;
use cost::Costs;
use estimate::{difference, quotient};
use pace::Pace;

/// Compares two runs. `moved` returns the target of the run after that a target of the run before has become; `None` when its
/// code is gone.
pub fn compare(
    before: &Recording,
    after: &Recording,
    moved: &dyn Fn(&TargetId) -> Option<TargetId>,
    options: &Options,
) -> Comparison {
    let profile = analyse(before, options);
    let mut notes = Vec::new();
    let (costs_before, costs_after) = (Costs::of(before), Costs::of(after));
    for (costs, side) in [(&costs_before, Side::Before), (&costs_after, Side::After)] {
        notes.extend(costs.notes(side));
    }
    let mut points = Vec::new();
    for point in &profile.progress_points {
        let paces = (Pace::of(before, point), Pace::of(after, point));
        if paces.1.is_none() {
            notes.push(Note::NoBaseline {
                point: point.name.clone(),
            });
        }
        let runs = RunPair {
            costs: (&costs_before, &costs_after),
            paces,
            moved,
        };
        points.push(runs.point(point));
    }
    if points.iter().all(|point| point.targets.is_empty()) {
        notes.extend(profile.notes.into_iter().map(Note::Profile));
    }
    Comparison {
        progress_points: points,
        notes,
    }
}

struct RunPair<'a> {
    costs: (&'a Costs<'a>, &'a Costs<'a>),
    paces: (Option<Pace>, Option<Pace>),
    moved: &'a dyn Fn(&TargetId) -> Option<TargetId>,
}

impl RunPair<'_> {
    fn point(&self, point: &PointProfile) -> PointComparison {
        let (before, after) = (self.paces.0.as_ref(), self.paces.1.as_ref());
        let actual = before
            .zip(after)
            .map(|(before, after)| difference(quotient(after.period, before.period)));
        let mut targets: Vec<TargetComparison> = point
            .targets
            .iter()
            .map(|target| self.target(point, target))
            .collect();
        targets.sort_by_key(|target| !target.changed);
        let changes = targets.iter().filter(|target| target.changed).count();
        for target in &mut targets {
            target.verdict = verdict::sentence(target, actual, changes);
        }
        PointComparison {
            name: point.name.clone(),
            kind: point.kind,
            before_rate: before.map(|pace| pace.rate * 1e9),
            after_rate: after.map(|pace| pace.rate * 1e9),
            before_ns: before.map(|pace| pace.period.estimate()),
            after_ns: after.map(|pace| pace.period.estimate()),
            actual,
            targets,
        }
    }

    fn target(&self, point: &PointProfile, target: &Target) -> TargetComparison {
        let after = (self.moved)(&target.id);
        let cost = |costs: &Costs<'_>, pace: &Option<Pace>, id: Option<&TargetId>| {
            costs.per_visit(id?, &point.name, pace.as_ref()?)
        };
        let costs = (
            cost(self.costs.0, &self.paces.0, Some(&target.id)),
            cost(self.costs.1, &self.paces.1, after.as_ref()),
        );
        let speedup = match costs {
            (Some(before), Some(after)) => Some(difference(quotient(after, before))),
            // Its code is gone, and with it what it cost.
            (Some(_), None) if after.is_none() => Some(Estimate {
                value: 1.0,
                interval: None,
            }),
            _ => None,
        };
        let changed = speedup.is_some_and(|it| {
            it.interval.is_none_or(|it| it.low > 0.0 || it.high < 0.0)
                && it.value.abs() >= verdict::UNCHANGED
        });
        let prediction = speedup.map(|speedup| prediction(target, speedup));
        TargetComparison {
            before: target.id.clone(),
            after,
            cost_before: costs.0.map(|it| it.estimate()),
            cost_after: costs.1.map(|it| it.estimate()),
            speedup,
            predicted: prediction.map(|it| it.0),
            extrapolated: prediction.is_some_and(|it| it.1),
            changed,
            verdict: String::new(),
        }
    }
}

/// What the curve says at a speedup that is itself uncertain, and whether it had to be extrapolated.
fn prediction(target: &Target, speedup: Estimate) -> (Estimate, bool) {
    let at = |speedup: f64| {
        if speedup < 0.0 {
            // Slower: along the slope, in the other direction.
            let value = speedup * target.slope;
            let bounds = target.slope_interval.map(|it| {
                let (a, b) = (speedup * it.low, speedup * it.high);
                Interval {
                    low: a.min(b),
                    high: a.max(b),
                }
            });
            (value, bounds, true)
        } else {
            let found = predict(target, speedup);
            (found.program_speedup, found.interval, found.extrapolated)
        }
    };
    let (value, bounds, extrapolated) = at(speedup.value);
    let interval = bounds.map(|bounds| {
        let (down, up) = speedup.interval.map_or((0.0, 0.0), |it| {
            let (l, h) = (at(it.low).0 - value, at(it.high).0 - value);
            (l.min(h).min(0.0), l.max(h).max(0.0))
        });
        Interval {
            low: value - (value - bounds.low).hypot(down),
            high: value + (bounds.high - value).hypot(up),
        }
    });
    (Estimate { value, interval }, extrapolated)
}

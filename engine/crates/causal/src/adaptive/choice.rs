//! What to test next: adaptive choice that leaves the estimates unbiased.
//!
//! A target that cannot be among the best any more, or is known well enough, need not be tested as often. It keeps a fifth of its
//! probability (the exploration floor): programs change their behaviour, and a ranking may change with it. The recorder writes
//! the probability beside every experiment, and the analysis divides by it (see `experiments::weights`).

use std::collections::BTreeMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{CausalProfile, PointProfile, Target};
use fulcrum_stats::Interval;
use fulcrum_stats::anytime::{always_valid, widening};

use crate::adaptive::anytime::{BEST, FEWEST_EXPERIMENTS};

/// The least relative probability.
pub const FLOOR: f64 = 0.2;

/// The relative probability, [`FLOOR`] to 1, with which a sample of each target should be accepted as the next choice.
/// A target that is not in the list has 1: nothing is known about it. `half_width` is what `--until` asks for.
///
/// A target is settled only when every progress point that has results agrees, each by its own visits.
pub fn next_weights(profile: &CausalProfile, half_width: Option<f64>) -> Vec<(TargetId, f64)> {
    let mut settled: BTreeMap<&TargetId, bool> = BTreeMap::new();
    let judged: Vec<&PointProfile> = profile
        .progress_points
        .iter()
        .filter(|point| !point.targets.is_empty())
        .collect();
    for point in &judged {
        let bar = bar(point);
        for target in &point.targets {
            let here = is_settled(target, bar, half_width);
            *settled.entry(&target.id).or_insert(true) &= here;
        }
    }
    // One that some point cannot judge yet is not settled.
    let everywhere = |id: &TargetId| {
        judged
            .iter()
            .all(|point| point.targets.iter().any(|it| it.id == *id))
    };
    settled
        .into_iter()
        .map(|(id, settled)| {
            let weight = if settled && everywhere(id) {
                FLOOR
            } else {
                1.0
            };
            (id.clone(), weight)
        })
        .collect()
}

/// What a target must be able to reach to be among the best: the lowest credible slope of the last of them.
fn bar(point: &PointProfile) -> f64 {
    let mut lows: Vec<f64> = point
        .targets
        .iter()
        .filter_map(bounds)
        .map(|it| it.low)
        .collect();
    lows.sort_by(|a, b| b.total_cmp(a));
    lows.get(BEST - 1).copied().unwrap_or(f64::NEG_INFINITY)
}

fn bounds(target: &Target) -> Option<Interval> {
    if target.experiments < FEWEST_EXPERIMENTS {
        return None;
    }
    Some(always_valid(
        target.slope,
        target.slope_interval?,
        target.experiments,
    ))
}

fn is_settled(target: &Target, bar: f64, half_width: Option<f64>) -> bool {
    let Some(Interval { high, .. }) = bounds(target) else {
        return false;
    };
    let wider = widening(target.experiments);
    let narrow = |half: f64| {
        target
            .points
            .iter()
            .filter(|it| it.speedup > 0.0)
            .all(|it| {
                it.measured
                    .is_some_and(|it| it.half_width() * wider <= half)
            })
    };
    high < bar || half_width.is_some_and(narrow)
}

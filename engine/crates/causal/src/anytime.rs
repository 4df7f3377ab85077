//! Intervals that stay valid however often one looks, and the stopping rule built on them (`--until`).
//!
//! A 95 % interval misses the truth in 5 % of runs when it is looked at once. Looked at every two seconds until it says
//! something, it misses far more often, because some look will be unlucky. A *confidence sequence* holds at all looks at
//! once. Ours is the asymptotic one of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central limit theory
//! and asymptotic confidence sequences"): after `n` experiments, standard error times
//! `√(2 (1 + 1/x) · ln(√(x + 1) / 5 %))` with `x = n / 8`, instead of times 1.96. That is narrowest, 1.55 times the plain
//! interval, at about 64 experiments a target, and at most 1.7 times from 16 to 1000. What a run must wait longer for is
//! the price of stopping by itself; the intervals that are shown stay the plain ones.

use fulcrum_model::causal::{PointProfile, Profile, Target};

/// Intervals of fewer experiments than this on a target say little about themselves.
pub const FEWEST_EXPERIMENTS: u64 = 16;
/// How many of the best targets must be known well before a run may stop by itself.
pub const BEST: usize = 3;
/// A target that got less than this part of what the most tested one got is not waited for.
const MINOR: f64 = 0.1;
/// The `n` of `x = n / TUNED`.
const TUNED: f64 = 8.0;
const ALPHA: f64 = 0.05;
const PLAIN: f64 = 1.96;

/// What a run knows by now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The best targets of every progress point that can be judged are known as well as was wanted.
    pub done: bool,
    /// Half the width of the widest always-valid interval among them. Infinite when nothing can be judged yet.
    pub widest: f64,
    /// Which part of the work is done: 0 at the start, 1 when done. Widths fall with the root of the time, so a run that
    /// lasted `t` needs about `t / fraction` in all.
    pub fraction: f64,
}

/// By how much a plain 95 % interval after so many experiments is widened to be valid at all looks.
pub fn widening(experiments: u64) -> f64 {
    let x = experiments.max(1) as f64 / TUNED;
    (2.0 * (1.0 + 1.0 / x) * ((x + 1.0).sqrt() / ALPHA).ln()).sqrt() / PLAIN
}

/// A plain interval around `estimate`, made valid at all looks.
pub fn always_valid(estimate: f64, (low, high): (f64, f64), experiments: u64) -> (f64, f64) {
    let wider = widening(experiments);
    (
        estimate - (estimate - low) * wider,
        estimate + (high - estimate) * wider,
    )
}

/// Whether the best targets are known to within `half_width` (a fraction of program speedup) at each of their points,
/// valid although it is asked again and again.
///
/// Each progress point is judged by its own visits. One that is visited too rarely for any result holds nothing up, as
/// long as another has results.
pub fn known(profile: &Profile, half_width: f64) -> Known {
    let judged = profile
        .progress_points
        .iter()
        .filter(|point| !point.targets.is_empty());
    let widest = judged
        .flat_map(waited_for)
        .map(half_width_of)
        .reduce(f64::max)
        .unwrap_or(f64::INFINITY);
    let done = widest <= half_width;
    let fraction = if done {
        1.0
    } else {
        (half_width / widest).powi(2)
    };
    Known {
        done,
        widest,
        fraction,
    }
}

/// The best of those that were tested often enough to be judged at all.
pub fn waited_for(point: &PointProfile) -> impl Iterator<Item = &Target> {
    let most = point.targets.iter().map(|it| it.experiments).max();
    let least = most.unwrap_or(0) as f64 * MINOR;
    let tested = move |it: &&Target| it.experiments as f64 >= least;
    point.targets.iter().filter(tested).take(BEST)
}

fn half_width_of(target: &Target) -> f64 {
    if target.experiments < FEWEST_EXPERIMENTS {
        return f64::INFINITY;
    }
    let wider = widening(target.experiments);
    let half = |interval: Option<(f64, f64)>| {
        interval.map_or(f64::INFINITY, |(low, high)| (high - low) / 2.0 * wider)
    };
    target
        .points
        .iter()
        .filter(|point| point.speedup > 0.0)
        .map(|point| half(point.interval))
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looking_again_costs() {
        for (experiments, expected) in [(16, 1.66), (64, 1.55), (256, 1.59), (1000, 1.68)] {
            let found = widening(experiments);
            assert!((found - expected).abs() < 0.01, "{experiments}: {found}");
        }
        let (low, high) = always_valid(0.1, (0.0, 0.3), 64);
        assert!((low - (0.1 - 0.155)).abs() < 0.001 && (high - (0.1 + 0.31)).abs() < 0.002);
    }
}

//! The stopping rule (`--until`), built on intervals that stay valid however often a run is analysed.
//!
//! They are those of [`fulcrum_stats::anytime`], by the number of a target's experiments. A run takes longer to reach them: that
//! is the price of stopping by itself. The intervals that are shown are the plain ones.

use fulcrum_model::causal::{CausalProfile, PointProfile, Target};
use fulcrum_stats::Interval;
use fulcrum_stats::anytime::widening;

/// With fewer experiments on a target, even its interval is too uncertain.
pub(crate) const FEWEST_EXPERIMENTS: u64 = 16;
/// How many of the best targets must be known well enough before a run may stop by itself.
pub(crate) const BEST: usize = 3;
/// A target with less than this share of the experiments of the most tested one is not waited for.
const MINOR: f64 = 0.1;

/// What a run knows by now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The best targets of every progress point that can be judged are known well enough.
    pub done: bool,
    /// Half the width of the widest always-valid interval among them. Infinite when nothing can be judged yet.
    pub widest: f64,
    /// The share of the work that is done: 0 at the start, 1 when done. Widths fall with the root of the time, so a run that
    /// lasted `t` needs about `t / fraction` in all.
    pub fraction: f64,
}

/// Whether the best targets are known to within `half_width` (a fraction of program speedup) at each of their points,
/// valid although this is asked again and again.
///
/// Each progress point is judged by its own visits. One that is visited too rarely for any result holds nothing up, as
/// long as another has results.
pub fn known(profile: &CausalProfile, half_width: f64) -> Known {
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

/// The steepest of those that were tested often enough to be judged at all. Not those that rank first: a target without a verdict
/// yet ranks last and may be the best.
pub(crate) fn waited_for(point: &PointProfile) -> impl Iterator<Item = &Target> {
    let most = point.targets.iter().map(|it| it.experiments).max();
    let least = most.unwrap_or(0) as f64 * MINOR;
    let tested = move |it: &&Target| it.experiments as f64 >= least;
    let mut steepest: Vec<&Target> = point.targets.iter().filter(tested).collect();
    steepest.sort_by(|a, b| b.slope.total_cmp(&a.slope));
    steepest.into_iter().take(BEST)
}

fn half_width_of(target: &Target) -> f64 {
    if target.experiments < FEWEST_EXPERIMENTS {
        return f64::INFINITY;
    }
    let wider = widening(target.experiments);
    target
        .points
        .iter()
        .filter(|point| point.speedup > 0.0)
        .map(|point| {
            let half = point.measured.map_or(f64::INFINITY, Interval::half_width);
            half * wider
        })
        .fold(0.0, f64::max)
}

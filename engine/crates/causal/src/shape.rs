//! The nine shapes of the gutter: how a target reads at a glance.
//!
//! A shape claims only what is credible. A line has an *effect* when the 95 % interval of its slope excludes zero, or when
//! a single point does so at three standard errors (curves that rise and then fall have no slope). The size of the effect
//! is its *credible* size: the end of an interval that is nearer to zero, at the point where that is largest. So a shape
//! grows with the evidence, and a lucky handful of visits never looks like a bottleneck.
//!
//! | shape | when |
//! |---|---|
//! | gain 1 | gains at least 1 % by estimate, and more than nothing credibly |
//! | gain 2, 3, 4 | gains at least 10, 25, 50 % credibly |
//! | harm 1 | loses at least 1 % by estimate, and more than nothing credibly |
//! | harm 2, 3 | loses at least 10, 25 % credibly |
//! | flat | no effect of 1 %, and the slope is known to within ±5 % |
//! | unknown | everything else: the interval is too wide to tell |

use fulcrum_model::causal::{Point, Shape};

/// Program speedups from which a gain is gain 1, 2, 3, 4.
pub const GAINS: [f64; 4] = [0.01, 0.10, 0.25, 0.50];
/// Program slowdowns from which a harm is harm 1, 2, 3.
pub const HARMS: [f64; 3] = [0.01, 0.10, 0.25];
/// A slope is known to be flat when its interval is not wider than this on either side.
pub const FLAT_HALF_WIDTH: f64 = 0.05;

/// Three standard errors, in units of half a 95 % interval.
const THREE_SIGMA: f64 = 3.0 / 1.96;

/// The size of an effect in one direction, as a positive fraction.
#[derive(Clone, Copy)]
struct Effect {
    estimate: f64,
    credible: f64,
}

/// The shape of a target with these results.
pub fn shape_of(slope: f64, slope_interval: Option<(f64, f64)>, points: &[Point]) -> Shape {
    let Some((low, high)) = slope_interval else {
        return Shape::Unknown;
    };
    let gain = effect(1.0, slope, low, points);
    let harm = effect(-1.0, -slope, -high, points);
    let size = |effect: Option<Effect>| effect.map_or(0.0, |e| e.credible);
    match (gain, harm) {
        (Some(gain), _) if gain.estimate >= GAINS[0] && gain.credible >= size(harm) => {
            match gain.credible {
                c if c >= GAINS[3] => Shape::Gain4,
                c if c >= GAINS[2] => Shape::Gain3,
                c if c >= GAINS[1] => Shape::Gain2,
                _ => Shape::Gain1,
            }
        }
        (_, Some(harm)) if harm.estimate >= HARMS[0] => match harm.credible {
            c if c >= HARMS[2] => Shape::Harm3,
            c if c >= HARMS[1] => Shape::Harm2,
            _ => Shape::Harm1,
        },
        _ if high - low <= 2.0 * FLAT_HALF_WIDTH => Shape::Flat,
        _ => Shape::Unknown,
    }
}

/// The effect in the direction of `sign`, if one is credible. `slope` and `slope_bound` (the end of its interval nearer to
/// an opposite effect) are already turned into that direction.
fn effect(sign: f64, slope: f64, slope_bound: f64, points: &[Point]) -> Option<Effect> {
    let reach = points.last().map_or(0.0, |p| p.speedup);
    let mut credible = slope_bound * reach;
    let mut estimate = slope * reach;
    let mut stands_out = slope_bound > 0.0;
    for point in points {
        let value = sign * point.program_speedup;
        let Some((low, high)) = point.interval else {
            continue;
        };
        let bound = if sign > 0.0 { low } else { -high };
        credible = credible.max(bound);
        if bound > 0.0 {
            estimate = estimate.max(value);
        }
        stands_out |= value - (value - bound) * THREE_SIGMA > 0.0;
    }
    (stands_out && credible > 0.0).then_some(Effect { estimate, credible })
}

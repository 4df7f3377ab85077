//! The nine shapes of the gutter: how a target reads at a glance.
//!
//! A shape claims only what is credible. A line has an *effect* when the 95 % interval of its slope excludes zero; that
//! also decides its direction. A curve that rises and stays, or falls again, may have no slope. A gain then shows in the number
//! beside the mark, the program speedup if the target takes half the time: its interval of 97.5 % must exclude zero, because
//! it is a second chance for luck. Any other point must be four standard errors from zero: twenty points are twenty chances.
//! So must a loss: advice that does not help costs less than a false warning. The size of the effect is its
//! *credible* size: the end of an interval that is nearer to zero, at the point where that is largest. So a shape grows with
//! the evidence, and a lucky handful of visits never looks like a bottleneck. [`super::verdict`] makes a shape hollow that
//! contradicts the number beside it.
//!
//! | shape | when |
//! |---|---|
//! | gain 1 | gains at least 1 % by estimate, and more than nothing credibly |
//! | gain 2, 3, 4 | gains at least 10, 25, 50 % credibly |
//! | harm 1, 2, 3 | loses at least 1, 10, 25 % credibly: a warning must be worth something |
//! | flat | no effect of 1 %, and the slope is known to within ±5 %; if it is credibly not zero, it lies within ±5 % |
//! | unknown | everything else: the interval is too wide to tell |

use fulcrum_model::causal::{Point, Shape, Target};
use fulcrum_stats::Interval;
use fulcrum_stats::normal::TWO_SIDED_95;

use crate::prediction::{Curve, HALF_THE_TIME};

/// Program speedups from which a gain is gain 1, 2, 3, 4.
pub const GAINS: [f64; 4] = [0.01, 0.10, 0.25, 0.50];
/// Program slowdowns from which a harm is harm 1, 2, 3.
pub const HARMS: [f64; 3] = [0.01, 0.10, 0.25];
/// A slope is known to be flat when its interval is not wider than this on either side.
pub const FLAT_HALF_WIDTH: f64 = 0.05;

/// Four standard errors, in units of half a 95 % interval.
const FOUR_SIGMA: f64 = 4.0 / TWO_SIDED_95;
/// Half a 97.5 % interval, in the same units.
const SECOND_CHANCE: f64 = 2.2414 / TWO_SIDED_95;

/// The size of an effect in one direction, as a positive fraction.
#[derive(Clone, Copy)]
struct Effect {
    estimate: f64,
    credible: f64,
}

/// The measured point that says most about a target: the one with the largest program speedup, or, when its shape is a harm,
/// with the largest slowdown. `None` when only the baseline was measured.
pub fn largest_effect(target: &Target) -> Option<&Point> {
    let harms = matches!(target.shape, Shape::Harm1 | Shape::Harm2 | Shape::Harm3);
    let sign = if harms { -1.0 } else { 1.0 };
    let measured = target.points.iter().filter(|point| point.speedup > 0.0);
    measured.max_by(|a, b| (sign * a.program_speedup).total_cmp(&(sign * b.program_speedup)))
}

/// The shape of a target with this curve, whatever number is shown beside it.
pub(crate) fn shape_of(curve: &Curve<'_>) -> Shape {
    let &Curve { points, slope, .. } = curve;
    let Some(Interval { low, high }) = curve.slope_interval else {
        return Shape::Unknown;
    };
    let gain = (high >= 0.0)
        .then(|| {
            let by_slope_or_point = effect(1.0, slope, low, points);
            larger(by_slope_or_point, gain_at_half_the_time(curve))
        })
        .flatten();
    let harm = (low <= 0.0)
        .then(|| effect(-1.0, -slope, -high, points))
        .flatten();
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
        (_, Some(harm)) if harm.credible >= HARMS[0] => match harm.credible {
            c if c >= HARMS[2] => Shape::Harm3,
            c if c >= HARMS[1] => Shape::Harm2,
            _ => Shape::Harm1,
        },
        _ if is_narrow(low, high) => Shape::Flat,
        _ => Shape::Unknown,
    }
}

/// Whether a slope with this interval is known well enough to be called flat.
fn is_narrow(low: f64, high: f64) -> bool {
    if low > 0.0 || high < 0.0 {
        low.abs().max(high.abs()) <= FLAT_HALF_WIDTH
    } else {
        high - low <= 2.0 * FLAT_HALF_WIDTH
    }
}

/// The gain that the number beside the mark shows, if it is credible.
fn gain_at_half_the_time(curve: &Curve<'_>) -> Option<Effect> {
    let number = curve.at(HALF_THE_TIME);
    let Interval { low, .. } = number.interval?;
    let estimate = number.program_speedup;
    let is_credible = !number.extrapolated && estimate - (estimate - low) * SECOND_CHANCE > 0.0;
    is_credible.then_some(Effect {
        estimate,
        credible: low,
    })
}

fn larger(a: Option<Effect>, b: Option<Effect>) -> Option<Effect> {
    let (Some(a), Some(b)) = (a, b) else {
        return a.or(b);
    };
    Some(Effect {
        estimate: a.estimate.max(b.estimate),
        credible: a.credible.max(b.credible),
    })
}

/// The effect in the direction of `sign`, if one is credible. `slope` and `slope_bound` (the end of its interval nearer to
/// an opposite effect) are already turned into that direction.
fn effect(sign: f64, slope: f64, slope_bound: f64, points: &[Point]) -> Option<Effect> {
    let reach = points.last().map_or(0.0, |p| p.speedup);
    let falls_or_rises = slope_bound > 0.0;
    let mut effect = falls_or_rises.then_some(Effect {
        estimate: slope * reach,
        credible: slope_bound * reach,
    });
    for point in points {
        let value = sign * point.program_speedup;
        let Some(Interval { low, high }) = point.interval else {
            continue;
        };
        let bound = if sign > 0.0 { low } else { -high };
        let needed = if falls_or_rises { 1.0 } else { FOUR_SIGMA };
        if bound > 0.0 && value - (value - bound) * needed > 0.0 {
            let best = effect.get_or_insert(Effect {
                estimate: value,
                credible: bound,
            });
            best.estimate = best.estimate.max(value);
            best.credible = best.credible.max(bound);
        }
    }
    effect
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target measured at 50 % and 100 %, each point and the slope known to within ±`half`.
    fn check(at_half: f64, at_full: f64, half: f64, expected: Shape) {
        let point = |speedup, program_speedup: f64| Point {
            speedup,
            program_speedup,
            interval: Some(Interval::around(program_speedup, half)),
            measured: None,
            visits: 100,
            duration_ns: 1,
        };
        let mut points = vec![point(0.0, 0.0), point(0.5, at_half), point(1.0, at_full)];
        points[0].interval = Some(Interval::around(0.0, 0.0));
        let slope =
            crate::estimate::slope::slope(points.iter().map(|p| (p.speedup, p.program_speedup)));
        let shape = shape_of(&Curve {
            points: &points,
            slope,
            slope_interval: Some(Interval::around(slope, half)),
        });
        assert_eq!(shape, expected, "{at_half} {at_full} ±{half}");
    }

    #[test]
    fn a_shape_claims_what_is_credible() {
        // At 50 %, at 100 %, half width of every interval.
        check(0.0, 0.0, 0.01, Shape::Flat);
        check(0.0, 0.0, 0.20, Shape::Unknown);
        check(0.004, 0.006, 0.002, Shape::Flat); // certain, but less than 1 %
        check(0.02, 0.04, 0.02, Shape::Gain1);
        check(0.10, 0.20, 0.05, Shape::Gain2);
        check(0.20, 0.40, 0.05, Shape::Gain3);
        check(0.40, 0.80, 0.05, Shape::Gain4);
        check(0.40, 0.80, 0.45, Shape::Gain3); // a large gain that rests on little
        check(0.40, 0.80, 0.90, Shape::Unknown);
        check(-0.02, -0.04, 0.02, Shape::Harm1);
        check(-0.01, -0.02, 0.015, Shape::Flat); // a loss, but hardly one of 1 %
        check(-0.10, -0.20, 0.05, Shape::Harm2);
        check(-0.20, -0.40, 0.05, Shape::Harm3);
        check(-0.20, -0.40, 0.90, Shape::Unknown);
        check(0.20, 0.0, 0.04, Shape::Gain2); // rises and falls: no slope, one point far from zero
        check(0.04, 0.01, 0.03, Shape::Gain1); // rises and stays: the number beside the mark is credible
        check(0.04, 0.01, 0.037, Shape::Flat); // and so would one of 95 % be, but it is the second chance
        check(-0.20, 0.0, 0.04, Shape::Harm2);
        check(-0.20, 0.0, 0.11, Shape::Unknown); // a loss at under four standard errors is luck
        check(0.05, -0.30, 0.02, Shape::Harm3); // the slope decides the direction
    }

    #[test]
    fn without_an_interval_nothing_is_known() {
        let curve = Curve {
            points: &[],
            slope: 1.0,
            slope_interval: None,
        };
        assert_eq!(shape_of(&curve), Shape::Unknown);
    }

    #[test]
    fn the_largest_effect_is_in_the_direction_of_the_shape() {
        let target = |shape: Shape, effects: &[(f64, f64)]| Target {
            id: "a.c:7".parse().expect("a target"),
            slope: 0.0,
            slope_interval: None,
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: None,
            flags: Vec::new(),
            shape,
            points: effects
                .iter()
                .map(|&(speedup, program_speedup)| Point {
                    speedup,
                    program_speedup,
                    interval: None,
                    measured: None,
                    visits: 9,
                    duration_ns: 9,
                })
                .collect(),
        };
        let both = [(0.0, 0.0), (0.25, 0.02), (0.5, -0.3), (1.0, -0.1)];
        for (shape, effects, expect) in [
            (Shape::Gain1, &both[..], Some(0.25)),
            (Shape::Harm3, &both, Some(0.5)),
            (Shape::Flat, &both, Some(0.25)),
            (Shape::Unknown, &both, Some(0.25)),
            // Harmful throughout: the baseline is no effect.
            (Shape::Unknown, &[(0.0, 0.0), (0.5, -0.2)], Some(0.5)),
            (Shape::Harm1, &[(0.0, 0.0)], None),
        ] {
            let target = target(shape, effects);
            let found = largest_effect(&target).map(|point| point.speedup);
            assert_eq!(found, expect, "{shape:?}");
        }
    }
}

//! A target's verdict: its mark, and whether it contends, checked against the number that is shown beside the mark.
//!
//! The mark and the number come from different estimates: the mark from the slope of all points, or from the point that
//! says most ([`super::shape`]), and the number from the curve where the target takes half the time. Noise or a bent curve can
//! turn them against each other. A mark that contradicts its number is no answer, so such a target is *contradictory*:
//! hollow, with the reason. Every surface shows what is decided here.
//!
//! | mark | contradicted by |
//! |---|---|
//! | gain, harm | a number with the other sign, as it is shown; or no measured point in that direction |
//! | flat | a number that is credibly 1 % or more |
//! | flat | a number with the other sign than a slope that is credibly not zero, and 1 % or more by estimate |
//! | hollow | the same: then this is the reason |
//!
//! Contention is a harm whose number is below zero, too; no other mark has it.

use fulcrum_model::causal::{Shape, Target};
use fulcrum_stats::Interval;

use super::contention::{self, NEGLIGIBLE};
use super::shape;
use crate::prediction::{Curve, HALF_THE_TIME};

/// Smaller numbers are shown as 0.0 %, without a sign.
const SHOWN: f64 = 0.0005;

/// What is concluded about one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub shape: Shape,
    pub contention: bool,
    /// The slope and the curve disagree, which is why the shape is hollow.
    pub contradictory: bool,
}

impl Verdict {
    /// Nothing is concluded, for a reason that lies elsewhere.
    pub(crate) const UNKNOWN: Verdict = Verdict {
        shape: Shape::Unknown,
        contention: false,
        contradictory: false,
    };

    /// The verdict on a target with this curve.
    pub(crate) fn on(curve: &Curve<'_>) -> Verdict {
        let shape = shape::shape_of(curve);
        if is_contradicted(shape, curve) {
            return Verdict {
                contradictory: true,
                ..Verdict::UNKNOWN
            };
        }
        let harms = direction_of(shape) == Some(Direction::Harm)
            && curve.at(HALF_THE_TIME).program_speedup <= -SHOWN;
        Verdict {
            shape,
            contention: harms && contention::is_contention(curve.slope_interval, curve.points),
            contradictory: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Gain,
    Harm,
}

impl Direction {
    /// A program speedup in this direction: positive when it points there.
    fn of(self, program_speedup: f64) -> f64 {
        match self {
            Direction::Gain => program_speedup,
            Direction::Harm => -program_speedup,
        }
    }
}

/// The direction that a shape claims.
fn direction_of(shape: Shape) -> Option<Direction> {
    match shape {
        Shape::Gain1 | Shape::Gain2 | Shape::Gain3 | Shape::Gain4 => Some(Direction::Gain),
        Shape::Harm1 | Shape::Harm2 | Shape::Harm3 => Some(Direction::Harm),
        Shape::Flat | Shape::Unknown => None,
    }
}

/// The direction of a slope that is credibly not zero and 1 % or more by estimate.
fn direction_of_slope(curve: &Curve<'_>) -> Option<Direction> {
    let interval = curve.slope_interval?;
    if interval.low > 0.0 && curve.slope >= NEGLIGIBLE {
        Some(Direction::Gain)
    } else if interval.high < 0.0 && curve.slope <= -NEGLIGIBLE {
        Some(Direction::Harm)
    } else {
        None
    }
}

/// Whether the number that is shown contradicts this shape.
fn is_contradicted(shape: Shape, curve: &Curve<'_>) -> bool {
    let number = curve.at(HALF_THE_TIME);
    let claimed = direction_of(shape);
    if let Some(direction) = claimed.or_else(|| direction_of_slope(curve)) {
        let points_there = |program_speedup: f64| direction.of(program_speedup) >= SHOWN;
        let mut measured = curve.points.iter().map(|it| it.program_speedup);
        if points_there(-number.program_speedup) || claimed.is_some() && !measured.any(points_there)
        {
            return true;
        }
    }
    let credibly_more = |it: Interval| it.low >= NEGLIGIBLE || it.high <= -NEGLIGIBLE;
    shape == Shape::Flat && number.interval.is_some_and(credibly_more)
}

/// Whether a flat target has an effect after all: a slope that is credibly not zero, but not credibly 1 % of the program.
pub fn is_small_effect(target: &Target) -> bool {
    let is_not_zero = |it: Interval| it.low > 0.0 || it.high < 0.0;
    target.shape == Shape::Flat
        && target.slope.abs() >= SHOWN
        && target.slope_interval.is_some_and(is_not_zero)
}

#[cfg(test)]
mod tests {
    use fulcrum_model::causal::Point;

    use super::*;

    const CONTRADICTORY: Verdict = Verdict {
        contradictory: true,
        ..Verdict::UNKNOWN
    };

    fn found(shape: Shape) -> Verdict {
        Verdict {
            shape,
            ..Verdict::UNKNOWN
        }
    }

    fn contended(shape: Shape) -> Verdict {
        Verdict {
            contention: true,
            ..found(shape)
        }
    }

    /// In percent: speedup, program speedup and its interval.
    type Measured = (f64, f64, [f64; 2]);
    /// What it is; in percent a slope, its interval, and points.
    type Case = (&'static str, f64, [f64; 2], &'static [Measured], Verdict);

    fn points(measured: &[Measured]) -> Vec<Point> {
        let baseline = (0.0, 0.0, [0.0, 0.0]);
        let point = |&(speedup, program_speedup, [low, high]): &Measured| Point {
            speedup: speedup / 100.0,
            program_speedup: program_speedup / 100.0,
            interval: Some(Interval {
                low: low / 100.0,
                high: high / 100.0,
            }),
            measured: None,
            visits: 100,
            duration_ns: 1,
        };
        std::iter::once(&baseline)
            .chain(measured)
            .map(point)
            .collect()
    }

    /// The verdict on a slope with its interval and on points, all in percent.
    fn verdict(slope: f64, [low, high]: [f64; 2], measured: &[Measured]) -> Verdict {
        Verdict::on(&Curve {
            points: &points(measured),
            slope: slope / 100.0,
            slope_interval: Some(Interval {
                low: low / 100.0,
                high: high / 100.0,
            }),
        })
    }

    fn check(cases: &[Case]) {
        for &(what, slope, interval, measured, expected) in cases {
            assert_eq!(verdict(slope, interval, measured), expected, "{what}");
        }
    }

    #[test]
    fn a_mark_never_contradicts_the_number_beside_it() {
        check(&[
            (
                "seen on a busy machine: ▲ beside −2.9 % (−6.0…+0.3)",
                4.6,
                [0.4, 8.8],
                &[(50.0, -2.9, [-6.0, 0.3]), (100.0, 6.1, [2.5, 9.7])],
                CONTRADICTORY,
            ),
            (
                "and the other way round",
                -4.6,
                [-8.8, -1.4],
                &[(50.0, 2.9, [-0.3, 6.0]), (100.0, -6.1, [-9.7, -2.5])],
                CONTRADICTORY,
            ),
            (
                "the number's interval excludes the slope's direction",
                -31.6,
                [-34.0, -29.0],
                &[(50.0, 5.0, [3.0, 7.0]), (100.0, -30.0, [-32.0, -28.0])],
                CONTRADICTORY,
            ),
            (
                "a number that is interpolated",
                8.0,
                [2.0, 14.0],
                &[
                    (25.0, -9.0, [-14.0, -4.0]),
                    (75.0, 1.0, [-4.0, 6.0]),
                    (100.0, 12.0, [7.0, 17.0]),
                ],
                CONTRADICTORY,
            ),
            (
                "one point is far from zero, the number on the other side",
                -3.0,
                [-9.0, 3.0],
                &[
                    (25.0, 20.0, [18.0, 22.0]),
                    (50.0, -4.0, [-6.0, -2.0]),
                    (100.0, 0.0, [-2.0, 2.0]),
                ],
                CONTRADICTORY,
            ),
            (
                "a slope without a single point in its direction",
                3.0,
                [1.0, 5.0],
                &[
                    (25.0, -5.0, [-7.0, -3.0]),
                    (50.0, 0.0, [-2.0, 2.0]),
                    (100.0, 0.0, [-2.0, 2.0]),
                ],
                CONTRADICTORY,
            ),
            (
                "a small loss by the slope, a small gain by the number",
                -2.3,
                [-3.8, -0.9],
                &[(50.0, 0.4, [-1.0, 1.8]), (100.0, -2.5, [-4.5, -0.5])],
                CONTRADICTORY,
            ),
            (
                "too wide for a mark, and contradictory too",
                -6.0,
                [-11.9, -0.1],
                &[(50.0, 4.0, [-9.0, 17.0]), (100.0, -6.0, [-19.0, 7.0])],
                CONTRADICTORY,
            ),
        ]);
    }

    #[test]
    fn what_agrees_keeps_its_mark() {
        check(&[
            (
                "all agree",
                12.0,
                [10.5, 13.5],
                &[(50.0, 6.0, [4.0, 8.0]), (100.0, 12.0, [10.0, 14.0])],
                found(Shape::Gain2),
            ),
            (
                "the number is uncertain, but on the slope's side",
                5.0,
                [0.5, 9.5],
                &[(50.0, 0.3, [-2.6, 3.2]), (100.0, 6.0, [3.0, 9.0])],
                found(Shape::Gain1),
            ),
            (
                "nothing at half the time, and much beyond it",
                16.0,
                [14.0, 18.0],
                &[(50.0, 0.02, [-0.5, 0.5]), (100.0, 20.0, [18.0, 22.0])],
                found(Shape::Gain2),
            ),
            (
                "a program that gains at once and then no more, seen on a noisy machine",
                -2.0,
                [-4.7, 1.5],
                &[(50.0, 3.2, [0.9, 5.8]), (100.0, 1.7, [-2.0, 5.0])],
                found(Shape::Gain1),
            ),
            (
                "contention",
                -31.0,
                [-34.0, -28.0],
                &[
                    (50.0, -15.0, [-17.0, -13.0]),
                    (100.0, -30.0, [-33.0, -27.0]),
                ],
                contended(Shape::Harm3),
            ),
            (
                "a number below what counts contradicts nothing",
                0.6,
                [0.4, 0.8],
                &[(50.0, -0.2, [-0.4, 0.0]), (100.0, 0.6, [0.4, 0.8])],
                found(Shape::Flat),
            ),
            (
                "flat, the number within the noise",
                -1.4,
                [-3.2, 0.5],
                &[(50.0, 0.9, [-0.8, 2.7]), (100.0, -1.2, [-3.0, 0.6])],
                found(Shape::Flat),
            ),
            (
                "too wide",
                4.0,
                [-9.0, 17.0],
                &[(50.0, -3.0, [-20.0, 14.0]), (100.0, 5.0, [-11.0, 21.0])],
                Verdict::UNKNOWN,
            ),
            (
                "a slope that is credibly not zero and may be large is not flat",
                -5.5,
                [-10.1, -0.9],
                &[(50.0, -2.5, [-6.0, 1.0]), (100.0, -5.0, [-10.0, 0.0])],
                Verdict::UNKNOWN,
            ),
        ]);
    }

    /// A slope of at most −1 % makes contention, but less than 1 % of the program at the largest speedup that was tried is
    /// no harm.
    #[test]
    fn contention_is_said_of_harms_alone() {
        let weak = verdict(
            -1.5,
            [-1.9, -1.1],
            &[(25.0, -0.4, [-0.5, -0.3]), (50.0, -1.0, [-1.9, -0.1])],
        );
        assert_eq!(weak, found(Shape::Flat));
    }

    #[test]
    fn nothing_is_claimed_that_the_number_denies() {
        for slope in [-30.0, -5.0, -1.2, 0.0, 1.2, 5.0, 30.0] {
            for half in [-20.0, -3.0, -0.2, 0.0, 0.2, 3.0, 20.0] {
                for (width, spread) in [(0.5, 0.5), (2.0, 1.0), (4.0, 12.0)] {
                    let measured = [
                        (50.0, half, [half - spread, half + spread]),
                        (100.0, slope, [slope - spread, slope + spread]),
                    ];
                    let found = verdict(slope, [slope - width, slope + width], &measured);
                    let what = format!("{slope} ±{width}, {half} ±{spread}: {found:?}");
                    match direction_of(found.shape) {
                        Some(direction) => assert!(direction.of(half) > -0.05, "{what}"),
                        None => assert!(!found.contention, "{what}"),
                    }
                    assert!(
                        !found.contradictory || found.shape == Shape::Unknown,
                        "{what}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_flat_target_may_have_a_small_effect() {
        let target = |shape, slope: f64, half: f64| Target {
            id: "a.c:7".parse().expect("a target"),
            slope,
            slope_interval: Some(Interval::around(slope, half)),
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: None,
            flags: Vec::new(),
            shape,
            points: Vec::new(),
        };
        for (shape, slope, half, expected) in [
            (Shape::Flat, -0.023, 0.014, true),
            (Shape::Flat, 0.006, 0.002, true),
            (Shape::Flat, -0.014, 0.019, false),
            // Shown as 0.000.
            (Shape::Flat, 1e-9, 0.0, false),
            (Shape::Gain1, 0.023, 0.014, false),
        ] {
            let found = is_small_effect(&target(shape, slope, half));
            assert_eq!(found, expected, "{shape:?} {slope} ±{half}");
        }
    }
}

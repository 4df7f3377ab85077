//! Student's t distribution, also with fractional degrees of freedom, as Welch's test has.

use core::f64::consts::PI;

use libm::{exp, expm1, log, log1p, sqrt};
use special::Beta;

use crate::normal;
use crate::root::solve;

/// The probability that a t with so many degrees of freedom is at least as far from 0 as `t`, in either direction.
///
/// NaN unless `freedom` is positive; infinitely many are those of the normal distribution.
pub fn two_sided(t: f64, freedom: f64) -> f64 {
    exp(ln_two_sided(t.abs(), freedom))
}

/// The t that is not exceeded with probability `p`: -∞ for 0, ∞ for 1, NaN for what is no probability and unless
/// `freedom` is positive.
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p, freedom);
    }
    if freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    if freedom.is_infinite() || p.is_nan() || p <= 0.0 || p == 0.5 {
        return normal::quantile(p);
    }
    let ln_p = log(2.0 * p);
    // A normal number that is not below the root, taken to t (Wallace 1959). An overflow is cut off.
    let start = sqrt(freedom * expm1((-2.0 * ln_p / (freedom - 0.5).max(0.5)).min(600.0)));
    let found = solve(start, ln_p, |t| {
        let ln_tail = ln_two_sided(t, freedom);
        (ln_tail, -2.0 * t * exp(ln_density(t, freedom) - ln_tail))
    });
    -found
}

/// By how much a 95 % interval is wider than the normal distribution says, when its standard error was estimated with so
/// many degrees of freedom: the ratio of the quantiles of 97.5 %.
pub fn widening(freedom: f64) -> f64 {
    quantile(0.975, freedom) / normal::TWO_SIDED_95
}

/// From so many degrees of freedom on, the sum behind the incomplete beta function gets long near the middle.
const MANY: f64 = 1000.0;
/// There, t² less than this part of the degrees of freedom is near the middle.
const MIDDLE: f64 = 0.01;
/// ν / (ν + t²) less than this leaves nothing but the first term of the tail.
const REMOTE: f64 = 1e-17;

/// ln P(|T| ≥ t), for `t` ≥ 0.
fn ln_two_sided(t: f64, freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return log(2.0 * normal::cumulative(-t));
    }
    let u = t / sqrt(freedom);
    if freedom > MANY && u * u < MIDDLE {
        return log(2.0 * normal::cumulative(-to_normal(u * u, freedom)));
    }
    let half = freedom / 2.0;
    let ln_beta = ln_beta(half);
    let x = 1.0 / (1.0 + u * u);
    let tail = if x < REMOTE {
        0.0
    } else {
        x.inc_beta(half, 0.5, ln_beta)
    };
    if tail > 0.0 {
        log(tail)
    } else {
        // ln xᵃ / (a B(a, ½)), where x itself might be 0.
        -2.0 * half * log(u.max(1.0)) - half * log1p(1.0 / (u * u)) - log(half) - ln_beta
    }
}

fn ln_density(t: f64, freedom: f64) -> f64 {
    let u = t / sqrt(freedom);
    // Where the square of u overflows, 1 does not count beside it.
    let squares = if u > 1e100 {
        2.0 * log(u)
    } else {
        log1p(u * u)
    };
    -(freedom + 1.0) / 2.0 * squares - ln_beta(freedom / 2.0) - 0.5 * log(freedom)
}

/// A number as likely under the normal distribution as t is, from u² = t² / ν (Hill 1970, algorithm 395). Better than 1e-13
/// where it is used.
fn to_normal(square: f64, freedom: f64) -> f64 {
    let a = freedom - 0.5;
    let b = 48.0 * a * a;
    let ww = a * log1p(square);
    let third = ((4.0 * ww + 33.0) * ww + 240.0) * ww + 855.0;
    let factor = 1.0 + (ww + 3.0) / b - third / (10.0 * b * (b + 0.8 * ww * ww + 100.0));
    sqrt(ww) * factor
}

/// ln B(`a`, ½).
fn ln_beta(a: f64) -> f64 {
    if a < 50.0 {
        return a.ln_beta(0.5);
    }
    // The logarithms of two gamma functions nearly cancel, so their difference is taken by Stirling's series.
    let r = 1.0 / a;
    let rr = r * r;
    let series = r * (1.0 / 8.0 - rr * (1.0 / 192.0 - rr * (1.0 / 640.0 - rr * 17.0 / 14_336.0)));
    0.5 * log(PI * r) + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        const P: [f64; 4] = [0.25, 0.025, 0.0005, 1e-10];
        for (freedom, expected) in [
            (
                1.0,
                [
                    1.0,
                    12.706_204_736_174_704,
                    636.619_248_768_719_6,
                    3_183_098_861.837_907,
                ],
            ),
            (
                1.5,
                [
                    0.872_594_662_541_570_6,
                    6.016_663_104_427_932,
                    82.847_446_703_657_61,
                    2_422_663.101_134_394,
                ],
            ),
            (
                2.0,
                [
                    0.816_496_580_927_726,
                    4.302_652_729_749_464,
                    31.599_054_576_443_62,
                    70_710.678_108_048_15,
                ],
            ),
            (
                3.0,
                [
                    0.764_892_328_404_345_3,
                    3.182_446_305_283_709_5,
                    12.923_978_636_687_483,
                    2_225.769_284_683_093,
                ],
            ),
            (
                4.7,
                [
                    0.730_227_781_246_546_6,
                    2.620_726_075_353_17,
                    7.266_542_375_825_094,
                    200.629_433_264_337_13,
                ],
            ),
            (
                30.0,
                [
                    0.682_755_693_321_292_6,
                    2.042_272_456_301_238,
                    3.645_958_635_042_022,
                    9.377_489_780_407_143,
                ],
            ),
            (
                120.25,
                [
                    0.676_535_451_571_440_1,
                    1.979_888_482_022_457,
                    3.373_277_468_020_766,
                    6.952_536_278_835_329,
                ],
            ),
        ] {
            for (p, expected) in P.into_iter().zip(expected) {
                close(quantile(p, freedom), -expected, 1e-13, (p, freedom));
                close(two_sided(expected, freedom), 2.0 * p, 1e-12, (p, freedom));
            }
            close(quantile(0.975, freedom), expected[1], 1e-13, freedom);
        }
    }

    /// Where the incomplete beta function gives way to a series, and beyond.
    #[test]
    fn many_degrees_of_freedom_are_exact_too() {
        for (freedom, half, rare) in [
            (1e3, 1.962_339_080_826_408_5, 6.427_876_283_134_214),
            (1e4, 1.960_201_239_890_626_2, 6.367_941_351_482_803),
            (1e6, 1.959_966_356_814_107, 6.361_406_848_876_743),
        ] {
            close(quantile(0.025, freedom), -half, 1e-13, freedom);
            close(quantile(1e-10, freedom), -rare, 1e-13, freedom);
        }
        let border = 1000.0 + 1e-9;
        for t in [0.1, 1.0, 3.0, 3.16] {
            close(two_sided(t, border), two_sided(t, 1000.0), 1e-12, t);
        }
        let normal = normal::TWO_SIDED_95;
        close(quantile(0.975, f64::INFINITY), normal, 1e-15, "∞");
        close(
            two_sided(1.959_963_984_540_054, f64::INFINITY),
            0.05,
            1e-14,
            "∞",
        );
    }

    /// One and two degrees of freedom have closed forms, however far the tail.
    #[test]
    fn far_tails_are_exact() {
        for p in [1e-3, 1e-12, 1e-16, 1e-30, 1e-100, 1e-200, 1e-290_f64] {
            close(quantile(p, 1.0), -1.0 / (PI * p).tan(), 1e-12, p);
            let two = (2.0 * p * (1.0 - p)).sqrt();
            close(quantile(p, 2.0), -(1.0 - 2.0 * p) / two, 1e-12, p);
        }
        for t in [0.0, 1e-5, 0.3, 1.0, 7.0, 1e8, 1e12, 1e160, 1e300_f64] {
            close(two_sided(t, 1.0), 2.0 / PI * 1.0_f64.atan2(t), 1e-12, t);
            close(two_sided(-t, 1.0), two_sided(t, 1.0), 0.0, t);
        }
    }

    #[test]
    fn the_ends_are_infinite_and_the_middle_is_0() {
        assert_eq!(quantile(0.0, 3.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!(quantile(0.5, 3.0), 0.0);
        for (p, freedom) in [(-0.1, 1.0), (1.1, 1.0), (0.1, 0.0), (0.1, f64::NAN)] {
            assert!(quantile(p, freedom).is_nan(), "{p} {freedom}");
        }
    }

    #[test]
    fn few_degrees_of_freedom_widen_much() {
        close(
            widening(1.0),
            12.706_204_736_174_704 / 1.959_963_984_540_054,
            1e-13,
            1,
        );
        close(
            widening(7.0),
            2.364_624_251_592_785 / 1.959_963_984_540_054,
            1e-13,
            7,
        );
        close(widening(1e9), 1.0, 1e-8, 1e9);
    }
}

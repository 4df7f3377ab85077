//! The standard normal distribution.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::root::solve;

/// The quantile of 97.5 %: a 95 % interval extends this many standard errors to either side.
pub const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// The probability of a number not greater than `z`.
pub fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// The number that is not exceeded with probability `p`: -∞ for 0, ∞ for 1, NaN unless `p` is a probability.
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    match p {
        0.0 => f64::NEG_INFINITY,
        0.5 => 0.0,
        _ if p > 0.0 => -upper(p),
        _ => f64::NAN,
    }
}

/// The positive number that is exceeded with a probability of `p` < 0.5.
fn upper(p: f64) -> f64 {
    // 2 · P(Z > z) is at most e^(-z²/2), so the start is not below the root.
    let start = libm::sqrt(-2.0 * libm::log(2.0 * p));
    solve(start, libm::log(p), |z| {
        let tail = cumulative(-z);
        let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * PI);
        (libm::log(tail), -z * density / tail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, expected) in [
            (0.6, 0.253_347_103_135_799_8),
            (0.8, 0.841_621_233_572_914_3),
            (0.95, 1.644_853_626_951_472_7),
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_901),
            (0.999, 3.090_232_306_167_813),
        ] {
            close(quantile(p), expected, 1e-14, p);
            close(quantile(1.0 - p), -expected, 1e-13, p);
            close(cumulative(expected), p, 1e-15, p);
        }
        close(quantile(TINY.0), TINY.1, 1e-14, TINY.0);
        close(quantile(1e-10), -6.361_340_902_404_056, 1e-14, 1e-10);
        close(quantile(0.975), TWO_SIDED_95, 1e-15, 0.975);
    }

    /// Nearly the smallest probability that there is.
    const TINY: (f64, f64) = (1e-300, -37.047_096_299_361_2);

    #[test]
    fn the_ends_are_infinite_and_the_middle_is_0() {
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert_eq!(quantile(0.5), 0.0);
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(quantile(p).is_nan(), "{p}");
        }
    }
}

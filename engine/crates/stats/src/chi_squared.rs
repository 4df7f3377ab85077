//! The χ² distribution.

use libm::{exp, log};
use special::Gamma;

use crate::normal;
use crate::root::solve;

/// The probability of a χ² not greater than `x` ≥ 0 with so many degrees of freedom, which must be positive.
pub fn cumulative(x: f64, freedom: f64) -> f64 {
    Gamma::inc_gamma(x / 2.0, freedom / 2.0)
}

/// The χ² that is not exceeded with probability `p`: 0 for 0, ∞ for 1, NaN for what is no probability and unless `freedom`
/// is positive and finite.
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || !freedom.is_finite() || freedom <= 0.0 {
        return f64::NAN;
    }
    if p == 0.0 {
        return 0.0;
    }
    if p == 1.0 {
        return f64::INFINITY;
    }
    let half = freedom / 2.0;
    let ln_gamma = Gamma::ln_gamma(half).0;
    // P(y) is at most y^a / Γ(a + 1), so this is not above the root.
    let least = exp((log(p) + ln_gamma + log(half)) / half);
    let start = wilson_hilferty(p, freedom).max(2.0 * least);
    // The smaller of both sides is the more exact one.
    let lower = p <= 0.5;
    let target = log(if lower { p } else { 1.0 - p });
    solve(start, target, |x| {
        let below = cumulative(x, freedom);
        let side = if lower { below } else { 1.0 - below };
        // The derivative by ln x.
        let density = exp(half * log(x / 2.0) - x / 2.0 - ln_gamma);
        let slope = density / side;
        (log(side), if lower { slope } else { -slope })
    })
}

/// Nearly the quantile.
fn wilson_hilferty(p: f64, freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    let root = 1.0 - part + normal::quantile(p) * libm::sqrt(part);
    freedom * root * root * root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        const P: [f64; 6] = [1e-10, 0.05, 0.5, 0.95, 0.999, 0.999_999_9];
        for (freedom, expected) in [
            (
                1.0,
                [
                    1.570_796_326_794_896_7e-20,
                    0.003_932_140_000_019_523,
                    0.454_936_423_119_572_8,
                    3.841_458_820_694_124_5,
                    10.827_566_170_662_73,
                    28.373_987_362_798_125,
                ],
            ),
            (
                2.0,
                [
                    2.000_000_000_1e-10,
                    0.102_586_588_775_101_07,
                    1.386_294_361_119_890_6,
                    5.991_464_547_107_98,
                    13.815_510_557_964_272,
                    32.236_191_302_969_35,
                ],
            ),
            (
                3.0,
                [
                    5.209_397_621_434_48e-7,
                    0.351_846_317_749_271_4,
                    2.365_973_884_375_338,
                    7.814_727_903_251_178,
                    16.266_236_196_238_13,
                    35.405_751_581_018_93,
                ],
            ),
            (
                7.3,
                [
                    0.007_563_652_231_420_045,
                    2.333_756_100_114_937,
                    6.645_251_643_816_644_5,
                    14.502_546_139_547_096,
                    24.868_517_818_537_08,
                    46.390_160_847_356_27,
                ],
            ),
            (
                100.0,
                [
                    34.399_823_909_124_82,
                    77.929_465_165_017_26,
                    99.334_129_235_988_46,
                    124.342_113_404_004_07,
                    149.449_252_779_038_7,
                    191.596_479_203_865_2,
                ],
            ),
            (
                1000.0,
                [
                    741.268_071_719_352_9,
                    927.594_363_020_979_1,
                    999.333_412_403_381,
                    1_074.679_448_803_441,
                    1_143.917_092_619_679_2,
                    1_250.124_269_015_209_5,
                ],
            ),
        ] {
            for (p, expected) in P.into_iter().zip(expected) {
                // Nearer to 1 than that, the digits of p itself are few.
                let error = if p > 0.999 { 1e-10 } else { 1e-12 };
                close(quantile(p, freedom), expected, error, (p, freedom));
            }
        }
    }

    #[test]
    fn probabilities_are_those_of_closed_forms() {
        for x in [0.01, 1.0, 5.0, 30.0_f64] {
            // Two degrees of freedom are an exponential distribution, and one is a normal number squared.
            close(cumulative(x, 2.0), -(-x / 2.0).exp_m1(), 1e-14, x);
            let both = 1.0 - 2.0 * normal::cumulative(-x.sqrt());
            close(cumulative(x, 1.0), both, 1e-14, x);
        }
        assert_eq!(cumulative(0.0, 3.0), 0.0);
    }

    #[test]
    fn the_ends_are_0_and_infinite() {
        assert_eq!(quantile(0.0, 3.0), 0.0);
        assert_eq!(quantile(1.0, 3.0), f64::INFINITY);
        for (p, freedom) in [(-0.1, 1.0), (1.1, 1.0), (0.5, 0.0), (0.5, f64::NAN)] {
            assert!(quantile(p, freedom).is_nan(), "{p} {freedom}");
        }
    }
}

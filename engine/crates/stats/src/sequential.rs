//! Group-sequential tests: the data are analysed several times (*looks*), and the run stops as soon as one look is decisive.
//!
//! Pocock (1977, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64) tests at the same
//! *nominal* level at each of a fixed number of looks, so low that a true hypothesis is rejected at any of them in no more
//! than the intended share of cases. His levels are for looks at equal steps of information, and come from the recursion of
//! Armitage, McPherson and Rowe (1969), which the tests of this module repeat. For a statistic with few degrees of freedom, the
//! level stays and the quantile is Student's. Compared with a confidence sequence ([`crate::anytime`]), which holds at any
//! number of looks, ten planned ones need a third less width.

/// The number of looks.
pub const LOOKS: u32 = 10;
/// The largest share of cases in which any of the tests rejects a true hypothesis at any look.
pub const ALPHA: f64 = 0.05;

/// The one-sided nominal levels for 1, 2, 3… tests side by side.
const NOMINAL: [f64; 6] = [0.0116, 0.005_30, 0.003_38, 0.002_46, 0.001_93, 0.001_58];

/// The one-sided level of each of `tests` tests at each of [`LOOKS`] looks, so that all of them together reject a true
/// hypothesis in [`ALPHA`] of cases at most (Bonferroni between tests; for more than six also between looks).
pub fn nominal(tests: usize) -> f64 {
    let tests = tests.max(1);
    let several = ALPHA / (tests as f64 * f64::from(LOOKS));
    NOMINAL.get(tests - 1).copied().unwrap_or(several)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;
    use std::vec::Vec;

    /// A density on a grid of equal steps from `from` on, with Simpson's weights applied.
    struct Grid {
        from: f64,
        step: f64,
        weighed: Vec<f64>,
    }

    impl Grid {
        /// Of `density`, below `top`.
        fn new(top: f64, bottom: f64, density: impl Fn(f64) -> f64) -> Grid {
            let intervals = (((top - bottom) / 0.15) as usize).next_multiple_of(2);
            let step = (top - bottom) / intervals as f64;
            let weigh = |index: usize| match index {
                0 => 1.0,
                end if end == intervals => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let at = |index: usize| bottom + index as f64 * step;
            let weighed = (0..=intervals)
                .map(|index| weigh(index) * step / 3.0 * density(at(index)))
                .collect();
            Grid {
                from: bottom,
                step,
                weighed,
            }
        }

        fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
            let at = |index: usize| self.from + index as f64 * self.step;
            let each = self.weighed.iter().enumerate();
            each.map(|(index, weight)| weight * of(at(index))).sum()
        }
    }

    fn density(x: f64) -> f64 {
        libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI)
    }

    /// How likely a sum of standard normal steps exceeds `c` standard deviations at one of so many looks.
    fn crosses(c: f64, looks: u32) -> f64 {
        let edge = |look: u32| libm::sqrt(f64::from(look));
        let mut total = normal::cumulative(-c);
        let mut before = Grid::new(c, -8.0, density);
        for look in 2..=looks {
            let top = c * edge(look);
            total += before.sum(|x| normal::cumulative(x - top));
            before = Grid::new(top, -8.0 * edge(look), |y| before.sum(|x| density(y - x)));
        }
        total
    }

    #[test]
    fn the_recursion_gives_the_published_constants() {
        // Pocock's for two-sided tests at 10 %, 5 and 10 looks, of which each side has half.
        for (c, looks) in [(2.122, 5), (2.270, 10)] {
            let found = crosses(c, looks);
            assert!((found - 0.05).abs() < 2e-4, "{c}: {found}");
        }
    }

    #[test]
    fn any_of_the_tests_rejects_a_true_hypothesis_in_five_percent() {
        for tests in 1..=NOMINAL.len() {
            let c = -normal::quantile(nominal(tests));
            let found = tests as f64 * crosses(c, LOOKS);
            assert!((0.0495..=ALPHA).contains(&found), "{tests}: {found}");
        }
        assert!((nominal(7) - 0.05 / 70.0).abs() < 1e-12);
        assert!(nominal(7) < nominal(6) && nominal(0) == nominal(1));
    }
}

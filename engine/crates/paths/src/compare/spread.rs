//! The mean and spread of several inputs: whether a difference is significant (Welch's t-test).

use fulcrum_stats::welch;

/// The costs of one side's inputs, or of its units of work if those are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The number of inputs or units, at least two.
    pub runs: usize,
    /// The mean cost.
    pub mean: f64,
    /// The sample standard deviation (n − 1).
    pub deviation: f64,
}

impl From<fulcrum_stats::Sample> for Sample {
    fn from(it: fulcrum_stats::Sample) -> Self {
        Sample {
            runs: it.count,
            mean: it.mean,
            deviation: it.deviation,
        }
    }
}

/// A difference between two sides and how certain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Side A.
    pub a: Sample,
    /// Side B, the base of the comparison.
    pub b: Sample,
    /// The lower end of the 95 % interval of A − B.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Welch's two-sided p: how probable so large a difference is if there is none.
    pub p: f64,
}

/// A difference is significant if its p is below this. Stricter than the usual 0.05, because many paths are tested.
pub const SIGNIFICANT: f64 = 0.01;

impl Spread {
    /// The spread of the costs of both sides' inputs. `None` unless both have several.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        let (a, b) = (fulcrum_stats::Sample::of(a)?, fulcrum_stats::Sample::of(b)?);
        Some(Spread::between(a, b))
    }

    /// The difference between the means of two samples.
    pub(crate) fn between(a: fulcrum_stats::Sample, b: fulcrum_stats::Sample) -> Self {
        let found = welch(a, b);
        Spread {
            a: a.into(),
            b: b.into(),
            low: found.interval.low,
            high: found.interval.high,
            p: found.p,
        }
    }

    /// Whether the difference is significant.
    pub fn significant(&self) -> bool {
        self.p < SIGNIFICANT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variances 1 and 1, three runs each: t = 2 / √(2/3) = 2.449 with 4 degrees of freedom, whose p is 0.07.
    #[test]
    fn a_difference_has_welchs_interval_and_p() {
        let spread = Spread::of(&[11.0, 12.0, 13.0], &[9.0, 10.0, 11.0]).unwrap();
        let a = Sample {
            runs: 3,
            mean: 12.0,
            deviation: 1.0,
        };
        assert_eq!((spread.a, spread.b), (a, Sample { mean: 10.0, ..a }));
        let margin = 2.776_445_105 * (2.0_f64 / 3.0).sqrt();
        assert!((spread.low - (2.0 - margin)).abs() < 1e-8, "{spread:?}");
        assert!((spread.high - (2.0 + margin)).abs() < 1e-8, "{spread:?}");
        assert!((spread.p - 0.070_484).abs() < 1e-6, "{spread:?}");
        assert!(!spread.significant());
        assert_eq!(Spread::of(&[11.0], &[9.0, 10.0]), None);
    }
}

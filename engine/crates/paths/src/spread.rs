//! Means and spread of several runs: whether a difference is more than noise (Welch's t-test).

use fulcrum_stats::welch;

/// The runs of one side, as numbers; or its units of work, where those are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many runs or units, at least two.
    pub runs: usize,
    /// The mean cost.
    pub mean: f64,
    /// The standard deviation between runs (n - 1).
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
    /// The side that is looked at.
    pub a: Sample,
    /// The side that it is compared with.
    pub b: Sample,
    /// The lower end of the 95 % interval of A - B.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How probable a difference so great is when there is none: Welch's two-sided p.
    pub p: f64,
}

/// A difference whose p is below this is told from noise. Stricter than the usual 0.05, as many paths are looked at.
pub const SIGNIFICANT: f64 = 0.01;

impl Spread {
    /// `None` unless both sides have several runs, whose costs are given.
    pub(crate) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        let (a, b) = (fulcrum_stats::Sample::of(a)?, fulcrum_stats::Sample::of(b)?);
        Some(Spread::between(a, b))
    }

    /// How the means of two samples differ.
    pub(crate) fn between(a: fulcrum_stats::Sample, b: fulcrum_stats::Sample) -> Self {
        let found = welch(a, b);
        let (low, high) = found.interval;
        Spread {
            a: a.into(),
            b: b.into(),
            low,
            high,
            p: found.p,
        }
    }

    /// Whether the difference is told from noise.
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

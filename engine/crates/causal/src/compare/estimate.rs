//! Positive numbers with a relative standard error, and their quotients.

use fulcrum_model::comparison::Estimate;
use fulcrum_stats::Interval;
use fulcrum_stats::normal::TWO_SIDED_95;

/// A positive number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Positive {
    pub value: f64,
    /// Standard error as a fraction. Errors of a product's factors add up as squares.
    pub relative: f64,
}

impl Positive {
    pub(crate) fn estimate(self) -> Estimate {
        let reach = (TWO_SIDED_95 * self.relative).exp();
        Estimate {
            value: self.value,
            interval: Some(Interval {
                low: self.value / reach,
                high: self.value * reach,
            }),
        }
    }
}

pub(crate) fn quotient(a: Positive, b: Positive) -> Positive {
    Positive {
        value: a.value / b.value,
        relative: a.relative.hypot(b.relative),
    }
}

/// `1 - ratio`.
pub(crate) fn difference(ratio: Positive) -> Estimate {
    let Estimate { value, interval } = ratio.estimate();
    Estimate {
        value: 1.0 - value,
        interval: interval.map(|it| Interval {
            low: 1.0 - it.high,
            high: 1.0 - it.low,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_with_its_error() {
        let (a, b) = (
            Positive {
                value: 3.0,
                relative: 0.03,
            },
            Positive {
                value: 4.0,
                relative: 0.04,
            },
        );
        let Estimate { value, interval } = difference(quotient(a, b));
        let Interval { low, high } = interval.expect("always one");
        assert!((value - 0.25).abs() < 1e-12);
        // 0.75 · e^(±1.96 · 0.05)
        assert!((low - (1.0 - 0.75 * 1.102_962)).abs() < 1e-5, "{low}");
        assert!((high - (1.0 - 0.75 / 1.102_962)).abs() < 1e-5, "{high}");
    }
}

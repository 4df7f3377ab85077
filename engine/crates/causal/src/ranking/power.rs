//! The minimum detectable effect: how large a slope must be for such data to show it in 80 % of runs.
//!
//! A slope is seen when its 95 % interval excludes zero. So the smallest slope that is seen in 80 % of runs is 1.96 + 0.84
//! standard errors, and a line without effect can be said to have "no effect above ±x %".

use fulcrum_stats::Interval;
use fulcrum_stats::normal::{self, TWO_SIDED_95};

/// In which part of runs the slope is seen.
const POWER: f64 = 0.8;

/// From the 95 % interval of a slope. Half its width stands for 1.96 standard errors, widened for few experiments.
pub(crate) fn minimum_effect(slope_interval: Option<Interval>) -> Option<f64> {
    Some(slope_interval?.half_width() * (1.0 + normal::quantile(POWER) / TWO_SIDED_95))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_and_four_fifths_standard_errors() {
        // A standard error of 1 %.
        let interval = Interval {
            low: -0.009_599_64,
            high: 0.029_599_64,
        };
        let found = minimum_effect(Some(interval)).expect("an interval");
        assert!((found - 0.028_015_85).abs() < 1e-8, "{found}");
        assert_eq!(minimum_effect(None), None);
    }
}

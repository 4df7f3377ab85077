//! Prediction: what the program gains if a line becomes faster by a given amount, read from the measured curve.

use fulcrum_model::causal::{Point, Target};
use fulcrum_stats::Interval;

/// A program speedup at one line speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Program speedup as a fraction.
    pub program_speedup: f64,
    /// 95 % interval.
    pub interval: Option<Interval>,
    /// The line speedup lies beyond the measured ones; the curve was continued along its slope.
    pub extrapolated: bool,
}

/// The speedup of a target that takes half the time ("2× faster"): the number that every surface shows beside the mark.
pub(crate) const HALF_THE_TIME: f64 = 0.5;

/// A measured curve, and the slope of the line through it.
#[derive(Clone, Copy)]
pub(crate) struct Curve<'a> {
    /// Ascending by speedup; the first is the baseline.
    pub points: &'a [Point],
    pub slope: f64,
    pub slope_interval: Option<Interval>,
}

impl Curve<'_> {
    /// Interpolates linearly between the two measured points around `speedup`. Beyond the last point the curve continues
    /// along the slope.
    pub(crate) fn at(&self, speedup: f64) -> Prediction {
        let Some(last) = self.points.last() else {
            return Prediction {
                program_speedup: 0.0,
                interval: None,
                extrapolated: true,
            };
        };
        match self.points.iter().position(|p| p.speedup >= speedup) {
            Some(after) => self.between(after, speedup),
            None => self.beyond(last, speedup - last.speedup),
        }
    }

    /// Between the point at index `after` and the one before it.
    fn between(&self, after: usize, speedup: f64) -> Prediction {
        let b = &self.points[after];
        let a = &self.points[after.saturating_sub(1)];
        let width = b.speedup - a.speedup;
        let t = if width > 0.0 {
            ((speedup - a.speedup) / width).clamp(0.0, 1.0)
        } else {
            1.0
        };
        let mix = |x: f64, y: f64| x + (y - x) * t;
        Prediction {
            program_speedup: mix(a.program_speedup, b.program_speedup),
            interval: a.interval.zip(b.interval).map(|(a, b)| Interval {
                low: mix(a.low, b.low),
                high: mix(a.high, b.high),
            }),
            extrapolated: false,
        }
    }

    fn beyond(&self, last: &Point, distance: f64) -> Prediction {
        let bounds = last.interval.zip(self.slope_interval);
        let interval = bounds.map(|(last, slope)| Interval {
            low: last.low + distance * slope.low.min(self.slope),
            high: last.high + distance * slope.high.max(self.slope),
        });
        Prediction {
            program_speedup: last.program_speedup + distance * self.slope,
            interval,
            extrapolated: true,
        }
    }
}

/// What the program gains if the target's time falls by `speedup` (0 to 1; 0.5 is "2× faster"): interpolated between measured
/// points, or continued along the slope beyond the last one.
pub fn predict(target: &Target, speedup: f64) -> Prediction {
    let curve = Curve {
        points: &target.points,
        slope: target.slope,
        slope_interval: target.slope_interval,
    };
    curve.at(speedup)
}

/// [`predict`], only the number.
pub fn program_speedup_at(target: &Target, speedup: f64) -> f64 {
    predict(target, speedup).program_speedup
}

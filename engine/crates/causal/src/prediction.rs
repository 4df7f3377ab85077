//! Prediction: what the program gains if a line becomes faster by a given amount, read from the measured curve.

use fulcrum_model::causal::Target;
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

/// Interpolates linearly between the two measured points around `speedup` (0 to 1; 0.5 is "2× faster"). Beyond the last
/// point the curve continues along the target's slope.
pub fn predict(target: &Target, speedup: f64) -> Prediction {
    let after = target.points.iter().position(|p| p.speedup >= speedup);
    let (Some(at), Some(last)) = (after, target.points.last()) else {
        let Some(last) = target.points.last() else {
            return Prediction {
                program_speedup: 0.0,
                interval: None,
                extrapolated: true,
            };
        };
        let beyond = speedup - last.speedup;
        let bounds = last.interval.zip(target.slope_interval);
        let interval = bounds.map(|(last, slope)| Interval {
            low: last.low + beyond * slope.low.min(target.slope),
            high: last.high + beyond * slope.high.max(target.slope),
        });
        let program_speedup = last.program_speedup + beyond * target.slope;
        return Prediction {
            program_speedup,
            interval,
            extrapolated: true,
        };
    };
    debug_assert!(
        last.speedup >= speedup,
        "a point at or after `speedup` was found"
    );
    let b = &target.points[at];
    let a = &target.points[at.saturating_sub(1)];
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

/// [`predict`], only the number.
pub fn program_speedup_at(target: &Target, speedup: f64) -> f64 {
    predict(target, speedup).program_speedup
}

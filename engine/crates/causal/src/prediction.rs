//! Prediction: what the program gains when a line is made faster by a given amount, read off the measured curve.

use fulcrum_model::causal::Target;

/// A program speedup at one line speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Program speedup as a fraction.
    pub program_speedup: f64,
    /// 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The line speedup lies beyond the measured ones; the curve was carried on along its slope.
    pub extrapolated: bool,
}

/// Interpolates linearly between the two measured points around `speedup` (0 to 1; 0.5 is "2× faster"). Beyond the last
/// point the curve goes on along the target's slope.
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
        let interval = last.interval.zip(target.slope_interval).map(
            |((low, high), (slope_low, slope_high))| {
                (
                    low + beyond * slope_low.min(target.slope),
                    high + beyond * slope_high.max(target.slope),
                )
            },
        );
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
        interval: a
            .interval
            .zip(b.interval)
            .map(|(a, b)| (mix(a.0, b.0), mix(a.1, b.1))),
        extrapolated: false,
    }
}

/// [`predict`], only the number.
pub fn program_speedup_at(target: &Target, speedup: f64) -> f64 {
    predict(target, speedup).program_speedup
}

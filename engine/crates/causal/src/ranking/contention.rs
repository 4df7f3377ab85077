//! Contention (COZ §2): a steep downward slope. Making such a line faster makes it interfere more with the critical path.

use fulcrum_model::causal::Point;
use fulcrum_stats::Interval;

/// The smallest loss of program speedup that is worth a warning.
pub(crate) const NEGLIGIBLE: f64 = 0.01;

/// The slope is credibly negative by more than a negligible amount, and so is some point.
pub(crate) fn is_contention(slope_interval: Option<Interval>, points: &[Point]) -> bool {
    let falls = slope_interval.is_some_and(|it| it.high <= -NEGLIGIBLE);
    falls && points.iter().any(|p| p.program_speedup <= -NEGLIGIBLE)
}

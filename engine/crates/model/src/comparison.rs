//! Two causal runs side by side, one before and one after a change: prediction against reality.

use fulcrum_stats::Interval;

use crate::TargetId;
use crate::causal::PointKind;

/// What became of the program, progress point by progress point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Those that both runs visited, sorted by name.
    pub progress_points: Vec<PointComparison>,
    /// Whole sentences; an empty comparison always has at least one.
    pub notes: Vec<String>,
}

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// `None` when the data cannot give one.
    pub interval: Option<Interval>,
}

/// One progress point in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PointComparison {
    /// The progress point's name.
    pub name: String,
    /// What a positive program speedup means here.
    pub kind: PointKind,
    /// Visits a second of effective time, in experiments without virtual speedup (departures for latency).
    pub before_rate: Option<f64>,
    /// The same afterwards.
    pub after_rate: Option<f64>,
    /// Nanoseconds between visits, or from arrival to departure.
    pub before_ns: Option<Estimate>,
    /// The same afterwards.
    pub after_ns: Option<Estimate>,
    /// What the program really gained: the relative fall of that time, as a fraction.
    pub actual: Option<Estimate>,
    /// What became of each target of the run before, as that run ranks them; those that changed first.
    pub targets: Vec<TargetComparison>,
}

/// One target in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetComparison {
    /// In the run before.
    pub before: TargetId,
    /// In the run after. `None`: its code is gone.
    pub after: Option<TargetId>,
    /// CPU nanoseconds a visit spent there.
    pub cost_before: Option<Estimate>,
    /// The same afterwards.
    pub cost_after: Option<Estimate>,
    /// The speedup that it really got, as a fraction: 0.25 is a quarter less cost a visit. Negative: it got slower.
    pub speedup: Option<Estimate>,
    /// What the run before predicts for the program at that speedup.
    pub predicted: Option<Estimate>,
    /// That speedup is beyond the measured ones.
    pub extrapolated: bool,
    /// Its cost changed by more than noise.
    pub changed: bool,
    /// What that means, a whole sentence.
    pub verdict: String,
}

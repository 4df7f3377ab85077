//! Two causal runs side by side, one before and one after a change: prediction against reality.

use fulcrum_stats::Interval;

use crate::TargetId;
use crate::causal::{self, PointKind};

/// What became of the program, progress point by progress point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Those that both runs visited, sorted by name.
    pub progress_points: Vec<PointComparison>,
    /// What a reader should know; an empty comparison always has at least one.
    pub notes: Vec<Note>,
}

/// What a reader of a comparison should know besides its numbers. `fulcrum_causal::wording` puts it into words.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A note on the causal profile of the run before.
    Profile(causal::Note),
    /// A run lacks the samples and the time of the whole run.
    NoWholeRun(Side),
    /// A run does not say how often it was sampled.
    NoPeriod(Side),
    /// The run after has no baseline for this progress point.
    NoBaseline {
        /// Its name in the run before.
        point: String,
    },
    /// A run has no copies of the source.
    NoSource(Side),
    /// Neither run has.
    NoSourceAtAll,
    /// A recording does not name its program and machine.
    NoManifest,
    /// The programs have different names.
    DifferentPrograms {
        /// The path of the program of the run before.
        before: String,
        /// That of the run after.
        after: String,
    },
    /// Their arguments differ.
    DifferentArguments {
        /// The arguments of the run before, joined by spaces.
        before: String,
        /// Those of the run after.
        after: String,
    },
    /// The runs were made on different machines.
    DifferentMachines,
}

/// One of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The run before the change.
    Before,
    /// The run after it.
    After,
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

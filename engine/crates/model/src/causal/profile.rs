//! What was concluded from a recording: for each progress point, ranked targets with their curves (COZ §2).

use fulcrum_stats::Interval;

use super::Note;
use crate::{Location, TargetId};

/// A causal profile: per progress point, targets ranked by slope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CausalProfile {
    /// Sorted by name.
    pub progress_points: Vec<PointProfile>,
    /// What was left out and why; an empty profile always has at least one.
    pub notes: Vec<Note>,
}

/// The results for one progress point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointProfile {
    /// The progress point's name.
    pub name: String,
    /// What a positive program speedup means here.
    pub kind: PointKind,
    /// Best slope first.
    pub targets: Vec<Target>,
}

/// What a progress point measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PointKind {
    /// Program speedup is the relative fall of the time between visits.
    Throughput,
    /// Program speedup is the relative fall of the latency, `L / λ`.
    Latency,
}

/// One target's causal profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What was sped up, and where it is.
    pub id: TargetId,
    /// Slope of the linear regression of program speedup on virtual speedup.
    pub slope: f64,
    /// 95 % interval of the slope. `None` when the data cannot give one.
    pub slope_interval: Option<Interval>,
    /// The shape is a harm and the slope's interval lies below zero: making this line faster makes the program slower.
    pub contention: bool,
    /// Experiments on this target that counted, baseline included.
    pub experiments: u64,
    /// The smallest slope that this data would show in 80 % of such runs (test at 5 %). `None` when the data cannot say.
    pub minimum_effect: Option<f64>,
    /// What to keep in mind about this result.
    pub flags: Vec<Flag>,
    /// How the result reads at a glance.
    pub shape: Shape,
    /// The function in which most of its time passes. `None` for ordinary code, and where it was not measured.
    pub in_call: Option<InCall>,
    /// Ascending by speedup; the first is the baseline (0, 0).
    pub points: Vec<Point>,
}

impl Target {
    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.id.location
    }
}

/// A function of libc in which most of a target's time passes.
#[derive(Clone, Debug, PartialEq)]
pub struct InCall {
    /// Its name, or [`KERNEL`](super::KERNEL).
    pub function: String,
    /// Processor time in it, as a share of the target's whole time (processor time and waits), 0 to 1.
    pub processor: f64,
    /// Time waited in it, as a share of the same.
    pub waiting: f64,
    /// What that time mostly is.
    pub does: CallDoes,
    /// For a lock: the target that released it most often when it was waited for. `None` when none was seen, or none mostly.
    pub holder: Option<TargetId>,
}

/// What the time in a call mostly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallDoes {
    /// Processor time, which virtual speedups shorten.
    Works,
    /// Waiting, which they do not.
    Waits,
    /// One of the two: samples leave the kernel out, so its work cannot be distinguished from waiting. Speedups shorten neither.
    Unseen,
}

/// What to keep in mind about a target's result. Ordered as they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// Threads waited long for a processor during its experiments: pauses fall into such waits, so effects are less sure.
    RunQueue,
    /// Its points rest on few visits.
    FewVisits,
    /// Other targets share its code (identical functions folded, macro bodies): the effect may be theirs.
    Shared,
    /// The curve jumps or bends by more than noise: the program may behave differently beyond some speedup.
    RegimeChange,
    /// Little's law does not hold: arrivals and departures differ over the run (latency).
    Unstable,
    /// The program had not settled when experiments began: queues still filled or drained while they were measured.
    Unsettled,
    /// Pausing costs so much here, or its cost is known so little, that the effect of a speedup cannot be separated from it.
    CostlyPauses,
    /// The slope and the curve disagree, so neither is established.
    Contradictory,
}

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Virtual speedup, 0 to 1.
    pub speedup: f64,
    /// Program speedup as a fraction: 0.1 is 10 % less time per visit.
    pub program_speedup: f64,
    /// 95 % interval. `None` when the data cannot give one.
    pub interval: Option<Interval>,
    /// The part of it that comes from the experiments alone, which more of them make narrower.
    pub measured: Option<Interval>,
    /// Visits behind this point (departures for latency).
    pub visits: u64,
    /// Effective duration behind this point.
    pub duration_ns: u64,
}

/// The nine shapes of the gutter. Thresholds are documented in `fulcrum-causal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// Barely worth it.
    Gain1,
    /// Worth it.
    Gain2,
    /// Large.
    Gain3,
    /// The bottleneck.
    Gain4,
    /// No effect, and known to be so.
    Flat,
    /// Slightly harmful.
    Harm1,
    /// Harmful.
    Harm2,
    /// Very harmful.
    Harm3,
    /// Not established: not enough data to tell, or data that contradicts itself ([`Flag::Contradictory`]).
    Unknown,
}

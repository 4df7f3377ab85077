//! Notes: what a reader of a causal profile should know besides its numbers. `fulcrum_causal::wording` puts them into words.

use std::sync::Arc;

/// One thing that a reader should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// What the recording says of itself: a sentence of its reader or of its recorder.
    Recording(String),
    /// A note on one of several programs.
    Program {
        /// The program; `None` when the recording does not name it.
        program: Option<Arc<str>>,
        /// What is to be known of it.
        note: Box<Note>,
    },
    /// Each of these programs was analysed by itself.
    SeveralPrograms(Vec<Option<Arc<str>>>),
    /// Other programs disturbed some experiments, which do not count.
    Disturbed {
        /// How many do not count.
        left_out: usize,
        /// How many there are.
        all: usize,
    },
    /// Other programs kept so many processors busy throughout the run.
    BusyMachine {
        /// Their number, on average.
        processors: f64,
    },
    /// Little's law does not hold for a latency.
    Unstable {
        /// The progress point.
        point: String,
        /// Requests that arrived during experiments.
        arrivals: u64,
        /// Requests that departed.
        departures: u64,
    },
    /// Pausing itself costs time.
    PauseCost(PauseCost),
    /// Nothing is corrected for phases (COZ eq. 8).
    Uncorrected(Uncorrected),
    /// Some targets have no result.
    LeftOut(LeftOut),
    /// A progress point has no result, while others have.
    PointWithoutResult {
        /// The progress point.
        point: String,
        /// Visits to it in all experiments.
        visits: u64,
    },
    /// There is no result at all.
    NoResult(NoResult),
}

/// What pausing costs, as placebo experiments show it.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseCost {
    /// The progress point that they were measured at.
    pub point: String,
    /// The cost of one pause, in nanoseconds.
    pub pause_ns: f64,
    /// The virtual speedup of the placebos whose pauses cost most, 0 to 1.
    pub speedup: f64,
    /// By how much those were slower, as a fraction.
    pub slower: f64,
    /// Half the width of the 95 % interval of that.
    pub margin: f64,
}

/// What the correction for phases lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncorrected {
    /// The recording does not say how long the program ran.
    NoRuntime,
    /// It holds no samples of the whole run.
    NoSamples,
}

/// Targets without a result, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub targets: u64,
    /// All of them are lines.
    pub only_lines: bool,
    /// Why.
    pub reason: LeftOutReason,
    /// The progress points that this holds for; empty when it holds for all.
    pub points: Vec<String>,
}

/// Why a target has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// No experiment without virtual speedup.
    NoBaseline,
    /// The baseline has fewer visits than it takes, or is damaged.
    WeakBaseline {
        /// How many it takes.
        min_visits: u64,
    },
    /// Fewer different speedups than it takes.
    FewPoints {
        /// How many it takes.
        min_points: usize,
    },
    /// `s` or `s_obs` of eq. 8 is zero.
    NoSamples,
}

/// Why there is no result at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResult {
    /// Samples, but no experiments.
    OnlySamples,
    /// Neither.
    NoExperiments,
    /// The program has no progress point.
    NoProgressPoint,
    /// No progress point was visited during an experiment.
    NoVisits,
    /// More delay was inserted than time passed.
    NoTime,
    /// No experiment without virtual speedup.
    NoBaseline,
    /// No experiment with one.
    NoSpeedup,
    /// Too few experiments on each line.
    FewExperiments,
}

//! The refine loop: the types of `fulcrum/refine/start`, `open` and `live`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{NavigatorId, ProgressToken};

/// Parameters of `fulcrum/refine/start`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineParams {
    /// `java`, as a path or a name looked up in `PATH`, or a program that starts one.
    pub program: String,
    /// Its arguments, without the program itself.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder, absolute.
    pub cwd: String,
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// What a hotspot is: `inherent wall >= 50us after 1000`, which is also what is meant when it is absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub rule: Option<String>,
    /// Where the first set of methods comes from; absent: all methods that are not the Java platform's.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub from: Option<RefineFrom>,
    /// A method whose calls are the units of work, `Class.method`; absent: the whole run is one.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub unit: Option<String>,
    /// At most so many iterations; absent: 6.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub iterations: Option<u32>,
    /// Runs of each iteration, each beside one without instrumentation; absent: 3.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub runs: Option<u32>,
    /// So many excluded methods are looked at again in each iteration; absent: 5.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub recheck: Option<u32>,
    /// Which of them is decided by this number; absent: 1.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub seed: Option<u64>,
    /// Each run is stopped after this long: for programs that do not end by themselves.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub duration_seconds: Option<f64>,
    /// The program keeps running: each run is a session of this length in it, and classes are changed in between.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub keep_running_seconds: Option<f64>,
    /// With `keepRunningSeconds`: a program that is running already, by its process; `program` only names it.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub attach: Option<u32>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Where the first set of methods comes from.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum RefineFrom {
    /// A filter.
    Filter {
        /// Its text.
        text: String,
    },
    /// Labels of a bottleneck search, as the navigator keeps them.
    Labels {
        /// The file, absolute.
        file: String,
    },
    /// The labels of a navigator that is open.
    Navigator {
        /// Its number.
        id: NavigatorId,
    },
    /// A run: a trace, an iteration of another loop, or a causal profile.
    Run {
        /// Its folder, absolute.
        run: String,
    },
}

/// One iteration of the loop.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineIteration {
    /// From 1.
    pub number: u32,
    /// The run that it was measured by, for `fulcrum/events/open`.
    pub run: String,
    /// The file of the filter that it ran with.
    pub filter: String,
    /// Methods that had probes.
    pub methods: u64,
    /// Classes of these methods.
    pub classes: u64,
    /// Calls of these methods, in the mean of the iteration's runs: each fired a probe.
    pub fired: u64,
    /// Those of them that were measured, in the mean of the iteration's runs.
    pub metered: u64,
    /// Methods that are hotspots by the rule.
    pub hotspots: u64,
    /// Units of work, in the mean of the iteration's runs.
    pub units: u64,
    /// Time of a unit of work, nanoseconds; null when no run came to its end.
    pub wall_ns: Option<f64>,
    /// CPU time of a unit of work, nanoseconds.
    pub cpu_ns: Option<f64>,
    /// The same of the runs without instrumentation.
    pub baseline_wall_ns: Option<f64>,
    /// The same of the runs without instrumentation.
    pub baseline_cpu_ns: Option<f64>,
    /// What instrumentation added to a unit's time, a fraction of the time without; null without a pair of runs.
    pub overhead: Option<f64>,
    /// Lower end of its 95 % interval; null for a single pair of runs.
    pub overhead_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub overhead_high: Option<f64>,
    /// What instrumentation added to a unit's CPU time.
    pub cpu_overhead: Option<f64>,
    /// Lower end of its 95 % interval.
    pub cpu_overhead_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub cpu_overhead_high: Option<f64>,
    /// Excluded methods that were looked at again.
    pub rechecked: Vec<String>,
    /// Those of them that are hotspots after all.
    pub found: Vec<String>,
}

/// Parameters of `fulcrum/refine/live`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineLiveParams {
    /// The request's `workDoneToken`.
    pub token: Option<ProgressToken>,
    /// The iterations so far. The last one may be going on: its numbers are those of its runs so far.
    pub iterations: Vec<RefineIteration>,
    /// 0 to 1, if all iterations were needed.
    pub fraction: f64,
    /// What is going on: `iteration 2 of at most 6 · 212 methods · run 1 of 3`.
    pub message: String,
}

/// Parameters of `fulcrum/refine/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineOpenParams {
    /// The folder of an iteration, absolute.
    pub run: String,
}

/// Parameters of `fulcrum/refine/frame`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineFrameParams {
    /// The folder of an iteration, absolute.
    pub run: String,
    /// The method, as among the table's `hotspots`.
    pub method: String,
}

/// Answer to `fulcrum/refine/start` and `fulcrum/refine/open`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineOutcome {
    /// All iterations that were measured.
    pub iterations: Vec<RefineIteration>,
    /// The set of methods did not change any more.
    pub stable: bool,
    /// The file of the filter that the loop ended with.
    pub filter: String,
    /// Its methods.
    pub hotspots: Vec<String>,
    /// How the loop ended, as a sentence.
    pub exit: String,
    /// Whole sentences on what a reader should know.
    pub notes: Vec<String>,
}

/// A refine loop: the answer of `fulcrum refine --json`, and `refine.json` in the run of each iteration.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RefineTable {
    /// What a hotspot is.
    #[serde(default)]
    pub rule: String,
    /// A method whose calls are the units of work; null: the whole run is one.
    #[serde(default)]
    pub unit: Option<String>,
    /// Which excluded methods were looked at again was decided by this number. In the file alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seed: Option<u64>,
    /// Runs of each iteration. In the file alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub runs: Option<u64>,
    /// The set of methods did not change any more.
    pub stable: bool,
    /// The loop was stopped before it came to its end. In the answer alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stopped: Option<bool>,
    /// The file of the filter that the loop ended with. In the answer alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub filter: Option<String>,
    /// Its methods.
    #[serde(default)]
    pub hotspots: Vec<String>,
    /// Whole sentences on what a reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// All iterations that were measured.
    pub iterations: Vec<RefineIteration>,
}

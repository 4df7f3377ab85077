//! Recording: the types of `fulcrum/causal/run`, `control` and `live`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ProfileSummary, ProgressToken};

/// Parameters of `fulcrum/causal/run`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunParams {
    /// A path, or a name looked up in `PATH`.
    pub program: String,
    /// Its arguments, without the program itself.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder, absolute.
    pub cwd: String,
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// The folder of an earlier run of the workspace: its experiments count together with those of this one. It must have run
    /// the same build with the same arguments.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub continues: Option<String>,
    /// The program is stopped after this long; null lets it run to its end.
    #[serde(default)]
    pub duration_seconds: Option<f64>,
    /// The program is stopped when the best targets are known this well: half width of their intervals, a fraction.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub until: Option<f64>,
    /// What experiments speed up; absent: the lines of the program itself.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub aim: Option<Aim>,
    /// Lines, `FILE:LINE`, whose visits are progress points without a change of the source.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub progress: Option<Vec<String>>,
    /// The share of the program's time that profiling may take; experiments are spaced out to keep below it.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub max_overhead: Option<f64>,
    /// Runs the program again and again, each time as one experiment: for programs that just finish.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub end_to_end: Option<EndToEnd>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// For programs that just finish: each run from start to end is one experiment.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct EndToEnd {
    /// Stop after so many runs; null: when the duration or the wanted confidence is reached.
    pub runs: Option<u64>,
}

/// What experiments speed up.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Aim {
    /// The kind of target.
    pub target: AimTarget,
    /// For `path`: call sequences such as `main > serve > parse`, the outermost function first.
    pub paths: Vec<String>,
    /// File patterns, `%` matches anything; empty is every file that is not a system header.
    pub source_scope: Vec<String>,
    /// Binary patterns, `MAIN` is the program itself; empty is the program itself.
    pub binary_scope: Vec<String>,
}

/// What an experiment can speed up.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum AimTarget {
    /// A source line.
    #[default]
    Line,
    /// A function, without what it calls.
    Function,
    /// A function with everything that it calls.
    Inclusive,
    /// A call sequence, with everything that its last function calls.
    Path,
    /// The time spent waiting in a call.
    Blocked,
}

/// Parameters of `fulcrum/causal/control`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ControlParams {
    /// The run's `workDoneToken`; null is every run that is going on.
    #[serde(default)]
    pub token: Option<ProgressToken>,
    /// What to do.
    pub action: ControlAction,
    /// For `retarget`: on what to experiment from now on.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub aim: Option<Aim>,
}

/// What can be done with a run that is going on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum ControlAction {
    /// No experiments for now; the program runs on undelayed.
    Pause,
    /// Experiments again.
    Resume,
    /// Ends the program; what was recorded stays and is opened.
    Stop,
    /// Experiments on something else. What was recorded stays.
    Retarget,
    /// Shows the run's results again after another profile was opened.
    Show,
}

/// Answer to `fulcrum/causal/control`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct ControlResult {
    /// How many runs obeyed; never 0, since that is an error.
    pub runs: u32,
}

/// Parameters of `fulcrum/causal/live`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveParams {
    /// The run's `workDoneToken`.
    pub token: Option<ProgressToken>,
    /// The run folder; null until it is known.
    pub run: Option<String>,
    /// Since the program started.
    pub elapsed_seconds: f64,
    /// Experiments finished.
    pub experiments: u64,
    /// Targets with at least one experiment.
    pub targets: u64,
    /// Visits to all progress points.
    pub visits: u64,
    /// The best target so far.
    pub best: Option<LiveBest>,
    /// 0 to 1 when the end is known.
    pub fraction: Option<f64>,
    /// Until the wanted duration or confidence is reached, estimated; null when nothing was wanted or nothing is known.
    pub remaining_seconds: Option<f64>,
    /// Experiments are paused.
    pub paused: bool,
    /// What the run experiments on.
    pub aim: Aim,
    /// All of this in a few words: `23 experiments · 2 lines · best two-threads.cpp:12, +4.1 % if 2× faster · 40 s left`.
    pub message: String,
}

/// The best target of a run that is going on.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveBest {
    /// Short: base name and line, or the name.
    pub label: String,
    /// What the program gains when the target takes half the time, a fraction.
    pub gain: f64,
    /// Lower end of its 95 % interval.
    pub gain_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub gain_high: Option<f64>,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// The run folder.
    pub run: String,
    /// How the program ended, as a sentence.
    pub exit: String,
    /// The run, opened; null when it could not be opened (`notes` say why).
    pub summary: Option<ProfileSummary>,
    /// Whole sentences on why the result is empty or weaker than it could be.
    pub notes: Vec<String>,
}

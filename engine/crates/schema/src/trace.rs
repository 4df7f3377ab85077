//! Event traces of Java programs, recorded: the types of `fulcrum/trace/start` and `fulcrum/trace/live`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ProgressToken;

/// Parameters of `fulcrum/trace/start`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceParams {
    /// `java`, as a path or a name looked up in `PATH`, or a program that starts one.
    pub program: String,
    /// Its arguments, without the program itself.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its working folder, absolute.
    pub cwd: String,
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// The filter's text; absent: calls of all methods that are not the Java platform's, and everything that is rare.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub filter: Option<String>,
    /// Methods whose arguments and results are logged, when they are observed: `CLASS.METHOD`, `*` stands for anything.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub values: Vec<String>,
    /// The log's largest size, bytes; absent: 1 GiB.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub limit: Option<u64>,
    /// The program is stopped after this long; absent: it runs to its end.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub duration_seconds: Option<f64>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Parameters of `fulcrum/trace/live`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceLiveParams {
    /// The request's `workDoneToken`.
    pub token: Option<ProgressToken>,
    /// The run folder.
    pub run: String,
    /// Since the program started.
    pub elapsed_seconds: f64,
    /// Bytes of its event logs.
    pub bytes: u64,
    /// All of this in a few words: `12 s · 3.4 MB of events`.
    pub message: String,
}

/// Answer to `fulcrum/trace/start`: how the recording ended.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceOutcome {
    /// The run folder.
    pub run: String,
    /// Its event logs, one for each Java virtual machine, for `fulcrum/events/open`.
    pub logs: Vec<String>,
    /// How the program ended, as a sentence.
    pub exit: String,
    /// Whether it ended by itself and with status 0.
    pub ended_normally: bool,
    /// Whole sentences on why there is nothing, or less than there could be.
    pub notes: Vec<String>,
}

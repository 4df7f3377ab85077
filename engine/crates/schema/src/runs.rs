//! The run store: the types of `fulcrum/runs/list` and `remove`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Parameters of `fulcrum/runs/list`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsListParams {
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
}

/// Answer to `fulcrum/runs/list`, and of `fulcrum runs list --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsListResult {
    /// Newest first.
    pub runs: Vec<RunEntry>,
}

/// One recorded run.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunEntry {
    /// The run folder, for `fulcrum/causal/open`, `fulcrum/events/open` or `fulcrum/transactions/open`.
    pub path: String,
    /// The folder's name, for `fulcrum runs show` and `rm`.
    pub folder: String,
    /// The folder's name without the time, and without the number that tells runs of one program and second apart.
    pub name: String,
    /// What was recorded.
    pub kind: RunKind,
    /// When it started, RFC 3339, UTC.
    pub start: String,
    /// When it ended, RFC 3339, UTC; null while it goes on, and when its recorder died.
    pub end: Option<String>,
    /// The program, as it was given; empty when the run does not say.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The command line, for reading.
    pub command: String,
    /// How it ended.
    pub ended: RunEnded,
    /// The program's status, when it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The recorder's options, by name, as JSON.
    #[ts(type = "Record<string, string>")]
    pub options: BTreeMap<String, String>,
    /// The commit of the program's working folder.
    pub git_revision: Option<String>,
    /// Bytes of all its files; null when it has too many to look at each.
    pub bytes: Option<u64>,
    /// What the recorder had to say. Whole sentences.
    pub notes: Vec<String>,
    /// Of a refine loop: which iteration it is.
    pub iteration: Option<RunIteration>,
}

/// What was recorded.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum RunKind {
    /// A causal profile.
    Causal,
    /// An event trace.
    Events,
    /// A transactional profile.
    Transactions,
    /// The run does not say, or something that this version does not know.
    Unknown,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum RunEnded {
    /// It goes on.
    Running,
    /// The program exited by itself.
    Exited,
    /// The program was ended by a signal.
    Signalled,
    /// The recorder stopped the program.
    Stopped,
    /// The recorder died, or the run does not say.
    Lost,
}

/// Which iteration of a refine loop a run is.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunIteration {
    /// From 1.
    pub number: u32,
    /// The folder of the run before it, as it was then; null for the first.
    pub previous: Option<String>,
}

/// Parameters of `fulcrum/runs/remove`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunsRemoveParams {
    /// The folder that holds `.fulcrum/runs`, absolute.
    pub workspace: String,
    /// The runs' folders, absolute.
    pub runs: Vec<String>,
}

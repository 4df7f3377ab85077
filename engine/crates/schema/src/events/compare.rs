//! The difference of two traces (JPMT §7).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{NodeId, ProgressToken, ThreadId, TraceId};

/// Parameters of `fulcrum/events/compare`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsCompareParams {
    /// The trace that is looked at.
    pub a: TraceId,
    /// What it is compared with: the trace before.
    pub b: TraceId,
    /// The first row that is wanted, from 0.
    pub from: u64,
    /// How many, at most 10,000.
    pub count: u32,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Answer to `fulcrum/events/compare`, and of `fulcrum events compare --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsComparison {
    /// Threads of the same role, and how many there are on each side.
    pub roles: Vec<EventsRole>,
    /// Rows whose time changed most come first.
    pub rows: Vec<EventsDifference>,
    /// How many rows there are in all.
    pub total: u64,
    /// How many rows there are of each change.
    pub counts: EventsChangeCounts,
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// Threads that do the same work: their names without numbers, below the same parents.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsRole {
    /// The name: `Dispatcher-#`, and the role of the thread that started it when that tells two apart.
    pub name: String,
    /// Threads in A.
    pub a: u32,
    /// Threads in B.
    pub b: u32,
}

/// A path of a role in both traces.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsDifference {
    /// The threads.
    pub role: String,
    /// Names from the outermost call to the one that is compared.
    pub path: Vec<String>,
    /// What became of it.
    pub change: EventsChange,
    /// In A; null: it is not there.
    pub a: Option<EventsPathSums>,
    /// In B; null: it is not there.
    pub b: Option<EventsPathSums>,
    /// Own wall time of A less that of B, nanoseconds: what rows are ordered by.
    pub self_wall_ns: i64,
}

/// What a path adds up to on one side. Times are nanoseconds, of all calls together.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsPathSums {
    /// How often.
    pub count: u64,
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time; null where the log does not tell it.
    pub cpu_ns: Option<u64>,
    /// Wall time less that of what is inside.
    pub self_wall_ns: u64,
    /// The first of these in the log, to look at.
    pub thread: ThreadId,
    /// Its node.
    pub node: NodeId,
}

/// What became of a path from B to A.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsChange {
    /// Only in A.
    Appeared,
    /// Only in B.
    Vanished,
    /// The mean wall time of a call grew by more than a tenth and 1 µs.
    Slower,
    /// It fell by as much.
    Faster,
    /// Neither, but there are more or fewer of them.
    Count,
    /// None of these.
    Same,
}

/// How many rows there are of each change.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsChangeCounts {
    /// Only in A.
    pub appeared: u64,
    /// Only in B.
    pub vanished: u64,
    /// Slower in A.
    pub slower: u64,
    /// Faster in A.
    pub faster: u64,
    /// Another number of them.
    pub count: u64,
    /// None of these.
    pub same: u64,
}

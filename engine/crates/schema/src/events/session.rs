//! Opening and closing an event trace; what is made of a part of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::EventsQueueNames;
use crate::{MethodId, NodeId, ProgressToken, ThreadId, TraceId};

/// Parameters of `fulcrum/events/open`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsOpenParams {
    /// A run's folder or its `run.json`, or one event log of a run that has several.
    pub run: String,
    /// A filter file: only what it would have observed is seen.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub filter: Option<String>,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Answer to `fulcrum/events/open`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsOpened {
    /// The trace's number for all further requests.
    pub id: TraceId,
    /// The log in a few words.
    pub title: String,
    /// The log that was opened.
    pub path: String,
    /// By number; 1 is the virtual machine itself.
    pub threads: Vec<EventsThread>,
    /// The first event.
    pub start_ns: u64,
    /// The last event.
    pub end_ns: u64,
    /// All events.
    pub events: u64,
    /// Events that found no place in the log; more were not even tried.
    pub lost: u64,
    /// Whether the log tells CPU times.
    pub has_cpu: bool,
    /// Pairs of methods that look as if they put into and took from a queue, those that are called most first.
    pub queues: Vec<EventsQueueNames>,
    /// Whether there is any such pair.
    pub has_queues: bool,
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// A thread of the traced program.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsThread {
    /// Its number.
    pub id: ThreadId,
    /// Its name when it began.
    pub name: String,
    /// Its thread group, or empty.
    pub group: String,
    /// The thread that started it; null when it is not known.
    pub parent: Option<ThreadId>,
    /// Its first event.
    pub start_ns: u64,
    /// Its last event.
    pub end_ns: u64,
    /// How many events it has.
    pub events: u64,
    /// How many rows stand at the top of its tree.
    pub rows: u64,
    /// From its first event to its last.
    pub wall_ns: u64,
    /// CPU time from its first to its last event; null where the log does not tell it.
    pub cpu_ns: Option<u64>,
}

/// A part of a trace.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsPart {
    /// Only this thread; absent: all threads.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub thread: Option<ThreadId>,
    /// Only what is inside of this node of the thread, itself included; absent: all of it.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub node: Option<NodeId>,
    /// Only calls that began at this time or later.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub left_ns: Option<u64>,
    /// Only calls that began before this time.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub right_ns: Option<u64>,
}

/// Parameters of `fulcrum/events/tree`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTreeParams {
    /// The trace.
    pub id: TraceId,
    /// What is folded into a call tree.
    #[serde(default)]
    pub part: EventsPart,
    /// Progress is reported on this token (`$/progress`) and can be cancelled by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub work_done_token: Option<ProgressToken>,
}

/// Parameters of `fulcrum/events/filter`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsFilterParams {
    /// The trace.
    pub id: TraceId,
    /// What the next filter should still observe.
    #[serde(default)]
    pub part: EventsPart,
    /// A method is kept when its mean self time is at least this, nanoseconds; absent: 50,000, as JPMT's refinement.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub self_wall_ns: Option<u64>,
}

/// Answer to `fulcrum/events/filter`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsFilter {
    /// The text of a `.fulcrum-filter`.
    pub text: String,
    /// Methods of the part that it still observes.
    pub kept: u32,
    /// Methods of the part that it no longer observes.
    pub dropped: u32,
    /// The calls of the part's methods that it would not have logged.
    pub dropped_calls: u64,
}

/// Parameters of `fulcrum/events/frame`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsFrameParams {
    /// The trace.
    pub id: TraceId,
    /// A method's number, as rows have it.
    pub method: MethodId,
}

/// Parameters of `fulcrum/events/close`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsCloseParams {
    /// The trace.
    pub id: TraceId,
}

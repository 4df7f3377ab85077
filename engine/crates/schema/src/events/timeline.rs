//! What threads did over time.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{NodeId, ThreadId, TraceId};

/// Parameters of `fulcrum/events/timeline`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTimelineParams {
    /// The trace.
    pub id: TraceId,
    /// The visible part: its beginning.
    pub left_ns: u64,
    /// Its end.
    pub right_ns: u64,
    /// How wide that is on screen, at most 8,000: nothing narrower than a pixel is told apart.
    pub width: u32,
    /// Which threads; absent: all, at most 200 of them.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub threads: Option<Vec<ThreadId>>,
    /// How many levels of calls are sent, at most 100; absent: 0.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub depths: Option<u32>,
}

/// Answer to `fulcrum/events/timeline`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTimeline {
    /// In the order that was asked for.
    pub threads: Vec<EventsTimelineThread>,
    /// Garbage collections of the whole virtual machine.
    pub collections: EventsIntervals,
    /// The names that `calls.name` counts.
    pub names: Vec<String>,
}

/// A thread's part of a timeline.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTimelineThread {
    /// The thread.
    pub id: ThreadId,
    /// What it did, from left to right.
    pub states: EventsStates,
    /// Calls at least a pixel wide, level by level of the thread's tree.
    pub calls: EventsCalls,
    /// How many levels there are of such calls, sent or not.
    pub levels: u32,
}

/// Intervals, as columns: position n of each is interval n. They do not overlap.
#[derive(Clone, Debug, Default, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsIntervals {
    /// Where each begins.
    pub start_ns: Vec<u64>,
    /// Where each ends.
    pub end_ns: Vec<u64>,
}

/// States, as columns. They do not overlap; where there is none, the thread was not there.
#[derive(Clone, Debug, Default, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsStates {
    /// Where each begins.
    pub start_ns: Vec<u64>,
    /// Where each ends.
    pub end_ns: Vec<u64>,
    /// What most of this time was.
    pub state: Vec<EventsState>,
    /// The part of the time that the thread was on a processor, 0 to 1; -1 where the log does not tell it.
    pub cpu: Vec<f64>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsState {
    /// None of the others: on a processor, or waiting for something that is not logged.
    Running,
    /// It waits for a monitor that another thread owns.
    Contended,
    /// It is in `Object.wait`.
    Waiting,
    /// It is in a logged call of `LockSupport.park` or `Thread.sleep`.
    Parked,
}

/// Calls, as columns: position n of each is call n, level by level.
#[derive(Clone, Debug, Default, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsCalls {
    /// When each began.
    pub start_ns: Vec<u64>,
    /// When each ended.
    pub end_ns: Vec<u64>,
    /// 0 is the top of the thread's tree.
    pub depth: Vec<u32>,
    /// A position in `names`.
    pub name: Vec<u32>,
    /// The node.
    pub node: Vec<NodeId>,
}

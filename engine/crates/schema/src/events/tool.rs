//! What `fulcrum events` tells scripts and the editor does not need: sums, single events, whole trees.

use serde::Serialize;
use ts_rs::TS;

use super::{EventsCallValues, EventsEnd, EventsKind, EventsValue};

/// Answer of `fulcrum events stats --json`. Times are corrected for what probes cost.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsStats {
    /// By number.
    pub threads: Vec<EventsThreadSums>,
    /// The one with the most own wall time first.
    pub methods: Vec<EventsMethodSums>,
    /// Waiting for monitors that others owned, by class, the longest first.
    pub contention: Vec<EventsClassSums>,
    /// `Object.wait`, by class, the longest first.
    pub waiting: Vec<EventsClassSums>,
    /// Garbage collections.
    pub collections: EventsSums,
    /// Ends without a beginning, and beginnings whose end is missing though what they are inside of ended.
    pub unbalanced: u64,
    /// What was subtracted from times because probes cost it.
    pub probes: EventsProbeCosts,
    /// What a reader should know, whole sentences.
    pub notes: Vec<String>,
}

/// A thread's sums.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsThreadSums {
    /// Its number.
    pub id: u32,
    /// Its name when it began; null when the log does not tell it.
    pub name: Option<String>,
    /// Its thread group.
    pub group: Option<String>,
    /// The thread that started it; 0 when it is not known.
    pub parent: Option<u32>,
    /// How many events it has.
    pub events: u64,
    /// From its first event to its last.
    pub wall_ns: u64,
    /// CPU time from its first to its last event; null where the log does not tell it.
    pub cpu_ns: Option<u64>,
}

/// A method's sums. Of recursive calls, `wallNs` and `cpuNs` count the outermost only.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsMethodSums {
    /// Its class.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Calls that were logged.
    pub calls: u64,
    /// Those left by an exception.
    pub thrown: u64,
    /// Wall time.
    pub wall_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// Wall time less that of what it called, waited and contended for.
    pub self_wall_ns: u64,
    /// CPU time less that of what it called.
    pub self_cpu_ns: u64,
}

/// Waiting for objects of a class.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsClassSums {
    /// The class.
    pub class: String,
    /// How often.
    pub count: u64,
    /// How long, all threads together.
    pub wall_ns: u64,
}

/// How often, and how long.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsSums {
    /// How often.
    pub count: u64,
    /// How long.
    pub wall_ns: u64,
}

/// What the probes of a call cost.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsProbeCosts {
    /// Within the call's own time.
    pub inside_ns: f64,
    /// Around it, in the caller's time.
    pub outside_ns: f64,
}

/// Answer of `fulcrum events tree --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTrees {
    /// Threads that have calls.
    pub threads: Vec<EventsThreadTree>,
}

/// A thread's calls.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsThreadTree {
    /// Its number.
    pub id: u32,
    /// Its name when it began.
    pub name: String,
    /// Its thread group, or empty.
    pub group: String,
    /// There are more calls than `--limit` shows.
    pub more: bool,
    /// In the order of their beginnings; `depth` makes the tree.
    pub calls: Vec<EventsTreeCall>,
}

/// A call, or a wait.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTreeCall {
    /// How many calls it is inside of.
    pub depth: u32,
    /// What it is.
    pub kind: EventsKind,
    /// A method with its class, or a class with the object's number.
    pub name: String,
    /// When it began.
    pub start_ns: u64,
    /// How long it took, without what probes cost.
    pub wall_ns: u64,
    /// CPU time, likewise; null where the log does not tell it.
    pub cpu_ns: Option<u64>,
    /// Wall time less that of what is inside.
    pub self_wall_ns: u64,
    /// CPU time less that of what is inside.
    pub self_cpu_ns: Option<u64>,
    /// How it ended.
    pub ended: EventsEnd,
    /// What the call was given and returned; null where the log does not tell it.
    pub values: Option<EventsCallValues>,
}

/// A line of `fulcrum events list --json`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsEvent {
    /// When, since the log's start.
    pub time_ns: u64,
    /// The thread's CPU time since its own start; null where the log does not tell it.
    pub cpu_ns: Option<u64>,
    /// The thread.
    pub thread: u32,
    /// `enter`, `exit`, `thrown`, `threadStart`, …: see docs/formats.md.
    pub event: &'static str,
    /// Calls since the thread's last event whose probes fired without being logged; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub skipped: Option<u64>,
    /// The class of a method or an object, or a class that was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub class: Option<String>,
    /// A method's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub method: Option<String>,
    /// A method's descriptor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub descriptor: Option<String>,
    /// Of `objects`: what the call is made on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub receiver: Option<u64>,
    /// Of `objects`: the first object that the call is given, or 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub argument: Option<u64>,
    /// An object's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub object: Option<u64>,
    /// Of `result`: true or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<bool>,
    /// Of `arguments`: what the call was given that was entered just before, the first of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub arguments: Option<Vec<EventsValue>>,
    /// Of `arguments`: how many more there are, which are not logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub more_arguments: Option<u32>,
    /// Of `returned`: what the call returns that is left right behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub returned: Option<EventsValue>,
    /// Of `wait`: its time limit, or 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub timeout_ms: Option<u64>,
    /// Of `waited`: the time limit ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub timed_out: Option<bool>,
    /// Of `allocation`: the object's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bytes: Option<u64>,
    /// Of `allocation`: about one object for so many bytes is told; 0 when each one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub interval_bytes: Option<u64>,
    /// Of `threadStart`: the thread's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// Of `threadStart`: its thread group, or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub group: Option<String>,
    /// Of `threadStart`: the thread that started it; 0 when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<u32>,
    /// Of `threadStart`: it does not keep the program running.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub daemon: Option<bool>,
    /// Of `threadStart`: a virtual thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub r#virtual: Option<bool>,
    /// Of `threadStart`: it was running already when the log began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub earlier: Option<bool>,
    /// Of `classLoad`: methods with probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub probed: Option<u64>,
    /// Of `vmStart`: name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub machine: Option<String>,
}

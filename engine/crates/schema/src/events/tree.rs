//! Rows of the event tree, and searching it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::EventsPart;
use crate::{MethodId, NodeId, ThreadId, TraceId};

/// Parameters of `fulcrum/events/children`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsChildrenParams {
    /// The trace.
    pub id: TraceId,
    /// The thread.
    pub thread: ThreadId,
    /// Whose children; absent: the top of the thread's tree.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub node: Option<NodeId>,
    /// In which order; absent: time.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub order: Option<EventsOrder>,
    /// The first row that is wanted, from 0.
    pub from: u64,
    /// How many, at most 1,000.
    pub count: u32,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsOrder {
    /// The first first.
    #[default]
    Time,
    /// The most wall time first; only the first 10,000 are told.
    Wall,
    /// The most CPU time first; only the first 10,000 are told.
    Cpu,
    /// The most own wall time first; only the first 10,000 are told.
    SelfWall,
}

/// Answer to `fulcrum/events/children`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsRows {
    /// The rows that were asked for, as far as there are.
    pub rows: Vec<EventsRow>,
    /// How many there are in all.
    pub total: u64,
}

/// An event with a duration, or one without.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsRow {
    /// Its thread.
    pub thread: ThreadId,
    /// Its number in the thread.
    pub node: NodeId,
    /// What it is.
    pub kind: EventsKind,
    /// A method with its class, a class with the object's number, or what else there is to say.
    pub name: String,
    /// The method's number; null for what is no call.
    pub method: Option<MethodId>,
    /// The number of the object that was waited for or made; null when there is none or it is not known.
    pub object: Option<u64>,
    /// When it began.
    pub start_ns: u64,
    /// How long it took, without what probes cost; null for what has no duration.
    pub wall_ns: Option<u64>,
    /// CPU time, likewise.
    pub cpu_ns: Option<u64>,
    /// Wall time less that of its children.
    pub self_wall_ns: Option<u64>,
    /// CPU time less that of its children.
    pub self_cpu_ns: Option<u64>,
    /// What was subtracted from the wall time because probes cost it.
    pub probes_ns: u64,
    /// How many rows are directly below.
    pub children: u64,
    /// How it ended.
    pub ended: EventsEnd,
    /// A put or a take of the queue that was replayed last; null for everything else.
    pub queue: Option<EventsQueueCell>,
    /// What a call was given and returned; null where the log does not tell it.
    pub values: Option<EventsCallValues>,
}

/// What a call was given and returned (`observe_values` in the filter).
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsCallValues {
    /// The first of its arguments; null when it has none.
    pub arguments: Option<Vec<EventsValue>>,
    /// How many more arguments it has, which are not logged.
    pub more_arguments: u32,
    /// What it returned; null when it returned nothing, or did not return.
    pub returned: Option<EventsValue>,
    /// All of it as it is shown behind the name: `(1, "two", …) → 3`.
    pub text: String,
}

/// An argument or a result.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsValue {
    /// What it is.
    pub kind: EventsValueKind,
    /// The value: digits, the text as it is, the name of an object's class.
    pub value: String,
    /// Only the beginning of a text is logged.
    pub cut: bool,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, Hash, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsValueKind {
    /// It could not be told.
    Unknown,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A character.
    Character,
    /// A number with a fraction, which may be `NaN` or `Infinity`.
    Real,
    /// A text.
    Text,
    /// No object, or a pointer to nothing.
    Null,
    /// An object, by its class.
    Object,
    /// An address, hexadecimal.
    Address,
    /// One of an enumeration, by its name.
    Named,
}

/// What an event is.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, Hash, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsKind {
    /// A call of a method.
    Call,
    /// Waiting for a monitor that another thread owns.
    Contended,
    /// `Object.wait`.
    Wait,
    /// A garbage collection.
    Gc,
    /// An object was made.
    Allocation,
    /// An object was released.
    Release,
    /// The thread began.
    ThreadStart,
    /// The thread ended.
    ThreadEnd,
    /// A class was loaded.
    ClassLoad,
    /// A class was unloaded.
    ClassUnload,
    /// The virtual machine is there.
    VmStart,
    /// The virtual machine ends.
    VmEnd,
}

/// How an event ended.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsEnd {
    /// The method returned; what was waited for came; or it has no duration.
    Returned,
    /// An exception.
    Thrown,
    /// The log ended before.
    Open,
    /// Its end is missing in the log.
    Lost,
}

/// What the *queueing* column says (JPMT, Figs. 10 and 11).
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueCell {
    /// The request's number, from 1; null when it could not be told which request it was.
    pub number: Option<u64>,
    /// Requests in the queue after this call.
    pub length: u64,
    /// At a take: how long the request was in the queue.
    pub wait_ns: Option<u64>,
}

/// Parameters of `fulcrum/events/search`.
#[derive(Clone, Debug, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsSearchParams {
    /// The trace.
    pub id: TraceId,
    /// A part of a name. Upper and lower case are the same.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub text: Option<String>,
    /// Or a condition as `fulcrum events query` takes it: `method ~ "*.get" and wall > 1ms`.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub expression: Option<String>,
    /// Where it is searched.
    #[serde(default)]
    pub part: EventsPart,
    /// Where to go on: the `next` of the answer before; absent: from the beginning.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub from: Option<EventsPlace>,
    /// At most so many, up to 1,000; absent: 100.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub count: Option<u32>,
}

/// A node of a thread.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsPlace {
    /// The thread.
    pub thread: ThreadId,
    /// The node.
    pub node: NodeId,
}

/// Answer to `fulcrum/events/search`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsFound {
    /// Thread by thread, each in the order of time.
    pub hits: Vec<EventsHit>,
    /// Where to go on; null when all was searched.
    pub next: Option<EventsPlace>,
}

/// What was found, and where it is in the tree.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsHit {
    /// The row.
    pub row: EventsRow,
    /// What it is inside of, outermost first, each with its place among its siblings in the order of time.
    pub above: Vec<EventsStep>,
    /// Its own place among its siblings.
    pub position: u64,
}

/// A node on the way to another.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsStep {
    /// The node.
    pub node: NodeId,
    /// Its place among its siblings in the order of time, from 0.
    pub position: u64,
}

/// Parameters of `fulcrum/events/query`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueryParams {
    /// The trace.
    pub id: TraceId,
    /// A query as `fulcrum events query` takes it.
    pub query: String,
    /// At most so many rows, up to 10,000; absent: 1,000.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub count: Option<u32>,
}

/// Answer to `fulcrum/events/query`: a table.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsTable {
    /// The columns.
    pub columns: Vec<EventsColumn>,
    /// Cells: a number, a text, or null where there is nothing.
    #[ts(type = "(number | string | null)[][]")]
    pub rows: Vec<Vec<serde_json::Value>>,
    /// Whether there are more rows.
    pub more: bool,
    /// What had to be left out, whole sentences.
    pub notes: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsColumn {
    /// What it holds, as the query names it.
    pub name: String,
    /// `ns`, `bytes`, or empty for texts and plain numbers.
    pub unit: String,
}

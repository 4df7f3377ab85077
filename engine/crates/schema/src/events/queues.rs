//! Replaying a queue (JPMT §5.3).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{NodeId, ThreadId, TraceId};

/// Methods of a queue.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueNames {
    /// The methods that put: `CLASS.METHOD`, `*` stands for anything, commas separate several.
    pub put: String,
    /// The methods that take one.
    pub take: String,
}

/// By what puts and takes are joined.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub enum EventsQueueOrder {
    /// The oldest request is taken.
    Fifo,
    /// The newest one is.
    Lifo,
    /// The object that is returned is the one that was put.
    Identity,
}

/// Parameters of `fulcrum/events/queues`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueuesParams {
    /// The trace.
    pub id: TraceId,
    /// The methods that put: `CLASS.METHOD`, `*` stands for anything, commas separate several.
    pub put: String,
    /// The methods that take one.
    pub take: String,
    /// By what they are joined; absent: by objects where the log tells these, else first in, first out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional = nullable)]
    pub order: Option<EventsQueueOrder>,
    /// The first request that is wanted, from 0.
    pub from: u64,
    /// How many, at most 10,000.
    pub count: u32,
}

/// Answer to `fulcrum/events/queues`, after which rows of the tree have their queueing column, and of `fulcrum events queues
/// --json`.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueues {
    /// By what puts and takes were joined.
    pub order: EventsQueueOrder,
    /// What that assumes, whole sentences.
    pub assumed: String,
    /// The queues, in the order of their first puts: one, unless the log tells several apart.
    pub queues: Vec<EventsQueueObject>,
    /// Requests in the order in which they were put.
    pub requests: Vec<EventsRequest>,
    /// How many there are in all.
    pub total: u64,
    /// Sums over all requests.
    pub summary: EventsQueueSummary,
    /// Takes that returned without a request.
    pub empty_takes: u64,
    /// Puts and takes that ended by an exception.
    pub thrown: u64,
    /// Puts that returned false.
    pub rejected: u64,
    /// Takes of an object that no put had brought until then.
    pub before_put: u64,
    /// Takes that returned another object than the chosen order says.
    pub mismatched: u64,
    /// Requests that were taken after one that was put later; null: the order was assumed.
    pub overtaken: Option<u64>,
    /// What could not be matched and why, whole sentences.
    pub notes: Vec<String>,
}

/// One of the queues that were replayed together.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueObject {
    /// The number of the object that is put into; null where that is not told, and all are taken for one.
    pub object: Option<u64>,
    /// Requests that were put.
    pub put: u64,
    /// Of these, taken.
    pub taken: u64,
    /// Most requests in it.
    pub length_max: u64,
}

/// A request: what its receiver and its dispatcher did, joined, by the object that was put and taken, or else by the order.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsRequest {
    /// From 1, in the order of puts.
    pub number: u64,
    /// The thread that put it.
    pub put_thread: ThreadId,
    /// The put's node.
    pub put_node: NodeId,
    /// When the put had returned: the request is in the queue.
    pub enqueue_ns: u64,
    /// Requests in the queue after the put.
    pub put_length: u64,
    /// The thread that took it; null: it was never taken.
    pub take_thread: Option<ThreadId>,
    /// The take's node.
    pub take_node: Option<NodeId>,
    /// When the take had returned it.
    pub dispatch_ns: Option<u64>,
    /// Requests in the queue after the take.
    pub take_length: Option<u64>,
    /// When its dispatcher came back for another one; null: it never did.
    pub finish_ns: Option<u64>,
    /// Dispatch less enqueue.
    pub wait_ns: Option<u64>,
    /// Finish less dispatch.
    pub service_ns: Option<u64>,
    /// False when its take returned another object, and from where on the log contradicts that this is one queue of this
    /// order; `notes` say why.
    pub sure: bool,
    /// The number of the object that it was put into; null where queues are not told apart.
    pub queue: Option<u64>,
    /// The number of the object that was put; null when the log does not tell it.
    pub object: Option<u64>,
}

/// Sums over a queue's requests; null where there is nothing to add up.
#[derive(Clone, Debug, Serialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueSummary {
    /// Requests that were put.
    pub put: u64,
    /// Of these, taken.
    pub taken: u64,
    /// Puts a second, from the first to the last.
    pub arrival_rate: Option<f64>,
    /// Mean time in the queue.
    pub wait_mean_seconds: Option<f64>,
    /// Its variance, in seconds squared.
    pub wait_variance_seconds2: Option<f64>,
    /// Longest time in the queue.
    pub wait_max_seconds: Option<f64>,
    /// Mean time from dispatch to finish.
    pub service_mean_seconds: Option<f64>,
    /// Its variance, in seconds squared.
    pub service_variance_seconds2: Option<f64>,
    /// Most requests in the queue.
    pub length_max: u64,
}

//! Replaying a queue (JPMT §5.3).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Methods of a queue.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueNames {
    /// The method that puts: `CLASS.METHOD`, `*` stands for anything.
    pub put: String,
    /// The method that takes.
    pub take: String,
}

/// Parameters of `fulcrum/events/queues`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueuesParams {
    /// The trace.
    pub id: u32,
    /// The method that puts: `CLASS.METHOD`, `*` stands for anything.
    pub put: String,
    /// The method that takes.
    pub take: String,
    /// The first request that is wanted, from 0.
    pub from: u64,
    /// How many, at most 10,000.
    pub count: u32,
}

/// Answer to `fulcrum/events/queues`. Rows of the tree have their queueing column from then on.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueues {
    /// Requests in the order in which they were put.
    pub requests: Vec<EventsRequest>,
    /// How many there are in all.
    pub total: u64,
    /// Sums over all requests.
    pub summary: EventsQueueSummary,
    /// What could not be matched and why, whole sentences.
    pub notes: Vec<String>,
}

/// A request: what its receiver and its dispatcher did, joined. The log tells no arguments: the n-th put and the n-th take
/// are of one request, as in any queue that is first in, first out.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsRequest {
    /// From 1, in the order of puts.
    pub number: u64,
    /// The thread that put it.
    pub put_thread: u32,
    /// The put's node.
    pub put_node: u64,
    /// When the put had returned: the request is in the queue.
    pub enqueue: u64,
    /// Requests in the queue after the put.
    pub put_length: u64,
    /// The thread that took it; null: it was never taken.
    pub take_thread: Option<u32>,
    /// The take's node.
    pub take_node: Option<u64>,
    /// When the take had returned it.
    pub dispatch: Option<u64>,
    /// Requests in the queue after the take.
    pub take_length: Option<u64>,
    /// When its dispatcher came back for another one; null: it never did.
    pub finish: Option<u64>,
    /// Dispatch less enqueue.
    pub wait_ns: Option<u64>,
    /// Finish less dispatch.
    pub service_ns: Option<u64>,
    /// False from where on the log contradicts that this is one queue, first in, first out; `notes` say why.
    pub sure: bool,
}

/// Sums over a queue's requests. Seconds where not said otherwise; null where there is nothing to add up.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventsQueueSummary {
    /// Requests that were put.
    pub put: u64,
    /// Of these, taken.
    pub taken: u64,
    /// Puts a second, from the first to the last.
    pub arrival_rate: Option<f64>,
    /// Mean time in the queue.
    pub wait_mean: Option<f64>,
    /// Its variance, seconds squared.
    pub wait_variance: Option<f64>,
    /// Longest time in the queue.
    pub wait_max: Option<f64>,
    /// Mean time from dispatch to finish.
    pub service_mean: Option<f64>,
    /// Its variance, seconds squared.
    pub service_variance: Option<f64>,
    /// Most requests in the queue.
    pub length_max: u64,
}

//! What `fulcrum transactions what-if` tells scripts.

use serde::Serialize;

/// Answer of `fulcrum transactions what-if --json`: response times as they were, and as they would be.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TransactionsWhatIf {
    /// The types that have transactions, those that save the most time in total first.
    pub types: Vec<WhatIfType>,
    /// How many waits vanish.
    pub waits: u64,
    /// How long these were together, nanoseconds.
    pub wait_ns: u64,
    /// What vanishes, and what is assumed. Whole sentences.
    pub notes: Vec<String>,
}

/// The response times of a type.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfType {
    /// Its name.
    pub name: String,
    /// Its transactions.
    pub count: u64,
    /// As recorded.
    pub now: WhatIfTimes,
    /// As predicted.
    pub predicted: WhatIfTimes,
    /// By how much less time they would take on average, a fraction: 0.11, 11 % less time.
    pub gain: f64,
    /// The lower end of its 95 % interval; null of a single transaction.
    pub gain_low: Option<f64>,
    /// The upper end.
    pub gain_high: Option<f64>,
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// CPU time without the work that vanishes, nanoseconds.
    pub predicted_cpu_ns: u64,
}

/// Response times.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfTimes {
    /// The mean.
    pub mean: WhatIfTime,
    /// The median.
    pub p50: WhatIfTime,
    /// What 95 % of them do not exceed.
    pub p95: WhatIfTime,
    /// What 99 % of them do not exceed.
    pub p99: WhatIfTime,
}

/// A response time.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfTime {
    /// Nanoseconds.
    pub ns: f64,
    /// The lower end of its 95 % interval; null of a single transaction.
    pub low_ns: Option<f64>,
    /// The upper end.
    pub high_ns: Option<f64>,
}

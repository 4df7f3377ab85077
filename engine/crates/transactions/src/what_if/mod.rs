//! What if: how long transactions would take without some of their waits (§6), or without some of their work.
//!
//! A [`Timeline`] has all transactions of a run, with their work and their waits. A [`Repair`] says what vanishes.
//! [`predict`] replays the timeline without it, in the recorded order: transactions go on earlier, and those that waited for
//! them wait less.
//!
//! What this assumes: requests arrive when they did, whoever waits at a lock gets it in the recorded order, and work takes as
//! long as it did. The costs of the repair itself, and processors that become free or busy, are not in the prediction.

mod prediction;
mod replay;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use prediction::{
    Estimate, Prediction, Times, TypePrediction, Vanished, gain_without, predict,
};

use crate::context::types::TypeId;
use crate::crosstalk::Holder;
use crate::ids::ProcessId;

/// What is known about the single transactions of a run. All times are nanoseconds of one clock.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The transactions.
    pub transactions: Vec<Timed>,
    /// The work for them, in any order.
    pub work: Vec<Work>,
    /// Their waits, in any order.
    pub waits: Vec<TimedWait>,
    /// Where they waited, by [`TimedWait::place`].
    pub places: Vec<WaitPlace>,
    /// The programs of the processes.
    pub programs: BTreeMap<ProcessId, String>,
}

/// A transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Its type.
    pub of: TypeId,
    /// When its request arrived.
    pub began_ns: u64,
    /// When its last answer was sent, or when it was last worked on.
    pub ended_ns: u64,
}

/// A thread works for a transaction, or waits for others on its behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// An index into [`Timeline::transactions`].
    pub transaction: u32,
    /// The process.
    pub process: ProcessId,
    /// The start.
    pub from_ns: u64,
    /// The end.
    pub to_ns: u64,
}

/// A transaction waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedWait {
    /// An index into [`Timeline::transactions`].
    pub transaction: u32,
    /// The process.
    pub process: ProcessId,
    /// The transaction that it waits for, if known.
    pub holder: Option<u32>,
    /// An index into [`Timeline::places`].
    pub place: u32,
    /// The start.
    pub from_ns: u64,
    /// The end.
    pub to_ns: u64,
}

/// Where and for whom transactions wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitPlace {
    /// The type that waits.
    pub waiter: TypeId,
    /// What it waits for.
    pub holder: Holder<TypeId>,
    /// The lock's name or address.
    pub lock: String,
    /// The functions on the waiter's call path, outermost first.
    pub functions: Vec<String>,
}

/// What vanishes.
#[derive(Clone, Debug, Default)]
pub struct Repair {
    /// These waits.
    pub waits: Option<Waits>,
    /// This work.
    pub work: Vec<Skipped>,
}

/// Waits that meet all conditions given.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// This type waits.
    pub waiter: Option<TypeId>,
    /// For this type.
    pub holder: Option<TypeId>,
    /// At the lock of this name, or in this function.
    pub at: Option<String>,
}

/// The work of a type in a program.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The type.
    pub of: TypeId,
    /// The program.
    pub program: String,
    /// The share of the type's transactions that do without it, 0 to 1.
    pub share: f64,
}

impl Waits {
    /// Whether a wait at this place is one of them.
    pub fn include(&self, place: &WaitPlace) -> bool {
        let is_there = |at: &String| place.lock == *at || place.functions.contains(at);
        self.waiter.is_none_or(|it| place.waiter == it)
            && self
                .holder
                .is_none_or(|it| place.holder == Holder::Transaction(it))
            && self.at.as_ref().is_none_or(is_there)
    }
}

//! Crosstalk: which transactions wait for which (Whodunit §6, §7.5).
//!
//! [`Holders`] is the paper's dictionary of locks and who holds them. It turns what threads do with locks into [`Wait`]s,
//! which [`Pairs`] adds up.

mod holders;
mod pairs;

pub use holders::{Holders, Leftovers, Sharing};
pub use pairs::{LeftOut, Pair, Pairs, Paths, Wait};

use crate::Synopsis;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    /// A mutex.
    Mutex,
    /// A lock that several readers or one writer hold.
    ReadWrite,
    /// A condition variable: whoever signalled it last counts as its holder.
    Condition,
    /// A lock made of a futex alone, as those of C++ and Rust libraries are.
    Futex,
    /// A semaphore: whoever posted it last counts as its holder.
    Semaphore,
    /// A monitor or a lock of a Java virtual machine.
    Monitor,
}

impl LockKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            LockKind::Mutex => "mutex",
            LockKind::ReadWrite => "rwlock",
            LockKind::Condition => "condition",
            LockKind::Futex => "futex",
            LockKind::Semaphore => "semaphore",
            LockKind::Monitor => "monitor",
        }
    }
}

/// A thread at a lock: for whom it works, and where in the program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its transaction's context; [`Synopsis::EMPTY`] when it works for none.
    pub context: Synopsis,
    /// The call path at which it takes or gives back the lock, as a context of its own.
    pub path: Synopsis,
}

/// Who made a transaction wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder<T> {
    /// A transaction.
    Transaction(T),
    /// A thread that worked for no transaction.
    NoTransaction,
    /// Nobody that was seen.
    Unknown,
}

impl<T> Holder<T> {
    /// The same with another name for the transaction.
    pub fn map<U>(self, other: impl FnOnce(T) -> U) -> Holder<U> {
        match self {
            Holder::Transaction(it) => Holder::Transaction(other(it)),
            Holder::NoTransaction => Holder::NoTransaction,
            Holder::Unknown => Holder::Unknown,
        }
    }
}

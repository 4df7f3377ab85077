//! Crosstalk: which transactions wait for which (Whodunit §6, §7.5).
//!
//! [`Holders`] is the paper's dictionary of locks and their holders. It turns lock operations of threads into [`Wait`]s,
//! which [`Pairs`] adds up.

mod holders;
mod pairs;

pub use holders::{Holders, Leftovers, Sharing};
pub use pairs::{LeftOut, Pair, Pairs, Paths, Wait};

use crate::Synopsis;

/// The kind of lock that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    /// A mutex.
    Mutex,
    /// A read-write lock, held by several readers or one writer.
    ReadWrite,
    /// A condition variable. The thread that signalled it last counts as its holder.
    Condition,
    /// A lock made of a bare futex, as in C++ and Rust libraries.
    Futex,
    /// A semaphore. The thread that posted it last counts as its holder.
    Semaphore,
    /// A monitor or a lock of a Java virtual machine.
    Monitor,
}

impl LockKind {
    /// The kind as one word.
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

/// A thread at a lock: its transaction, and its place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its transaction's context, or [`Synopsis::EMPTY`] if it works for none.
    pub context: Synopsis,
    /// The call path where it takes or releases the lock, as a context of its own.
    pub path: Synopsis,
}

/// What a transaction waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder<T> {
    /// A transaction.
    Transaction(T),
    /// A thread that worked for no transaction.
    NoTransaction,
    /// An unknown thread.
    Unknown,
}

impl<T> Holder<T> {
    /// The same, with the transaction mapped.
    pub fn map<U>(self, other: impl FnOnce(T) -> U) -> Holder<U> {
        match self {
            Holder::Transaction(it) => Holder::Transaction(other(it)),
            Holder::NoTransaction => Holder::NoTransaction,
            Holder::Unknown => Holder::Unknown,
        }
    }
}

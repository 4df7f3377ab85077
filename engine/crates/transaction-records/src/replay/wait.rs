//! Waits for locks, and what was seen of them.

use fulcrum_transactions::Synopsis;
use fulcrum_wire::transactions::LockKind;

use super::doing::{InstanceId, ThreadRow};

/// A wait, and for whom it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenWait {
    pub(super) thread: ThreadRow,
    pub(super) lock: u64,
    pub(super) kind: LockKind,
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
    /// The kernel's number.
    pub(super) holder: u32,
    pub(super) context: Synopsis,
    pub(super) instance: Option<InstanceId>,
    /// The transaction had been answered.
    pub(super) is_over: bool,
    pub(super) path: u32,
}

/// What a thread does after its waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// It sends something.
    Answer,
    /// Anything else.
    Other,
}

/// A lock was given back while others waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Released {
    pub(super) time_ns: u64,
    pub(super) thread: ThreadRow,
    pub(super) path: u32,
}

impl SeenWait {
    /// Waits for these may be waits for work.
    pub(super) fn may_be_idle(&self) -> bool {
        match self.kind {
            LockKind::Condition | LockKind::Semaphore | LockKind::Futex => true,
            LockKind::Mutex | LockKind::ReadWrite => false,
        }
    }
}

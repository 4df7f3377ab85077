//! Waits for locks, and what is known about them.

use fulcrum_transactions::crosstalk::Holder;
use fulcrum_transactions::{LockId, Synopsis};
use fulcrum_wire::transactions::LockKind;

use super::doing::{InstanceId, ThreadRow};

/// A wait, and what the thread worked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct SeenWait {
    pub(in crate::replay) thread: ThreadRow,
    pub(in crate::replay) lock: u64,
    pub(in crate::replay) kind: LockKind,
    pub(in crate::replay) began_ns: u64,
    pub(in crate::replay) ended_ns: u64,
    /// The kernel's thread number of the holder.
    pub(in crate::replay) holder: u32,
    pub(in crate::replay) context: Synopsis,
    pub(in crate::replay) instance: Option<InstanceId>,
    /// Whether the transaction had been answered.
    pub(in crate::replay) is_over: bool,
    pub(in crate::replay) path: u32,
}

/// A wait of a transaction for others, when it is known whom it waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnedWait {
    pub(crate) instance: InstanceId,
    pub(crate) holder_instance: Option<InstanceId>,
    pub(crate) context: Synopsis,
    pub(crate) holder: Holder<Synopsis>,
    pub(crate) lock: LockId,
    /// The call path of the waiter, as a context of its own.
    pub(crate) path: Synopsis,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
}

/// What a thread does after its waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) enum WaitsFor {
    /// It sends something.
    Answer,
    /// Anything else.
    Other,
}

/// A lock was released while others waited.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Released {
    pub(in crate::replay) time_ns: u64,
    pub(in crate::replay) thread: ThreadRow,
    pub(in crate::replay) path: u32,
}

impl SeenWait {
    /// Whether waits for this may be waits for work.
    pub(in crate::replay) fn may_be_idle(&self) -> bool {
        match self.kind {
            LockKind::Condition | LockKind::Semaphore | LockKind::Futex => true,
            LockKind::Mutex | LockKind::ReadWrite => false,
        }
    }
}

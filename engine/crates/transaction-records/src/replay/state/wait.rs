//! Waits for locks, and what is known about them.

use fulcrum_transactions::crosstalk::Holder;
use fulcrum_transactions::{LockId, Synopsis};
use fulcrum_wire::transactions::{LockKind, Record};

use super::doing::{InstanceId, ThreadRow};

/// What a record says about a wait.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct RecordedWait {
    /// The address at which the thread waited.
    pub(in crate::replay) address: u64,
    pub(in crate::replay) kind: LockKind,
    pub(in crate::replay) began_ns: u64,
    /// The kernel's thread number of the holder.
    pub(in crate::replay) holder: u32,
    pub(in crate::replay) timed_out: bool,
    pub(in crate::replay) java: Option<JavaLock>,
}

/// A monitor or a lock of a Java virtual machine.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct JavaLock {
    /// Identifies the object.
    object: u32,
    /// The number of its class's name.
    pub(in crate::replay) class: u64,
    /// The number of the name of the method that waited, or 0.
    pub(in crate::replay) method: u64,
}

impl RecordedWait {
    /// `None` if the record is not about a wait.
    pub(in crate::replay) fn of(record: &Record<'_>) -> Option<Self> {
        match *record {
            Record::Wait {
                lock,
                kind,
                began_ns,
                holder,
                timed_out,
            } => Some(RecordedWait {
                address: lock,
                kind,
                began_ns,
                holder,
                timed_out,
                java: None,
            }),
            Record::JavaWait {
                object,
                class,
                method,
                kind,
                condition,
                began_ns,
                timed_out,
            } => Some(RecordedWait {
                address: condition,
                kind,
                began_ns,
                holder: 0,
                timed_out,
                java: Some(JavaLock {
                    object,
                    class,
                    method,
                }),
            }),
            _ => None,
        }
    }

    /// Identifies the lock. No program has data where objects of Java are.
    pub(in crate::replay) fn lock(&self) -> LockId {
        const OBJECTS: u64 = 1 << 63;
        LockId(match self.java {
            Some(java) => OBJECTS | u64::from(java.object),
            None => self.address,
        })
    }

    /// Whether waits for this may be waits for work.
    pub(in crate::replay) fn may_be_idle(&self) -> bool {
        match self.kind {
            LockKind::Condition | LockKind::Semaphore | LockKind::Futex => true,
            LockKind::Mutex | LockKind::ReadWrite => false,
        }
    }
}

/// A wait, and what the thread worked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct SeenWait {
    pub(in crate::replay) thread: ThreadRow,
    pub(in crate::replay) recorded: RecordedWait,
    pub(in crate::replay) ended_ns: u64,
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
    pub(in crate::replay) at: LockedAt,
}

/// Where a thread waited for a lock, or released it.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct LockedAt {
    pub(in crate::replay) path: u32,
    /// The number of the name of the method of Java, or 0: the path ends inside the virtual machine then.
    pub(in crate::replay) method: u64,
}

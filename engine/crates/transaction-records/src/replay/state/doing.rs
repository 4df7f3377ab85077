//! The transaction that a thread works for, and how this is known.

use std::rc::Rc;

use fulcrum_transactions::Synopsis;

use crate::rows::row;

row! {
    /// A row of [`World::threads`](crate::replay::World::threads).
    ThreadRow
}
row! {
    /// A row of [`World::tasks`](crate::replay::World::tasks).
    TaskId
}
/// An index into [`World::instances`](crate::replay::World::instances).
pub(crate) type InstanceId = u32;

/// What a thread works for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doing {
    /// A context in its process's dictionary.
    pub(crate) context: Synopsis,
    pub(crate) task: Option<TaskId>,
}

/// How it is known what a thread works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The thread was seen to receive it, take it over or be told of it, and will be seen to turn to another transaction.
    Seen,
    /// The thread was created for it. If it belongs to a pool, it may later work for others unseen.
    Made,
    /// The thread was not seen to take it over, but has answered it.
    Answered,
}

/// The time at which a thread started to work for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// On its process's clock.
    pub(crate) time_ns: u64,
    pub(crate) context: Synopsis,
    pub(crate) instance: Option<InstanceId>,
    /// The thread waits for the start of the transaction. CPU time used meanwhile belongs to the transaction.
    pub(crate) is_to_come: bool,
}

/// What a process worked for when it sent a message, and what had asked for that.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) process: usize,
    pub(crate) doing: Doing,
    pub(crate) hold: Hold,
    pub(crate) before: Option<Rc<Origin>>,
}

impl Origin {
    /// What a process worked for when it sent what led here.
    pub(crate) fn find(self: &Rc<Self>, process: usize) -> Option<(Doing, Hold)> {
        let mut at = Some(self);
        while let Some(origin) = at {
            if origin.process == process {
                return Some((origin.doing, origin.hold));
            }
            at = origin.before.as_ref();
        }
        None
    }
}

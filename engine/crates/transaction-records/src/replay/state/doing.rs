//! For whom threads work, and how that is known.

use std::rc::Rc;

use fulcrum_transactions::Synopsis;

/// Row of [`World::threads`](crate::replay::World::threads).
pub(crate) type ThreadRow = usize;
/// Row of [`World::tasks`](crate::replay::World::tasks).
pub(crate) type TaskId = usize;
/// Row of [`World::instances`](crate::replay::World::instances).
pub(crate) type InstanceId = u32;

/// For whom a thread works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doing {
    /// In its process's dictionary.
    pub(crate) context: Synopsis,
    pub(crate) task: Option<TaskId>,
}

/// How it is known for whom a thread works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It was seen to receive it, to take it over or to be told of it, and will be when it turns to another one.
    Seen,
    /// It was made for it. As a thread of a pool it may be kept for others, which nobody sees.
    Made,
    /// It was not seen to take it over, but has answered it.
    Answered,
}

/// From when on a thread works for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// On its process's clock.
    pub(crate) time_ns: u64,
    pub(crate) context: Synopsis,
    pub(crate) instance: Option<InstanceId>,
    /// The thread waits for what the transaction begins with. What CPU time that takes is the transaction's.
    pub(crate) is_to_come: bool,
}

/// For whom a process worked when it sent a message, and who had asked it.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) process: usize,
    pub(crate) doing: Doing,
    pub(crate) hold: Hold,
    pub(crate) before: Option<Rc<Origin>>,
}

impl Origin {
    /// For whom a process worked when it sent what led here.
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

//! Requests, whom they came from and whom they are answered by.

use std::rc::Rc;

use fulcrum_transactions::{Synopsis, TraceParent};

use super::doing::{Doing, InstanceId, Origin, TaskId};

/// What a process does for one request.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) process: usize,
    pub(crate) instance: InstanceId,
    /// Who asked for it, and who asked for that.
    pub(crate) origin: Option<Rc<Origin>>,
    /// Its latest context.
    pub(crate) context: Synopsis,
    /// When it was last worked on, on its process's clock.
    pub(crate) active_ns: u64,
    /// Something was sent to whoever asked, or they are gone.
    pub(crate) is_over: bool,
}

/// One execution of a transaction. Times are those of the clock of the process where it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// In the process where it began.
    pub(crate) task: TaskId,
    pub(crate) process: usize,
    pub(crate) began_ns: u64,
    /// When its last answer was sent, and in which context.
    pub(crate) answered: Option<(u64, Synopsis)>,
    /// The trace that it belongs to, if one of its requests said so.
    pub(crate) trace: Option<Carried>,
}

/// What a request said of its trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) parent: TraceParent,
    /// What was done for the request; `None`: an SDK said it of a thread.
    pub(crate) by: Option<TaskId>,
}

/// Who begins on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) enum Role {
    /// This side asks.
    Asks,
    /// This side is asked.
    IsAsked,
}

/// One side of a stream, with all processes that have it.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Side {
    pub(crate) role: Option<Role>,
    /// The request that came last by it.
    pub(crate) request: Option<Request>,
    /// What the first request continued, in which process.
    pub(crate) base: Option<(usize, Synopsis)>,
    /// The first bytes of what came since something was last sent.
    pub(crate) head: Vec<u8>,
    pub(crate) open_ends: usize,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Sender {
    pub(crate) process: usize,
    /// For whom it worked.
    pub(crate) doing: Doing,
    /// The context with the call path that sent.
    pub(crate) sent: Synopsis,
}

/// A request that came by a stream.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Request {
    pub(crate) task: TaskId,
    pub(crate) is_answered: bool,
    /// It has the name that its first bytes tell.
    pub(crate) is_named: bool,
    /// No more can be learnt of the trace that it belongs to.
    pub(crate) is_looked_through: bool,
    /// `None`: it came from outside.
    pub(crate) sender: Option<Sender>,
}

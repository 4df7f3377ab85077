//! Requests, whom they came from and whom they are answered by.

use std::rc::Rc;

use fulcrum_transactions::{Synopsis, TraceParent};

use super::doing::{Doing, InstanceId, Origin, TaskId};

/// What a process does for one request.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub process: usize,
    pub instance: InstanceId,
    /// Who asked for it, and who asked for that.
    pub origin: Option<Rc<Origin>>,
    /// Its latest context.
    pub context: Synopsis,
    /// When it was last worked on, on its process's clock.
    pub active_ns: u64,
    /// Something was sent to whoever asked, or they are gone.
    pub is_over: bool,
}

/// One execution of a transaction. Times are those of the clock of the process where it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// In the process where it began.
    pub task: TaskId,
    pub process: usize,
    pub began_ns: u64,
    /// When its last answer was sent, and in which context.
    pub answered: Option<(u64, Synopsis)>,
    /// The trace that it belongs to, if one of its requests said so.
    pub trace: Option<Carried>,
}

/// What a request said of its trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub parent: TraceParent,
    /// What was done for the request; `None`: an SDK said it of a thread.
    pub by: Option<TaskId>,
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
    pub role: Option<Role>,
    /// The request that came last by it.
    pub request: Option<Request>,
    /// What the first request continued, in which process.
    pub base: Option<(usize, Synopsis)>,
    /// The first bytes of what came since something was last sent.
    pub head: Vec<u8>,
    pub open_ends: usize,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Sender {
    pub process: usize,
    /// For whom it worked.
    pub doing: Doing,
    /// The context with the call path that sent.
    pub sent: Synopsis,
}

/// A request that came by a stream.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Request {
    pub task: TaskId,
    pub is_answered: bool,
    /// It has the name that its first bytes tell.
    pub is_named: bool,
    /// No more can be learnt of the trace that it belongs to.
    pub is_looked_through: bool,
    /// `None`: it came from outside.
    pub sender: Option<Sender>,
}

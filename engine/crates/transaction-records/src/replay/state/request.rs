//! Requests: where they came from, and who answers them.

use std::rc::Rc;

use fulcrum_transactions::{Synopsis, TraceParent};

use super::doing::{Doing, InstanceId, Origin, TaskId};

/// What a process does for one request.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) process: usize,
    pub(crate) instance: InstanceId,
    /// Who asked for it, and who asked for that in turn.
    pub(crate) origin: Option<Rc<Origin>>,
    /// Its latest context.
    pub(crate) context: Synopsis,
    /// When it was last worked on, on its process's clock.
    pub(crate) active_ns: u64,
    /// Whether something was sent to the asker, or the asker has gone.
    pub(crate) is_over: bool,
}

/// One execution of a transaction. Times are on the clock of the process where it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    /// The task in the process where it began.
    pub(crate) task: TaskId,
    pub(crate) process: usize,
    pub(crate) began_ns: u64,
    /// When its last answer was sent, and in which context.
    pub(crate) answered: Option<(u64, Synopsis)>,
    /// The trace that it belongs to, if one of its requests names one.
    pub(crate) trace: Option<Carried>,
}

/// The trace context of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) parent: TraceParent,
    /// The task for the request, or `None` if an SDK published the trace for a thread.
    pub(crate) by: Option<TaskId>,
}

/// Which side of a stream asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) enum Role {
    /// This side asks.
    Asks,
    /// This side is asked.
    IsAsked,
}

/// One side of a stream, over all processes that have it.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Side {
    pub(crate) role: Option<Role>,
    /// The latest request received on it.
    pub(crate) request: Option<Request>,
    /// What the first request continued, and in which process.
    pub(crate) base: Option<(usize, Synopsis)>,
    /// The first bytes received since something was last sent.
    pub(crate) head: Vec<u8>,
    pub(crate) open_ends: usize,
}

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Sender {
    pub(crate) process: usize,
    /// What it worked for.
    pub(crate) doing: Doing,
    /// The context with the call path of the send.
    pub(crate) sent: Synopsis,
}

/// A request received on a stream.
#[derive(Clone, Debug)]
pub(in crate::replay) struct Request {
    pub(crate) task: TaskId,
    pub(crate) is_answered: bool,
    /// Whether it has been named by its first bytes.
    pub(crate) is_named: bool,
    /// Whether nothing more can be learnt about its trace.
    pub(crate) is_looked_through: bool,
    /// `None` if it came from outside.
    pub(crate) sender: Option<Sender>,
}

//! Event traces: the types of `fulcrum/events/*`.
//!
//! Times are nanoseconds, moments are counted from the log's start. Durations are corrected for what probes cost. An event
//! is named by its thread and its *node*: a number that stays the same as long as the log does.

mod compare;
mod queues;
mod session;
mod timeline;
mod tool;
mod tree;

pub use compare::*;
pub use queues::*;
pub use session::*;
pub use timeline::*;
pub use tool::*;
pub use tree::*;

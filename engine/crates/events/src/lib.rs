//! Event traces (JPMT §3, §4.3): reading event logs, one tree of events a thread, and what they add up to.
//!
//! [`Trace::open`] reads what defines names; events themselves are streamed ([`Trace::events`], [`Trace::thread_events`]),
//! so that memory does not grow with their number. Damaged parts of a log are left out and told, never fatal.

mod chunks;
mod clock;
mod cursor;
mod event;
mod merge;
mod open;
mod source;
mod stack;
mod stats;

pub use cursor::ThreadEvents;
pub use event::{Event, What};
pub use merge::Events;
pub use open::{Class, Costs, End, Method, OpenError, Thread, Trace};
pub use stack::{Closing, Node, Outcome, Stack, Times};
pub use stats::{Contention, MethodStats, Stats, ThreadStats, stats};

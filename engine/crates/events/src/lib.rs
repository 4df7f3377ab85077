//! Event traces (JPMT §3, §4.3): reading event logs, one tree of events a thread, and what can be made of them.
//!
//! [`Trace::open`] reads what defines names; events themselves are streamed ([`Trace::events`], [`Trace::thread_events`]),
//! so that memory does not grow with their number. Damaged parts of a log are left out and told, never fatal. Times are
//! nanoseconds since the log's start; durations are without what probes cost (JPMT §4.2).
//!
//! ```no_run
//! use fulcrum_events::{Indexed, Stack, Trace, What};
//! use fulcrum_model::Progress;
//!
//! let trace = Trace::open("events-4711.log".as_ref())?;
//! // Events, in the order of time.
//! for event in trace.events() {
//!     if let What::Enter { method } = event.what {
//!         println!("{} ns: thread {} enters {}", event.wall_ns, event.thread, trace.method_name(method));
//!     }
//! }
//! // The tree of a thread: what ended, innermost first.
//! let mut stack = Stack::new(trace.costs);
//! for event in trace.thread_events(2) {
//!     stack.event(&event, |ended| println!("{:?} took {} ns", ended.node, ended.times.wall_ns));
//! }
//! // The same tree, read where somebody looks: the first ten rows at the top of thread 2.
//! let progress = Progress::default();
//! let indexed = Indexed::new(trace, &progress)?;
//! for row in indexed.children(2, None, 0, 10, &progress)?.unwrap_or_default() {
//!     println!("{}: {} rows below", row.name(&indexed.trace), row.children);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On these stand [`query`], [`export`], [`queues`] (JPMT §5.3), [`compare`] (JPMT §7), searching ([`Indexed::search`]),
//! timelines ([`Indexed::lane`]), call trees ([`fold()`]) and the refine loop ([`refine`]).

#![forbid(unsafe_code)]

mod chunks;
mod clock;
pub mod compare;
mod cursor;
mod dictionary;
mod event;
pub mod export;
mod find;
mod fold;
mod index;
mod log_bytes;
mod merge;
mod open;
pub mod query;
pub mod queues;
pub mod refine;
mod rows;
mod search;
mod selection;
mod shown_values;
mod stack;
mod stats;
mod timeline;
mod values;
mod visit;
mod walk;

pub use cursor::ThreadEvents;
pub use event::{Event, Returned, What};
pub use find::{NoLog, log, logs};
pub use fold::{FoldError, fold};
pub use fulcrum_filter::{Filter, FilterError, matches};
pub use index::{Index, ThreadIndex};
pub use merge::Events;
pub use open::{Bound, Class, Costs, Counts, End, Method, OpenError, Thread, Trace, end_of};
pub use rows::{Cost, Indexed, MOST_BY_COST, Row, RowWhat};
pub use search::{Found, Hit, Where};
pub use stack::{Closing, Node, Outcome, Stack, Times};
pub use stats::{Contention, MethodStats, Stats, ThreadStats, stats};
pub use timeline::{Bar, Interval, Lane, View, WIDE};
pub use values::{Arguments, CallValues, Value};
pub use visit::TraceRange;
pub use walk::State;

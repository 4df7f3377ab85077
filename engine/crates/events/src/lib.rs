//! Event traces (JPMT §3, §4.3): reads event logs, builds a tree of events for each thread, and analyses them.
//!
//! [`Trace::open`] reads the dictionary; events are streamed ([`Trace::events`], [`Trace::thread_events`]), so memory does not grow
//! with their number. Damaged parts of a log are left out with a note; they are never fatal. Times are nanoseconds since the
//! log's start; durations do not include the cost of probes (JPMT §4.2).
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
//! // The tree of a thread: what has ended, innermost first.
//! let mut stack = Stack::new(trace.costs);
//! for event in trace.thread_events(2) {
//!     stack.event(&event, |ended| println!("{:?} took {} ns", ended.node, ended.times.wall_ns));
//! }
//! // The same tree, read on demand: the first ten rows at the top of thread 2.
//! let progress = Progress::default();
//! let indexed = Indexed::new(trace, &progress)?;
//! for row in indexed.children(2, None, 0, 10, &progress)?.unwrap_or_default() {
//!     println!("{}: {} rows below", row.name(&indexed.trace), row.children);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Built on these: [`query`], [`export`], [`queues`] (JPMT §5.3), [`compare`] (JPMT §7), search ([`Indexed::search`]), timelines
//! ([`Indexed::lane`]), call trees ([`fold()`]) and the refine loop ([`refine`]).

#![forbid(unsafe_code)]

pub mod compare;
pub mod export;
mod index;
pub mod query;
pub mod queues;
mod reader;
pub mod refine;
mod tree;
mod values;

pub use fulcrum_filter::{Filter, FilterError, matches};
pub use index::rows::{Cost, Hit, Indexed, MOST_BY_COST, Row, RowWhat};
pub use index::search::{Found, Where};
pub use index::timeline::{Bar, Interval, Lane, View, WIDE};
pub use index::{Index, ThreadIndex};
pub use reader::cursor::ThreadEvents;
pub use reader::dictionary::{Class, Counts, Method};
pub use reader::event::{Event, Returned, What};
pub use reader::find::{NoLog, log, logs};
pub use reader::merge::Events;
pub use reader::open::{Bound, Costs, End, OpenError, Thread, Trace, end_of};
pub use tree::fold::{FoldError, fold};
pub use tree::stack::{Closing, Node, Outcome, Stack, Times};
pub use tree::stats::{Contention, MethodStats, Stats, ThreadStats, stats};
pub use tree::visit::TraceRange;
pub use tree::walk::State;
pub use values::{Arguments, CallValues, Value};

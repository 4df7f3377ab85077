//! Transactional profiling (Whodunit, EuroSys 2007): which kind of request spends the time, and who makes whom wait,
//! across threads, events, stages and processes.
//!
//! A thread executes a *transaction*; its *context* is the path that the request took so far (§2). A [`Dictionary`] keeps
//! the contexts of a process, and a context's number there is its [`Synopsis`] (§7.4).
//!
//! Within a profiled process:
//! - [`Activity`]: on whose behalf a thread works, as it runs handlers and stages, hands on, takes over, sends and receives;
//! - [`memory`]: what flows through shared memory, seen from the instructions of critical sections;
//! - [`messages::ByteStream`]: which message a read belongs to; [`recognise`]: what to call a request;
//! - [`crosstalk`]: who waits for whom; [`latency`]: how long transactions take; [`Profile`]: where they spend CPU time.
//!
//! After the run, [`stitch`] makes one profile of what all processes recorded.
//!
//! Constraints: no I/O, no clock and no system call; times, addresses and bytes come from the caller. What grows within a
//! profiled process has a limit, stated where it is, and what a limit leaves out is counted.
#![forbid(unsafe_code)]

mod activity;
mod chain;
mod contexts;
pub mod crosstalk;
mod dictionary;
mod export;
mod flows;
mod ids;
mod interner;
mod joined;
pub mod latency;
pub mod messages;
mod names;
mod profile;
pub mod recognise;
mod step;
pub mod stitch;
mod trace;
mod types;

pub use activity::{Activity, TakenOver};
pub use chain::{Chain, Link, UnknownLink};
pub use contexts::{Contexts, Cuts, Limits};
pub use dictionary::{Arrival, Dictionary, Element};
pub use export::{ExportError, Exported, ExportedContext, ExportedElement};
pub use flows::{Flow, FlowKind, Flows, Place};
pub use fulcrum_shared_memory::{self as memory, CodeAddress, LockId, Synopsis, ThreadId};
pub use ids::ProcessId;
pub use joined::{Hop, Joined};
pub use names::{NO_TRANSACTION, Name, Names};
pub use profile::{CallingContextTree, Cost, Profile, Sample, Spot};
pub use step::{CallPath, Step};
pub use trace::{SpanId, TraceId, TraceParent};
pub use types::{NamingRule, TypeId};

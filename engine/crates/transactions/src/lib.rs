//! Transactional profiling (Whodunit, EuroSys 2007): which kind of request spends the time, and who makes whom wait, across
//! threads, events, stages and processes.
//!
//! A thread executes a *transaction*. Its *context* is the path that the request has taken so far (§2). A [`Dictionary`]
//! keeps a process's contexts, and the number of a context there is its [`Synopsis`] (§7.4).
//!
//! Within a profiled process:
//! - [`Activity`]: the transaction that a thread works for as it runs handlers and stages, hands work on, takes work over,
//!   sends and receives;
//! - [`memory`]: what flows through shared memory, inferred from instructions of critical sections;
//! - [`messages::ByteStream`]: which message a read belongs to; [`recognise`]: the names of requests;
//! - [`crosstalk`]: who waits for whom; [`latency`]: how long transactions take; [`ContextProfile`]: where they spend CPU time.
//!
//! After the run, [`stitch`] makes one profile from the records of all processes, and [`what_if`] predicts what it would be
//! without some waits or some work.
//!
//! Constraints: no I/O, no clock and no system calls. Times, addresses and bytes come from the caller. Everything that
//! grows within a profiled process has a documented limit, and what a limit leaves out is counted.
#![forbid(unsafe_code)]

mod context;
mod context_profile;
pub mod crosstalk;
mod flows;
mod ids;
pub mod latency;
pub mod messages;
pub mod recognise;
pub mod stitch;
mod trace;
pub mod what_if;

pub use context::activity::{Activity, TakenOver};
pub use context::chain::{Chain, Link, UnknownLink};
pub use context::contexts::{Contexts, Cuts, Limits};
pub use context::dictionary::{Arrival, Dictionary, Element};
pub use context::export::{ExportError, Exported, ExportedContext, ExportedElement};
pub use context::joined::{Hop, Joined};
pub use context::names::{NO_TRANSACTION, Name, Names};
pub use context::step::{CallPath, Step};
pub use context::types::{NamingRule, TypeId};
pub use context_profile::{CallingContextTree, ContextProfile, Cost, Sample, Spot};
pub use flows::{Flow, FlowKind, Flows, Place};
pub use fulcrum_shared_memory::{self as memory, CodeAddress, LockId, Synopsis, ThreadId};
pub use ids::ProcessId;
pub use trace::{SpanId, TraceId, TraceParent};

//! What the agents for Java virtual machines and for native programs share: clocks, options, writing a thread's events, what
//! probes cost, and metering.
//!
//! Constraints, because this runs inside other people's programs: nothing is printed, nothing that a probe does takes a lock
//! or makes a system call but for a thread's first event and a full chunk, and no panic leaves [`say::guarded`].

pub mod clock;
pub mod costs;
pub mod metering;
pub mod options;
mod probe_costs;
pub mod say;
pub mod shadow;
pub mod table;
mod writer;

pub use writer::{MethodEvent, Stamp, Writer};

//! What the agents share, the one for Java virtual machines and the one for native programs: clocks, options, a thread's
//! way into the log, what probes cost, and metering.
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

pub use writer::{Stamp, Writer};

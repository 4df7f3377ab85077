//! Formats and layouts that the engine shares with code in other people's programs.
//!
//! While a causal run goes on, these files are in its run folder, and both sides map them (`MAP_SHARED`):
//! - [`ControlBlock`] (`session.ctl`): heartbeat, commands and settings. The engine writes it before the program starts.
//! - [`Process`] (`<pid>-<n>.proc`): state and live counters. The runtime creates it inside each process.
//! - [`MapHeader`] (`<pid>-<n>.<generation>.map`): what may be sped up ("targets"), and the address ranges that belong to
//!   each. The engine writes it in answer. A new generation follows when the process loads a library or the user chooses other
//!   targets.
//! - [`PointsHeader`] (`<pid>-<n>.points`): how to count visits to lines without a change of the source.
//! - Sample counters (`<pid>-<n>.<generation>.counts`), one for each target, followed by what targets do in calls
//!   ([`CallSlot`]). They outlive the process, whatever kills it. A forked child shares its parent's map and has counters of
//!   its own.
//! - [`UnwindHeader`] (`<pid>-<n>.<generation>.unwind`): how to find callers, for code without frame pointers.
//!
//! All of these are `repr(C)`, little-endian, and versioned by [`VERSION`]: two sides that differ refuse each other.
//!
//! The other files outlive the program: [`causal`] names the records of causal runs, [`log`] is the layout of event logs, and
//! [`transactions`] that of logs of transactions.
#![no_std]
#![forbid(unsafe_code)]

pub mod causal;
pub mod log;
pub mod perf;
mod session;
pub mod transactions;

pub use session::calls::*;
pub use session::control::*;
pub use session::map::*;
pub use session::points::*;
pub use session::process::*;
pub use session::unwind::*;

/// Changes whenever a layout in this crate does.
pub const VERSION: u32 = 7;
/// "None" in `u32` fields that hold a line's index or a speedup.
pub const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of, size_of};

    /// The layouts are a contract between two builds: a change here needs a new [`VERSION`].
    #[test]
    fn layouts_are_fixed() {
        assert_eq!(size_of::<ControlBlock>(), 232);
        assert_eq!(offset_of!(ControlBlock, heartbeat_ns), 16);
        assert_eq!(offset_of!(ControlBlock, levels), 72);
        assert_eq!(offset_of!(ControlBlock, max_overhead), 208);
        assert_eq!(size_of::<Process>(), 144);
        assert_eq!(offset_of!(Process, state), 16);
        assert_eq!(offset_of!(Process, start_ns), 24);
        assert_eq!(offset_of!(Process, queued_ns), 120);
        assert_eq!(size_of::<MapHeader>(), 112);
        assert_eq!((size_of::<Range>(), align_of::<Range>()), (24, 8));
        assert_eq!((size_of::<Unwind>(), size_of::<Node>()), (16, 8));
        assert_eq!(size_of::<UnwindHeader>(), 16);
    }
}

//! Numbers of things that belong to the profiled programs.

use std::fmt;

/// A process: its number and its start, or whatever else tells it apart from all others of a run, forked ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u64);

/// A thread of a process. Never given again to a later thread, since roles are remembered by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// A lock or a condition variable: its address, or the number of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockId(pub u64);

/// The address of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeAddress(pub u64);

impl fmt::Display for ProcessId {
    /// The system's number, which is the lower half; with what the upper half says behind a point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (upper, lower) = (self.0 >> 32, self.0 as u32);
        match upper {
            0 => lower.fmt(f),
            _ => write!(f, "{lower}.{upper}"),
        }
    }
}

//! Numbers of things that belong to the profiled programs.

use std::fmt;

/// A process: its number and its start, or whatever else tells it apart from all others of a run, forked ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u64);

impl ProcessId {
    /// The system's number.
    pub fn number(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for ProcessId {
    /// The system's number, which is the lower half. The program that it executes, if not the first, follows after a point;
    /// the run, if not the first, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, turn, run) = (self.number(), (self.0 >> 32) as u16, self.0 >> 48);
        number.fmt(f)?;
        if turn > 0 {
            write!(f, ".{turn}")?;
        }
        if run > 0 {
            write!(f, " of run {}", run + 1)?;
        }
        Ok(())
    }
}

//! Identifiers of things in the profiled programs.

use std::fmt;

/// A process: its system number and start, or whatever else tells it apart from all others of a run, including forked ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u64);

impl ProcessId {
    /// The system's process number.
    pub fn number(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for ProcessId {
    /// The process number, in the lower half. If the process executes a further program, its ordinal follows after a point;
    /// a further run is named in words.
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

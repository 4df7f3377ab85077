//! Where lines are in code.

use fulcrum_model::Location;

/// Where the lines in scope are in a module's code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// Every line that has code, sorted; files as absolute paths where the debug information allows it.
    pub lines: Vec<Location>,
    /// Sorted by start and disjoint.
    pub ranges: Vec<Range>,
    /// What weakens the table; whole sentences.
    pub notes: Vec<String>,
}

impl LineTable {
    /// The line that owns this address of the file.
    pub fn lookup(&self, address: u64) -> Option<&Location> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges[..after].last()?;
        if address < range.end {
            self.lines.get(range.line as usize)
        } else {
            None
        }
    }
}

/// A piece of code that belongs to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address, as in the file (add the module's load bias).
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Index into [`LineTable::lines`].
    pub line: u32,
}

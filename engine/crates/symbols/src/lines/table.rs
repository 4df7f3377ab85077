//! The line table.

use fulcrum_model::Location;

/// The code of the lines in scope, in one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTable {
    /// Every line that has code, sorted. Files are absolute paths if the debug information has them.
    pub lines: Vec<Location>,
    /// The ranges, sorted by start and disjoint.
    pub ranges: Vec<Range>,
    /// What makes the table incomplete, in whole sentences.
    pub notes: Vec<String>,
}

impl LineTable {
    /// The line to which an address in the file belongs.
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
    /// The first address, as in the file (add the module's load bias).
    pub start: u64,
    /// The first address after the range.
    pub end: u64,
    /// Index into [`LineTable::lines`].
    pub line: u32,
}

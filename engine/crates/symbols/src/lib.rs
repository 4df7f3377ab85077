//! Debug information: from an ELF file and a scope to the address ranges of source lines (COZ §3.1).
//!
//! The engine reads DWARF here, once; the profiled process gets only the sorted ranges.
//! Files are read piece by piece, never mapped: a program that is rebuilt meanwhile cannot stop the engine.

mod bias;
mod callers;
mod containers;
mod executable;
mod file;
mod files;
mod function_table;
mod functions;
mod inlined;
mod inlines;
mod lines;
mod paint;
mod patch;
mod paths;
mod scope;
mod sites;
mod units;
mod unwind;

use std::path::Path;

pub use bias::load_bias;
pub use callers::{CallFrames, Caller, Registers};
pub use executable::{Executable, Kind, executable_kind, is_instrumented};
pub use fulcrum_model::Location;
use fulcrum_names::FileError;
pub use function_table::{Function, FunctionRange, FunctionTable, Node};
pub use inlined::{CodeFrame, Inlined};
pub use patch::{Window, jump_to};
pub use scope::{Scope, matches_path};
pub use sites::{Site, breakpoint_sites};
pub use unwind::{Base, UnwindRow, UnwindRule, function_extents, unwind_rows};

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

/// Why a module gives no lines. `Display` is one sentence with what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolsError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file is not an ELF file of this machine's kind.
    NotElf(String),
    /// The file was built without `-g`, or stripped.
    NoDebugInfo(String),
    /// The debug information contradicts itself.
    Damaged(String),
    /// The line asked for has no code, or its file is not told clearly enough.
    NoSuchLine(String),
}

impl std::fmt::Display for SymbolsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SymbolsError::Unreadable(text)
            | SymbolsError::NotElf(text)
            | SymbolsError::NoDebugInfo(text)
            | SymbolsError::Damaged(text)
            | SymbolsError::NoSuchLine(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SymbolsError {}

impl From<FileError> for SymbolsError {
    fn from(error: FileError) -> SymbolsError {
        match error {
            FileError::Unreadable(text) => SymbolsError::Unreadable(text),
            FileError::NotElf(text) => SymbolsError::NotElf(text),
            FileError::Damaged(text) => SymbolsError::Damaged(text),
        }
    }
}

/// The sentence for debug information of `path` that contradicts itself at `place`.
fn damaged(path: &std::path::Path, place: &str) -> String {
    let path = path.display();
    format!("the debug information of {path} is damaged ({place}); build it again")
}

/// What to say of such debug information where the rest of it is used; the failure where there is no rest.
///
/// # Errors
/// [`SymbolsError::Damaged`] when nothing could be read.
fn note_damage(
    path: &std::path::Path,
    place: &str,
    nothing: bool,
    rest: &str,
) -> Result<String, SymbolsError> {
    let sentence = damaged(path, place);
    if nothing {
        return Err(SymbolsError::Damaged(sentence));
    }
    Ok(format!("{sentence}; the other {rest} are still used"))
}

/// Reads a module's debug information and gives the code of every line in scope.
///
/// Code that comes from a file out of scope but was inlined into a function in scope belongs to the innermost
/// call site in scope. An empty table is not an error: its notes say why it is empty.
pub fn line_ranges(path: &Path, scope: &Scope) -> Result<LineTable, SymbolsError> {
    file::with_debug_info(path, |module| lines::table(path, scope, module))
}

/// Reads a module's debug information and gives the code of every function whose declaration is in scope.
///
/// Code of functions out of scope that was inlined into one in scope belongs to the latter.
pub fn function_ranges(path: &Path, scope: &Scope) -> Result<FunctionTable, SymbolsError> {
    file::with_debug_info(path, |module| functions::table(path, scope, module))
}

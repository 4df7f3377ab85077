//! Debug information: from an ELF file and a scope to the address ranges of source lines (COZ §3.1).
//!
//! The engine reads DWARF here, once; the profiled process gets only the sorted ranges.

mod scope;

use std::path::Path;

pub use fulcrum_model::Location;
pub use scope::{Scope, matches_path};

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
}

impl std::fmt::Display for SymbolsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SymbolsError::Unreadable(text)
            | SymbolsError::NotElf(text)
            | SymbolsError::NoDebugInfo(text)
            | SymbolsError::Damaged(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SymbolsError {}

/// Reads a module's debug information and gives the code of every line in scope.
pub fn line_ranges(path: &Path, scope: &Scope) -> Result<LineTable, SymbolsError> {
    let _ = (path, scope);
    Err(SymbolsError::NoDebugInfo("not read yet".into()))
}

/// What kind of file a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An executable with a dynamic loader: the runtime can enter it.
    Dynamic,
    /// An executable without one.
    Static,
    /// A `#!` script, with its interpreter.
    Script(String),
    /// Runs with other rights than the caller's: the loader ignores the preload.
    Setuid,
    /// No program: not an ELF executable, or not of this machine.
    NotExecutable,
}

/// What there is to know about a program before it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// What it is.
    pub kind: Kind,
    /// Whether line tables are there (in the file, by build id or by debug link).
    pub has_debug_info: bool,
    /// Built by Go, whose threads and locks do not pass through libc.
    pub go: bool,
    /// The ELF machine in words, "x86-64"; empty for scripts.
    pub machine: String,
}

impl Executable {
    /// Why the runtime cannot profile this program and what to do; `None` when it can.
    pub fn refusal(&self, path: &Path) -> Option<String> {
        let _ = path;
        None
    }
}

/// Looks at a program file without running it. `Err` only when it cannot be read.
pub fn executable_kind(path: &Path) -> Result<Executable, SymbolsError> {
    Err(SymbolsError::Unreadable(format!("cannot read {}", path.display())))
}

/// What to add to a module's file addresses to get those in the process: from `/proc/PID/maps` and the program headers.
///
/// `None` when the module is not mapped with executable code or `elf` has no such segment.
pub fn load_bias(maps: &str, module: &Path, elf: &[u8]) -> Option<u64> {
    let _ = (maps, module, elf);
    None
}

//! Why a module has no lines, and how damage is reported.

use std::fmt;
use std::path::Path;

use fulcrum_names::FileError;

/// Why a module has no lines. `Display` is one sentence that says what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolsError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file is not an ELF file for this machine.
    NotElf(String),
    /// The file was built without `-g`, or stripped.
    NoDebugInfo(String),
    /// The debug information contradicts itself.
    Damaged(String),
    /// The requested line has no code, or its file is ambiguous.
    NoSuchLine(String),
}

impl fmt::Display for SymbolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// The sentence about debug information of `path` that is damaged at `place`.
pub(crate) fn damaged(path: &Path, place: &str) -> String {
    let path = path.display();
    format!("the debug information of {path} is damaged ({place}); build it again")
}

/// The note about damaged debug information of which the `rest` is used.
pub(crate) fn damage_note(path: &Path, place: &str, rest: &str) -> String {
    format!("{}; the other {rest} are still used", damaged(path, place))
}

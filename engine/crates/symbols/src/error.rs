//! Why a module gives no lines, and what is told of damage.

use std::fmt;
use std::path::Path;

use fulcrum_names::FileError;

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

/// The sentence for debug information of `path` that contradicts itself at `place`.
pub(crate) fn damaged(path: &Path, place: &str) -> String {
    let path = path.display();
    format!("the debug information of {path} is damaged ({place}); build it again")
}

/// What to say of such debug information where the rest of it is used; the failure where there is no rest.
///
/// # Errors
/// [`SymbolsError::Damaged`] when nothing could be read.
pub(crate) fn note_damage(
    path: &Path,
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

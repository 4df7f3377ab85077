//! Why a profile or its labels cannot be used.

use std::fmt;
use std::path::Path;

use fulcrum_model::Cancelled;
use fulcrum_paths::OpenError;

/// Why something cannot be opened or written. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A file cannot be read or written, or holds something else.
    File(String),
    /// The files do not fit together, or lack what was asked for.
    Search(OpenError),
    /// The work was cancelled.
    Cancelled,
}

impl Error {
    pub(crate) fn io(what: &str, path: &Path, error: &std::io::Error) -> Self {
        let path = path.display();
        let advice = match error.kind() {
            std::io::ErrorKind::FileTooLarge => "",
            _ => "; check the path",
        };
        Error::File(format!("cannot {what} {path}: {error}{advice}"))
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Error::Search(error)
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Error::Cancelled
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(text) => f.write_str(text),
            Error::Search(error) => error.fmt(f),
            Error::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

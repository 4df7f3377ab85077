//! Exit codes, on which scripts rely: 0 done, 1 nothing found, 2 usage (from clap), 3 bad input, 4 could not start.

use std::fmt;

/// Success.
pub(crate) const DONE: u8 = 0;
/// The answer is no, or nothing was found.
pub(crate) const NOTHING: u8 = 1;

/// Why a command ended early. `Display` is one sentence with what to do next.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was requested does not exist.
    NotFound(String),
    /// A file is missing, of the wrong kind or damaged, or cannot be written.
    BadInput(String),
    /// The profiled program did not start.
    NotStarted(String),
    /// The options contradict one another.
    Usage(String),
}

impl Failure {
    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::NotFound(_) => NOTHING,
            Failure::BadInput(_) => 3,
            Failure::NotStarted(_) => 4,
            Failure::Usage(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotFound(text)
            | Failure::BadInput(text)
            | Failure::NotStarted(text)
            | Failure::Usage(text) => f.write_str(text),
        }
    }
}

#[cfg(feature = "whole")]
impl From<fulcrum_profiles::Error> for Failure {
    fn from(error: fulcrum_profiles::Error) -> Self {
        use fulcrum_paths::OpenError;
        match error {
            fulcrum_profiles::Error::Search(OpenError::NoSuchValue { .. }) => {
                Failure::NotFound(error.to_string())
            }
            _ => Failure::BadInput(error.to_string()),
        }
    }
}

/// The outcome of a command: an exit code, or the reason for an early end.
pub(crate) type Outcome = Result<u8, Failure>;

//! Exit codes. Scripts rely on them: 0 done, 1 nothing found, 2 usage (clap's), 3 bad input, 4 could not start.

use std::fmt;

/// It was done.
pub const DONE: u8 = 0;
/// The answer is no, or nothing was found.
pub const NOTHING: u8 = 1;

/// Why a command ended early. `Display` is one sentence with what to do next.
#[derive(Debug)]
pub enum Failure {
    /// There is nothing that was asked for.
    NotFound(String),
    /// A file is missing, foreign or damaged, or cannot be written.
    BadInput(String),
    /// The profiled program did not start.
    NotStarted(String),
    /// The options contradict one another.
    Usage(String),
}

impl Failure {
    /// The process's exit code.
    pub fn code(&self) -> u8 {
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

/// What a command ends with: an exit code, or a sentence.
pub type Outcome = Result<u8, Failure>;

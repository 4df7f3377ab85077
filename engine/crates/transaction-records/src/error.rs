//! Why a run cannot be opened.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fulcrum_model::Cancelled;
use fulcrum_transactions::stitch::StitchError;

use crate::samples::SamplesError;

/// Why a run cannot be opened.
#[derive(Debug)]
pub enum RunError {
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The folder has no logs.
    NoLogs(PathBuf),
    /// The file of samples is invalid.
    Samples {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: SamplesError,
    },
    /// The recorded data is inconsistent.
    Stitch(StitchError),
    /// Opening was cancelled.
    Cancelled,
}

impl From<Cancelled> for RunError {
    fn from(_: Cancelled) -> Self {
        RunError::Cancelled
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::File { path, error } => write!(f, "{}: {error}", path.display()),
            RunError::NoLogs(path) => write!(
                f,
                "{} has no logs of transactions: no program of the run could be instrumented",
                path.display()
            ),
            RunError::Samples { path, error } => {
                write!(f, "{}: {error}", path.display())
            }
            RunError::Stitch(error) => error.fmt(f),
            RunError::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

//! Errors with files of a run, each one sentence.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Something on disk could not be read or written. `Display` is one sentence with what to do next.
#[derive(Debug)]
pub struct RunError {
    /// What was being done, as in "cannot … the run folder".
    pub doing: &'static str,
    /// To which path.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl RunError {
    pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_path_buf();
        move |source| RunError {
            doing,
            path,
            source,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = match self.source.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "choose a folder you may write to, or change its permissions"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space and try again"
            }
            io::ErrorKind::ResourceBusy => "stop it first",
            io::ErrorKind::AlreadyExists => "choose another folder, or remove that one",
            _ => "check the folder and try again",
        };
        write!(
            f,
            "cannot {} {}: {}; {advice}.",
            self.doing,
            self.path.display(),
            self.source
        )
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

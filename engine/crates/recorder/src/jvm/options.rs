//! What to trace and how.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Stdio;

/// The default limit of a log's size, bytes.
pub const LOG_LIMIT: u64 = 1 << 30;

/// What to trace and how.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// `java`, a native program that was built with `-finstrument-functions`, or what starts either.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working folder; the recorder's own when `None`.
    pub cwd: Option<PathBuf>,
    /// The folder that holds `.fulcrum/runs`; the working folder when `None`.
    pub workspace: Option<PathBuf>,
    /// The folder to write, instead of a new one in the run store.
    pub output: Option<PathBuf>,
    /// What follows the program's name in the name of a new folder in the store.
    pub suffix: Option<String>,
    /// The text of the filter; the agent's default when `None`.
    pub filter: Option<String>,
    /// The largest size of a log, in bytes.
    pub limit: u64,
    /// Stop the program after this long.
    pub duration: Option<Duration>,
    /// Where the program's standard streams go.
    pub stdio: Stdio,
    /// Further settings for the agent, by name. Values contain no line ends.
    pub settings: Vec<(&'static str, String)>,
}

impl Default for TraceOptions {
    fn default() -> Self {
        TraceOptions {
            program: OsString::new(),
            args: Vec::new(),
            cwd: None,
            workspace: None,
            output: None,
            suffix: None,
            filter: None,
            limit: LOG_LIMIT,
            duration: None,
            stdio: Stdio::Inherit,
            settings: Vec::new(),
        }
    }
}

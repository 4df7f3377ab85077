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
    /// Exactly this folder instead of a new one in the store.
    pub output: Option<PathBuf>,
    /// What stands behind the program's name in that of a new folder in the store.
    pub suffix: Option<String>,
    /// The filter's text; the agent's standard one when `None`.
    pub filter: Option<String>,
    /// No log grows larger than this, bytes.
    pub limit: u64,
    /// Stop the program after this long.
    pub duration: Option<Duration>,
    /// Where the program's standard streams go.
    pub stdio: Stdio,
    /// More for the agent, by name. No line ends are in there.
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

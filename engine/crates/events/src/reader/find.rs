//! Finds the event log that a path means.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why no log was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLog {
    /// The folder has no log.
    None(PathBuf),
    /// The folder has several logs, one for each virtual machine.
    Several(PathBuf, Vec<PathBuf>),
}

impl fmt::Display for NoLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoLog::None(folder) => write!(
                f,
                "{} holds no events-*.log: choose a run that fulcrum trace recorded",
                folder.display()
            ),
            NoLog::Several(folder, logs) => {
                let names = logs.iter().filter_map(|log| log.file_name());
                let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
                write!(
                    f,
                    "{} holds {} logs, one for each virtual machine: choose one of {}",
                    folder.display(),
                    logs.len(),
                    names.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for NoLog {}

/// The event logs of a run's folder, by name.
pub fn logs(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("events-") && name.ends_with(".log")
        })
        .collect();
    logs.sort();
    logs
}

/// The log that a path means: the path itself, or the only log of a run, given by its folder or `run.json`.
///
/// # Errors
/// When a run has no log, or several.
pub fn log(path: &Path) -> Result<PathBuf, NoLog> {
    let manifest = path.file_name().is_some_and(|it| it == "run.json");
    let folder = match path.parent() {
        Some(parent) if manifest => parent,
        _ if path.is_dir() => path,
        _ => return Ok(path.to_path_buf()),
    };
    let mut logs = logs(folder);
    match logs.len() {
        0 => Err(NoLog::None(folder.to_path_buf())),
        1 => Ok(logs.remove(0)),
        _ => Err(NoLog::Several(folder.to_path_buf(), logs)),
    }
}

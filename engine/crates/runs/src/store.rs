//! The runs of a workspace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::folder::file_name;
pub use crate::layout::runs_folder;
pub(crate) use crate::layout::{is_run, recordings};
use crate::{Manifest, RunError, RunFolder, time};

/// One run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// The run folder.
    pub path: PathBuf,
    /// The folder's name.
    pub name: String,
    /// When it started, RFC 3339 UTC: from the manifest, else from the folder's name, else empty.
    pub start: String,
    /// `None` when it is missing or broken.
    pub manifest: Option<Manifest>,
}

impl RunInfo {
    /// What a folder's name and manifest tell.
    pub fn of(folder: &RunFolder) -> RunInfo {
        let path = folder.path().to_path_buf();
        let manifest = folder.read_manifest().ok();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let from_name = || {
            name.get(..16)
                .and_then(time::from_compact)
                .unwrap_or_default()
        };
        let from_manifest = manifest
            .as_ref()
            .map(|m| m.start.clone())
            .filter(|s| !s.is_empty());
        RunInfo {
            start: from_manifest.unwrap_or_else(from_name),
            path,
            name,
            manifest,
        }
    }

    /// What people call the run: the folder's name without the time, and without the number that tells runs of one program and
    /// second apart.
    pub fn subject(&self) -> &str {
        let subject = match self.name.split_once('-') {
            Some((time, rest)) if time::from_compact(time).is_some() => rest,
            _ => return &self.name,
        };
        let program = self.manifest.as_ref().map(|it| file_name(&it.command));
        match subject.rsplit_once('-') {
            Some((base, number))
                if program.as_deref() == Some(base) && number.parse::<u32>().is_ok() =>
            {
                base
            }
            _ => subject,
        }
    }
}

/// All runs of a workspace, newest first. A workspace without runs has an empty list.
pub fn list(workspace: &Path) -> Vec<RunInfo> {
    let entries = fs::read_dir(runs_folder(workspace))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut runs: Vec<RunInfo> = entries
        .filter_map(|entry| {
            RunFolder::open(&entry.path())
                .ok()
                .as_ref()
                .map(RunInfo::of)
        })
        .collect();
    // Runs of one second are told apart by `-2`, `-3`…: the longer name is the later one, then the larger.
    runs.sort_by(|a, b| {
        let key = |run: &RunInfo| (run.start.clone(), run.name.len(), run.name.clone());
        key(b).cmp(&key(a))
    });
    runs
}

/// A run of this workspace's store, by its folder. Links that lead out of the store are refused.
pub fn stored(workspace: &Path, run: &Path) -> Result<RunFolder, RunError> {
    let store = runs_folder(workspace);
    let of_store = || {
        let inside = run.parent()?.canonicalize().ok()? == store.canonicalize().ok()?;
        let path = store.join(run.file_name()?);
        let own = path.symlink_metadata().ok()?.is_dir();
        (inside && own).then_some(path)
    };
    let missing = || {
        let error = io::Error::new(
            io::ErrorKind::NotFound,
            format!("it is not a run in {}", store.display()),
        );
        RunError::at("find the run", run)(error)
    };
    RunFolder::open(&of_store().ok_or_else(missing)?)
}

/// The newest run of a workspace.
pub fn latest(workspace: &Path) -> Option<RunInfo> {
    list(workspace).into_iter().next()
}

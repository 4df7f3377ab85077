//! Where runs are stored, and how a run's folder is recognised.

use std::fs;
use std::path::{Path, PathBuf};

/// `<workspace>/.fulcrum/runs`.
pub fn runs_folder(workspace: &Path) -> PathBuf {
    workspace.join(".fulcrum").join("runs")
}

/// Whether a folder holds a manifest or a recording.
pub(crate) fn is_run(folder: &Path) -> bool {
    folder.join("run.json").is_file() || !recordings(folder).is_empty()
}

/// The `causal-*.jsonl` of a folder, by name.
pub(crate) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("causal-") && name.ends_with(".jsonl")
        })
        .map(|entry| entry.path())
        .collect();
    // By the name without its ending, so that a process's second stream comes after its first.
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    paths
}

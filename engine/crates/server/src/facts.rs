//! What a recording says about itself, beyond its results: files, visits, how it ended.

use std::collections::BTreeMap;

use fulcrum_model::causal::{Profile, Recording};
use fulcrum_runs::{Ended, LoadedCausal};

use crate::resolve::Resolution;
use crate::sources::{SourceFile, Sources};

/// The files that results point into; without results those of samples, then those with snapshots.
pub(crate) fn file_names(profile: &Profile, loaded: &LoadedCausal) -> Vec<String> {
    let mut names: Vec<String> = profile
        .progress_points
        .iter()
        .flat_map(|point| &point.targets)
        .map(|target| target.id.location.file.clone())
        .collect();
    if names.is_empty() {
        names.extend(
            loaded
                .recording
                .samples
                .iter()
                .map(|(at, _)| at.location.file.clone()),
        );
    }
    if names.is_empty() {
        names.extend(
            loaded
                .manifest
                .iter()
                .flat_map(|m| &m.sources)
                .map(|s| s.path.clone()),
        );
    }
    names.sort();
    names.dedup();
    names
}

pub(crate) fn visited_nothing(loaded: &LoadedCausal) -> bool {
    let ran = loaded.folder.is_some() || !loaded.recording.experiments.is_empty();
    ran && !loaded.recording.is_visited()
}

/// The line with most samples among the files that are here, else the first of those files.
pub(crate) fn hottest(recording: &Recording, files: &[SourceFile]) -> Option<(usize, u32)> {
    let mut counts: BTreeMap<(usize, u32), u64> = BTreeMap::new();
    for (at, count) in &recording.samples {
        let here = |file: &SourceFile| {
            file.recorded == at.location.file && file.resolution.path().is_some()
        };
        if let Some(file) = files.iter().position(here) {
            *counts.entry((file, at.location.line)).or_default() += count;
        }
    }
    let top = counts
        .iter()
        .max_by_key(|&(at, count)| (*count, std::cmp::Reverse(*at)));
    let first = || {
        files
            .iter()
            .position(|file| file.resolution.path().is_some())
            .map(|file| (file, 1))
    };
    top.map(|(&at, _)| at).or_else(first)
}

pub(crate) fn how_it_ended(loaded: &LoadedCausal) -> Option<String> {
    match loaded.manifest.as_ref()?.ended {
        Ended::Lost => Some(
            "The recorder was ended before the program was, so this run may be cut short; everything up to that moment is shown."
                .into(),
        ),
        Ended::Running => Some("This run is still going on; open it again to see what was recorded since.".into()),
        _ => None,
    }
}

pub(crate) fn missing_files(sources: &Sources) -> Vec<String> {
    let Sources {
        files, complete, ..
    } = sources;
    let mut notes = Vec::new();
    let missing: Vec<&str> = files
        .iter()
        .filter(|f| f.resolution == Resolution::Missing)
        .map(|f| f.recorded.as_str())
        .collect();
    if let [first, rest @ ..] = missing.as_slice() {
        let (which, they) = match rest.len() {
            0 => (format!("{first} is"), "it"),
            1 => (format!("{first} and one other file are"), "them"),
            n => (format!("{first} and {n} other files are"), "them"),
        };
        let search = if *complete {
            ""
        } else {
            " (the workspace was too large to search all of it)"
        };
        notes.push(format!(
            "{which} not in the workspace{search}: open the folder that holds {they} to see the results beside the code."
        ));
    }
    for file in files {
        if let Resolution::Ambiguous(paths) = &file.resolution {
            let list: Vec<_> = paths
                .iter()
                .take(3)
                .map(|p| p.display().to_string())
                .collect();
            notes.push(format!(
                "{} could be {}: open only the folder that the program was built from.",
                file.recorded,
                list.join(" or ")
            ));
        }
    }
    notes
}

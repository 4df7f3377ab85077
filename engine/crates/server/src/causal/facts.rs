//! What a recording says about itself, beyond its results: files, visits, how it ended.

use std::collections::BTreeMap;

use fulcrum_model::causal::{CausalProfile, Recording};
use fulcrum_runs::{Ended, LoadedCausal};

use crate::causal::sources::{RecordedLine, SourceFile, Sources};
use crate::documents::resolve::Resolution;

/// The files that results point into; without results those of samples, without samples those with snapshots.
pub(crate) fn file_names(profile: &CausalProfile, loaded: &LoadedCausal) -> Vec<String> {
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

/// The line with most samples among the files that are here, else the first line of the first of those files.
pub(crate) fn hottest(recording: &Recording, sources: &Sources) -> Option<RecordedLine> {
    let files = || sources.ids().map(move |id| (id, &sources[id]));
    let is_here = |file: &SourceFile| file.resolution.path().is_some();
    let mut counts: BTreeMap<RecordedLine, u64> = BTreeMap::new();
    for (at, count) in &recording.samples {
        let sampled = |file: &SourceFile| file.recorded == at.location.file && is_here(file);
        if let Some((file, _)) = files().find(|&(_, file)| sampled(file)) {
            let line = at.location.line;
            *counts.entry(RecordedLine { file, line }).or_default() += count;
        }
    }
    let top = counts
        .iter()
        .max_by_key(|&(at, count)| (*count, std::cmp::Reverse(*at)));
    let first = || {
        let (file, _) = files().find(|&(_, file)| is_here(file))?;
        Some(RecordedLine { file, line: 1 })
    };
    top.map(|(&at, _)| at).or_else(first)
}

pub(crate) fn how_it_ended(loaded: &LoadedCausal) -> Option<String> {
    match loaded.manifest.as_ref()?.ended {
        Ended::Lost => Some(
            "The recorder ended before the program did, so this run may be cut short; everything up to that moment is shown."
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

//! From names of a profile to places in the workspace, and back.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use fulcrum_paths::ProfileInterface as _;
use fulcrum_source::{Definition, Qualified, definitions, has_definitions};

use super::recorded::Place;
use super::search_snapshot::SearchSnapshot;
use crate::documents::resolve::{Places, resolve};
use crate::protocol::failure::Failure;
use crate::protocol::position::position;
use crate::protocol::{
    NavigatorFrameParams, NavigatorFrameResult, NavigatorLocation, NavigatorLocationHow,
};
use crate::snapshot::Snapshot;

/// The search for definitions gives up after so many directory entries.
const MOST_ENTRIES: usize = 200_000;

/// At most so many files that contain the name are parsed for it.
const MOST_FILES: usize = 500;

/// Larger files are generated ones.
const LARGEST: u64 = 4 << 20;

/// Places in an answer.
const MOST_LOCATIONS: usize = 20;

/// Where a name of the profile is.
pub(crate) fn frame(
    navigator: &SearchSnapshot,
    snapshot: &Snapshot,
    params: &NavigatorFrameParams,
) -> Result<NavigatorFrameResult, Failure> {
    let name = params.name.as_str();
    let known = navigator.search.profile().summary_of(&[name]);
    known.map_err(|error| Failure::user(error.to_string(), None))?;
    let recorded = navigator.recorded.get(name).map_or(&[][..], Vec::as_slice);
    Ok(find(snapshot, &navigator.folders, name, recorded))
}

/// Where a function is, by its name and by what is recorded of it. `bases` are folders that recorded names may start from.
pub(crate) fn find(
    snapshot: &Snapshot,
    bases: &[PathBuf],
    name: &str,
    recorded: &[Place],
) -> NavigatorFrameResult {
    let wanted = Qualified::parse(name);
    let locations = recorded_locations(bases, snapshot, recorded, wanted.as_ref());
    if !locations.is_empty() {
        return NavigatorFrameResult {
            locations,
            note: None,
        };
    }
    let Some(wanted) = wanted else {
        return NavigatorFrameResult {
            locations: Vec::new(),
            note: Some(format!(
                "{name} has no definition: it is not a function's name."
            )),
        };
    };
    let (locations, complete) = defined(snapshot, &wanted);
    let note = match (locations.is_empty(), recorded.first(), complete) {
        (false, _, true) => None,
        (true, Some(place), _) => Some(format!(
            "{name} is in {place}, which is not in the workspace, and the workspace does not define that name."
        )),
        (true, None, true) => Some(format!("Nothing in the workspace is defined as {name}.")),
        (_, _, false) => Some("The workspace is too large to be searched completely.".into()),
    };
    NavigatorFrameResult { locations, note }
}

/// Where the profile itself says that a function is.
fn recorded_locations(
    bases: &[PathBuf],
    snapshot: &Snapshot,
    recorded: &[Place],
    wanted: Option<&Qualified>,
) -> Vec<NavigatorLocation> {
    let files: Vec<String> = recorded.iter().map(|place| local(&place.file)).collect();
    let places = places(bases, snapshot);
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let (resolutions, _) = resolve(&names, &places);
    let mut locations = Vec::new();
    for (place, resolution) in recorded.iter().zip(&resolutions) {
        let Some(path) = resolution.path() else {
            continue;
        };
        let Some(text) = snapshot.documents.current_text(path) else {
            continue;
        };
        let wanted = wanted.filter(|_| place.declared);
        let defined = wanted.map_or(Vec::new(), |wanted| fitting(wanted, path, &text));
        let distance = |it: &Definition| place.line.map_or(0, |line| line.abs_diff(it.line + 1));
        let (line, character) = match (defined.iter().min_by_key(|it| distance(it)), place.line) {
            // The definition is where it is now; the recorded line is where it was.
            (Some(found), _) => at(snapshot, &text, found),
            (None, Some(line)) => (line.saturating_sub(1), 0),
            (None, None) => (0, 0),
        };
        locations.push(NavigatorLocation {
            uri: snapshot.uri(path),
            line,
            character,
            how: match place.line {
                Some(_) => NavigatorLocationHow::Recorded,
                None => NavigatorLocationHow::RecordedFile,
            },
        });
    }
    locations.dedup();
    locations.truncate(MOST_LOCATIONS);
    locations
}

/// Where the profile's files are looked for.
pub(super) fn places(bases: &[PathBuf], snapshot: &Snapshot) -> Places {
    Places {
        folders: snapshot.folders.to_vec(),
        bases: bases.to_vec(),
        open: snapshot.documents.paths(),
    }
}

/// A file as the profile spells it, without a scheme.
pub(super) fn local(file: &str) -> String {
    let path = crate::protocol::uri::to_path(file);
    path.map_or_else(
        || file.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

fn at(snapshot: &Snapshot, text: &str, definition: &Definition) -> (u32, u32) {
    let place = position(text, definition.at, snapshot.config.encoding);
    (place.line, place.character)
}

/// The definitions in a text that fit best.
fn fitting(wanted: &Qualified, path: &Path, text: &str) -> Vec<Definition> {
    best(
        definitions(path, text)
            .into_iter()
            .filter_map(|it| Some((wanted.fit(&it.name, &it.containers, path)?, it)))
            .collect(),
    )
}

fn best<T>(all: Vec<(usize, T)>) -> Vec<T> {
    let most = all.iter().map(|it| it.0).max();
    let fitting = all.into_iter().filter(|it| Some(it.0) == most);
    fitting.map(|it| it.1).collect()
}

/// The best definitions in the workspace; the second value is false when not all of it was searched.
fn defined(snapshot: &Snapshot, wanted: &Qualified) -> (Vec<NavigatorLocation>, bool) {
    let (files, mut complete) = source_files(&snapshot.folders);
    let mut found = Vec::new();
    let mut parsed = 0;
    for path in files {
        let Some(text) = snapshot.documents.current_text(&path) else {
            continue;
        };
        // A name after `operator` may be spaced differently.
        let word = wanted
            .name
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .find(|it| !it.is_empty());
        if !text.contains(word.unwrap_or(&wanted.name)) {
            continue;
        }
        parsed += 1;
        if parsed > MOST_FILES {
            complete = false;
            break;
        }
        for definition in definitions(&path, &text) {
            if let Some(fit) = wanted.fit(&definition.name, &definition.containers, &path) {
                let (line, character) = at(snapshot, &text, &definition);
                found.push((
                    fit,
                    NavigatorLocation {
                        uri: snapshot.uri(&path),
                        line,
                        character,
                        how: NavigatorLocationHow::Definition,
                    },
                ));
            }
        }
    }
    let mut locations = best(found);
    locations.sort_by(|a, b| (&a.uri, a.line).cmp(&(&b.uri, b.line)));
    locations.truncate(MOST_LOCATIONS);
    (locations, complete)
}

/// The files below these folders in which definitions can be found.
fn source_files(folders: &[PathBuf]) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let mut seen = 0;
    let mut queue: VecDeque<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = queue.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return (found, false);
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                // Hidden folders and those of package managers hold no source of the user's.
                if !name.starts_with('.') && name != "node_modules" && name != "__pycache__" {
                    queue.push_back(entry.path());
                }
            } else if kind.is_file()
                && has_definitions(&entry.path())
                && entry.metadata().is_ok_and(|it| it.len() <= LARGEST)
            {
                found.push(entry.path());
            }
        }
    }
    (found, true)
}

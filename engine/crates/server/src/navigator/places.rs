//! From names of a profile to places in the workspace, and back.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use fulcrum_paths::{AnySummary, ProfileInterface as _};
use fulcrum_profiles::{quantity, share};
use fulcrum_source::{Definition, Qualified, definitions, has_definitions};

use super::convert;
use super::look::Look;
use super::session::Place;
use crate::failure::Failure;
use crate::position::position;
use crate::protocol::{
    LineState, NavigatorFrameParams, NavigatorFrameResult, NavigatorHeat, NavigatorLine,
    NavigatorLines, NavigatorLinesParams, NavigatorLocation, NavigatorLocationHow,
};
use crate::resolve::{Places, common_suffix, resolve};
use crate::sources::current_text;
use crate::state::Snapshot;

/// Directory entries looked at before the search for definitions gives up.
const MOST_ENTRIES: usize = 200_000;

/// Files that hold the name and are parsed for it.
const MOST_FILES: usize = 500;

/// Larger files are generated.
const LARGEST: u64 = 4 << 20;

/// Places in an answer.
const MOST_LOCATIONS: usize = 20;

/// Where a name of the profile is.
pub(crate) fn frame(
    look: &Look,
    snapshot: &Snapshot,
    params: &NavigatorFrameParams,
) -> Result<NavigatorFrameResult, Failure> {
    let name = params.name.as_str();
    let known = look.search.profile().summary_of(&[name]);
    known.map_err(|error| Failure::user(error.to_string(), None))?;
    let wanted = Qualified::parse(name);
    let recorded = look.recorded.get(name).map_or(&[][..], Vec::as_slice);
    let locations = recorded_locations(look, snapshot, recorded, wanted.as_ref());
    if !locations.is_empty() {
        return Ok(NavigatorFrameResult {
            locations,
            note: None,
        });
    }
    let Some(wanted) = wanted else {
        return Ok(NavigatorFrameResult {
            locations: Vec::new(),
            note: Some(format!(
                "{name} has no definition: it is not the name of a function."
            )),
        });
    };
    let (locations, complete) = defined(snapshot, &wanted);
    let note = match (locations.is_empty(), recorded.first(), complete) {
        (false, _, true) => None,
        (true, Some(place), _) => Some(format!(
            "{name} is in {place}, which is not in the workspace, and nothing here is defined by that name."
        )),
        (true, None, true) => Some(format!("Nothing in the workspace is defined as {name}.")),
        (_, _, false) => Some("The workspace is too large to be searched whole.".into()),
    };
    Ok(NavigatorFrameResult { locations, note })
}

/// Where the profile itself says that a function is.
fn recorded_locations(
    look: &Look,
    snapshot: &Snapshot,
    recorded: &[Place],
    wanted: Option<&Qualified>,
) -> Vec<NavigatorLocation> {
    let files: Vec<String> = recorded.iter().map(|place| local(&place.file)).collect();
    let places = Places {
        folders: snapshot.folders.to_vec(),
        bases: look.folders.to_vec(),
        open: snapshot.documents.paths(),
    };
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let (resolutions, _) = resolve(&names, &places);
    let mut locations = Vec::new();
    for (place, resolution) in recorded.iter().zip(&resolutions) {
        let Some(path) = resolution.path() else {
            continue;
        };
        let Some(text) = current_text(path, &snapshot.documents) else {
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

/// A file as the profile spells it, without a scheme.
fn local(file: &str) -> String {
    let path = crate::uri::to_path(file);
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
        let Some(text) = current_text(&path, &snapshot.documents) else {
            continue;
        };
        // A name behind `operator` may be spaced otherwise.
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

/// The profile's names by the function's own name.
pub(crate) type ByName = HashMap<String, Vec<(String, Qualified)>>;

/// Takes the profile's names apart.
pub(crate) fn by_name(look: &Look) -> ByName {
    let profile = look.search.profile();
    let mut all = ByName::new();
    for s in profile.initial_summaries() {
        let name = profile.path_of(&s)[0];
        if let Some(qualified) = Qualified::parse(name) {
            let known = all.entry(qualified.name.clone()).or_default();
            known.push((name.to_owned(), qualified));
        }
    }
    all
}

/// A function of a document, and what the profile has of it.
struct Declared {
    line: u32,
    recorded_line: Option<u32>,
    state: LineState,
    names: Vec<String>,
}

/// What the functions of a document cost.
pub(crate) fn lines(
    look: &Look,
    snapshot: &Snapshot,
    params: &NavigatorLinesParams,
) -> Result<NavigatorLines, Failure> {
    let Some(document) = snapshot.document(&params.uri) else {
        return Ok(NavigatorLines { lines: Vec::new() });
    };
    let Some(path) = &document.path else {
        return Ok(NavigatorLines { lines: Vec::new() });
    };
    let declared = declared(look, path, &document.text);
    let mut lines: Vec<NavigatorLine> = declared
        .into_iter()
        .filter_map(|it| line(look, it))
        .collect();
    lines.sort_by_key(|it| it.line);
    Ok(NavigatorLines { lines })
}

/// The place that the profile has of a name in a file, if it has one; `None`: it says another file.
fn place_in<'a>(look: &'a Look, name: &str, path: &Path) -> Option<Option<&'a Place>> {
    let Some(places) = look.recorded.get(name) else {
        return Some(None);
    };
    let path = path.to_string_lossy();
    let suffix = |place: &&Place| common_suffix(&local(&place.file), &path);
    let best = places.iter().max_by_key(suffix);
    best.filter(|place| suffix(place) > 0).map(Some)
}

/// How well a definition fits a name, its 0-based line, and the 1-based line that was recorded.
type Candidate = (usize, u32, Option<u32>);

fn declared(look: &Look, path: &Path, text: &str) -> Vec<Declared> {
    let mut all: HashMap<u32, Declared> = HashMap::new();
    let mut found: HashMap<&str, Vec<Candidate>> = HashMap::new();
    let names = look.names();
    for definition in definitions(path, text) {
        for (name, qualified) in names.get(&definition.name).into_iter().flatten() {
            let fit = qualified.fit(&definition.name, &definition.containers, path);
            if let (Some(fit), Some(place)) = (fit, place_in(look, name, path)) {
                let recorded = place.filter(|it| it.declared).and_then(|it| it.line);
                found
                    .entry(name)
                    .or_default()
                    .push((fit, definition.line, recorded));
            }
        }
    }
    let mut add = |line: u32, recorded_line: Option<u32>, state: LineState, name: &str| {
        let entry = all.entry(line).or_insert(Declared {
            line,
            recorded_line,
            state,
            names: Vec::new(),
        });
        entry.names.push(name.to_owned());
    };
    for (name, definitions) in &found {
        let most = definitions.iter().map(|it| it.0).max();
        let mut fitting = definitions.iter().filter(|it| Some(it.0) == most);
        let Some(&(_, line, recorded)) = (match fitting.clone().count() {
            1 => fitting.next(),
            // Several functions of one name: only a recorded line tells them apart.
            _ => fitting
                .filter(|it| it.2.is_some())
                .min_by_key(|it| it.2.map(|line| line.abs_diff(it.1 + 1))),
        }) else {
            continue;
        };
        let state = match recorded == Some(line + 1) {
            true => LineState::Exact,
            false => LineState::Moved,
        };
        add(line, recorded, state, name);
    }
    // What the profile places in this file, and nothing here defines.
    let last = text.lines().count().max(1) as u32;
    for name in look
        .recorded
        .keys()
        .filter(|name| !found.contains_key(name.as_str()))
    {
        if let Some(Some(place)) = place_in(look, name, path)
            && let Some(line) = place.line.filter(|&line| line > 0 && place.declared)
        {
            let state = match line <= last && !has_definitions(path) {
                true => LineState::Exact,
                false => LineState::Stale,
            };
            add(line.min(last) - 1, Some(line), state, name);
        }
    }
    all.into_values().collect()
}

fn line(look: &Look, mut declared: Declared) -> Option<NavigatorLine> {
    let profile = look.search.profile();
    declared.names.sort_unstable();
    let summaries: Vec<AnySummary> = declared
        .names
        .iter()
        .filter_map(|name| profile.summary_of(&[name]).ok())
        .collect();
    let name = declared.names.into_iter().next()?;
    let (base, cum) = (
        profile.total_base_of(&summaries),
        profile.total_cum_of(&summaries),
    );
    let total = profile.total();
    let part = |cost: i64| match total {
        0 => 0.0,
        total => cost as f64 / total as f64,
    };
    let sides = match summaries.as_slice() {
        [one] => profile.sides_of(one).map(convert::path_sides),
        _ => None,
    };
    let shown = |cost: i64| match total {
        0 => quantity(cost, &look.unit),
        total => format!("{} ({})", quantity(cost, &look.unit), share(cost, total)),
    };
    Some(NavigatorLine {
        line: declared.line,
        recorded_line: declared.recorded_line,
        state: declared.state,
        name,
        base,
        cum,
        base_share: part(base),
        cum_share: part(cum),
        sides,
        heat: heat(look, base, cum),
        text: format!("{} here, {} with calls", shown(base), shown(cum)),
    })
}

/// By the greater of base and a tenth of cum; in a comparison of the part of A and B.
fn heat(look: &Look, base: i64, cum: i64) -> NavigatorHeat {
    let profile = look.search.profile();
    let whole = match profile.sides() {
        // The difference of the totals may be next to nothing.
        Some(sides) => sides.a.abs().max(sides.b.abs()),
        None => profile.total().abs(),
    };
    let cost = match base.unsigned_abs() >= cum.unsigned_abs() / 10 {
        true => base as f64,
        false => cum as f64 / 10.0,
    };
    if whole == 0 {
        return NavigatorHeat::Cold;
    }
    let part = cost / whole as f64;
    let steps = [0.005, 0.02, 0.05, 0.15];
    let level = steps.iter().filter(|&&it| part.abs() >= it).count();
    match (level, part < 0.0) {
        (0, _) => NavigatorHeat::Cold,
        (1, false) => NavigatorHeat::Hot1,
        (2, false) => NavigatorHeat::Hot2,
        (3, false) => NavigatorHeat::Hot3,
        (_, false) => NavigatorHeat::Hot4,
        (1, true) => NavigatorHeat::Less1,
        (2, true) => NavigatorHeat::Less2,
        (_, true) => NavigatorHeat::Less3,
    }
}

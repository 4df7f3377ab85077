//! What the lines of a document cost, for the gutter: lines that ran, or the functions that lines declare.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use fulcrum_paths::{AnySummary, ProfileInterface as _};
use fulcrum_source::{Anchors, Definition, Qualified, definitions, has_definitions};

use super::convert;
use super::line_costs::{CallCosts, Cost};
use super::places::local;
use super::ran_lines::{Ran, of_document};
use super::recorded::Place;
use super::search_snapshot::SearchSnapshot;
use crate::documents::resolve::common_suffix;
use crate::protocol::convert::state as line_state;
use crate::protocol::failure::Failure;
use crate::protocol::markdown::escaped;
use crate::protocol::{
    LineState, NavigatorLine, NavigatorLineKind, NavigatorLines, NavigatorLinesParams,
};
use crate::snapshot::Snapshot;

/// A function of a document, and what the profile knows of it.
struct Declared {
    line: u32,
    recorded_line: Option<u32>,
    state: LineState,
    names: Vec<String>,
}

/// What the lines of a document cost: those that ran, if the profile knows them, else its functions.
pub(crate) fn lines(
    navigator: &SearchSnapshot,
    snapshot: &Snapshot,
    params: &NavigatorLinesParams,
) -> Result<NavigatorLines, Failure> {
    let nothing = NavigatorLines {
        lines: Vec::new(),
        note: None,
    };
    let Some(document) = snapshot.document(&params.uri) else {
        return Ok(nothing);
    };
    let Some(path) = &document.path else {
        return Ok(nothing);
    };
    let all = navigator.lines().map_err(str::to_owned);
    let ran = all.and_then(|sides| {
        let calls = match sides.iter().all(|side| side.callers) {
            true => CallCosts::Known,
            false => CallCosts::Unknown,
        };
        let here = of_document(navigator, snapshot, sides, path)?;
        Ok(ran(navigator, here, calls, path, &document.text))
    });
    let (mut lines, note) = match ran {
        Ok(lines) => (lines, None),
        Err(problem) => (Vec::new(), Some(format!("No costs of lines: {problem}."))),
    };
    if lines.is_empty() {
        let declared = declared(navigator, path, &document.text);
        lines = declared
            .into_iter()
            .filter_map(|it| function_line(navigator, it))
            .collect();
        if let Some(note) = &note {
            for line in &mut lines {
                line.hover += &format!("\n{}\n", escaped(note));
            }
        }
    }
    lines.sort_by_key(|it| it.line);
    Ok(NavigatorLines { lines, note })
}

/// The lines of a document that ran, where they are now.
fn ran(
    navigator: &SearchSnapshot,
    here: Ran,
    calls: CallCosts,
    path: &Path,
    text: &Arc<str>,
) -> Vec<NavigatorLine> {
    if here.is_empty() {
        return Vec::new();
    }
    let then = navigator.baselines.of(path, text);
    let defined = definitions(path, &then);
    let anchors = Anchors::new(&then, text);
    here.into_iter()
        .map(|(recorded, it)| {
            let anchor = anchors.anchor(recorded);
            let state = match is_there(recorded, &it.functions, &defined, path) {
                true => line_state(anchor.state),
                false => LineState::Stale,
            };
            let cost = Cost {
                base: it.base,
                cum: it.cum,
                sides: it.sides,
            };
            let part = |cost| navigator.search.whole().part(cost);
            NavigatorLine {
                line: anchor.line - 1,
                kind: NavigatorLineKind::Line,
                recorded_line: Some(recorded),
                state,
                base: cost.base,
                cum: cost.cum,
                base_share: part(cost.base),
                cum_share: part(cost.cum),
                sides: cost.sides,
                heat: cost.heat(navigator),
                text: match calls == CallCosts::Known && !cost.is_own() {
                    true => cost.text(navigator),
                    false => cost.own_text(navigator),
                },
                hover: cost.hover(navigator, &it.functions, calls),
                name: it.functions[0].clone(),
            }
        })
        .collect()
}

/// Whether one of the line's functions begins before it, as far as that can be known. If not, the text is not the recorded one.
fn is_there(line: u32, functions: &[String], defined: &[Definition], path: &Path) -> bool {
    let wanted = functions.iter().filter_map(|it| Qualified::parse(it));
    let mut lines = wanted
        .flat_map(|it| {
            let fits = |d: &&Definition| it.fit(&d.name, &d.containers, path).is_some();
            let lines: Vec<u32> = defined.iter().filter(fits).map(|d| d.line).collect();
            lines
        })
        .peekable();
    lines.peek().is_none() || lines.any(|it| it < line)
}

/// Where a profile has a function, as seen from one file.
enum RecordedPlace<'a> {
    /// In this file.
    Here(&'a Place),
    /// In another file.
    Elsewhere,
    /// The profile does not say.
    Unknown,
}

fn recorded_place<'a>(navigator: &'a SearchSnapshot, name: &str, path: &Path) -> RecordedPlace<'a> {
    let Some(places) = navigator.recorded.get(name) else {
        return RecordedPlace::Unknown;
    };
    let path = path.to_string_lossy();
    let suffix = |place: &&Place| common_suffix(&local(&place.file), &path);
    let best = places.iter().max_by_key(suffix);
    match best.filter(|place| suffix(place) > 0) {
        Some(place) => RecordedPlace::Here(place),
        None => RecordedPlace::Elsewhere,
    }
}

/// A definition that fits a name of the profile.
#[derive(Clone, Copy)]
struct Candidate {
    /// How well it fits.
    fit: usize,
    /// 0-based.
    line: u32,
    /// 1-based.
    recorded_line: Option<u32>,
}

/// The functions of a document that the profile has.
fn declared(navigator: &SearchSnapshot, path: &Path, text: &str) -> Vec<Declared> {
    let mut all: HashMap<u32, Declared> = HashMap::new();
    let found = candidates(navigator, path, text);
    let mut add = |line: u32, recorded_line: Option<u32>, state: LineState, name: &str| {
        let entry = all.entry(line).or_insert(Declared {
            line,
            recorded_line,
            state,
            names: Vec::new(),
        });
        entry.names.push(name.to_owned());
    };
    for (name, candidates) in &found {
        let Some(it) = best(candidates) else {
            continue;
        };
        let state = match it.recorded_line == Some(it.line + 1) {
            true => LineState::Exact,
            false => LineState::Moved,
        };
        add(it.line, it.recorded_line, state, name);
    }
    // Functions that the profile places in this file although the text does not define them.
    let last = text.lines().count().max(1) as u32;
    let names = navigator.recorded.keys();
    for name in names.filter(|name| !found.contains_key(name.as_str())) {
        if let RecordedPlace::Here(place) = recorded_place(navigator, name, path)
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

/// The definitions in a document that fit names of the profile, by name.
fn candidates<'a>(
    navigator: &'a SearchSnapshot,
    path: &Path,
    text: &str,
) -> HashMap<&'a str, Vec<Candidate>> {
    let mut found: HashMap<&str, Vec<Candidate>> = HashMap::new();
    let names = navigator.names();
    for definition in definitions(path, text) {
        for (name, qualified) in names.get(&definition.name).into_iter().flatten() {
            let Some(fit) = qualified.fit(&definition.name, &definition.containers, path) else {
                continue;
            };
            let recorded_line = match recorded_place(navigator, name, path) {
                RecordedPlace::Here(place) if place.declared => place.line,
                RecordedPlace::Here(_) | RecordedPlace::Unknown => None,
                RecordedPlace::Elsewhere => continue,
            };
            found.entry(name).or_default().push(Candidate {
                fit,
                line: definition.line,
                recorded_line,
            });
        }
    }
    found
}

/// The best of the definitions that fit a name. Of several functions of one name, only a recorded line can choose.
fn best(candidates: &[Candidate]) -> Option<Candidate> {
    let most = candidates.iter().map(|it| it.fit).max();
    let mut fitting = candidates.iter().filter(|it| Some(it.fit) == most);
    let best = match fitting.clone().count() {
        1 => fitting.next(),
        _ => fitting
            .filter(|it| it.recorded_line.is_some())
            .min_by_key(|it| it.recorded_line.map(|line| line.abs_diff(it.line + 1))),
    };
    best.copied()
}

/// The line that declares a function.
fn function_line(navigator: &SearchSnapshot, declared: Declared) -> Option<NavigatorLine> {
    let profile = navigator.search.profile();
    let mut names = declared.names;
    names.sort_unstable();
    let summaries: Vec<AnySummary> = names
        .iter()
        .filter_map(|name| profile.summary_of(&[name]).ok())
        .collect();
    let name = names.first()?.clone();
    let cost = Cost {
        base: profile.total_base_of(&summaries),
        cum: profile.total_cum_of(&summaries),
        sides: match summaries.as_slice() {
            [one] => profile.sides_of(one).map(convert::path_sides),
            _ => None,
        },
    };
    let part = |cost| navigator.search.whole().part(cost);
    Some(NavigatorLine {
        line: declared.line,
        kind: NavigatorLineKind::Function,
        recorded_line: declared.recorded_line,
        state: declared.state,
        name,
        base: cost.base,
        cum: cost.cum,
        base_share: part(cost.base),
        cum_share: part(cost.cum),
        sides: cost.sides,
        heat: cost.heat(navigator),
        text: cost.text(navigator),
        hover: cost.hover(navigator, &names, CallCosts::Known),
    })
}

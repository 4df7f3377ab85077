//! What the lines of a document cost, for the gutter: lines that ran, or the functions that lines declare.

use std::collections::HashMap;
use std::path::Path;

use fulcrum_paths::{AnySummary, ProfileInterface as _};
use fulcrum_profiles::{LineCost, Lines, quantity, share};
use fulcrum_source::{Definition, Qualified, definitions, has_definitions};

use super::look::Look;
use super::places::{local, places};
use super::recorded::Place;
use super::{convert, report};
use crate::failure::Failure;
use crate::protocol::{
    LineState, NavigatorHeat, NavigatorLine, NavigatorLineKind, NavigatorLines,
    NavigatorLinesParams, NavigatorPathSides,
};
use crate::resolve::{common_suffix, resolve};
use crate::state::Snapshot;

/// A function of a document, and what the profile has of it.
struct Declared {
    line: u32,
    recorded_line: Option<u32>,
    state: LineState,
    names: Vec<String>,
}

/// What the lines of a document cost: those that ran, if the profile knows them, else its functions.
pub(crate) fn lines(
    look: &Look,
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
    let (mut lines, note) = match look.lines() {
        Ok(Some(all)) => (ran(look, snapshot, all, path, &document.text), None),
        Ok(None) => (Vec::new(), None),
        Err(problem) => (Vec::new(), Some(format!("No lines that ran: {problem}."))),
    };
    if lines.is_empty() {
        let declared = declared(look, path, &document.text);
        lines = declared
            .into_iter()
            .filter_map(|it| line(look, it))
            .collect();
    }
    lines.sort_by_key(|it| it.line);
    Ok(NavigatorLines { lines, note })
}

/// The lines of a document that ran.
fn ran(
    look: &Look,
    snapshot: &Snapshot,
    all: &Lines,
    path: &Path,
    text: &str,
) -> Vec<NavigatorLine> {
    // Lines are sorted by file.
    let mut files = all.lines.chunk_by(|a, b| a.file == b.file);
    let base = path.file_name().unwrap_or_default().to_string_lossy();
    let names: Vec<(String, &[LineCost])> = files
        .by_ref()
        .map(|lines| (local(&lines[0].file), lines))
        .filter(|(file, _)| file.rsplit(['/', '\\']).next() == Some(&*base))
        .collect();
    let spelled: Vec<&str> = names.iter().map(|it| it.0.as_str()).collect();
    let (resolutions, _) = resolve(&spelled, &places(&look.folders, snapshot));
    let here = names.iter().zip(&resolutions);
    let here = here.filter(|(_, resolution)| resolution.path() == Some(path));
    let here: Vec<&LineCost> = here.flat_map(|((_, lines), _)| *lines).collect();
    if here.is_empty() {
        return Vec::new();
    }
    let defined = definitions(path, text);
    let last = text.lines().count().max(1) as u32;
    here.into_iter()
        .map(|it| {
            let state = match it.line <= last && is_there(it, &defined, path) {
                true => LineState::Exact,
                false => LineState::Stale,
            };
            let sentence = match all.callers && it.base != it.cum {
                true => in_words(look, it.base, it.cum),
                false => format!("{} here", shown(look, it.base)),
            };
            let line = it.line.min(last) - 1;
            let cost = Cost {
                base: it.base,
                cum: it.cum,
                sides: None,
            };
            let hover = hover(look, &it.functions, &cost, all.callers);
            let of = (NavigatorLineKind::Line, line, Some(it.line), state);
            cost.line(look, of, it.functions[0].clone(), (sentence, hover))
        })
        .collect()
}

/// Whether one of the line's functions still begins before it, as far as that can be known.
fn is_there(line: &LineCost, defined: &[Definition], path: &Path) -> bool {
    let wanted = line.functions.iter().filter_map(|it| Qualified::parse(it));
    let mut lines = wanted
        .flat_map(|it| {
            let fits = |d: &&Definition| it.fit(&d.name, &d.containers, path).is_some();
            let lines: Vec<u32> = defined.iter().filter(fits).map(|d| d.line).collect();
            lines
        })
        .peekable();
    lines.peek().is_none() || lines.any(|it| it < line.line)
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
    let names = declared.names;
    let name = names.first()?.clone();
    let (base, cum) = (
        profile.total_base_of(&summaries),
        profile.total_cum_of(&summaries),
    );
    let sides = match summaries.as_slice() {
        [one] => profile.sides_of(one).map(convert::path_sides),
        _ => None,
    };
    let hover = hover(look, &names, &Cost { base, cum, sides }, true);
    let place = (
        NavigatorLineKind::Function,
        declared.line,
        declared.recorded_line,
        declared.state,
    );
    let texts = (in_words(look, base, cum), hover);
    Some(Cost { base, cum, sides }.line(look, place, name, texts))
}

/// What a line or function costs.
struct Cost {
    base: i64,
    cum: i64,
    sides: Option<NavigatorPathSides>,
}

impl Cost {
    /// A line of the answer: whose cost, its lines now and as recorded, and its state; the function; the words.
    fn line(
        self,
        look: &Look,
        (kind, line, recorded_line, state): (NavigatorLineKind, u32, Option<u32>, LineState),
        name: String,
        (text, hover): (String, String),
    ) -> NavigatorLine {
        let total = look.search.profile().total();
        let part = |cost: i64| match total {
            0 => 0.0,
            total => cost as f64 / total as f64,
        };
        NavigatorLine {
            line,
            kind,
            recorded_line,
            state,
            name,
            base: self.base,
            cum: self.cum,
            base_share: part(self.base),
            cum_share: part(self.cum),
            sides: self.sides,
            heat: heat(look, self.base, self.cum),
            text,
            hover,
        }
    }
}

fn shown(look: &Look, cost: i64) -> String {
    match look.search.profile().total() {
        0 => quantity(cost, &look.unit),
        total => format!("{} ({})", quantity(cost, &look.unit), share(cost, total)),
    }
}

fn in_words(look: &Look, base: i64, cum: i64) -> String {
    format!(
        "{} here, {} with calls",
        shown(look, base),
        shown(look, cum)
    )
}

/// Functions that a hover names.
const NAMED: usize = 3;

/// What a line or function costs, of what, in which profile, as Markdown.
fn hover(look: &Look, functions: &[String], cost: &Cost, callers: bool) -> String {
    let profile = look.search.profile();
    let named = functions.iter().take(NAMED).map(|it| report::code(it));
    let mut of = named.collect::<Vec<_>>().join(", ");
    if functions.len() > NAMED {
        of += &format!(" and {} more", functions.len() - NAMED);
    }
    let mut rows = vec![("here", cost.base)];
    if callers {
        rows.push(("with what it calls", cost.cum));
    }
    let mut out = format!("**Cost in {}** · {of}\n\n", report::text(&look.title));
    for (what, value) in rows {
        out += &format!("- {} {what}\n", shown(look, value));
    }
    let unit = |cost: i64| quantity(cost, &look.unit);
    if let Some(sides) = &cost.sides {
        let (a, b) = (sides.cum.a, sides.cum.b);
        out += &format!("- with what it calls: A {}, B {}\n", unit(a), unit(b));
    }
    let total = unit(profile.total());
    out += &match profile.sides() {
        None => format!(
            "\nShares are of {total} in all, {}.",
            report::code(&look.value)
        ),
        Some(_) => format!(
            "\nShares are of the difference, {total}, {}.",
            report::code(&look.value)
        ),
    };
    out + " Where cost was measured, not what a speedup would bring.\n"
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

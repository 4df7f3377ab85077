//! What the lines of a document cost, for the gutter: lines that ran, or the functions that lines declare.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use fulcrum_answers::quantity::{quantity, share};
use fulcrum_paths::{AnySummary, ProfileInterface as _};
use fulcrum_source::{Anchors, Definition, Qualified, definitions, has_definitions};

use super::places::local;
use super::ran_lines::{Ran, of_document};
use super::recorded::Place;
use super::search_snapshot::SearchSnapshot;
use super::{convert, report};
use crate::failure::Failure;
use crate::protocol::{
    LineState, NavigatorHeat, NavigatorLine, NavigatorLineKind, NavigatorLines,
    NavigatorLinesParams, NavigatorPathSides, NavigatorSides,
};
use crate::resolve::common_suffix;
use crate::snapshot::Snapshot;

/// A function of a document, and what the profile has of it.
struct Declared {
    line: u32,
    recorded_line: Option<u32>,
    state: LineState,
    names: Vec<String>,
}

/// What the lines of a document cost: those that ran, if the profile knows them, else its functions.
pub(crate) fn lines(
    look: &SearchSnapshot,
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
    let all = look.lines().map_err(str::to_owned);
    let ran = all.and_then(|sides| {
        let callers = sides.iter().all(|side| side.callers);
        let here = of_document(look, snapshot, sides, path)?;
        Ok(ran(look, here, callers, path, &document.text))
    });
    let (mut lines, note) = match ran {
        Ok(lines) => (lines, None),
        Err(problem) => (Vec::new(), Some(format!("No lines that ran: {problem}."))),
    };
    if lines.is_empty() {
        let declared = declared(look, path, &document.text);
        lines = declared
            .into_iter()
            .filter_map(|it| line(look, it))
            .collect();
        if let Some(note) = &note {
            for line in &mut lines {
                line.hover += &format!("\n{}\n", report::text(note));
            }
        }
    }
    lines.sort_by_key(|it| it.line);
    Ok(NavigatorLines { lines, note })
}

/// The lines of a document that ran, where they are now; `callers`: it is known what was called from them.
fn ran(
    look: &SearchSnapshot,
    here: Ran,
    callers: bool,
    path: &Path,
    text: &Arc<str>,
) -> Vec<NavigatorLine> {
    if here.is_empty() {
        return Vec::new();
    }
    let then = look.baselines.of(path, text);
    let defined = definitions(path, &then);
    let anchors = Anchors::new(&then, text);
    here.into_iter()
        .map(|(recorded, it)| {
            let anchor = anchors.anchor(recorded);
            let state = match anchor.state {
                _ if !is_there(recorded, &it.functions, &defined, path) => LineState::Stale,
                state => crate::convert::state(state),
            };
            let line = anchor.line - 1;
            let cost = Cost {
                base: it.base,
                cum: it.cum,
                sides: it.sides,
            };
            let sentence = match callers && !cost.is_own() {
                true => in_words(look, &cost),
                false => here_in_words(look, &cost),
            };
            let hover = hover(look, &it.functions, &cost, callers);
            let of = (NavigatorLineKind::Line, line, Some(recorded), state);
            cost.line(look, of, it.functions[0].clone(), (sentence, hover))
        })
        .collect()
}

/// Whether one of the line's functions begins before it, as far as that can be known: else the text is not the recorded one.
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

/// The place that the profile has of a name in a file, if it has one; `None`: it says another file.
fn place_in<'a>(look: &'a SearchSnapshot, name: &str, path: &Path) -> Option<Option<&'a Place>> {
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

fn declared(look: &SearchSnapshot, path: &Path, text: &str) -> Vec<Declared> {
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

fn line(look: &SearchSnapshot, mut declared: Declared) -> Option<NavigatorLine> {
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
    let cost = Cost { base, cum, sides };
    let hover = hover(look, &names, &cost, true);
    let place = (
        NavigatorLineKind::Function,
        declared.line,
        declared.recorded_line,
        declared.state,
    );
    let texts = (in_words(look, &cost), hover);
    Some(cost.line(look, place, name, texts))
}

/// What a line or function costs, in the profile's unit; in a comparison, in A less in B.
struct Cost {
    base: i64,
    cum: i64,
    sides: Option<NavigatorPathSides>,
}

impl Cost {
    /// Whether nothing that was called cost anything.
    fn is_own(&self) -> bool {
        self.base == self.cum && self.sides.is_none_or(|it| it.base == it.cum)
    }

    /// A line of the answer: whose cost, its lines now and as recorded, and its state; the function; the words.
    fn line(
        self,
        look: &SearchSnapshot,
        (kind, line, recorded_line, state): (NavigatorLineKind, u32, Option<u32>, LineState),
        name: String,
        (text, hover): (String, String),
    ) -> NavigatorLine {
        let part = |cost| look.search.whole().part(cost);
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

fn shown(look: &SearchSnapshot, cost: i64) -> String {
    match look.search.profile().total() {
        0 => quantity(cost, &look.unit),
        total => format!("{} ({})", quantity(cost, &look.unit), share(cost, total)),
    }
}

/// What became of a cost from B to A: `+40 here (A 90 − B 50)`.
fn changed(look: &SearchSnapshot, value: i64, what: &str, sides: Option<NavigatorSides>) -> String {
    let cost = |cost: i64| quantity(cost, &look.unit);
    let sign = if value > 0 { "+" } else { "" };
    let change = format!("{sign}{} {what}", cost(value));
    match sides {
        Some(NavigatorSides { a, b }) => {
            format!("{change} (A {} \u{2212} B {})", cost(a), cost(b))
        }
        None => format!("{change} (A \u{2212} B)"),
    }
}

fn is_comparison(look: &SearchSnapshot) -> bool {
    look.search.profile().sides().is_some()
}

/// `12 (30.0 %) here`, or the difference.
fn here_in_words(look: &SearchSnapshot, cost: &Cost) -> String {
    match is_comparison(look) {
        true => changed(look, cost.base, "here", cost.sides.map(|it| it.base)),
        false => format!("{} here", shown(look, cost.base)),
    }
}

fn in_words(look: &SearchSnapshot, cost: &Cost) -> String {
    let here = here_in_words(look, cost);
    match is_comparison(look) {
        // All of it is its own: that was said.
        true if cost.is_own() => here,
        true => {
            let cum = cost.sides.map(|it| it.cum);
            let calls = changed(look, cost.cum, "with calls", cum);
            match cost.base {
                // There is little room at the end of a line.
                0 => calls,
                _ => format!("{here}, {calls}"),
            }
        }
        false => format!("{here}, {} with calls", shown(look, cost.cum)),
    }
}

/// Functions that a hover names.
const NAMED: usize = 3;

/// What a line or function costs, or what became of that, of what, in which profile, as Markdown.
fn hover(look: &SearchSnapshot, functions: &[String], cost: &Cost, callers: bool) -> String {
    let named = functions.iter().take(NAMED).map(|it| report::code(it));
    let mut of = named.collect::<Vec<_>>().join(", ");
    if functions.len() > NAMED {
        of += &format!(" and {} more", functions.len() - NAMED);
    }
    let comparison = is_comparison(look);
    let mut rows = vec![("here", cost.base, cost.sides.map(|it| it.base))];
    if callers {
        rows.push(("with what it calls", cost.cum, cost.sides.map(|it| it.cum)));
    }
    let what = if comparison { "Difference" } else { "Cost" };
    let mut out = format!("**{what} in {}** · {of}\n\n", report::text(&look.title));
    for (what, value, sides) in rows {
        out += &match comparison {
            true => format!("- {}\n", changed(look, value, what, sides)),
            false => format!("- {} {what}\n", shown(look, value)),
        };
    }
    let profile = look.search.profile();
    let (total, sides) = (profile.total(), profile.sides());
    let sides = sides.map(|it| NavigatorSides { a: it.a, b: it.b });
    let value = report::code(&look.value);
    out += &match comparison {
        false => format!(
            "\nShares are of {} in all, {value}.",
            quantity(total, &look.unit)
        ),
        true => format!(
            "\nWhat A cost less what B cost, {value}; {}.",
            changed(look, total, "in all", sides)
        ),
    };
    out + " Where cost was measured, not what a speedup would bring.\n"
}

/// By the greater of base and a tenth of cum; in a comparison of the part of A and B.
fn heat(look: &SearchSnapshot, base: i64, cum: i64) -> NavigatorHeat {
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

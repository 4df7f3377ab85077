//! The lines of a document that ran: of a profile, or, as differences, of both sides of a comparison.
//!
//! Each side recorded the lines of the code that it ran. Differences of lines mean something only where that code was the
//! same. No profile holds the text of its code, so what ran decides (see [`same_code`]); in doubt, the code was another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fulcrum_paths::ProfileInterface as _;
use fulcrum_profiles::{LineCost, Lines};
use fulcrum_source::Qualified;

use super::convert;
use super::places::{local, places};
use super::search_snapshot::SearchSnapshot;
use crate::documents::resolve::resolve;
use crate::protocol::{NavigatorPathSides, NavigatorSides};
use crate::snapshot::Snapshot;

/// What the samples in a line cost, in the profile's unit; in a comparison, what they cost in A less what they cost in B.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RanLine {
    /// The functions that it is of, the most costly first; in a comparison A's first.
    pub functions: Vec<String>,
    /// Of samples right there.
    pub base: i64,
    /// With what was called from there; the base where a file knows no lines of callers.
    pub cum: i64,
    /// Of a comparison.
    pub sides: Option<NavigatorPathSides>,
}

impl RanLine {
    fn add_functions(&mut self, names: &[String]) {
        for name in names {
            if !self.functions.contains(name) {
                self.functions.push(name.clone());
            }
        }
    }
}

/// By line, from 1, as recorded.
pub(super) type Ran = BTreeMap<u32, RanLine>;

/// The lines of a document that ran, of a file or of both sides of a comparison.
///
/// # Errors
/// When the sides ran different code: why there are no lines.
pub(super) fn of_document(
    navigator: &SearchSnapshot,
    snapshot: &Snapshot,
    sides: &[Lines],
    path: &Path,
) -> Result<Ran, String> {
    let callers = sides.iter().all(|side| side.callers);
    let mut sides = sides.iter().map(|side| {
        let mut ran = Ran::new();
        // Two spellings of one file are one file.
        for cost in here(navigator, snapshot, side, path) {
            let line = ran.entry(cost.line).or_default();
            line.add_functions(&cost.functions);
            line.base += cost.base;
            line.cum += if callers { cost.cum } else { cost.base };
        }
        ran
    });
    let (Some(a), b) = (sides.next(), sides.next()) else {
        return Ok(Ran::new());
    };
    let Some(b) = b else {
        return Ok(a);
    };
    let same = match (a.is_empty(), b.is_empty()) {
        (true, _) => !functions_ran(navigator, &b, |cost| cost.a),
        (_, true) => !functions_ran(navigator, &a, |cost| cost.b),
        _ => same_code(&a, &b),
    };
    if same {
        Ok(differences(&a, &b))
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Err(format!(
            "A and B seem to have run different code of {name}, so its functions are compared instead"
        ))
    }
}

/// Of all lines those of a document.
fn here<'l>(
    navigator: &SearchSnapshot,
    snapshot: &Snapshot,
    all: &'l Lines,
    path: &Path,
) -> Vec<&'l LineCost> {
    let base = path.file_name().unwrap_or_default().to_string_lossy();
    // Lines are sorted by file.
    let files = all.lines.chunk_by(|a, b| a.file == b.file);
    let names: Vec<(String, &[LineCost])> = files
        .map(|lines| (local(&lines[0].file), lines))
        .filter(|(file, _)| file.rsplit(['/', '\\']).next() == Some(&*base))
        .collect();
    let spelled: Vec<&str> = names.iter().map(|it| it.0.as_str()).collect();
    let (resolutions, _) = resolve(&spelled, &places(&navigator.folders, snapshot));
    let here = names.iter().zip(&resolutions);
    let here = here.filter(|(_, resolution)| resolution.path() == Some(path));
    here.flat_map(|((_, lines), _)| *lines).collect()
}

/// Whether any function of these lines ran on a side. When that side has no lines of it, it does not know them.
fn functions_ran(navigator: &SearchSnapshot, lines: &Ran, side: fn(NavigatorSides) -> i64) -> bool {
    let profile = navigator.search.profile();
    let mut names = lines.values().flat_map(|it| &it.functions);
    names.any(|name| {
        let summary = profile.summary_of(&[name]).ok();
        let sides = summary.and_then(|it| profile.sides_of(&it));
        sides.is_some_and(|it| side(convert::path_sides(it).cum) != 0)
    })
}

fn differences(a: &Ran, b: &Ran) -> Ran {
    let lines: BTreeSet<u32> = a.keys().chain(b.keys()).copied().collect();
    let difference = |line: u32| {
        let sides = [a.get(&line), b.get(&line)];
        let both = |of: fn(&RanLine) -> i64| {
            let [a, b] = sides.map(|it| it.map_or(0, of));
            NavigatorSides { a, b }
        };
        let (base, cum) = (both(|it| it.base), both(|it| it.cum));
        let mut ran = RanLine {
            functions: Vec::new(),
            base: base.a - base.b,
            cum: cum.a - cum.b,
            sides: Some(NavigatorPathSides { base, cum }),
        };
        for side in sides.into_iter().flatten() {
            ran.add_functions(&side.functions);
        }
        (line, ran)
    };
    lines.into_iter().map(difference).collect()
}

/// How far code may have moved, in lines.
const FARTHEST: i64 = 100;

/// Samples scatter: of what moving functions can bring together, so much must be together where they are.
const TOGETHER: f64 = 0.9;

/// Whether both sides ran the same lines, as far as their costs show it: at least half of either side's cost is at lines where
/// the other has some too, and functions do not fit clearly better up or down, each by itself, for a line that was inserted
/// moves only what is below it. What ran on one side only is new or gone.
fn same_code(a: &Ran, b: &Ran) -> bool {
    let meets = |side: &Ran, other: &Ran| {
        let there = side.iter().filter(|(line, _)| other.contains_key(line));
        2.0 * there.map(|(_, it)| weight(it)).sum::<f64>() >= side.values().map(weight).sum()
    };
    let (of_a, of_b) = (by_function(a), by_function(b));
    // Of costs that both sides have of a function: those of the same lines, and the most that moving it brings together.
    let (mut same, mut most) = (0.0, 0.0);
    for (name, lines) in &of_a {
        let Some(others) = of_b.get(name) else {
            continue;
        };
        // A function that became dearer has the same parts.
        let (all, all_others): (f64, f64) = (lines.values().sum(), others.values().sum());
        let common = |moved: i64| -> f64 {
            let part = |line: i64| {
                others
                    .get(&(line - moved))
                    .map_or(0.0, |it| it / all_others)
            };
            let parts = lines.iter().map(|(line, it)| part(*line).min(it / all));
            parts.sum::<f64>() * all.min(all_others)
        };
        same += common(0);
        most += (-FARTHEST..=FARTHEST).map(common).fold(0.0, f64::max);
    }
    meets(a, b) && meets(b, a) && same >= TOGETHER * most
}

/// How much a line tells: what it costs itself, and a tenth of what its callees cost.
fn weight(line: &RanLine) -> f64 {
    line.base.unsigned_abs() as f64 + line.cum.unsigned_abs() as f64 / 10.0
}

/// The parts of a file's cost that lines have, by their most costly function. Some formats name lines in names of functions:
/// `serve (app.py:380)` is `serve`.
fn by_function(lines: &Ran) -> BTreeMap<String, BTreeMap<i64, f64>> {
    let all: f64 = lines.values().map(weight).sum();
    let mut functions: BTreeMap<String, BTreeMap<i64, f64>> = BTreeMap::new();
    for (line, it) in lines.iter().filter(|(_, it)| weight(it) > 0.0) {
        let name = it.functions.first().map_or("", String::as_str);
        let name = Qualified::parse(name).map_or_else(|| name.to_owned(), |it| it.name);
        let of = functions.entry(name).or_default();
        of.insert(i64::from(*line), weight(it) / all);
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side_of(function: &str, lines: &[(u32, i64)]) -> Ran {
        let line = |&(line, base): &(u32, i64)| {
            let ran = RanLine {
                functions: vec![format!("{function} (a.py:{line})")],
                base,
                cum: base,
                sides: None,
            };
            (line, ran)
        };
        lines.iter().map(line).collect()
    }

    fn side(lines: &[(u32, i64)]) -> Ran {
        side_of("f", lines)
    }

    #[test]
    fn code_is_the_same_when_nothing_fits_better_than_where_it_is() {
        let before = [(5, 40), (6, 30), (9, 20), (10, 10)];
        for (after, same) in [
            (&before[..], true),
            // One line became dearer, one cheaper, one ran no more, one is new.
            (&[(5, 400), (6, 30), (9, 20), (10, 10)], true),
            (&[(5, 40), (6, 3), (9, 20), (10, 10)], true),
            (&[(5, 40), (6, 30), (9, 20)], true),
            (&[(5, 40), (6, 30), (7, 9), (9, 20), (10, 10)], true),
            // A line was inserted above, or nine; the code is another one.
            (&[(6, 40), (7, 30), (10, 20), (11, 10)], false),
            (&[(14, 40), (15, 30), (18, 20), (19, 10)], false),
            (&[(105, 40), (306, 30)], false),
            // Or in the midst of it.
            (&[(5, 40), (7, 30), (10, 20), (11, 10)], false),
        ] {
            assert_eq!(same_code(&side(after), &side(&before)), same, "{after:?}");
            assert_eq!(same_code(&side(&before), &side(after)), same, "{after:?}");
        }
    }

    #[test]
    fn code_that_moved_below_the_most_costly_function_is_not_the_same() {
        let with = |lines: &[(u32, i64)]| {
            let mut all = side(&[(5, 400), (6, 300)]);
            all.extend(side_of("g", lines));
            all
        };
        let before = with(&[(20, 60), (21, 40), (25, 50)]);
        assert!(same_code(&with(&[(20, 6), (21, 40), (25, 50)]), &before));
        assert!(!same_code(&with(&[(21, 60), (22, 40), (26, 50)]), &before));
    }

    #[test]
    fn lines_are_subtracted_and_keep_both_sides() {
        let found = differences(&side(&[(5, 40), (7, 3)]), &side(&[(5, 50), (6, 1)]));
        let shown: Vec<_> = found
            .iter()
            .map(|(line, it)| {
                let base = it.sides.expect("of a comparison").base;
                (*line, it.base, base.a, base.b)
            })
            .collect();
        assert_eq!(shown, [(5, -10, 40, 50), (6, -1, 0, 1), (7, 3, 3, 0)]);
    }
}

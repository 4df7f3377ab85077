//! Formats a causal profile as a table.

use std::path::Path;

use fulcrum_causal::{is_small_effect, predict, wording};
use fulcrum_model::causal::{
    CallDoes, CausalProfile, Flag, InCall, KERNEL, PointKind, PointProfile, Shape, Target,
};
use fulcrum_model::{Interval, TargetId, TargetKind};

use crate::terminal::{Cell, Colour, Style, Table};

/// The ranking for people: a table for each progress point, then the notes.
pub(crate) fn table(profile: &CausalProfile, top: usize, style: Style) -> String {
    let mut out = String::new();
    for point in &profile.progress_points {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&point_table(point, top, style));
    }
    if !profile.notes.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    let notes: Vec<String> = profile.notes.iter().map(wording::note).collect();
    out + &style.notes(&notes)
}

fn point_table(point: &PointProfile, top: usize, style: Style) -> String {
    let lines = point
        .targets
        .iter()
        .all(|it| it.id.kind == TargetKind::Line);
    let what = if lines { "line" } else { "target" };
    let count = match point.targets.len() {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let dot = style.dot();
    let name = style.paint(Colour::Strong, &point.name);
    let mut out = format!("{name}{dot}{}{dot}{count}\n", kind(point.kind));
    if point.targets.is_empty() {
        return out;
    }
    let mut table = Table::default();
    let heads = [
        "",
        "",
        what,
        column_if_halved(&point.targets, style),
        "",
        "slope",
        "",
        "experiments",
        "visits",
        "",
    ];
    let right = [
        true, false, false, true, false, true, false, true, true, false,
    ];
    table.row(
        heads
            .into_iter()
            .zip(right)
            .map(|(head, right)| Cell {
                text: head.into(),
                colour: Some(Colour::Dim),
                right,
            })
            .collect(),
    );
    let shown = if top == 0 { point.targets.len() } else { top };
    for (index, target) in point.targets.iter().take(shown).enumerate() {
        table.row(row(index + 1, target, style));
    }
    out.push_str(&table.render(style));
    out + &style.more(point.targets.len(), shown)
}

fn row(rank: usize, target: &Target, style: Style) -> Vec<Cell> {
    let colour = Some(shape_colour(target.shape));
    let half = predict(target, 0.5);
    let visits: u64 = target.points.iter().map(|point| point.visits).sum();
    vec![
        Cell::right(rank.to_string()),
        Cell::left(glyph(target.shape, style)).colour(colour),
        Cell::left(short_target(&target.id, style)),
        Cell::right(style.percent(half.program_speedup)).colour(colour),
        Cell::left(percents(half.interval, style)),
        Cell::right(style.signed(target.slope, 3)),
        Cell::left(interval(
            target.slope_interval,
            |number| style.signed(number, 3),
            style,
        )),
        Cell::right(target.experiments.to_string()),
        Cell::right(visits.to_string()),
        Cell::left(remark(target, style)).colour(colour),
    ]
}

/// The condition for the gain of a target: it takes half the time. The editor uses the same words.
pub(crate) fn if_halved(kind: TargetKind, style: Style) -> &'static str {
    match (kind, style.unicode) {
        (TargetKind::Blocked, _) => "if it waits half as long",
        (_, true) => "if 2× faster",
        (_, false) => "if 2x faster",
    }
}

/// The heading of the column of gains. A run whose kind of target was changed may have both waits and code.
fn column_if_halved(targets: &[Target], style: Style) -> &'static str {
    let is_wait = |target: &&Target| target.id.kind == TargetKind::Blocked;
    match targets.iter().filter(is_wait).count() {
        0 => if_halved(TargetKind::Line, style),
        waits if waits == targets.len() => if_halved(TargetKind::Blocked, style),
        _ => "if half the time",
    }
}

/// An interval in percent, in parentheses.
pub(crate) fn percents(bounds: Option<Interval>, style: Style) -> String {
    interval(bounds, |number| style.signed(number * 100.0, 1), style)
}

fn interval(bounds: Option<Interval>, show: impl Fn(f64) -> String, style: Style) -> String {
    let between = if style.unicode { "…" } else { ".." };
    match bounds {
        Some(it) => format!("({}{between}{})", show(it.low), show(it.high)),
        None => "(?)".into(),
    }
}

fn remark(target: &Target, style: Style) -> String {
    let main = match target.shape {
        _ if target.contention => "contention: a faster target makes the program slower".to_owned(),
        // The flag says why.
        Shape::Unknown if target.flags.contains(&Flag::Contradictory) => String::new(),
        Shape::Unknown => "not enough data".to_owned(),
        Shape::Flat if is_small_effect(target) => "hardly any effect".to_owned(),
        // The smallest effect that would have been seen: without it, "no effect" says nothing.
        Shape::Flat => match target.minimum_effect {
            Some(effect) if effect >= 0.0005 => format!(
                "no effect above {}{:.1} %",
                if style.unicode { "±" } else { "+-" },
                effect * 100.0
            ),
            _ => "no effect".to_owned(),
        },
        _ => String::new(),
    };
    let flags = target
        .flags
        .iter()
        .map(|&flag| flag_remark(flag).to_owned());
    let parts: Vec<String> = std::iter::once(main)
        .filter(|main| !main.is_empty())
        .chain(target.in_call.as_ref().map(call_remark))
        .chain(flags)
        .collect();
    parts.join("; ")
}

/// Shows direction and size without colour.
fn glyph(shape: Shape, style: Style) -> &'static str {
    let (unicode, ascii) = match shape {
        Shape::Gain1 => ("▲", "+"),
        Shape::Gain2 => ("▲▲", "++"),
        Shape::Gain3 => ("▲▲▲", "+++"),
        Shape::Gain4 => ("▲▲▲▲", "++++"),
        Shape::Flat => ("─", "="),
        Shape::Harm1 => ("▼", "-"),
        Shape::Harm2 => ("▼▼", "--"),
        Shape::Harm3 => ("▼▼▼", "---"),
        Shape::Unknown => ("○", "?"),
    };
    if style.unicode { unicode } else { ascii }
}

fn shape_colour(shape: Shape) -> Colour {
    match shape {
        Shape::Gain1 | Shape::Gain2 | Shape::Gain3 | Shape::Gain4 => Colour::Good,
        Shape::Harm1 | Shape::Harm2 | Shape::Harm3 => Colour::Bad,
        Shape::Flat | Shape::Unknown => Colour::Dim,
    }
}

pub(crate) fn kind(kind: PointKind) -> &'static str {
    match kind {
        PointKind::Throughput => "throughput",
        PointKind::Latency => "latency",
    }
}

/// Relative to the working folder when it lies below it; on a terminal long paths lose their first folders.
pub(crate) fn short_target(id: &TargetId, style: Style) -> String {
    let file = Path::new(&id.location.file);
    let here = std::env::current_dir().ok();
    let short = here
        .as_deref()
        .and_then(|here| file.strip_prefix(here).ok())
        .unwrap_or(file);
    let short = short.to_string_lossy();
    let line = id.location.line;
    id.label(&if style.terminal {
        format!("{}:{line}", tail(&short, style))
    } else {
        format!("{short}:{line}")
    })
}

/// The length, in characters, to which long paths are shortened.
const PATH_WIDTH: usize = 40;

fn tail(path: &str, style: Style) -> String {
    let long = path.chars().count().saturating_sub(PATH_WIDTH);
    let after = path.char_indices().nth(long).map_or(0, |(at, _)| at);
    if long == 0 {
        return path.to_owned();
    }
    let cut = path[after..]
        .find('/')
        .map(|at| after + at)
        .or_else(|| path.rfind('/'));
    let dots = if style.unicode { "…" } else { "..." };
    cut.map_or_else(|| path.to_owned(), |cut| format!("{dots}{}", &path[cut..]))
}

/// What a line that is a call mostly does, and what that means for its gain.
fn call_remark(call: &InCall) -> String {
    let percent = |part: f64| format!("{:.0} %", part * 100.0);
    let (processor, waiting) = (percent(call.processor), percent(call.waiting));
    match (call.does, call.function.as_str()) {
        (CallDoes::Works, KERNEL) => format!("{processor} of it is the kernel's work"),
        (CallDoes::Works, function) => format!("{processor} of it is processor time in {function}"),
        (CallDoes::Waits, function) => {
            let holder = call
                .holder
                .as_ref()
                .map(|it| format!(" (the lock is mostly given back at {})", it.short_label()));
            format!(
                "{waiting} of it waits in {function}, which no virtual speedup shortens{}",
                holder.unwrap_or_default()
            )
        }
        (CallDoes::Unseen, function) => format!(
            "{} of it passes in {function}, waiting or in the kernel, which samples leave out here",
            percent(call.processor + call.waiting)
        ),
    }
}

fn flag_remark(flag: Flag) -> &'static str {
    match flag {
        Flag::RunQueue => "threads waited for processors, so the effect is less certain",
        Flag::FewVisits => "few visits",
        Flag::Shared => "shares its code with other functions",
        Flag::RegimeChange => "not a straight line: look at the points",
        Flag::Unstable => "arrivals and departures differ",
        Flag::Unsettled => "not settled: queues were still filling or draining",
        Flag::CostlyPauses => "pausing costs too much to tell",
        Flag::Contradictory => wording::CONTRADICTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(id: &str) -> Target {
        Target {
            id: id.parse().expect("a target"),
            slope: 0.2,
            slope_interval: None,
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: None,
            flags: Vec::new(),
            shape: Shape::Unknown,
            points: Vec::new(),
        }
    }

    #[test]
    fn the_heading_fits_code_and_waits() {
        let style = Style {
            colour: false,
            unicode: false,
            terminal: false,
        };
        let (line, wait) = ("a.c:7", "blocked:read@a.c:9");
        for (targets, heading) in [
            (vec![line], "if 2x faster"),
            (vec![wait, wait], "if it waits half as long"),
            (vec![wait, line], "if half the time"),
        ] {
            let targets = targets.into_iter().map(target).collect();
            let point = PointProfile {
                name: "served".into(),
                kind: PointKind::Throughput,
                targets,
            };
            let table = point_table(&point, 0, style);
            assert!(table.contains(&format!(" {heading} ")), "{table}");
        }
    }

    #[test]
    fn the_mark_the_number_and_the_remark_agree() {
        let style = Style {
            colour: false,
            unicode: true,
            terminal: false,
        };
        let row_of = |shape, slope: f64, width: f64, half: f64| {
            let point = |speedup, program_speedup| fulcrum_model::causal::Point {
                speedup,
                program_speedup,
                interval: Some(Interval::around(program_speedup, 0.02)),
                measured: None,
                visits: 9,
                duration_ns: 9,
            };
            Target {
                slope,
                slope_interval: Some(Interval::around(slope, width)),
                minimum_effect: Some(0.026),
                shape,
                points: vec![point(0.0, 0.0), point(0.5, half)],
                ..target("a.c:7")
            }
        };
        let mut hollow = row_of(Shape::Unknown, 0.046, 0.042, -0.029);
        hollow.flags = vec![Flag::Contradictory];
        for (target, mark, remark) in [
            (
                hollow,
                "○",
                "the slope and the curve disagree; run it longer",
            ),
            (
                row_of(Shape::Unknown, 0.046, 0.2, -0.029),
                "○",
                "not enough data",
            ),
            (
                row_of(Shape::Flat, -0.023, 0.014, -0.011),
                "─",
                "hardly any effect",
            ),
            (
                row_of(Shape::Flat, -0.014, 0.019, 0.009),
                "─",
                "no effect above ±2.6 %",
            ),
        ] {
            let cells = row(1, &target, style);
            let [_, shown_mark, .., shown_remark] = &cells[..] else {
                panic!("a row of cells")
            };
            assert_eq!((&*shown_mark.text, &*shown_remark.text), (mark, remark));
        }
    }

    #[test]
    fn a_call_is_remarked_on() {
        let style = Style {
            colour: false,
            unicode: false,
            terminal: false,
        };
        let remark_on = |function: &str, does| {
            let mut target = target("a.c:7");
            target.in_call = Some(InCall {
                function: function.into(),
                processor: if does == CallDoes::Works { 0.93 } else { 0.02 },
                waiting: if does == CallDoes::Works { 0.01 } else { 0.95 },
                does,
                holder: None,
            });
            remark(&target, style)
        };
        for (function, does, expected) in [
            (
                "sendmsg",
                CallDoes::Works,
                "93 % of it is processor time in sendmsg",
            ),
            (KERNEL, CallDoes::Works, "93 % of it is the kernel's work"),
            (
                "pthread_mutex_lock",
                CallDoes::Waits,
                "95 % of it waits in pthread_mutex_lock, which no virtual speedup shortens",
            ),
            (
                "read",
                CallDoes::Unseen,
                "97 % of it passes in read, waiting or in the kernel, which samples leave out here",
            ),
        ] {
            assert_eq!(
                remark_on(function, does),
                format!("not enough data; {expected}")
            );
        }
    }

    #[test]
    fn long_paths_keep_their_end() {
        let style = Style {
            colour: false,
            unicode: true,
            terminal: true,
        };
        for (path, expected) in [
            ("src/main.c", "src/main.c"),
            (
                "parsec-2.1/pkgs/apps/ferret/obj/benchmark/ferret-parallel.c",
                "…/ferret/obj/benchmark/ferret-parallel.c",
            ),
            (
                "a/an-extremely-long-name-that-does-not-fit-anywhere.cpp",
                "…/an-extremely-long-name-that-does-not-fit-anywhere.cpp",
            ),
            (
                "another-extremely-long-name-without-any-folder.cpp",
                "another-extremely-long-name-without-any-folder.cpp",
            ),
        ] {
            assert_eq!(tail(path, style), expected);
        }
    }
}

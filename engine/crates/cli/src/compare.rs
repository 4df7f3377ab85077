//! `fulcrum causal compare`: two runs, before and after a change.

use std::collections::BTreeSet;

use fulcrum_causal::{Options, compare as compared, wording};
use fulcrum_model::TargetId;
use fulcrum_model::causal::{PointKind, Recording};
use fulcrum_model::comparison::{
    Comparison, Estimate, Note, PointComparison, Side, TargetComparison,
};
use fulcrum_runs::{LoadedCausal, RunFolder};
use fulcrum_source::LineMapping;

use crate::args::CompareArgs;
use crate::outcome::{DONE, Failure, NOTHING, Outcome};
use crate::terminal::{self, Cell, Colour, Style, Table};
use crate::{causal, report};

/// Targets in the table without `--top`.
const TABLE_TOP: usize = 10;

/// `fulcrum causal compare`.
pub(crate) fn compare(args: &CompareArgs) -> Outcome {
    let program = args.program.as_deref();
    let before = causal::load(&args.before, program)?;
    let after = causal::load(&args.after, program)?;
    let options = Options {
        phase_correction: !args.no_phase_correction,
        ..Options::default()
    };
    let (mapping, note) = line_mapping(&before, &after);
    let mut notes = Vec::from_iter(note);
    notes.extend(differences(&before, &after));
    let mut comparison = compared(
        &before.recording,
        &after.recording,
        &|id: &TargetId| mapping.target(id),
        &options,
    );
    notes.append(&mut comparison.notes);
    comparison.notes = notes;
    if let Some(name) = &args.progress_point {
        only(&mut comparison, name)?;
    }
    if args.json {
        let titles = (&*before.title, &*after.title);
        let top = args.top.unwrap_or(0);
        terminal::answer(&fulcrum_answers::causal::comparison(
            &comparison,
            titles,
            top,
        ))?;
    } else {
        let top = args.top.unwrap_or(TABLE_TOP);
        terminal::print(&table(&comparison, top, Style::stdout()))?;
    }
    let found = comparison
        .progress_points
        .iter()
        .any(|point| point.actual.is_some());
    Ok(if found { DONE } else { NOTHING })
}

fn only(comparison: &mut Comparison, name: &str) -> Result<(), Failure> {
    let points = &mut comparison.progress_points;
    let names: Vec<String> = points.iter().map(|point| point.name.clone()).collect();
    points.retain(|point| point.name == name);
    if points.is_empty() {
        return Err(Failure::NotFound(format!(
            "the run before has no progress point {name:?}; it has: {}",
            names.join(", ")
        )));
    }
    Ok(())
}

/// Where the targets of one run are in the other, and a note if that is uncertain.
fn line_mapping(before: &LoadedCausal, after: &LoadedCausal) -> (LineMapping, Option<Note>) {
    let (old, new) = (sources(before), sources(after));
    let with_text =
        |files: &[(String, Option<String>)]| files.iter().any(|(_, text)| text.is_some());
    let note = match (with_text(&old), with_text(&new)) {
        (true, true) => None,
        (false, true) => Some(Note::NoSource(Side::Before)),
        (true, false) => Some(Note::NoSource(Side::After)),
        (false, false) => Some(Note::NoSourceAtAll),
    };
    fn view(files: &[(String, Option<String>)]) -> Vec<(&str, Option<&str>)> {
        files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_deref()))
            .collect()
    }
    (LineMapping::new(&view(&old), &view(&new)), note)
}

/// The files that a recording names, with their text at that time.
fn sources(loaded: &LoadedCausal) -> Vec<(String, Option<String>)> {
    let Recording {
        experiments,
        samples,
        ..
    } = &loaded.recording;
    let named = experiments.iter().map(|it| &it.selected);
    let named = named.chain(samples.iter().map(|(id, _)| id));
    let files: BTreeSet<&str> = named.map(|id| id.location.file.as_str()).collect();
    let folder = loaded
        .folder
        .as_ref()
        .and_then(|path| RunFolder::open(path).ok());
    files
        .into_iter()
        .map(|file| {
            let text = folder.as_ref().and_then(|run| run.read_snapshot(file));
            (file.to_owned(), text)
        })
        .collect()
}

/// Notes on what makes the runs hard to compare.
fn differences(before: &LoadedCausal, after: &LoadedCausal) -> Vec<Note> {
    let (Some(old), Some(new)) = (&before.manifest, &after.manifest) else {
        return vec![Note::NoManifest];
    };
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    if base(&old.command) != base(&new.command) {
        notes.push(Note::DifferentPrograms {
            before: old.command.clone(),
            after: new.command.clone(),
        });
    }
    if old.arguments != new.arguments {
        notes.push(Note::DifferentArguments {
            before: old.arguments.join(" "),
            after: new.arguments.join(" "),
        });
    }
    if old.host != new.host || old.cpu != new.cpu {
        notes.push(Note::DifferentMachines);
    }
    notes
}

fn table(comparison: &Comparison, top: usize, style: Style) -> String {
    let mut out = String::new();
    for point in &comparison.progress_points {
        out.push_str(&point_table(point, top, style));
        out.push('\n');
    }
    let notes = comparison.notes.iter().map(wording::comparison_note);
    out + &style.notes(&Vec::from_iter(notes))
}

fn point_table(point: &PointComparison, top: usize, style: Style) -> String {
    let dot = style.dot();
    let name = style.paint(Colour::Strong, &point.name);
    let kind = report::kind(point.kind);
    let mut out = format!("{name}{dot}{kind}{dot}{}\n", outcome(point, style));
    let mut table = Table::default();
    let heads = [
        "",
        "cost before",
        "after",
        "less",
        "",
        "predicted",
        "",
        "actual",
        "",
    ];
    let right = [false, true, true, true, false, true, false, true, false];
    let head = |(text, right): (&str, bool)| Cell {
        text: text.into(),
        colour: Some(Colour::Dim),
        right,
    };
    table.row(heads.into_iter().zip(right).map(head).collect());
    let shown = if top == 0 { point.targets.len() } else { top };
    for target in point.targets.iter().take(shown) {
        table.row(row(point, target, style));
    }
    if !point.targets.is_empty() {
        out.push_str(&table.render(style));
    }
    for target in point.targets.iter().take(shown).filter(|it| it.changed) {
        let place = report::short_target(&target.before, style);
        out.push_str(&format!("{place}: {}\n", target.verdict));
    }
    out + &style.more(point.targets.len(), shown)
}

/// `12.0 → 15.3 visits/s (+27.5 %), 21.6 % less time a visit (+19.8…+23.0)`: two numbers for one gain.
fn outcome(point: &PointComparison, style: Style) -> String {
    let arrow = if style.unicode { "→" } else { "to" };
    let both = match point.kind {
        PointKind::Throughput => point
            .before_rate
            .zip(point.after_rate)
            .map(|(before, after)| {
                let more = style.percent(after / before - 1.0);
                format!(
                    "{} {arrow} {} visits/s ({more})",
                    short(before),
                    short(after)
                )
            }),
        PointKind::Latency => point
            .before_ns
            .zip(point.after_ns)
            .map(|(before, after)| format!("{} {arrow} {}", time(before.value), time(after.value))),
    };
    match (both, point.actual) {
        (Some(both), Some(actual)) => {
            let size = format!("{:.1} %", actual.value.abs() * 100.0);
            let word = if actual.value < 0.0 { "more" } else { "less" };
            let unit = match point.kind {
                PointKind::Throughput => "visit",
                PointKind::Latency => "request",
            };
            let bounds = report::percents(actual.interval, style);
            format!("{both}, {size} {word} time a {unit} {bounds}")
        }
        _ => "not measured in both runs".into(),
    }
}

fn row(point: &PointComparison, target: &TargetComparison, style: Style) -> Vec<Cell> {
    let cost = |cost: Option<Estimate>| cost.map(|it| time(it.value)).unwrap_or_default();
    let percent = |it: Option<Estimate>| it.map(|it| style.percent(it.value)).unwrap_or_default();
    let bounds = |it: Option<Estimate>| {
        it.map(|it| report::percents(it.interval, style))
            .unwrap_or_default()
    };
    let after = match target.after {
        Some(_) => cost(target.cost_after),
        None => "gone".into(),
    };
    let changed = |estimate: Option<Estimate>| estimate.filter(|_| target.changed);
    vec![
        Cell::left(report::short_target(&target.before, style)),
        Cell::right(cost(target.cost_before)),
        Cell::right(after),
        Cell::right(percent(target.speedup)),
        Cell::left(bounds(target.speedup)),
        Cell::right(percent(changed(target.predicted))),
        Cell::left(bounds(changed(target.predicted))),
        Cell::right(percent(changed(point.actual))),
        Cell::left(bounds(changed(point.actual))),
    ]
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Nanoseconds for people.
fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{} s", short(ns / 1e9)),
        ns if ns >= 1e6 => format!("{} ms", short(ns / 1e6)),
        ns if ns >= 1e3 => format!("{} us", short(ns / 1e3)),
        ns => format!("{ns:.0} ns"),
    }
}

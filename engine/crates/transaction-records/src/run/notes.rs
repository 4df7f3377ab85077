//! Words what is missing from a run, one sentence each.

use std::collections::BTreeMap;

use fulcrum_model::text::counted;
use fulcrum_wire::transactions::Record;

use super::folder::Folder;
use crate::log::{Log, State};
use crate::process::text;
use crate::replay::World;
use crate::samples::Samples;

/// The most processes or programs named in one sentence.
const NAMED: usize = 5;

pub(super) fn of_reading(runs: &[Folder], logs: &[Log<'_>], world: &World<'_>) -> Vec<String> {
    let refused = runs.iter().flat_map(Folder::refused);
    let mut notes: Vec<String> = refused
        .map(|(name, error)| {
            format!("The log {name} cannot be read, so its process is missing: {error}.")
        })
        .collect();
    for (row, log) in logs.iter().enumerate() {
        of_process(row, log, world, &mut notes);
    }
    notes.extend(runs.iter().filter_map(of_windows));
    of_clocks(world, &mut notes);
    if world.forced > 0 {
        notes.push(format!(
            "{} were replayed before what they depend on, which was not recorded or is damaged.",
            counted(world.forced, "record", "records")
        ));
    }
    notes.extend(of_programs(logs, world));
    notes
}

/// What was not recorded because recording paused.
fn of_windows(run: &Folder) -> Option<String> {
    let last = run.windows().last()?;
    let logs = run.logs();
    let began = logs.iter().map(|it| it.header().start_ns).min()?;
    let ended = logs.iter().map(|it| it.header().end_ns).max()?.max(last);
    let all = ended.saturating_sub(began);
    let recorded = all.saturating_sub(run.windows().paused_ns(ended));
    Some(format!(
        "{:.0} of {:.0} s were recorded, in {}, since recording everything would have slowed the program down too much. Counts and \
         sums are those of the windows; what began or ended outside of them is left out.",
        recorded as f64 / 1e9,
        all as f64 / 1e9,
        counted(run.windows().count() as u64, "window", "windows"),
    ))
}

fn of_process(row: usize, log: &Log<'_>, world: &World<'_>, notes: &mut Vec<String>) {
    let info = &world.index().processes[row];
    let name = format!("{} ({})", info.name(), info.id());
    let header = log.header();
    if let Some(lost) = log.lost().text() {
        notes.push(format!("The log of {name} is damaged: {lost}."));
    }
    if header.state == State::Full {
        notes.push(format!(
            "The log of {name} reached its limit. A larger limit can be set."
        ));
    }
    if header.dropped > 0 {
        notes.push(format!(
            "The log of {name} had no room for {}.",
            counted(header.dropped, "record", "records")
        ));
    }
    if header.paths_lost > 0 {
        notes.push(format!(
            "{} of {name} could not be kept: its table of call paths was full.",
            counted(header.paths_lost, "call path", "call paths")
        ));
    }
    if header.unseen_operations > 0 {
        let is_one = header.unseen_operations == 1;
        notes.push(format!(
            "{} of {name} through io_uring {} not followed.",
            counted(header.unseen_operations, "operation", "operations"),
            if is_one { "is" } else { "are" }
        ));
    }
}

fn of_clocks(world: &World<'_>, notes: &mut Vec<String>) {
    let index = world.index();
    let moved = index.shifts.iter().zip(&index.processes);
    let moved: Vec<String> = moved
        .filter(|(shift, _)| **shift != 0)
        .map(|(_, it)| format!("{} ({})", it.name(), it.id()))
        .collect();
    if !moved.is_empty() {
        notes.push(format!(
            "On timelines, the times of {} are shifted to the clock of another machine, by the dates of both.",
            listed(&moved)
        ));
    }
}

/// The notes of the library in the programs, each sentence once.
fn of_programs(logs: &[Log<'_>], world: &World<'_>) -> Vec<String> {
    let mut programs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (log, info) in logs.iter().zip(&world.index().processes) {
        for row in 0..log.threads().len() {
            for (_, record) in log.records(row) {
                if let Record::Note(note) = record {
                    let programs = programs.entry(text(note)).or_default();
                    if !programs.iter().any(|it| it == info.name()) {
                        programs.push(info.name().to_owned());
                    }
                }
            }
        }
    }
    let sentence =
        |(note, programs): (String, Vec<String>)| format!("{}: {note}", listed(&programs));
    programs.into_iter().map(sentence).collect()
}

pub(super) fn of_samples(samples: &Samples<'_>) -> Vec<String> {
    let mut notes = samples.notes().to_vec();
    if samples.lost() > 0 {
        notes.push(format!(
            "The recorder lost {}: CPU times are too low by these.",
            counted(samples.lost(), "sample", "samples")
        ));
    }
    notes
}

pub(super) fn of_going_on(folder: &Folder) -> String {
    let name = folder.name();
    format!("{name} is still being recorded: this is its state so far.")
}

pub(super) fn of_no_samples(folder: &Folder) -> String {
    let name = folder.name();
    format!("{name} has no CPU samples, so its programs show no CPU time.")
}

pub(super) fn of_unlogged(programs: &[&str]) -> Option<String> {
    let programs: Vec<String> = programs.iter().map(|&it| it.into()).collect();
    (!programs.is_empty()).then(|| {
        format!(
            "{} could not be instrumented, being static, privileged or started in another way: its CPU time is shown without transactions.",
            listed(&programs)
        )
    })
}

fn listed(all: &[String]) -> String {
    let named = all[..all.len().min(NAMED)].join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

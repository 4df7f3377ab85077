//! Why the result of a run is empty or weaker than it could be.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::control::MOST_EXPERIMENT_S;
use super::process::breakpoints::Unplaced;
use super::process::plan::NoPlan;
use super::process::{Answer, Watched};
use super::{members, status};
use crate::Options;
use crate::program::launch::Program;

/// A run of this many seconds should have made an experiment.
const LONG_ENOUGH_S: f64 = 3.0;

/// Explains the result of a run that has ended.
pub(crate) struct Diagnosis<'a> {
    /// Every process that loaded the runtime.
    pub processes: &'a [Watched],
    /// The time from the start to the end.
    pub elapsed: Duration,
    /// The options of the run.
    pub options: &'a Options,
    /// The given program.
    pub program: &'a Program,
}

impl Diagnosis<'_> {
    /// Sentences on why the result is empty or weaker than it could be.
    pub(crate) fn notes(&self) -> Vec<String> {
        let Diagnosis {
            processes, options, ..
        } = *self;
        if processes.is_empty() {
            return vec![why_not_entered(self.program)];
        }
        let is_profiled = |it: &Watched| matches!(it.answer, Answer::Profiled);
        let any_profiled = processes.iter().any(is_profiled);
        if !any_profiled && let Some(note) = self.no_debug_information() {
            return vec![note];
        }
        let mut notes: Vec<String> = members::profiled_programs(processes).into_iter().collect();
        for process in processes {
            // Wrappers such as env or a shell have nothing in scope, which does not matter when another process has.
            if !any_profiled || is_profiled(process) {
                for note in process.notes(options) {
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
        }
        notes.extend(not_counted(processes));
        notes.extend(short_lived(processes));
        if any_profiled && !processes.iter().any(Watched::is_sealed) {
            notes.extend(self.no_experiment());
        }
        notes
    }

    /// Why there was no experiment, if there was none.
    fn no_experiment(&self) -> Option<String> {
        let counters = status::counters(self.processes, self.elapsed, self.options);
        if counters.experiments > 0 {
            return None;
        }
        Some(match self.options.end_to_end {
            Some(_) => "There was no experiment: the first run only shows where the program spends its time, so allow more \
                        with --runs or --duration."
                .into(),
            None if counters.visits == 0 => {
                "No progress point was visited, so there was nothing to measure. Give the line where a unit of work ends with \
                 --progress FILE:LINE. Or put `FULCRUM_PROGRESS;` there (`fulcrum_progress::progress!();` in Rust; Insert \
                 Progress Point in the editor), build and run again."
                    .into()
            }
            None => why_no_experiments(self.elapsed.as_secs_f64(), self.options),
        })
    }

    /// Why nothing was profiled, if none of several processes has debug information.
    fn no_debug_information(&self) -> Option<String> {
        let lacks_it = |it: &Watched| matches!(it.answer, Answer::Dormant(NoPlan::NoDebugInfo(_)));
        if !self.program.starts_others || !self.processes.iter().all(lacks_it) {
            return None;
        }
        let names = members::names(self.processes.iter());
        Some(format!(
            "Nothing was profiled: neither {} nor any program it started has debug information (seen: {names}). Compile the \
             program that you want to profile with -g and link it dynamically; static and setuid programs are not seen at all.",
            self.program.path.display()
        ))
    }
}

/// Why no process announced itself.
fn why_not_entered(program: &Program) -> String {
    let name = program.path.display();
    // Whether the runtime can enter the given program itself was checked before the start.
    if program.starts_others {
        format!(
            "The runtime could not enter the program: neither {name} nor what it starts loads libraries named by \
             LD_PRELOAD, as static and setuid programs do not; build them dynamically linked and run them without special \
             privileges."
        )
    } else {
        format!(
            "The runtime could not enter the program: {name} ended before it had loaded its libraries; run it by itself \
             to see why."
        )
    }
}

/// The part of all samples from which on it is said that processes left no records.
const LOST: f64 = 0.01;

/// Says that children left no records, if their samples matter.
fn short_lived(processes: &[Watched]) -> Option<String> {
    let samples = |it: &Watched| it.block.get().in_scope.load(Ordering::Relaxed);
    let all: u64 = processes.iter().map(samples).sum();
    let short = (processes.iter()).filter(|it| it.is_child() && it.left_no_records());
    let (count, lost) = short.fold((0_u64, 0), |(count, lost), it| {
        (count + 1, lost + samples(it))
    });
    let share = lost as f64 / all as f64;
    (count > 0 && share >= LOST).then(|| {
        format!(
            "{count} processes that the program forked ended within half a second and left no records: {:.0} % of the samples \
             in scope were taken in them and are not in the result. Let the program serve more requests in each process, or \
             in threads.",
            share * 100.0,
        )
    })
}

/// Sentences on the requested lines that no process has.
fn not_counted(processes: &[Watched]) -> Vec<String> {
    let profiled = processes
        .iter()
        .filter(|it| matches!(it.answer, Answer::Profiled));
    let mut everywhere: Option<BTreeSet<&Unplaced>> = None;
    for process in profiled.filter(|it| !it.is_child()) {
        let here = process.unplaced().iter().collect();
        everywhere = Some(match everywhere {
            Some(before) => before.intersection(&here).copied().collect(),
            None => here,
        });
    }
    let sentence =
        |Unplaced { line, why }: &Unplaced| format!("Visits to {line} are not counted: {why}.");
    everywhere.into_iter().flatten().map(sentence).collect()
}

fn why_no_experiments(seconds: f64, options: &Options) -> String {
    if let Some(line) = &options.fixed_line
        && seconds > LONG_ENOUGH_S
    {
        return format!(
            "In {seconds:.0} s hardly a sample fell in {line}, the only target that was allowed: choose a line where \
             the program spends its time (run without --fixed-line to see which)."
        );
    }
    if let Some(share) = options.max_overhead {
        return format!(
            "The program ran for {seconds:.1} s. One experiment may take {:.1} s, which stays within the limit of {:.0} % \
             only in a run of {:.0} s or more: run it longer, or allow more with --max-overhead.",
            MOST_EXPERIMENT_S,
            share * 100.0,
            MOST_EXPERIMENT_S / share,
        );
    }
    format!(
        "The program ran for {seconds:.1} s, too short for an experiment: give it more work, a minute is good."
    )
}

//! Why a result is empty or weaker than it could be.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::control::MOST_EXPERIMENT_S;
use crate::launch::Program;
use crate::plan::NoPlan;
use crate::process::{Answer, Watched};
use crate::{Options, tree, watch};

/// A run of so many seconds should have had an experiment.
const LONG_ENOUGH_S: f64 = 3.0;

/// What a run looked like.
pub struct Observed<'a> {
    /// Every process that loaded the runtime.
    pub processes: &'a [Watched],
    /// From the start to the end.
    pub elapsed: Duration,
    /// What was asked for.
    pub options: &'a Options,
    /// The program that was given.
    pub program: &'a Program,
}

/// Why the result is empty or weaker than it could be.
pub fn why_weak(observed: &Observed<'_>) -> Vec<String> {
    let Observed {
        processes, options, ..
    } = *observed;
    let profiled = |it: &&Watched| matches!(it.answer, Answer::Profiled);
    let counters = watch::counters(processes, observed.elapsed, options);
    if processes.is_empty() {
        return vec![why_not_entered(observed.program)];
    }
    let mut notes = Vec::new();
    let any_profiled = processes.iter().any(|it| profiled(&it));
    if !any_profiled && let Some(note) = only_bare(observed) {
        return vec![note];
    }
    notes.extend(tree::who(processes));
    for process in processes {
        // Wrappers such as env or a shell have nothing in scope; that is no news when something else has.
        if !any_profiled || profiled(&process) {
            for note in process.notes(options) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    notes.extend(not_counted(processes));
    let sealed = processes.iter().any(Watched::is_sealed);
    if any_profiled && counters.experiments == 0 && !sealed {
        notes.push(match options.end_to_end {
            Some(_) => "There was no experiment: the first run only shows where the program spends its time, so allow more \
                        with --runs or --duration."
                .into(),
            None if counters.visits == 0 => {
                "No progress point was visited, so there was nothing to measure: name a line where a unit of work ends \
                 with --progress FILE:LINE; or put FULCRUM_PROGRESS; there, in Rust fulcrum_progress::progress!(); (in \
                 the editor: Insert Progress Point), build again and run again."
                    .into()
            }
            None => why_no_experiments(observed.elapsed.as_secs_f64(), options),
        });
    }
    notes
}

/// No process has said hello.
fn why_not_entered(program: &Program) -> String {
    let name = program.path.display();
    // What keeps the runtime out of the given program itself was looked for before it was started.
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

/// A tree of processes of which none has debug information.
fn only_bare(observed: &Observed<'_>) -> Option<String> {
    let bare = |it: &Watched| matches!(it.answer, Answer::Dormant(NoPlan::Bare(_)));
    let given = &observed.program;
    if !given.starts_others || !observed.processes.iter().all(bare) {
        return None;
    }
    let names = tree::names(observed.processes.iter());
    Some(format!(
        "Nothing was profiled: neither {} nor what it started has debug information (seen: {names}). Compile what is \
         meant with -g and link it dynamically; static and setuid programs are not seen at all.",
        given.path.display()
    ))
}

/// The lines to count visits to that no process has.
fn not_counted(processes: &[Watched]) -> Vec<String> {
    let profiled = processes
        .iter()
        .filter(|it| matches!(it.answer, Answer::Profiled));
    let mut everywhere: Option<BTreeSet<&(String, String)>> = None;
    for process in profiled.filter(|it| !it.is_child()) {
        let here = process.unplaced().iter().collect();
        everywhere = Some(match everywhere {
            Some(before) => before.intersection(&here).copied().collect(),
            None => here,
        });
    }
    let sentence =
        |(text, why): &(String, String)| format!("Visits to {text} are not counted: {why}.");
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
            "The program ran for {seconds:.1} s. One experiment may cost {:.1} s, which is {:.0} % of {:.0} s at the \
             least: run it longer, or allow more with --max-overhead.",
            MOST_EXPERIMENT_S,
            share * 100.0,
            MOST_EXPERIMENT_S / share,
        );
    }
    format!(
        "The program ran for {seconds:.1} s, too short for an experiment: give it more work, a minute is good."
    )
}

//! Why a result is empty or weaker than it could be.

use std::time::Duration;

use crate::control::MOST_EXPERIMENT_S;
use crate::process::{Answer, Watched};
use crate::{Options, watch};

/// A run of so many seconds should have had an experiment.
const LONG_ENOUGH_S: f64 = 3.0;
/// Why the result is empty or weaker than it could be.
pub fn why_weak(processes: &[Watched], elapsed: Duration, options: &Options) -> Vec<String> {
    let profiled = |it: &&Watched| matches!(it.answer, Answer::Profiled);
    let counters = watch::counters(processes, elapsed, options);
    if processes.is_empty() {
        return vec![
            "The runtime could not enter the program: static and setuid programs, and programs that talk to the \
             kernel without libc, cannot be profiled. Build it dynamically linked and run it without privileges."
                .into(),
        ];
    }
    let mut notes = Vec::new();
    let any_profiled = processes.iter().any(|it| profiled(&it));
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
    if any_profiled && counters.visits == 0 {
        notes.push(
            "No progress point was visited, so there was nothing to measure: put FULCRUM_PROGRESS; where a unit of \
             work ends (in the editor: Insert Progress Point), build again and run again."
                .into(),
        );
    } else if any_profiled && counters.experiments == 0 {
        notes.push(why_no_experiments(elapsed.as_secs_f64(), options));
    }
    notes
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

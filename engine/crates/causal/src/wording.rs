//! How notes on causal profiles and comparisons read: each is one whole sentence, or a few.

use fulcrum_model::causal::{LeftOut, LeftOutReason, NoResult, Note, PauseCost, Uncorrected};
use fulcrum_model::comparison::{self, Side};

/// Why a target is hollow although there is data ([`Flag::Contradictory`](fulcrum_model::causal::Flag)), to follow a colon or to
/// stand alone.
pub const CONTRADICTION: &str = "the slope and the curve disagree; run it longer";

/// What a note on a causal profile says.
pub fn note(note: &Note) -> String {
    match note {
        Note::Recording(sentence) => sentence.clone(),
        Note::Program { program, note } => {
            format!("{}: {}", program_name(program.as_deref()), self::note(note))
        }
        Note::SeveralPrograms(programs) => {
            let names: Vec<&str> = programs
                .iter()
                .map(|it| program_name(it.as_deref()))
                .collect();
            format!(
                "Results of {} programs are kept apart, each under progress points of its own: {}.",
                names.len(),
                names.join(", ")
            )
        }
        Note::Disturbed { left_out, all } => format!(
            "{left_out} of {all} experiments are left out because other programs kept the machine busy meanwhile; a \
             quieter machine needs less time."
        ),
        Note::BusyMachine { processors } => format!(
            "Other programs kept {processors:.1} processors busy throughout. Pauses make room for them, which flatters every \
             line: unless they belong to the measurement, run again on a quieter machine."
        ),
        Note::Unstable {
            point,
            arrivals,
            departures,
        } => format!(
            "Little's law does not hold for {point}: {arrivals} requests arrived and {departures} departed during \
             experiments, so its latencies depend on how long the run was; record while the program keeps up with its load."
        ),
        Note::PauseCost(cost) => pause_cost(cost),
        Note::Uncorrected(why) => uncorrected(*why).to_owned(),
        Note::LeftOut(left_out) => self::left_out(left_out),
        Note::PointWithoutResult { point, visits } => {
            let what = match visits {
                0 => "was not visited during any experiment".to_owned(),
                1 => "was visited once in all experiments".to_owned(),
                n => format!("was visited {n} times in all experiments, too few on any line"),
            };
            format!(
                "The progress point {point} has no result: it {what}. The others are judged by their own visits."
            )
        }
        Note::NoResult(why) => no_result(*why).to_owned(),
    }
}

fn program_name(program: Option<&str>) -> &str {
    program.unwrap_or("a program without a name")
}

fn pause_cost(cost: &PauseCost) -> String {
    let PauseCost {
        point,
        pause_ns,
        speedup,
        slower,
        margin,
    } = cost;
    format!(
        "Pausing itself costs time: {:.0} µs a pause. In placebo experiments, which only pause, {point} became {:.1} % ± \
         {:.1} slower at a virtual speedup of {:.0} %. Each result is corrected by half of what its own pauses cost, and its \
         interval covers everything between no correction and the full one.",
        pause_ns / 1000.0,
        slower * 100.0,
        margin * 100.0,
        speedup * 100.0
    )
}

fn uncorrected(why: Uncorrected) -> &'static str {
    match why {
        Uncorrected::NoRuntime => {
            "The results are not corrected for phases: the recording does not say how long the program ran."
        }
        Uncorrected::NoSamples => {
            "The results are not corrected for phases: the recording holds no samples of whole runs."
        }
    }
}

fn left_out(left_out: &LeftOut) -> String {
    let LeftOut {
        targets,
        only_lines,
        reason,
        points,
    } = left_out;
    let noun = if *only_lines { "line" } else { "target" };
    let lines = if *targets == 1 {
        format!("1 {noun} has")
    } else {
        format!("{targets} {noun}s have")
    };
    let what = match reason {
        LeftOutReason::NoBaseline => {
            "no experiment without virtual speedup to compare with".to_owned()
        }
        LeftOutReason::WeakBaseline { min_visits } => {
            format!("fewer than {min_visits} visits to the progress point without virtual speedup")
        }
        LeftOutReason::FewPoints { min_points } => {
            format!("fewer than {min_points} different speedups with enough visits")
        }
        LeftOutReason::NoSamples => {
            "no samples, so the result cannot be corrected for phases".to_owned()
        }
    };
    let at = match points.as_slice() {
        [] => String::new(),
        [one] => format!(" (progress point {one})"),
        some => format!(" (progress points {})", some.join(", ")),
    };
    format!("{lines} {what}{at}; left out.")
}

/// Why, and what to do.
fn no_result(why: NoResult) -> &'static str {
    match why {
        NoResult::OnlySamples => {
            "The recording holds samples but no experiments: run the program longer."
        }
        NoResult::NoExperiments => {
            "The recording holds no experiments: run the program longer, and check that it was built with debug information (-g) \
             and spends time in the code that is in scope."
        }
        NoResult::NoProgressPoint => {
            "The program has no progress point: mark one with FULCRUM_PROGRESS (fulcrum.h) where a unit of work is done, \
             build, and run again."
        }
        NoResult::NoVisits => {
            "No progress point was visited during an experiment: put it where the program passes often while it works, and \
             run again."
        }
        NoResult::NoTime => {
            "No experiment has a duration left, because more delay was inserted in each than time passed: record again."
        }
        NoResult::NoBaseline => {
            "Every experiment sped something up, and there is none to compare with: run without --fixed-speedup, or longer."
        }
        NoResult::NoSpeedup => {
            "No experiment sped anything up: run without --fixed-speedup 0, or longer."
        }
        NoResult::FewExperiments => {
            "No line has enough experiments yet: run the program longer, or move the progress point to where it is visited \
             more often."
        }
    }
}

/// What a note on a comparison says.
pub fn comparison_note(note: &comparison::Note) -> String {
    use comparison::Note;
    match note {
        Note::Profile(note) => self::note(note),
        Note::NoWholeRun(side) => format!(
            "The run {} does not hold the samples and the time of the whole run: what targets cost is taken from their own \
             experiments.",
            side_name(*side)
        ),
        Note::NoPeriod(side) => format!(
            "The run {} does not say how often it was sampled: costs assume a sample every millisecond.",
            side_name(*side)
        ),
        Note::NoBaseline { point } => format!(
            "The run after has no baseline for the progress point {point}: it was not visited often enough, or has another \
             name there."
        ),
        Note::NoSource(side) => format!(
            "The run {} has no copies of the source: lines are assumed to have kept their numbers.",
            side_name(*side)
        ),
        Note::NoSourceAtAll => {
            "The runs have no copies of the source: lines are assumed to have kept their numbers."
                .to_owned()
        }
        Note::NoManifest => {
            "A recording does not name its program and machine: both recordings are assumed to be of the same."
                .to_owned()
        }
        Note::DifferentPrograms { before, after } => {
            format!("The programs have different names: {before} and {after}.")
        }
        Note::DifferentArguments { before, after } => {
            format!("The arguments differ: {before:?} and {after:?}.")
        }
        Note::DifferentMachines => {
            "The runs were made on different machines: rates are not comparable.".to_owned()
        }
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Before => "before",
        Side::After => "after",
    }
}

//! What a reader skipped or assumed: kinds of notes, and how they read.

use std::fmt;

use fulcrum_model::text::{counted, shorten};

/// A note on the file.
pub(crate) enum Note<'a> {
    /// Records of a type that no reader knows were skipped.
    UnknownRecords { kind: &'a str, count: u64 },
    /// The file ends within this line.
    CutShort { line: u64 },
    /// The last line has no line end.
    NoLineEnd { line: u64 },
    /// Records of progress points outside experiments were skipped.
    StrayPoints(u64),
    /// Records of lines of coz's own macro were skipped.
    CozHeader(u64),
    /// So many experiments lasted no time.
    NoTime(u64),
    /// So many processes saved their samples during the run, too.
    SavedDuringRun(u64),
    /// Some processes did not say how long they ran.
    SomeWithoutRuntime { without: u64, others: usize },
    /// No process said it.
    NoRuntime,
    /// The file holds several runs.
    SeveralRuns(usize),
    /// The program did not end by itself.
    NotEnded,
}

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Note::UnknownRecords { kind, count } => write!(
                f,
                "Skipped {} of the unknown type {:?}.",
                counted(count, "record", "records"),
                shorten(kind)
            ),
            Note::CutShort { line } => write!(
                f,
                "The file ends in the middle of line {line}; everything before it was read."
            ),
            Note::NoLineEnd { line } => write!(
                f,
                "Line {line} is the last and has no line end; if the file was cut short there, its last number may be too small."
            ),
            Note::StrayPoints(count) => write!(
                f,
                "Skipped {} that belong to no experiment.",
                counted(count, "progress-point record", "progress-point records")
            ),
            Note::CozHeader(count) => write!(
                f,
                "Skipped {} of lines inside coz.h.",
                counted(count, "record", "records")
            ),
            Note::NoTime(count) => write!(
                f,
                "{} no duration left, because more delay was inserted than time passed.",
                counted(count, "experiment has", "experiments have")
            ),
            Note::SavedDuringRun(count) => write!(
                f,
                "In {} samples were also saved during the run; they repeat earlier counts, so only the last ones were taken.",
                counted(count, "process", "processes")
            ),
            Note::SomeWithoutRuntime { without, others } => write!(
                f,
                "{} ended without saving a run time; run time and samples come from the other {others}, experiments from all.",
                counted(without, "process", "processes")
            ),
            Note::NoRuntime => f.write_str(
                "No run in the file ended by itself; the time of the experiments stands in for the run time.",
            ),
            Note::SeveralRuns(count) => write!(
                f,
                "The file holds {count} runs, one after another; their run times and samples were added."
            ),
            Note::NotEnded => f.write_str(
                "The program did not end by itself (it was killed or is still running); everything up to then was read.",
            ),
        }
    }
}

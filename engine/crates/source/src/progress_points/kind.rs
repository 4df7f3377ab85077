//! Kinds of edits, and why an edit is refused.

use std::fmt;

use crate::syntax::language::Language;

/// What to insert or remove at the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgressPointKind {
    /// A throughput point: at the end of the innermost loop's body, or after the statement if there is no loop.
    Throughput,
    /// The beginning of a latency: before the statement, or first in the body of a loop if the cursor is in its header.
    LatencyBegin,
    /// The end of a latency: after the statement, or last in the body of a loop if the cursor is in its header.
    LatencyEnd,
    /// Removes the point on the cursor's line.
    Remove,
}

/// Why there is no edit. `Display` is a sentence that says what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    pub(crate) fn outside(line: usize) -> Refused {
        Refused(format!(
            "Line {line} is not inside a function with a body: put the cursor on the loop or statement to measure."
        ))
    }
    pub(crate) fn in_macro(line: usize) -> Refused {
        Refused(format!(
            "Line {line} is inside a macro definition: put the cursor where the macro is used."
        ))
    }
    pub(crate) fn unparseable(line: usize) -> Refused {
        Refused(format!(
            "The code around line {line} could not be parsed: write the macro by hand, or move the cursor to a simpler statement."
        ))
    }
    pub(crate) fn constexpr(line: usize) -> Refused {
        Refused(format!(
            "Line {line} is in a constexpr function, which cannot hold a progress point: put it where the function is called."
        ))
    }
    pub(crate) fn empty_case(line: usize) -> Refused {
        Refused(format!(
            "The case on line {line} has no statement of its own: put the cursor on a statement."
        ))
    }
    pub(crate) fn constant(line: usize) -> Refused {
        Refused(format!(
            "Line {line} is in a const function or block, which cannot hold a progress point: put it where the function is called."
        ))
    }
    pub(crate) fn nothing_to_remove(line: usize, language: Language) -> Refused {
        let what = match language {
            Language::C | Language::Cpp => "FULCRUM_ or COZ_ macro",
            Language::Rust => "macro of fulcrum_progress",
        };
        Refused(format!(
            "There is no progress point on line {line}: put the cursor on a line with a {what}."
        ))
    }
}

//! What is wrong in a profile, said by a reader that does not know the file's name.

use std::fmt::Display;

use crate::{IngestError, Place};

const ADVICE: &str = "record the profile again, or export it again from the tool that made it";

/// A problem with its place and the advice that fits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, when it has a place.
    pub place: Option<Place>,
    /// What is wrong and what was expected, without a full stop.
    pub problem: String,
    /// What to do next, without a full stop.
    pub advice: String,
}

impl Fault {
    /// A problem of the file as a whole.
    pub fn whole(problem: impl Into<String>) -> Self {
        Fault {
            place: None,
            problem: problem.into(),
            advice: ADVICE.into(),
        }
    }

    /// A problem in a 1-based line.
    pub fn line(line: usize, problem: impl Into<String>) -> Self {
        Fault {
            place: Some(Place::Line(line as u64)),
            ..Fault::whole(problem)
        }
    }

    /// A problem at a 0-based byte.
    pub fn byte(byte: usize, problem: impl Into<String>) -> Self {
        Fault {
            place: Some(Place::Byte(byte as u64)),
            ..Fault::whole(problem)
        }
    }

    /// The same at a 1-based line, unless it has a place already.
    pub fn at_line(self, line: usize) -> Self {
        let place = self.place.or(Some(Place::Line(line as u64)));
        Fault { place, ..self }
    }

    /// The same at a 0-based byte, unless it has a place already.
    pub fn at_byte(self, byte: usize) -> Self {
        let place = self.place.or(Some(Place::Byte(byte as u64)));
        Fault { place, ..self }
    }

    /// Other advice than to record again.
    pub fn advise(self, advice: &str) -> Self {
        Fault {
            advice: advice.into(),
            ..self
        }
    }

    /// The error for the file that the caller calls `name`.
    pub fn of(self, name: &str) -> IngestError {
        IngestError {
            name: name.into(),
            place: self.place,
            problem: self.problem,
            advice: self.advice,
        }
    }
}

/// The start of `text` in quotes, fit for a sentence.
pub fn quote(text: &str) -> String {
    format!("{:?}", crate::error::shorten(text))
}

/// The problem of a reference into a table that has no such row.
pub fn dangling(what: &str, id: impl Display, table: &str) -> Fault {
    Fault::whole(format!(
        "{what} names {table} {id}, which the file does not have"
    ))
}

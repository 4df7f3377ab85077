//! What is wrong in a profile. Readers do not know the file's name; [`Fault::of`] adds it.

use std::fmt::Display;

use fulcrum_model::Cancelled;

use crate::decode::json::Step;
use fulcrum_model::{Place, ReadError};

const ADVICE: &str = "record the profile again, or export it again from the tool that made it";

/// A problem with its place and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where, when it is known.
    pub(crate) place: Option<Place>,
    /// What is wrong and what was expected. No full stop.
    pub(crate) problem: String,
    /// What to do next. No full stop.
    pub(crate) advice: String,
    /// Where in a JSON text, outermost step first. The line is computed from it at the end.
    pub(crate) path: Vec<Step>,
    /// Nothing is wrong: reading was cancelled.
    pub(crate) cancelled: bool,
}

impl From<Cancelled> for Fault {
    fn from(cancelled: Cancelled) -> Self {
        Fault {
            cancelled: true,
            ..Fault::whole(cancelled.to_string())
        }
    }
}

impl Fault {
    /// A problem of the whole file.
    pub(crate) fn whole(problem: impl Into<String>) -> Self {
        Fault {
            place: None,
            problem: problem.into(),
            advice: ADVICE.into(),
            path: Vec::new(),
            cancelled: false,
        }
    }

    /// A problem in a 1-based line.
    pub(crate) fn line(line: usize, problem: impl Into<String>) -> Self {
        Fault {
            place: Some(Place::Line(line as u64)),
            ..Fault::whole(problem)
        }
    }

    /// A problem at a 0-based byte.
    pub(crate) fn byte(byte: usize, problem: impl Into<String>) -> Self {
        Fault {
            place: Some(Place::Byte(byte as u64)),
            ..Fault::whole(problem)
        }
    }

    /// Sets a 1-based line as the place, unless there is a place already.
    pub(crate) fn at_line(self, line: usize) -> Self {
        let place = self.place.or(Some(Place::Line(line as u64)));
        Fault { place, ..self }
    }

    /// Sets a 0-based byte as the place, unless there is a place already.
    pub(crate) fn at_byte(self, byte: usize) -> Self {
        let place = self.place.or(Some(Place::Byte(byte as u64)));
        Fault { place, ..self }
    }

    /// Puts the fault into item `row` of the array that a JSON object has under `key`.
    pub(crate) fn at_item(self, key: &'static str, row: usize) -> Self {
        self.at_step(Step::Item(row)).at_key(key)
    }

    /// Puts the fault under a key of a JSON object.
    pub(crate) fn at_key(self, key: &'static str) -> Self {
        self.at_step(Step::Key(key.into()))
    }

    /// Puts one more step before the path.
    pub(crate) fn at_step(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }

    /// As [`Fault::at_byte`]; 0 means unknown.
    pub(crate) fn at_known_byte(self, byte: usize) -> Self {
        match byte {
            0 => self,
            byte => self.at_byte(byte),
        }
    }

    /// Replaces the advice to record again.
    pub(crate) fn advise(self, advice: &str) -> Self {
        Fault {
            advice: advice.into(),
            ..self
        }
    }

    /// The error for the file `name`.
    pub(crate) fn of(self, name: &str) -> ReadError {
        ReadError {
            name: name.into(),
            place: self.place,
            problem: self.problem,
            advice: self.advice,
        }
    }
}

/// The beginning of `text` in quotes, for use in a sentence.
pub(crate) fn quote(text: &str) -> String {
    format!("{:?}", fulcrum_model::text::shorten(text))
}

/// The problem of a reference to a row that a table does not have.
pub(crate) fn dangling(what: &str, id: impl Display, table: &str) -> Fault {
    Fault::whole(format!(
        "{what} names {table} {id}, which the file does not have"
    ))
}

//! What is wrong in a profile, said by a reader that does not know the file's name.

use std::fmt::Display;

use fulcrum_model::Cancelled;

use crate::decode::json::Step;
use fulcrum_model::{Place, ReadError};

const ADVICE: &str = "record the profile again, or export it again from the tool that made it";

/// A problem with its place and the advice that fits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where, when it has a place.
    pub(crate) place: Option<Place>,
    /// What is wrong and what was expected, without a full stop.
    pub(crate) problem: String,
    /// What to do next, without a full stop.
    pub(crate) advice: String,
    /// Where in a JSON text, outermost first, as long as its line is not known.
    pub(crate) path: Vec<Step>,
    /// Nothing is wrong: nobody wants the profile any more.
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
    /// A problem of the file as a whole.
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

    /// The same at a 1-based line, unless it has a place already.
    pub(crate) fn at_line(self, line: usize) -> Self {
        let place = self.place.or(Some(Place::Line(line as u64)));
        Fault { place, ..self }
    }

    /// The same at a 0-based byte, unless it has a place already.
    pub(crate) fn at_byte(self, byte: usize) -> Self {
        let place = self.place.or(Some(Place::Byte(byte as u64)));
        Fault { place, ..self }
    }

    /// The same in the `row`-th of what a JSON object has under `key`.
    pub(crate) fn at_item(self, key: &'static str, row: usize) -> Self {
        self.at_step(Step::Item(row)).at_key(key)
    }

    /// The same under a key of a JSON object.
    pub(crate) fn at_key(self, key: &'static str) -> Self {
        self.at_step(Step::Key(key.into()))
    }

    /// The same behind one more step.
    pub(crate) fn at_step(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }

    /// The same at a byte, unless it is 0, which is unknown.
    pub(crate) fn at_known_byte(self, byte: usize) -> Self {
        match byte {
            0 => self,
            byte => self.at_byte(byte),
        }
    }

    /// Other advice than to record again.
    pub(crate) fn advise(self, advice: &str) -> Self {
        Fault {
            advice: advice.into(),
            ..self
        }
    }

    /// The error for the file that the caller calls `name`.
    pub(crate) fn of(self, name: &str) -> ReadError {
        ReadError {
            name: name.into(),
            place: self.place,
            problem: self.problem,
            advice: self.advice,
        }
    }
}

/// The start of `text` in quotes, fit for a sentence.
pub(crate) fn quote(text: &str) -> String {
    format!("{:?}", fulcrum_model::text::shorten(text))
}

/// The problem of a reference into a table that has no such row.
pub(crate) fn dangling(what: &str, id: impl Display, table: &str) -> Fault {
    Fault::whole(format!(
        "{what} names {table} {id}, which the file does not have"
    ))
}

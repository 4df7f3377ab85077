//! The one error of reading: where it happened, what was expected, what to do next.

use std::fmt;

/// Why bytes could not be read. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file as the caller named it.
    pub name: String,
    /// Where in the file, if the problem has a place.
    pub place: Option<Place>,
    /// What is wrong and what was expected, without a full stop.
    pub problem: String,
    /// What to do next, without a full stop.
    pub advice: String,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// 1-based line.
    Line(u64),
    /// 0-based byte offset, for files that are not text.
    Byte(u64),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            place,
            problem,
            advice,
        } = self;
        match place {
            Some(Place::Line(line)) => write!(f, "{name}:{line}: {problem}; {advice}."),
            Some(Place::Byte(byte)) => write!(f, "{name}, byte {byte}: {problem}; {advice}."),
            None => write!(f, "{name}: {problem}; {advice}."),
        }
    }
}

impl std::error::Error for ReadError {}

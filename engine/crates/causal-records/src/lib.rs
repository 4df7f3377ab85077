//! Reads and writes causal profiles: coz text and coz JSON lines; reads our own `causal-*.jsonl`. Formats are recognised by
//! content.
//!
//! Nothing here opens files or panics on input. A file that cannot be read is a [`ReadError`]; a part that can be skipped is a note
//! in the result.

#![forbid(unsafe_code)]

mod coz;
mod detect;
mod fulcrum;
mod lines;
mod notes;
mod programs;

use fulcrum_model::ReadError;
use fulcrum_model::causal::Recording;

pub use coz::write::{write_json_lines, write_text};
pub use programs::{keep_apart, of_program};

/// A format of causal profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// coz's tab-separated records, old and new spellings.
    CozText,
    /// The same records as JSON, one object a line.
    CozJsonLines,
    /// Our own record stream, `causal-*.jsonl`.
    Fulcrum,
}

/// One row of the registry.
struct Reader {
    format: Format,
    /// Whether the first non-empty line (or the file's name, for a stream cut short in its first line) shows this format.
    detect: fn(first: &str, name: &str) -> bool,
    read: fn(bytes: &[u8], name: &str) -> Result<Recording, ReadError>,
}

/// Every format, most specific first.
const READERS: [Reader; 3] = [
    Reader {
        format: Format::Fulcrum,
        detect: fulcrum::detect,
        read: fulcrum::read,
    },
    Reader {
        format: Format::CozJsonLines,
        detect: coz::json::detect,
        read: coz::json::read,
    },
    Reader {
        format: Format::CozText,
        detect: coz::text::detect,
        read: coz::text::read,
    },
];

/// Reads a causal profile of any known format. `name` is what errors call the file; only a stream that was cut short
/// in its very first line is recognised by it, everything else by content.
pub fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let reader = find(bytes, name)?;
    (reader.read)(bytes, name)
}

/// The format of a causal profile, or why it is none.
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, ReadError> {
    find(bytes, name).map(|reader| reader.format)
}

fn find(bytes: &[u8], name: &str) -> Result<&'static Reader, ReadError> {
    let first = detect::first_line(bytes, name)?;
    READERS
        .iter()
        .find(|reader| (reader.detect)(&first, name))
        .ok_or_else(|| detect::foreign(&first, name))
}

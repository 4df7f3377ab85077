//! coz's records, as text and as JSON lines: readers and writers of both.

mod assemble;
mod fields;
pub(crate) mod json;
mod processes;
pub(crate) mod text;
pub(crate) mod write;

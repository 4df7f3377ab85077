//! Bytes to model: one module a format, one registry a kind of profile; also the writers.
//!
//! Nothing here opens files or panics on input. Whatever cannot be read is an [`IngestError`] that says where,
//! what was expected, and what to do next; whatever can be read around is a note in the result.

pub mod causal;
mod error;
pub mod profile;

pub use error::{IngestError, Place};

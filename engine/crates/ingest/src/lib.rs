//! Bytes to profiles of calls: one module a format, one registry; also the writers.
//!
//! Nothing here opens files or panics on input. Whatever cannot be read is a [`fulcrum_model::ReadError`] that says where,
//! what was expected, and what to do next; whatever can be read around is a note in the result.

#![forbid(unsafe_code)]

pub mod profile;

//! Writes event logs (JPMT §4.2): a memory-mapped file in which each thread fills chunks of its own.
//!
//! Constraints, because this runs inside other people's programs:
//! - writing an event takes no lock and makes no system call; only a new chunk does;
//! - whatever kills the process, every event written so far is in the file;
//! - disk space is reserved before it is mapped, so a full disk ends the log, not the program;
//! - a log that reaches its limit is closed, and the program continues.
//!
//! The layout is `fulcrum_wire::log`; docs/formats.md describes it.

mod log;
mod places;
mod thread_writer;

pub use log::{Log, Moment, Options};
pub use thread_writer::ThreadWriter;

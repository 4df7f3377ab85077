//! Turns the logs of processes under transactional profiling into one profile of their transactions (Whodunit, EuroSys
//! 2007).
//!
//! The library in the profiled programs only records what threads did. This crate *replays* it: it determines what the
//! algorithms of `fulcrum-transactions` would have computed inside the programs.
//! - [`Log`] reads the log of one process, [`samples`] the recorder's CPU samples, and [`names`] the table of functions;
//! - [`run`] opens a run folder, which holds all of them.
//!
//! Constraints: no input causes a panic, and memory use is proportional to the input. Damaged data is left out and
//! reported.
#![forbid(unsafe_code)]

mod assemble;
mod context_keys;
mod error;
mod index;
mod log;
pub mod names;
mod process;
mod replay;
mod rows;
pub mod run;
pub mod samples;
mod spots;
mod windows;

pub use log::{Header, Log, LogError, Lost, Parent, Place, Position, State, ThreadLog};

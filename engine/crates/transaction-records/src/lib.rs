//! From the logs of processes under transactional profiling to one profile of their transactions (Whodunit, EuroSys 2007).
//!
//! The library in the profiled programs only says what threads did. Here this is *replayed*: what would have happened had
//! the algorithms of `fulcrum-transactions` run inside.
//! - [`Log`] reads the log of one process, [`samples`] the recorder's CPU samples, [`names`] the table of functions;
//! - [`run`] opens a folder with all of them.
//!
//! Constraints: no input makes it panic, and memory is in proportion to the input. What is damaged is left out and said.
#![forbid(unsafe_code)]

mod assemble;
mod context_keys;
mod error;
mod index;
mod log;
pub mod names;
mod process;
mod replay;
pub mod run;
pub mod samples;
mod spots;

pub use log::{Header, Log, LogError, Lost, Parent, Place, Position, State, ThreadLog};

//! Logs as profiled processes write them.

pub mod file;
pub mod script;

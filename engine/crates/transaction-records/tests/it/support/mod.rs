//! Logs as profiled processes write them.

pub(crate) mod file;
pub(crate) mod script;

//! The process: how the library starts and ends in it, and what `fork`, `exec` and exit do to its log.

pub(crate) mod exec;
pub(crate) mod exits;
pub(crate) mod fork;
pub(crate) mod life;
pub(crate) mod process_log;

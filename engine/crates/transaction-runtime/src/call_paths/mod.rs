//! Call paths (Whodunit §5): how a hook's callers are found, and the numbers that stand for them in the log.

pub(crate) mod callers;
pub(crate) mod memory;
pub(crate) mod modules;
pub(crate) mod paths;

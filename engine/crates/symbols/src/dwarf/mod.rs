//! Reading DWARF: what lines and functions both need from the debug information.

pub(crate) mod containers;
pub(crate) mod files;
pub(crate) mod flatten;
mod paths;
pub(crate) mod units;

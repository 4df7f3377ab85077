//! From bytes to values: what stands around a profile is removed, text and binary data are decoded, and faults get their
//! place in the file. Nothing here knows a format of profiles.

pub(crate) mod cursor;
pub(crate) mod fault;
pub(crate) mod folded_line;
pub(crate) mod input;
pub(crate) mod json;
pub(crate) mod limits;
pub(crate) mod marshal;
pub(crate) mod nested;
mod slabs;
pub(crate) mod texts;
pub(crate) mod unwrap;
pub(crate) mod wire;

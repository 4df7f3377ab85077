//! From bytes to values: removes compression and other wrapping, decodes text and binary data, and gives faults their place in
//! the file. Nothing here knows a profile format, except for single lines of folded stacks, which detection needs.

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
pub(crate) mod wrong_lines;

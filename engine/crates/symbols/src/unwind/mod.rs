//! Call frame information: the flat tables for signal handlers, and the complete rules for copies of stacks.

pub(crate) mod callers;
pub(crate) mod rows;

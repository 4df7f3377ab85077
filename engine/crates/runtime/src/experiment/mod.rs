//! Experiments: what one speeds up, the pauses that it makes, what it counts, and the records that it leaves.

pub(crate) mod choice;
pub(crate) mod holders;
pub(crate) mod output;
pub(crate) mod pausing;
pub(crate) mod points;
pub(crate) mod profiler;
pub(crate) mod requests;
pub(crate) mod rest;
pub(crate) mod section;

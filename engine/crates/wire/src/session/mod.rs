//! The shared memory of a live causal run: a file for each of its structures.

pub(crate) mod calls;
pub(crate) mod control;
pub(crate) mod map;
pub(crate) mod points;
pub(crate) mod process;
pub(crate) mod unwind;

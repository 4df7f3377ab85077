//! The integration tests of `fulcrum-symbols`: one binary, so that they are linked once.

mod awkward;
mod callers;
mod functions;
mod lines;
mod programs;
mod unwind;

//! The integration tests of `fulcrum-profiles`: one binary, so that they are linked once.

mod copied_stacks;
mod lines;

//! The integration tests of `fulcrum-jvm-core`: one binary, so that they are linked once.

mod java;
mod rewriting;

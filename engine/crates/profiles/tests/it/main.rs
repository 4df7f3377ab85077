//! The integration tests of `fulcrum-profiles`: one binary, so that they are linked once.

mod lines;

//! The integration tests of `fulcrum-progress`: one binary, so that they are linked once.

mod counters;

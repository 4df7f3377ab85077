//! The integration tests of `fulcrum-synthetic`: one binary, so that they are linked once.

mod automatic;
mod truth;

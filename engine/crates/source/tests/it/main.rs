//! The integration tests of `fulcrum-source`: one binary, so that they are linked once.

mod progress_points;
mod rust;

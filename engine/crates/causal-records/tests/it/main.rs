//! The integration tests of `fulcrum-causal-records`: one binary, so that they are linked once.

mod additions;
mod damage;
mod errors;
mod formats;
mod round_trip;

//! The integration tests of `fulcrum-runs`: one binary, so that they are linked once.

mod load;
mod store;

//! The integration tests of `fulcrum-preload`: one binary, so that they are linked once.

mod descriptors;
mod life;
mod quiet;
mod real;

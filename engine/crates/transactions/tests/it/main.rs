//! The integration tests of `fulcrum-transactions`: one binary, so that they are linked once.

mod contexts;
mod support;

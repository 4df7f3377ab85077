//! The integration tests of `fulcrum-critical-sections`: one binary, so that they are linked once.
#![cfg(target_arch = "x86_64")]

mod execution;
mod flows;
mod support;
mod surroundings;

//! The integration tests of `fulcrum-transactions`: one binary, so that they are linked once.

mod contexts;
mod crosstalk;
mod joined;
mod memory_pools;
mod memory_routines;
mod memory_rules;
mod memory_simulation;
mod messages;
mod observed;
mod recognise;
mod stitch;
mod support;

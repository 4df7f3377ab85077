//! The integration tests of `fulcrum-paths`: one binary, so that they are linked once.

mod automatic;
mod call_graph;
mod comparison;
mod definitions;
mod figure2;
mod flame;
mod interface;
mod open;
mod search;
mod support;
mod units;

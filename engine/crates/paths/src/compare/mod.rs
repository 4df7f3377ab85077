//! Comparisons: the profile interface for call trees and call graphs of two sides, and what several inputs on a side say about
//! noise.

pub(crate) mod call_graphs;
pub(crate) mod call_trees;
pub(crate) mod inputs;
pub(crate) mod observations;
pub(crate) mod spread;

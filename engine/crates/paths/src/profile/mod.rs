//! What the search knows of a profile: the paper's interface, and its implementations for one call tree and one call graph.
//! Those for comparisons are in [`compare`](crate::compare).

pub(crate) mod any;
pub(crate) mod call_graph;
pub(crate) mod call_tree;
pub(crate) mod denominator;
pub(crate) mod end;
pub(crate) mod interface;
pub(crate) mod nearness;
pub(crate) mod open;
mod shared;
pub(crate) mod unusual_shares;

//! What readers collect into: stacks or graphs with their values, which become the model's call trees and call graphs.

pub(crate) mod collected;
pub(crate) mod graphs;
pub(crate) mod ids;
pub(crate) mod interner;
pub(crate) mod parents;
pub(crate) mod stacks;
pub(crate) mod symbols;
pub(crate) mod units;

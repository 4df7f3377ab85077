//! Flame graphs: of a whole call tree, or of a path merged over all its contexts. Only what can be seen is computed.
//!
//! Boxes are as wide as their cost without signs, so that they always fit into the box that they stand on. A comparison
//! is drawn of one tree that has the nodes of all runs ([`Union`]).

mod costs;
mod layout;
mod merged;
mod nodes;
mod paint;
mod search;
mod tree;
mod union;

pub use costs::Width;
pub use layout::{Boxes, View};
pub use merged::{Merged, MergedSide, PathOccurrences};
pub use search::Matches;
pub use tree::FlameTree;

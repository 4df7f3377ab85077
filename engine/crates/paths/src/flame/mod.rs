//! Flame graphs: of a whole call tree, or of a path merged over all its contexts. Computes only what is visible.
//!
//! Boxes are as wide as the absolute value of their cost, so that they always fit on the box below them. A comparison is drawn as
//! one tree with the nodes of all inputs (`Union`).

mod by_calls;
mod costs;
mod layout;
mod levels;
mod merged;
mod nodes;
mod paint;
mod path_occurrences;
mod search;
mod stack;
mod tree;
mod union;

pub use costs::Width;
pub use layout::{Boxes, View};
pub use merged::Merged;
pub use paint::Painted;
pub use path_occurrences::{MergedSide, PathOccurrences};
pub use search::Matches;
pub use tree::FlameTree;

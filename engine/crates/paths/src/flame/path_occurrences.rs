//! The occurrences of a path that is merged.

use super::costs::{Cost as _, Costs, Width};

/// The direction of a merged flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergedSide {
    /// The callers, the nearest first.
    Callers,
    /// The callees.
    Callees,
}

/// The occurrences of a path in a tree. Finding them is the slow part of [`Merged::new`](crate::Merged::new), so callers may keep them.
#[derive(Debug)]
pub struct PathOccurrences {
    pub(super) side: MergedSide,
    pub(super) width: Width,
    pub(super) key: u32,
    /// The cost of everything that they cover.
    pub(super) total: Costs,
    /// The path has one name, and the boxes on it come from the table of calls: `nodes` and `costs` are empty.
    pub(super) by_calls: bool,
    /// The nodes of the outermost occurrences: for callees the final nodes, for callers the first ones.
    pub(super) nodes: Vec<u32>,
    /// The cost of what each of them covers. For callers only.
    pub(super) costs: Vec<Costs>,
}

impl PathOccurrences {
    /// Adds an outermost occurrence, by its last and its first node, with what it covers.
    pub(super) fn add(&mut self, (last, first): (u32, u32), costs: Costs) {
        self.total.add(costs);
        match self.side {
            MergedSide::Callers => {
                self.nodes.push(first);
                self.costs.push(costs);
            }
            MergedSide::Callees => self.nodes.push(last),
        }
    }
}

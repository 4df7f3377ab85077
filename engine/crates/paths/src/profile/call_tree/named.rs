//! Trees whose nodes are known by name.

use crate::profile::call_tree::region::Sums;

/// A tree in preorder whose nodes are known by name.
pub(crate) trait Named {
    /// The nodes with this name, ascending.
    fn nodes_of(&self, name: u32) -> &[u32];
    fn name(&self, n: u32) -> u32;
    /// [`NO_NODE`](fulcrum_model::call_tree::NO_NODE) for roots.
    fn parent(&self, n: u32) -> u32;
    /// The node after the last descendant.
    fn end(&self, n: u32) -> u32;

    /// The nodes with one name whose parents have another one, ascending, if the tree has them at hand.
    fn called(&self, _caller: u32, _callee: u32) -> Option<&[u32]> {
        None
    }
}

/// A tree that knows the cost of its nodes, and which of them are recursive calls.
pub(crate) trait Costed: Named + Sums {
    /// Whether the node is below another one of its name.
    fn is_inner(&self, n: u32) -> bool;

    /// The node's own cost.
    fn own(&self, n: u32) -> i64 {
        self.before(n + 1) - self.before(n)
    }

    /// The cost of the node and all its descendants.
    fn subtree(&self, n: u32) -> i64 {
        self.before(self.end(n)) - self.before(n)
    }
}

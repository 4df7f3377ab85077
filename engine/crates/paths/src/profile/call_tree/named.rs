//! Trees whose nodes are known by name.

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

//! Finds where a path occurs in a tree, starting from the rarest of its names. Some names are on half of all nodes, but seldom
//! all names of a path.

use fulcrum_model::call_tree::NO_NODE;

/// A tree in preorder whose nodes are known by name.
pub(crate) trait Named {
    /// The nodes with this name, ascending.
    fn nodes_of(&self, name: u32) -> &[u32];
    fn name(&self, n: u32) -> u32;
    /// [`NO_NODE`] for roots.
    fn parent(&self, n: u32) -> u32;
    /// The node after the last descendant.
    fn end(&self, n: u32) -> u32;
}

/// The last and the first node of each occurrence, sorted. The path is not empty.
pub(crate) fn occurrences(tree: &impl Named, path: &[u32]) -> Vec<(u32, u32)> {
    let count = |at: &usize| tree.nodes_of(path[*at]).len();
    // Among equally rare names the last, because less is below it.
    let rarest = (0..path.len()).rev().min_by_key(count);
    let rarest = rarest.expect("paths are never empty");
    let (above, below) = (&path[..rarest], &path[rarest + 1..]);
    let mut found = Vec::new();
    let (mut level, mut next) = (Vec::new(), Vec::new());
    for &n in tree.nodes_of(path[rarest]) {
        let Some(first) = first(tree, n, above) else {
            continue;
        };
        level.clear();
        level.push(n);
        for &name in below {
            next.clear();
            for &n in &level {
                let (mut child, end) = (n + 1, tree.end(n));
                while child < end {
                    if tree.name(child) == name {
                        next.push(child);
                    }
                    child = tree.end(child);
                }
            }
            std::mem::swap(&mut level, &mut next);
        }
        found.extend(level.iter().map(|&last| (last, first)));
    }
    // Nested occurrences come out of order.
    if !found.is_sorted() {
        found.sort_unstable();
    }
    found
}

/// The node where a path begins whose names `above` lead to `n`.
fn first(tree: &impl Named, n: u32, above: &[u32]) -> Option<u32> {
    above.iter().rev().try_fold(n, |n, &name| {
        let parent = tree.parent(n);
        (parent != NO_NODE && tree.name(parent) == name).then_some(parent)
    })
}

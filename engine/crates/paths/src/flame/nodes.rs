//! Access to the nodes of the drawn tree. Generic over the tree, so that loops do not ask for each node which tree it is.

use std::hint::black_box;

use fulcrum_model::call_tree::NO_NODE;

use super::costs::Costs;
use super::union::{Sums, Union};
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::NO_NAME;

/// A tree's nodes, with one choice of width.
pub(super) trait Nodes {
    /// The number of the node's name.
    fn key(&self, n: u32) -> u32;

    /// [`NO_NODE`] for roots.
    fn parent(&self, n: u32) -> u32;

    /// The node after the last descendant.
    fn end(&self, n: u32) -> u32;

    /// The cost of the nodes from `start` to before `end`.
    fn costs(&self, start: u32, end: u32) -> Costs;

    /// Reads the memory that a visit of the node needs first. The result is meaningless. The processor then waits for it at the same
    /// time as for the memory of other nodes.
    fn touch(&self, n: u32) -> u32;
}

/// The number of nodes whose memory is requested together.
const TOGETHER: usize = 16;

/// Visits items in groups whose memory is requested together. `of` is the node of an item.
pub(super) fn together<T>(
    nodes: &impl Nodes,
    items: &[T],
    of: impl Fn(&T) -> u32,
    mut visit: impl FnMut(&T),
) {
    for group in items.chunks(TOGETHER) {
        black_box(group.iter().fold(0, |sum, it| sum ^ nodes.touch(of(it))));
        group.iter().for_each(&mut visit);
    }
}

/// An operation on nodes, generic over the tree.
pub(super) trait WithNodes {
    type Answer;
    fn with(self, nodes: &(impl Nodes + Sync)) -> Self::Answer;
}

/// One call tree.
pub(super) struct OneTree<'a> {
    pub(crate) index: &'a Index,
    /// The number of names of functions.
    pub(crate) names: u32,
    /// Sums of absolute costs, if any cost is negative.
    pub(crate) sizes: Option<&'a [i64]>,
}

impl Nodes for OneTree<'_> {
    #[inline]
    fn key(&self, n: u32) -> u32 {
        match self.index.name(n) {
            NO_NAME => self.names + self.index.frame(n),
            name => name,
        }
    }

    #[inline]
    fn parent(&self, n: u32) -> u32 {
        self.index.parent(n)
    }

    #[inline]
    fn end(&self, n: u32) -> u32 {
        self.index.end(n)
    }

    #[inline]
    fn costs(&self, start: u32, end: u32) -> Costs {
        let a = self.index.between(start, end);
        let size = match self.sizes {
            None => a,
            Some(sums) => sums[end as usize] - sums[start as usize],
        };
        Costs {
            a,
            b: 0,
            weight: size as f64,
        }
    }

    #[inline]
    fn touch(&self, n: u32) -> u32 {
        self.index.own(n) as u32 ^ self.index.end(n)
    }
}

/// The union of a comparison's trees.
pub(super) struct UnionTree<'a> {
    pub(crate) union: &'a Union,
    pub(crate) wide: &'a Sums,
}

impl Nodes for UnionTree<'_> {
    fn key(&self, n: u32) -> u32 {
        self.union.keys[n as usize]
    }

    fn parent(&self, n: u32) -> u32 {
        self.union.parents[n as usize]
    }

    fn end(&self, n: u32) -> u32 {
        self.union.ends[n as usize]
    }

    fn costs(&self, start: u32, end: u32) -> Costs {
        self.union.costs(self.wide, start, end)
    }

    fn touch(&self, n: u32) -> u32 {
        self.end(n) ^ self.parent(n) ^ self.key(n)
    }
}

/// Visits each child of these nodes, with the cost of its subtree.
pub(super) fn each_child(nodes: &impl Nodes, of: &[u32], mut visit: impl FnMut(u32, Costs)) {
    together(
        nodes,
        of,
        |&n| n,
        |&parent| {
            let (mut n, last) = (parent + 1, nodes.end(parent));
            while n < last {
                let end = nodes.end(n);
                visit(n, nodes.costs(n, end));
                n = end;
            }
        },
    );
}

/// The parent, unless the node is a root.
pub(super) fn parent_of(nodes: &impl Nodes, n: u32) -> Option<u32> {
    let parent = nodes.parent(n);
    (parent != NO_NODE).then_some(parent)
}

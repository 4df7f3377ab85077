//! The nodes of the tree that is drawn, looked at one after the other: what kind of tree it is was asked before.

use std::hint::black_box;

use fulcrum_model::call_tree::NO_NODE;

use super::costs::Costs;
use super::union::{Sums, Union};
use crate::index::Index;
use crate::names::NO_NAME;

/// A tree's nodes, and what makes boxes wide.
pub(super) trait Nodes {
    /// The number of the node's name.
    fn key(&self, n: u32) -> u32;

    /// [`NO_NODE`] for roots.
    fn parent(&self, n: u32) -> u32;

    /// The node after the last descendant.
    fn end(&self, n: u32) -> u32;

    /// What the nodes from `start` to before `end` cost together.
    fn costs(&self, start: u32, end: u32) -> Costs;

    /// Reads what looking at the node begins with, and says nothing about it: the processor then waits for it at the same time
    /// as for that of other nodes.
    fn touch(&self, n: u32) -> u32;
}

/// So many nodes are looked at together.
const TOGETHER: usize = 16;

/// Visits nodes in groups whose memory was asked for at once; `of` gives what is read first of each.
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

/// Does something with nodes, whatever tree they are of.
pub(super) trait WithNodes {
    type Answer;
    fn with(self, nodes: &(impl Nodes + Sync)) -> Self::Answer;
}

/// One call tree.
pub(super) struct OneTree<'a> {
    pub index: &'a Index,
    /// How many names of functions there are.
    pub names: u32,
    /// Sums of the costs without their signs, when any is negative.
    pub sizes: Option<&'a [i64]>,
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
    pub union: &'a Union,
    pub wide: &'a Sums,
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

/// Visits each child of these nodes, node by node: itself, and what it and all below it cost.
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

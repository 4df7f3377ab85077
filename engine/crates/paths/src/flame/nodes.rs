//! Access to the nodes of the drawn tree. Generic over the tree, so that loops do not ask for each node which tree it is.

use std::hint::black_box;

use fulcrum_model::call_tree::NO_NODE;

use super::costs::{Cost, Costs};
use super::union::{Sums, Union};
use crate::profile::call_tree::calls::CallTable;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::NO_NAME;

/// A tree's nodes, with one choice of width.
pub(super) trait Nodes {
    type Cost: Cost;

    /// The number of the node's name.
    fn key(&self, n: u32) -> u32;

    /// The same, where nothing else of the node is read.
    fn key_alone(&self, n: u32) -> u32 {
        self.key(n)
    }

    /// [`NO_NODE`] for roots.
    fn parent(&self, n: u32) -> u32;

    /// The node after the last descendant.
    fn end(&self, n: u32) -> u32;

    /// The cost of the nodes from `start` to before `end`.
    fn cost(&self, start: u32, end: u32) -> Self::Cost;

    /// Reads the memory that a visit of the node needs first. The result is meaningless. The processor then waits for it at the same
    /// time as for the memory of other nodes.
    fn touch(&self, n: u32) -> u32;

    /// The index whose costs these are, and its calls, if they are known.
    fn calls(&self) -> Option<(&Index, &CallTable)> {
        None
    }
}

/// The number of nodes whose memory is requested together.
pub(super) const TOGETHER: usize = 16;

/// More children than this of one node are not requested ahead.
const CHILDREN: usize = 8;

/// Visits items with the cost of each node's subtree, in groups whose memory is requested together. `of` is the node of an item.
pub(super) fn with_subtrees<T, N: Nodes>(
    nodes: &N,
    items: &[T],
    of: impl Fn(&T) -> u32,
    mut visit: impl FnMut(&T, N::Cost),
) {
    for group in items.chunks(TOGETHER) {
        black_box(group.iter().fold(0, |sum, it| sum ^ nodes.touch(of(it))));
        let mut costs = [N::Cost::NOTHING; TOGETHER];
        for (cost, it) in costs.iter_mut().zip(group) {
            let n = of(it);
            *cost = nodes.cost(n, nodes.end(n));
        }
        for (it, cost) in group.iter().zip(costs) {
            visit(it, cost);
        }
    }
}

/// An operation on nodes, generic over the tree.
pub(super) trait WithNodes {
    type Answer;
    fn with<N: Nodes + Sync>(self, nodes: &N) -> Self::Answer;
}

/// One call tree.
#[derive(Clone, Copy)]
pub(super) struct OneTree<'a> {
    pub(crate) index: &'a Index,
    /// The number of names of functions.
    pub(crate) names: u32,
}

impl Nodes for OneTree<'_> {
    type Cost = i64;

    #[inline]
    fn key(&self, n: u32) -> u32 {
        match self.index.name(n) {
            NO_NAME => self.names + self.index.frame(n),
            name => name,
        }
    }

    #[inline]
    fn key_alone(&self, n: u32) -> u32 {
        let frame = self.index.frame(n);
        match self.index.name_of_frame(frame) {
            NO_NAME => self.names + frame,
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
    fn cost(&self, start: u32, end: u32) -> i64 {
        self.index.between(start, end)
    }

    #[inline]
    fn touch(&self, n: u32) -> u32 {
        self.index.own(n) as u32 ^ self.index.end(n)
    }

    fn calls(&self) -> Option<(&Index, &CallTable)> {
        let calls = self.index.known_calls()?;
        Some((self.index, calls))
    }
}

/// One call tree in which some costs are negative.
pub(super) struct SignedTree<'a> {
    pub(crate) tree: OneTree<'a>,
    /// Sums of absolute costs.
    pub(crate) sizes: &'a [i64],
}

impl Nodes for SignedTree<'_> {
    type Cost = Costs;

    #[inline]
    fn key(&self, n: u32) -> u32 {
        self.tree.key(n)
    }

    #[inline]
    fn key_alone(&self, n: u32) -> u32 {
        self.tree.key_alone(n)
    }

    #[inline]
    fn parent(&self, n: u32) -> u32 {
        self.tree.parent(n)
    }

    #[inline]
    fn end(&self, n: u32) -> u32 {
        self.tree.end(n)
    }

    #[inline]
    fn cost(&self, start: u32, end: u32) -> Costs {
        let size = self.sizes[end as usize] - self.sizes[start as usize];
        Costs {
            a: self.tree.cost(start, end),
            b: 0,
            weight: size as f64,
        }
    }

    #[inline]
    fn touch(&self, n: u32) -> u32 {
        self.tree.touch(n)
    }
}

/// The union of a comparison's trees.
pub(super) struct UnionTree<'a> {
    pub(crate) union: &'a Union,
    pub(crate) wide: &'a Sums,
}

impl Nodes for UnionTree<'_> {
    type Cost = Costs;

    fn key(&self, n: u32) -> u32 {
        self.union.keys[n as usize]
    }

    fn parent(&self, n: u32) -> u32 {
        self.union.parents[n as usize]
    }

    fn end(&self, n: u32) -> u32 {
        self.union.ends[n as usize]
    }

    fn cost(&self, start: u32, end: u32) -> Costs {
        self.union.costs(self.wide, start, end)
    }

    fn touch(&self, n: u32) -> u32 {
        self.end(n) ^ self.parent(n) ^ self.key(n)
    }
}

/// Visits each child of these nodes, given with their ends: the child, its end, and the cost of its subtree.
pub(super) fn each_child<N: Nodes>(
    nodes: &N,
    of: &[(u32, u32)],
    mut visit: impl FnMut(u32, u32, N::Cost),
) {
    for parents in of.chunks(TOGETHER) {
        request_children(nodes, parents);
        for &(parent, last) in parents {
            let mut n = parent + 1;
            while n < last {
                let end = nodes.end(n);
                visit(n, end, nodes.cost(n, end));
                n = end;
            }
        }
    }
}

/// Requests the memory of at most [`TOGETHER`] nodes' children: first that of all first children, then of all second ones, and so on.
fn request_children(nodes: &impl Nodes, of: &[(u32, u32)]) {
    // The next child of each node, and the node's end.
    let mut open = [(0, 0); TOGETHER];
    for (to, &(n, end)) in open.iter_mut().zip(of) {
        black_box(nodes.cost(n, end));
        *to = (n + 1, end);
    }
    let open = &mut open[..of.len()];
    for _ in 0..CHILDREN {
        let mut more = false;
        for (next, end) in &mut *open {
            if next < end {
                black_box(nodes.touch(*next));
                *next = nodes.end(*next);
                more |= next < end;
            }
        }
        if !more {
            break;
        }
    }
}

/// The parent, unless the node is a root.
pub(super) fn parent_of(nodes: &impl Nodes, n: u32) -> Option<u32> {
    let parent = nodes.parent(n);
    (parent != NO_NODE).then_some(parent)
}

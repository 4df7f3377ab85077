//! Reads memory ahead of its use.
//!
//! The nodes of a name are far apart in memory, and a loop that decides something at each of them waits for each alone. Here the
//! memory of several nodes is read first, and nothing is decided: the processor then waits for all of them at the same time.

use std::hint::black_box;

use fulcrum_model::call_tree::NO_NODE;

use crate::profile::call_tree::named::Named;
use crate::profile::call_tree::region::Sums;

/// The number of nodes whose memory is read together.
pub(crate) const TOGETHER: usize = 32;

/// More children than this of one node are not read ahead.
const CHILDREN: usize = 8;

/// The nodes themselves: name, end and own cost.
pub(crate) fn nodes(tree: &impl Named, these: impl Iterator<Item = u32>) {
    black_box(these.fold(0, |sum, n| sum ^ tree.end(n)));
}

/// The cost of the nodes' subtrees. Needs the nodes first.
pub(crate) fn subtrees(tree: &(impl Named + Sums), these: impl Iterator<Item = u32>) {
    black_box(these.fold(0, |sum, n| sum ^ tree.before(tree.end(n))));
}

/// The nodes' parents.
pub(crate) fn parents(tree: &impl Named, these: impl Iterator<Item = u32>) {
    black_box(these.fold(0, |sum, n| match tree.parent(n) {
        NO_NODE => sum,
        parent => sum ^ tree.name(parent),
    }));
}

/// The nodes from each of these upwards, `length` of them, itself included. The tree must have as many.
pub(crate) fn stacks(tree: &impl Named, these: impl Iterator<Item = u32>, length: usize) {
    let mut at = [0; TOGETHER];
    let mut count = 0;
    for (to, n) in at.iter_mut().zip(these) {
        *to = n;
        count += 1;
    }
    let at = &mut at[..count];
    for left in (0..length).rev() {
        black_box(at.iter().fold(0, |sum, &n| sum ^ tree.name(n)));
        if left > 0 {
            at.iter_mut().for_each(|n| *n = tree.parent(*n));
        }
    }
}

/// The children of the nodes, and the cost of their subtrees.
pub(crate) fn children(tree: &(impl Named + Sums), these: impl Iterator<Item = u32>) {
    // The next child of each node, and the node's end.
    let mut open = [(0, 0); TOGETHER];
    let mut count = 0;
    for (to, n) in open.iter_mut().zip(these) {
        *to = (n + 1, tree.end(n));
        count += 1;
    }
    let open = &mut open[..count];
    black_box(open.iter().fold(0, |sum, &(_, end)| sum ^ tree.before(end)));
    for _ in 0..CHILDREN {
        let mut more = false;
        for (next, end) in &mut *open {
            if next < end {
                *next = tree.end(*next);
                more |= next < end;
            }
        }
        if !more {
            break;
        }
    }
    black_box(open);
}

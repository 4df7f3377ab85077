//! Finds where a path occurs in a tree, starting from the rarest of its names. Some names are on half of all nodes, but seldom
//! all names of a path. Where it is known which names call which, two names one after the other are rarer still.

use std::cmp::Reverse;

use fulcrum_model::call_tree::NO_NODE;

use crate::profile::call_tree::ahead::{self, TOGETHER};
use crate::profile::call_tree::named::Named;

/// Where to look for a path.
struct Start<'t> {
    /// The position of a name in the path.
    at: usize,
    /// The nodes that can stand there, ascending.
    nodes: &'t [u32],
}

impl<'t> Start<'t> {
    /// The rarest name of the path, or two names in it that are even rarer one after the other.
    fn of(tree: &'t impl Named, path: &[u32]) -> Self {
        let name = |at: usize| Start {
            at,
            nodes: tree.nodes_of(path[at]),
        };
        let call = |at: usize| {
            let nodes = tree.called(path[at - 1], path[at])?;
            Some(Start { at, nodes })
        };
        let names = (0..path.len()).map(name);
        let all = names.chain((1..path.len()).filter_map(call));
        // Among equally rare ones the last, because less is below it.
        let rarest = all.min_by_key(|it| (it.nodes.len(), Reverse(it.at)));
        rarest.expect("paths are never empty")
    }
}

/// The last and the first node of each occurrence, sorted. The path is not empty.
pub(crate) fn occurrences(tree: &impl Named, path: &[u32]) -> Vec<(u32, u32)> {
    let start = Start::of(tree, path);
    let (above, below) = (&path[..start.at], &path[start.at + 1..]);
    let mut found = Vec::new();
    let (mut level, mut next) = (Vec::new(), Vec::new());
    let blocks = start.nodes.chunks(TOGETHER);
    let blocks = blocks.inspect(|nodes| {
        let nodes = nodes.iter().copied();
        match above {
            [] => ahead::nodes(tree, nodes),
            _ => ahead::parents(tree, nodes),
        }
    });
    for &n in blocks.flatten() {
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

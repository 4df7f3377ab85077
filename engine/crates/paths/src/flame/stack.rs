//! The two directions in which a merged path's boxes are stacked: its callers, or its callees.

use super::costs::Cost;
use super::nodes::{Nodes, each_child, parent_of, together};
use super::path_occurrences::PathOccurrences;

/// A direction, with one kind of cost. A box is made of items, one for each occurrence of the path that contributes to it.
pub(super) trait Stack<C: Cost> {
    /// A small type, because there are as many items as the path has contexts.
    type Item: Copy + Send + Sync;

    /// The items of the path itself.
    fn begin(of: &PathOccurrences) -> Vec<Self::Item>;

    fn node(item: Self::Item) -> u32;

    /// Visits the items of the boxes on these items: the item, its node and its cost.
    fn each_next(
        nodes: &impl Nodes<Cost = C>,
        items: &[Self::Item],
        visit: impl FnMut(Self::Item, u32, C),
    );

    /// Joins `next` to `last` if both are the same place. Returns whether they are.
    fn join(last: &mut Self::Item, next: Self::Item) -> bool;
}

/// Merging callees: an item is a node.
pub(super) struct Callees;

impl<C: Cost> Stack<C> for Callees {
    type Item = u32;

    fn begin(of: &PathOccurrences) -> Vec<u32> {
        of.nodes.clone()
    }

    fn node(n: u32) -> u32 {
        n
    }

    fn each_next(nodes: &impl Nodes<Cost = C>, items: &[u32], mut visit: impl FnMut(u32, u32, C)) {
        each_child(nodes, items, |n, cost| visit(n, n, cost));
    }

    fn join(_: &mut u32, _: u32) -> bool {
        false
    }
}

/// Merging callers: an item is a node with the cost of the occurrences below it. More and more items have the same caller, so
/// their number falls from level to level.
pub(super) struct Callers;

impl<C: Cost> Stack<C> for Callers {
    type Item = (u32, C);

    fn begin(of: &PathOccurrences) -> Vec<(u32, C)> {
        let costs = of.costs.iter().map(|&costs| C::of(costs));
        of.nodes.iter().copied().zip(costs).collect()
    }

    fn node((n, _): (u32, C)) -> u32 {
        n
    }

    fn each_next(
        nodes: &impl Nodes<Cost = C>,
        items: &[(u32, C)],
        mut visit: impl FnMut((u32, C), u32, C),
    ) {
        // The callers' names are far apart in memory.
        let caller = |&(n, _): &(u32, C)| parent_of(nodes, n).unwrap_or(n);
        together(nodes, items, caller, |&(n, cost)| {
            if let Some(parent) = parent_of(nodes, n) {
                visit((parent, cost), parent, cost);
            }
        });
    }

    fn join(last: &mut (u32, C), next: (u32, C)) -> bool {
        let same = last.0 == next.0;
        if same {
            last.1.add(next.1);
        }
        same
    }
}

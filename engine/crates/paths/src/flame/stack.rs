//! The two directions in which a merged path's boxes are stacked: its callers, or its callees.

use fulcrum_model::call_tree::NO_NODE;

use super::costs::Cost;
use super::nodes::{Nodes, TOGETHER, each_child};
use super::path_occurrences::PathOccurrences;

/// A direction, with one kind of cost. A box is made of items, one for each occurrence of the path that contributes to it.
pub(super) trait Stack<C: Cost> {
    /// A small type, because there are as many items as the path has contexts.
    type Item: Copy + Send + Sync;

    /// The items of the path itself.
    fn begin(nodes: &impl Nodes<Cost = C>, of: &PathOccurrences) -> Vec<Self::Item>;

    /// Visits the items of the boxes on these items: the item, its node with its key, and its cost. There is no item when nothing
    /// can be on it.
    fn each_next(
        nodes: &impl Nodes<Cost = C>,
        items: &[Self::Item],
        visit: impl FnMut(Option<Self::Item>, (u32, u32), C),
    );

    /// Joins `next` to `last` if both are the same place. Returns whether they are.
    fn join(last: &mut Self::Item, next: Self::Item) -> bool;
}

/// Merging callees: an item is a node that calls others, with its end. Half of all nodes call none.
pub(super) struct Callees;

impl<C: Cost> Stack<C> for Callees {
    type Item = (u32, u32);

    fn begin(nodes: &impl Nodes<Cost = C>, of: &PathOccurrences) -> Vec<(u32, u32)> {
        callers(nodes, of.nodes.iter().copied())
    }

    fn each_next(
        nodes: &impl Nodes<Cost = C>,
        items: &[(u32, u32)],
        mut visit: impl FnMut(Option<(u32, u32)>, (u32, u32), C),
    ) {
        each_child(nodes, items, |n, end, cost| {
            let item = (end > n + 1).then_some((n, end));
            visit(item, (n, nodes.key(n)), cost);
        });
    }

    fn join(_: &mut (u32, u32), _: (u32, u32)) -> bool {
        false
    }
}

/// Those of some nodes that call others, with their ends.
pub(super) fn callers(nodes: &impl Nodes, of: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let ends = of.map(|n| (n, nodes.end(n)));
    ends.filter(|&(n, end)| end > n + 1).collect()
}

/// Merging callers: an item is a node with the cost of the occurrences below it. More and more items have the same caller, so
/// their number falls from level to level.
pub(super) struct Callers;

impl<C: Cost> Stack<C> for Callers {
    type Item = (u32, C);

    fn begin(_: &impl Nodes<Cost = C>, of: &PathOccurrences) -> Vec<(u32, C)> {
        let costs = of.costs.iter().map(|&costs| C::of(costs));
        of.nodes.iter().copied().zip(costs).collect()
    }

    fn each_next(
        nodes: &impl Nodes<Cost = C>,
        items: &[(u32, C)],
        mut visit: impl FnMut(Option<(u32, C)>, (u32, u32), C),
    ) {
        // Callers and their names are far apart in memory: that of several is requested together.
        for group in items.chunks(TOGETHER) {
            let mut callers = [(NO_NODE, 0); TOGETHER];
            let callers = &mut callers[..group.len()];
            for (to, &(n, _)) in callers.iter_mut().zip(group) {
                to.0 = nodes.parent(n);
            }
            for (n, key) in callers.iter_mut().filter(|it| it.0 != NO_NODE) {
                *key = nodes.key_alone(*n);
            }
            for (&caller, &(_, cost)) in callers.iter().zip(group) {
                if caller.0 != NO_NODE {
                    visit(Some((caller.0, cost)), caller, cost);
                }
            }
        }
    }

    fn join(last: &mut (u32, C), next: (u32, C)) -> bool {
        let same = last.0 == next.0;
        if same {
            last.1.add(next.1);
        }
        same
    }
}

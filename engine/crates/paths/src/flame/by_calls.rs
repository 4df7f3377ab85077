//! What is on a box that stands for all calls of a function, from the table of calls: frequent functions have hundreds of
//! thousands of nodes, but most boxes on them are too narrow to be seen, and their nodes need no visit.

use super::costs::{Cost, Costs};
use super::levels::{Group, OnBox, Scratches};
use super::nodes::{Nodes, with_subtrees};
use super::stack::{Callees, Callers, Stack, callers};
use crate::profile::call_tree::calls::{Call, CallTable};
use crate::profile::call_tree::index::Index;

/// A function of a tree whose calls are known.
#[derive(Clone, Copy)]
pub(super) struct Function<'t> {
    pub(crate) index: &'t Index,
    pub(crate) calls: &'t CallTable,
    pub(crate) key: u32,
}

/// A direction in which the first boxes come from the table of calls.
pub(super) trait ByCalls<C: Cost>: Stack<C> {
    /// The boxes on a function that are wanted by their number and width.
    fn on_function<N: Nodes<Cost = C> + Sync>(
        nodes: &N,
        of: Function<'_>,
        wanted: impl Fn(u32, f64) -> bool,
        scratch: &mut Scratches<Self::Item, C>,
    ) -> OnBox<Self::Item, C>;
}

impl<C: Cost> ByCalls<C> for Callees {
    fn on_function<N: Nodes<Cost = C> + Sync>(
        nodes: &N,
        Function { index, calls, key }: Function<'_>,
        wanted: impl Fn(u32, f64) -> bool,
        _: &mut Scratches<(u32, u32), C>,
    ) -> OnBox<(u32, u32), C> {
        let mut on = OnBox::default();
        for call in calls.callees(key) {
            let cost = C::of(Costs::alone(call.as_caller));
            let items = || {
                let of_outermost = |&n: &u32| !index.is_inner(index.parent(n));
                let all = calls.nodes(call.at).iter().copied();
                let mut these = all
                    .filter(|n| !index.nested(key) || of_outermost(n))
                    .peekable();
                (these.peek().copied(), callers(nodes, these))
            };
            on.add(call.callee, cost, &wanted, items);
        }
        on.sorted()
    }
}

impl<C: Cost> ByCalls<C> for Callers {
    fn on_function<N: Nodes<Cost = C> + Sync>(
        nodes: &N,
        Function { index, calls, key }: Function<'_>,
        wanted: impl Fn(u32, f64) -> bool,
        scratch: &mut Scratches<(u32, C), C>,
    ) -> OnBox<(u32, C), C> {
        let outermost = |these: &[u32]| {
            let these = these.iter().copied();
            these.filter(|&n| !index.is_inner(n)).collect::<Vec<u32>>()
        };
        let callers_by = |call: &Call| {
            let mut items: Vec<(u32, C)> = Vec::with_capacity(call.at.count());
            let these = outermost(calls.nodes(call.at));
            with_subtrees(
                nodes,
                &these,
                |&n| n,
                |&n, cost| {
                    let next = (index.parent(n), cost);
                    let joined = items
                        .last_mut()
                        .is_some_and(|last| Callers::join(last, next));
                    if !joined {
                        items.push(next);
                    }
                },
            );
            (items.first().map(|it| it.0), items)
        };
        let mut on = OnBox::default();
        for call in calls.callers(key) {
            let cost = C::of(Costs::alone(call.as_callee));
            on.add(call.caller, cost, &wanted, || callers_by(call));
        }
        // Containers are in no call.
        let mut loose: Vec<(u32, C)> = Vec::new();
        let these = outermost(calls.loose(key));
        with_subtrees(nodes, &these, |&n| n, |&n, cost| loose.push((n, cost)));
        let held = scratch.on_box::<Callers>(nodes, &loose, 0.0);
        on.all.add(held.all);
        let held = held.groups.into_iter();
        on.groups
            .extend(held.filter(|it| wanted(it.key, it.cost.costs().weight)));
        on.sorted()
    }
}

impl<I, C: Cost> OnBox<I, C> {
    fn add(
        &mut self,
        key: u32,
        cost: C,
        wanted: impl Fn(u32, f64) -> bool,
        items: impl FnOnce() -> (Option<u32>, Vec<I>),
    ) {
        self.all.add(cost);
        let weight = cost.costs().weight;
        if weight > 0.0 && wanted(key, weight) {
            let (sample, items) = items();
            self.groups.push(Group {
                key,
                sample,
                items,
                cost,
            });
        }
    }
}

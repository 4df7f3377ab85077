//! Running totals: what the first, the first two, and so on, of a path's extensions cover together.
//!
//! One pass over the path's occurrences assigns each node to the first extension that covers it.

use crate::profile::call_tree::ahead::{self, TOGETHER};
use crate::profile::call_tree::calls::CallTable;
use crate::profile::call_tree::extensions::each_child;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::NameId;
use crate::profile::call_tree::occurrences::{Occurrence, Occurrences};
use crate::profile::end::End;

/// No extension covers the node.
const NONE: usize = usize::MAX;

/// The running totals of all extensions at one end of a path, in the given order. `None` when extensions may share nodes in
/// other ways than one within another, which takes sets of nodes.
pub(crate) fn totals(
    index: &Index,
    of: &Occurrences,
    end: End,
    extensions: &[&Occurrences],
) -> Option<Vec<i64>> {
    if !of.are_disjoint(index) {
        return None;
    }
    let added = |it: &&Occurrences| match end {
        End::Top => it.path().first().copied(),
        End::Bottom => it.path().last().copied(),
    };
    let added: Vec<NameId> = extensions.iter().filter_map(added).collect();
    let alone = of.path().len() == 1;
    let nested = of.nested(index);
    let again = added.iter().any(|name| of.path().contains(name));
    let ranks = Ranks::new(index, &added);
    if alone
        && let Some(calls) = index.known_calls()
        && !index.containers_within()
    {
        let totals = match end {
            End::Top => ranks.of_callers_by_calls(index, calls, of.path()[0]),
            End::Bottom => ranks.of_callees_by_calls(index, calls, of.path()[0]),
        };
        return Some(totals);
    }
    match end {
        // No two extensions share a node.
        End::Top if !nested && !again => {
            let mut total = 0;
            let cums = extensions.iter().map(|it| {
                total += it.cum(index);
                total
            });
            Some(cums.collect())
        }
        End::Top if again && !alone => None,
        End::Top => Some(ranks.of_callers(index, of)),
        End::Bottom => Some(ranks.of_callees(index, of)),
    }
}

/// The cost of nodes by the first extension that covers them.
struct Ranks {
    /// For each name, the extension that adds it.
    of_name: Vec<usize>,
    costs: Vec<i64>,
}

/// A node around the current one.
struct Around {
    end: u32,
    rank: usize,
}

impl Ranks {
    fn new(index: &Index, added: &[NameId]) -> Self {
        let mut of_name = vec![NONE; index.names()];
        for (rank, &name) in added.iter().enumerate() {
            of_name[name as usize] = rank;
        }
        Ranks {
            of_name,
            costs: vec![0; added.len()],
        }
    }

    /// Moves cost to an earlier extension from the one to which it was assigned so far.
    fn lower(&mut self, from: usize, to: usize, cost: i64) {
        if to < from {
            self.costs[to] += cost;
            if from != NONE {
                self.costs[from] -= cost;
            }
        }
    }

    /// The callers of a path. An occurrence whose final node is below another one begins below that, and so does its caller,
    /// unless that is the other final node.
    fn of_callers(mut self, index: &Index, of: &Occurrences) -> Vec<i64> {
        self.each_caller(index, of, |_| true);
        self.totals()
    }

    /// The callers of a path with one name. The table of calls has their cost, but for calls below other calls.
    fn of_callers_by_calls(mut self, index: &Index, calls: &CallTable, name: NameId) -> Vec<i64> {
        for call in calls.callers(name) {
            let of_caller = self.rank(call.caller);
            self.lower(NONE, of_caller, call.as_callee + call.callers_own);
        }
        let (_, nested) = index.alone_and_nested(name);
        let nested = Occurrences::of_nodes(name, &nested);
        self.each_caller(index, &nested, |n| index.is_inner(n));
        self.totals()
    }

    /// Assigns the cost of the occurrences whose final nodes are `counted`.
    fn each_caller(&mut self, index: &Index, of: &Occurrences, counted: impl Fn(u32) -> bool) {
        let mut around: Vec<Around> = Vec::new();
        let read_ahead = |these: &[Occurrence]| {
            of.costs_ahead(index, these);
            ahead::parents(index, these.iter().map(|it| it.first));
        };
        of.each_ahead(index, read_ahead, |Occurrence { last, first }| {
            while around.pop_if(|it| it.end <= last).is_some() {}
            let before = around.last().map_or(NONE, |it| it.rank);
            let mut rank = before;
            let end = index.end(last);
            if let Some((caller, name)) = index.parent_name(first) {
                let of_caller = self.rank(name);
                if counted(last) && of_caller < before {
                    let path = index.own(caller) + index.along(first, last);
                    self.lower(before, of_caller, path + index.between(last + 1, end));
                }
                rank = rank.min(of_caller);
            }
            around.push(Around { end, rank });
        });
    }

    /// The callees of a path with one name. The table of calls has their cost, but for calls below other calls. What is left
    /// to assign is the own cost of the path.
    fn of_callees_by_calls(mut self, index: &Index, calls: &CallTable, name: NameId) -> Vec<i64> {
        for call in calls.callees(name) {
            let of_callee = self.rank(call.callee);
            self.lower(NONE, of_callee, call.as_caller);
        }
        let (alone, nested) = index.alone_and_nested(name);
        let mut costly = Vec::new();
        for nodes in alone.chunks(TOGETHER) {
            ahead::nodes(index, nodes.iter().copied());
            costly.clear();
            let calls = |&n: &u32| index.end(n) > n + 1 && index.own(n) != 0;
            costly.extend(nodes.iter().copied().filter(calls));
            ahead::children(index, costly.iter().copied());
            for &n in &costly {
                let (mut first, mut child) = (NONE, n + 1);
                while child < index.end(n) {
                    first = first.min(self.rank(index.name(child)));
                    child = index.end(child);
                }
                self.lower(NONE, first, index.own(n));
            }
        }
        let nested = Occurrences::of_nodes(name, &nested);
        self.each_callee(index, &nested, |n| index.is_inner(n));
        self.totals()
    }

    /// The callees of a path. An occurrence whose final node is below another one begins below a callee of that, or with it.
    fn of_callees(mut self, index: &Index, of: &Occurrences) -> Vec<i64> {
        self.each_callee(index, of, |_| true);
        self.totals()
    }

    /// Assigns the own cost of the path, and the cost of what is called by the final nodes that are `counted`.
    fn each_callee(&mut self, index: &Index, of: &Occurrences, counted: impl Fn(u32) -> bool) {
        /// A final node whose children are being visited.
        struct Open {
            last: u32,
            end: u32,
            /// The path's own cost, and the first extension that covers it.
            along: i64,
            rank: usize,
        }
        let mut around: Vec<Around> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let along_ahead = |these: &[Occurrence]| of.along_ahead(index, these);
        each_child(index, of, along_ahead, |child, it| {
            while around.pop_if(|it| it.end <= child).is_some() {}
            while open.pop_if(|it| it.end <= child).is_some() {}
            let before = around.last().map_or(NONE, |it| it.rank);
            if open.last().is_none_or(|open| open.last != it.last) {
                open.push(Open {
                    last: it.last,
                    end: index.end(it.last),
                    along: index.along(it.first, it.last),
                    rank: before,
                });
            }
            let callee = self.rank(index.name(child));
            if let Some(open) = open.last_mut() {
                self.lower(open.rank, callee, open.along);
                open.rank = open.rank.min(callee);
            }
            if counted(it.last) {
                self.lower(before, callee, index.subtree(child));
            }
            around.push(Around {
                end: index.end(child),
                rank: before.min(callee),
            });
        });
    }

    /// Containers are not extensions.
    fn rank(&self, name: NameId) -> usize {
        self.of_name.get(name as usize).copied().unwrap_or(NONE)
    }

    fn totals(self) -> Vec<i64> {
        let mut total = 0;
        let costs = self.costs.into_iter().map(|cost| {
            total += cost;
            total
        });
        costs.collect()
    }
}

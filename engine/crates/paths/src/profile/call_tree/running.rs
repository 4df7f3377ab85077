//! Running totals: what the first, the first two, and so on, of a path's extensions cover together.
//!
//! One pass over the path's occurrences assigns each node to the first extension that covers it.

use crate::profile::call_tree::ahead;
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
        End::Top if alone => Some(Ranks::new(index, &added).of_callers(index, of)),
        End::Bottom if alone || !nested => Some(Ranks::new(index, &added).of_callees(index, of)),
        _ => None,
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

    /// The callers of a path with one name.
    fn of_callers(mut self, index: &Index, of: &Occurrences) -> Vec<i64> {
        let mut around: Vec<Around> = Vec::new();
        let read_ahead = |these: &[Occurrence]| {
            let nodes = these.iter().map(|it| it.last);
            ahead::nodes(index, nodes.clone());
            ahead::subtrees(index, nodes.clone());
            ahead::parents(index, nodes);
        };
        of.each_ahead(index, read_ahead, |it| {
            let n = it.last;
            while around.pop_if(|it| it.end <= n).is_some() {}
            let before = around.last().map_or(NONE, |it| it.rank);
            let mut rank = before;
            if let Some((parent, name)) = index.parent_name(n) {
                let of_caller = self.rank(name);
                self.lower(before, of_caller, index.subtree(n) + index.own(parent));
                rank = rank.min(of_caller);
            }
            let end = index.end(n);
            around.push(Around { end, rank });
        });
        self.totals()
    }

    /// The callees of a path.
    fn of_callees(mut self, index: &Index, of: &Occurrences) -> Vec<i64> {
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
            self.lower(before, callee, index.subtree(child));
            around.push(Around {
                end: index.end(child),
                rank: before.min(callee),
            });
        });
        self.totals()
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

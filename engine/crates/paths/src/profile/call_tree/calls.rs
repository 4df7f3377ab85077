//! The call table: the nodes and the cost of every path with two names.
//!
//! Frequent functions have the most callers and callees, and the most nodes to visit to find them. With a table that is built
//! once, they take no longer than rare ones.

use fulcrum_model::both;
use fulcrum_model::call_tree::NO_NODE;

use crate::profile::call_tree::ahead::{self, TOGETHER};
use crate::profile::call_tree::named::Costed;
use crate::profile::call_tree::names::{NO_NAME, NameId};

/// With fewer nodes, a second thread is not worth starting.
const MANY: usize = 100_000;

/// All paths with two names in a tree. Takes 4 bytes a node and 60 bytes a path.
#[derive(Debug)]
pub(crate) struct CallTable {
    /// Sorted by callee, then by caller.
    calls: Vec<Call>,
    /// Where each name's callers begin in `calls`, and where the last ones end.
    callers: Vec<u32>,
    /// Positions in `calls`, sorted by caller, then by callee.
    by_caller: Vec<u32>,
    /// Where each name's callees begin in `by_caller`, and where the last ones end.
    callees: Vec<u32>,
    /// The called nodes of each path, ascending.
    nodes: Vec<u32>,
    /// The nodes of each name that no other name calls, ascending: roots, and what containers hold.
    loose: Vec<u32>,
    /// Where those of each name begin in `loose`, and where the last ones end.
    loose_starts: Vec<u32>,
}

/// A path with two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) caller: NameId,
    pub(crate) callee: NameId,
    pub(crate) at: CallNodes,
    /// The own cost of caller and callee. Only valid if no two occurrences share a node.
    pub(crate) base: i64,
    /// The same, plus everything that the outermost callees call.
    pub(crate) cum: i64,
    /// The cost of the callees' subtrees, without callees that are below others of their name, whoever calls those.
    pub(crate) as_callee: i64,
    /// The own cost of the callers of those.
    pub(crate) callers_own: i64,
    /// The cost of the callees' subtrees, without those whose callers are below others of their name.
    pub(crate) as_caller: i64,
}

/// The called nodes of one path, as a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallNodes {
    start: u32,
    end: u32,
}

impl CallNodes {
    /// At least 1.
    pub(crate) fn count(self) -> usize {
        (self.end - self.start) as usize
    }
}

impl CallTable {
    /// The calls in a tree. `starts` says where each name's nodes begin among those of all names, and where the last ones end.
    pub(crate) fn of(tree: &(impl Costed + Sync), starts: &[u32]) -> Self {
        let names = starts.len() - 1;
        let of_names = |from: usize, to: usize| Part::of(tree, from as NameId..to as NameId, names);
        let all = starts[names] as usize;
        let Part {
            calls,
            callers,
            nodes,
            loose,
            loose_starts,
        } = match all < MANY {
            true => of_names(0, names),
            false => {
                let half = starts.partition_point(|&start| (start as usize) < all / 2);
                let half = half.min(names);
                let (second, first) = both(|| of_names(half, names), || of_names(0, half));
                first.and(second)
            }
        };
        let (by_caller, callees) = by_caller(&calls, names);
        CallTable {
            calls,
            callers,
            by_caller,
            callees,
            nodes,
            loose,
            loose_starts,
        }
    }

    /// The callers of a name, sorted.
    pub(crate) fn callers(&self, callee: NameId) -> &[Call] {
        let callee = callee as usize;
        &self.calls[self.callers[callee] as usize..self.callers[callee + 1] as usize]
    }

    /// The callees of a name, sorted.
    pub(crate) fn callees(&self, caller: NameId) -> impl Iterator<Item = &Call> {
        let caller = caller as usize;
        let these = self.callees[caller] as usize..self.callees[caller + 1] as usize;
        self.by_caller[these]
            .iter()
            .map(|&at| &self.calls[at as usize])
    }

    /// The path with these two names, if it occurs.
    pub(crate) fn find(&self, caller: NameId, callee: NameId) -> Option<&Call> {
        let callers = self.callers(callee);
        let at = callers.binary_search_by_key(&caller, |it| it.caller).ok()?;
        Some(&callers[at])
    }

    /// The nodes of a name that no other name calls, ascending.
    pub(crate) fn loose(&self, name: NameId) -> &[u32] {
        let name = name as usize;
        &self.loose[self.loose_starts[name] as usize..self.loose_starts[name + 1] as usize]
    }

    /// The called nodes of a path, ascending.
    pub(crate) fn nodes(&self, at: CallNodes) -> &[u32] {
        &self.nodes[at.start as usize..at.end as usize]
    }
}

/// The positions in `calls` sorted by caller, and where each caller's begin: a counting sort.
fn by_caller(calls: &[Call], names: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; names + 1];
    for call in calls {
        starts[call.caller as usize + 1] += 1;
    }
    for name in 0..names {
        starts[name + 1] += starts[name];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0; calls.len()];
    for (at, call) in (0_u32..).zip(calls) {
        let to = &mut next[call.caller as usize];
        sorted[*to as usize] = at;
        *to += 1;
    }
    (sorted, starts)
}

/// The calls of consecutive callees.
struct Part {
    calls: Vec<Call>,
    /// Where each name's callers begin in `calls`, and at last where they end.
    callers: Vec<u32>,
    nodes: Vec<u32>,
    loose: Vec<u32>,
    loose_starts: Vec<u32>,
}

impl Part {
    fn of(tree: &impl Costed, callees: std::ops::Range<NameId>, names: usize) -> Self {
        let mut part = Part {
            calls: Vec::new(),
            callers: vec![0],
            nodes: Vec::new(),
            loose: Vec::new(),
            loose_starts: vec![0],
        };
        let mut scratch = Scratch {
            place: vec![u32::MAX; names],
            callers: Vec::new(),
            covered: Vec::new(),
        };
        for callee in callees {
            part.add(tree, callee, &mut scratch);
            part.callers.push(part.calls.len() as u32);
            part.loose_starts.push(part.loose.len() as u32);
        }
        part
    }

    fn add(&mut self, tree: &impl Costed, callee: NameId, scratch: &mut Scratch) {
        let first = self.calls.len();
        self.sum(tree, callee, scratch);
        let these = &mut self.calls[first..];
        these.sort_unstable_by_key(|it| it.caller);
        let mut start = self.nodes.len() as u32;
        for (at, call) in (0..).zip(&mut *these) {
            scratch.place[call.caller as usize] = at;
            let count = call.at.end;
            call.at = CallNodes { start, end: start };
            start += count;
        }
        self.nodes.resize(start as usize, 0);
        for (&n, &caller) in tree.nodes_of(callee).iter().zip(&scratch.callers) {
            if caller != NO_NAME {
                let end = &mut these[scratch.place[caller as usize] as usize].at.end;
                self.nodes[*end as usize] = n;
                *end += 1;
            }
        }
        for call in these {
            scratch.place[call.caller as usize] = u32::MAX;
        }
    }

    /// Finds the callers in the order of their first node, and for each the number of calls (as the end of its nodes) and the
    /// cost.
    fn sum(&mut self, tree: &impl Costed, callee: NameId, scratch: &mut Scratch) {
        let first = self.calls.len();
        scratch.callers.clear();
        scratch.covered.clear();
        let blocks = tree.nodes_of(callee).chunks(TOGETHER);
        let blocks = blocks.inspect(|nodes| {
            let nodes = nodes.iter().copied();
            ahead::nodes(tree, nodes.clone());
            ahead::subtrees(tree, nodes.clone());
            ahead::parents(tree, nodes);
        });
        for &n in blocks.flatten() {
            let parent = tree.parent(n);
            let caller = match parent {
                NO_NODE => NO_NAME,
                parent => tree.name(parent),
            };
            scratch.callers.push(caller);
            if caller == NO_NAME {
                self.loose.push(n);
                continue;
            }
            let place = &mut scratch.place[caller as usize];
            if *place == u32::MAX {
                *place = scratch.covered.len() as u32;
                scratch.covered.push(0);
                self.calls.push(Call {
                    caller,
                    callee,
                    at: CallNodes { start: 0, end: 0 },
                    base: 0,
                    cum: 0,
                    as_callee: 0,
                    callers_own: 0,
                    as_caller: 0,
                });
            }
            let call = &mut self.calls[first + *place as usize];
            call.at.end += 1;
            let (along, subtree) = (tree.own(parent) + tree.own(n), tree.subtree(n));
            call.base += along;
            if !tree.is_inner(n) {
                call.as_callee += subtree;
                call.callers_own += tree.own(parent);
            }
            if !tree.is_inner(parent) {
                call.as_caller += subtree;
            }
            // The cum already contains nodes below others of the path.
            let covered = &mut scratch.covered[*place as usize];
            if n >= *covered {
                *covered = tree.end(n);
                call.cum += tree.own(parent) + subtree;
            }
        }
    }

    /// Appends the calls of the following names.
    fn and(mut self, other: Part) -> Part {
        let (calls, nodes) = (self.calls.len() as u32, self.nodes.len() as u32);
        self.calls.extend(other.calls.into_iter().map(|call| Call {
            at: CallNodes {
                start: call.at.start + nodes,
                end: call.at.end + nodes,
            },
            ..call
        }));
        let starts = other.callers[1..].iter();
        self.callers.extend(starts.map(|start| start + calls));
        self.nodes.extend(other.nodes);
        let loose = self.loose.len() as u32;
        let starts = other.loose_starts[1..].iter();
        self.loose_starts.extend(starts.map(|start| start + loose));
        self.loose.extend(other.loose);
        self
    }
}

/// Scratch space for finding the callers of one name.
struct Scratch {
    /// For each name, the position of its call among those of the callee.
    place: Vec<u32>,
    /// The caller of each node of the callee.
    callers: Vec<NameId>,
    /// For each call, the node before which all nodes are in its cum.
    covered: Vec<u32>,
}

//! Where a path occurs in one tree (BOTTLENECKS §2.2: the roots and finals of a summary).

use std::collections::BinaryHeap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::profile::call_tree::ahead::{self, TOGETHER};
use crate::profile::call_tree::calls::{Call, CallNodes};
use crate::profile::call_tree::find;
use crate::profile::call_tree::index::{Index, WALKED};
use crate::profile::call_tree::names::NameId;
use crate::profile::call_tree::region::{Cover, Region};

/// For paths with at most this many names, occurrences are visited one by one, even if they share nodes.
const SHORT: usize = 64;

/// In paths with at most this many names, each is compared with each.
const FEW: usize = 16;

/// When more than one in this many nodes of the tree is in the set, nodes are marked instead of sorted.
const MARK: usize = 400;

/// One occurrence of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    /// The final node. It determines all the others.
    pub(crate) last: u32,
    /// The root: the first node of the path.
    pub(crate) first: u32,
}

/// All occurrences of a path, sorted. Cheap to clone; caches its regions.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: Arc<[NameId]>,
    places: Places,
    both: OnceLock<Option<(i64, i64)>>,
    base: OnceLock<i64>,
    cum: OnceLock<i64>,
    along: OnceLock<Arc<Region>>,
    covered: OnceLock<Arc<Region>>,
    nested: OnceLock<bool>,
}

#[derive(Debug)]
enum Places {
    /// At every node with the path's only name.
    Name(NameId),
    /// At the called nodes of a path with two names.
    Call(CallNodes),
    Listed(Vec<Occurrence>),
    /// Computed on first use.
    Lazy(Box<dyn LazyOccurrences>),
}

/// The occurrences of an extended path, computed on first use.
pub(crate) trait LazyOccurrences: fmt::Debug + Send + Sync {
    /// The occurrences, sorted. There is at least one.
    fn these(&self, index: &Index) -> &[Occurrence];

    /// The occurrences of the path that was extended.
    fn extended(&self) -> &Occurrences;
}

impl Occurrences {
    fn with(path: Arc<[NameId]>, places: Places) -> Self {
        Occurrences(Arc::new(Inner {
            path,
            places,
            both: OnceLock::new(),
            base: OnceLock::new(),
            cum: OnceLock::new(),
            along: OnceLock::new(),
            covered: OnceLock::new(),
            nested: OnceLock::new(),
        }))
    }

    /// The occurrences of a path with one name.
    pub(crate) fn of_name(name: NameId) -> Self {
        Occurrences::with(Arc::new([name]), Places::Name(name))
    }

    /// The occurrences of a path with two names.
    pub(crate) fn of_call(index: &Index, call: &Call) -> Self {
        let path = [call.caller, call.callee];
        let these = Occurrences::with(Arc::new(path), Places::Call(call.at));
        if these.are_disjoint(index) {
            these.0.both.get_or_init(|| Some((call.base, call.cum)));
        }
        these
    }

    /// The given occurrences of a path.
    pub(crate) fn of(path: Arc<[NameId]>, these: Vec<Occurrence>) -> Self {
        debug_assert!(these.is_sorted());
        Occurrences::with(path, Places::Listed(these))
    }

    /// The occurrences of a path with one name at some of its nodes, ascending.
    pub(crate) fn of_nodes(name: NameId, nodes: &[u32]) -> Self {
        let these = nodes.iter().map(|&n| Occurrence { last: n, first: n });
        Occurrences::of(Arc::new([name]), these.collect())
    }

    /// The occurrences of a path, computed on first use. `costs` are its base and cum, if known.
    pub(crate) fn later(
        path: Arc<[NameId]>,
        later: Box<dyn LazyOccurrences>,
        costs: Option<(i64, i64)>,
    ) -> Self {
        let these = Occurrences::with(path, Places::Lazy(later));
        if let Some(costs) = costs {
            these.0.both.get_or_init(|| Some(costs));
        }
        these
    }

    /// The occurrences of `path`, if this path was extended from it.
    pub(crate) fn extended(&self, path: &[NameId]) -> Option<&Occurrences> {
        match &self.0.places {
            Places::Lazy(later) => Some(later.extended()).filter(|it| it.path()[..] == *path),
            Places::Name(_) | Places::Call(_) | Places::Listed(_) => None,
        }
    }

    /// Finds the occurrences of a path.
    pub(crate) fn find(index: &Index, path: &[NameId]) -> Self {
        if let [name] = path {
            return Occurrences::of_name(*name);
        }
        if let &[caller, callee] = path
            && let Some(calls) = index.known_calls()
        {
            return match calls.find(caller, callee) {
                Some(call) => Occurrences::of_call(index, call),
                None => Occurrences::of(path.into(), Vec::new()),
            };
        }
        let found = find::occurrences(index, path).into_iter();
        let these = found.map(|(last, first)| Occurrence { last, first });
        Occurrences::of(path.into(), these.collect())
    }

    pub(crate) fn path(&self) -> &Arc<[NameId]> {
        &self.0.path
    }

    pub(crate) fn is_empty(&self, index: &Index) -> bool {
        match &self.0.places {
            Places::Name(name) => index.nodes_of(*name).is_empty(),
            Places::Call(nodes) => nodes.count() == 0,
            Places::Listed(these) => these.is_empty(),
            Places::Lazy(_) => false,
        }
    }

    /// The number of occurrences.
    pub(crate) fn count(&self, index: &Index) -> usize {
        match &self.0.places {
            Places::Name(name) => index.nodes_of(*name).len(),
            Places::Call(nodes) => nodes.count(),
            Places::Listed(these) => these.len(),
            Places::Lazy(it) => it.these(index).len(),
        }
    }

    /// Visits each occurrence, sorted by its final node.
    pub(crate) fn each(&self, index: &Index, mut visit: impl FnMut(Occurrence)) {
        match &self.0.places {
            Places::Name(name) => {
                for &n in index.nodes_of(*name) {
                    visit(Occurrence { last: n, first: n });
                }
            }
            Places::Call(nodes) => {
                for &n in index.calls().nodes(*nodes) {
                    let first = index.parent(n);
                    visit(Occurrence { last: n, first });
                }
            }
            Places::Listed(these) => these.iter().copied().for_each(visit),
            Places::Lazy(it) => it.these(index).iter().copied().for_each(visit),
        }
    }

    /// The same, with `read_ahead` before each block of at most [`TOGETHER`] occurrences.
    pub(crate) fn each_ahead(
        &self,
        index: &Index,
        read_ahead: impl Fn(&[Occurrence]),
        mut visit: impl FnMut(Occurrence),
    ) {
        let visit_all = |these: &[Occurrence]| {
            read_ahead(these);
            these.iter().copied().for_each(&mut visit);
        };
        match &self.0.places {
            Places::Name(name) => each_block(index.nodes_of(*name), |n| n, visit_all),
            Places::Call(nodes) => {
                let nodes = index.calls().nodes(*nodes);
                each_block(nodes, |n| index.parent(n), visit_all);
            }
            Places::Listed(these) => these.chunks(TOGETHER).for_each(visit_all),
            Places::Lazy(it) => it.these(index).chunks(TOGETHER).for_each(visit_all),
        }
    }

    /// Visits each final node that is not below another one. Nodes below it are among its descendants.
    pub(crate) fn each_outermost(&self, index: &Index, mut visit: impl FnMut(u32)) {
        if let Places::Name(name) = self.0.places {
            return index.outermost_of(name).iter().copied().for_each(visit);
        }
        let mut covered = 0;
        self.each_finals_ahead(index, |it| {
            if it.last >= covered {
                covered = index.end(it.last);
                visit(it.last);
            }
        });
    }

    /// Visits each occurrence. The final nodes' memory was read ahead.
    fn each_finals_ahead(&self, index: &Index, visit: impl FnMut(Occurrence)) {
        let read_ahead = |these: &[Occurrence]| ahead::nodes(index, these.iter().map(|it| it.last));
        self.each_ahead(index, read_ahead, visit);
    }

    /// Reads ahead what the base of these occurrences is made of.
    pub(crate) fn along_ahead(&self, index: &Index, these: &[Occurrence]) {
        let finals = these.iter().map(|it| it.last);
        ahead::stacks(index, finals, self.0.path.len().min(WALKED));
    }

    /// Reads ahead what base and cum of these occurrences are made of.
    pub(crate) fn costs_ahead(&self, index: &Index, these: &[Occurrence]) {
        self.along_ahead(index, these);
        ahead::subtrees(index, these.iter().map(|it| it.last));
    }

    /// Whether some final nodes are below others.
    pub(crate) fn nested(&self, index: &Index) -> bool {
        if let Places::Name(name) = self.0.places {
            return index.nested(name);
        }
        *self.0.nested.get_or_init(|| {
            let (mut nested, mut covered) = (false, 0);
            self.each_finals_ahead(index, |it| {
                nested |= it.last < covered;
                covered = covered.max(index.end(it.last));
            });
            nested
        })
    }

    /// The path's own cost: the cost of `along(s)`.
    pub(crate) fn base(&self, index: &Index) -> i64 {
        match self.both(index) {
            Some((base, _)) => base,
            None => *self.0.base.get_or_init(|| self.along(index).cost()),
        }
    }

    /// The cost of the path and what it calls: the cost of `along(s) ∪ descendants(s)`.
    pub(crate) fn cum(&self, index: &Index) -> i64 {
        match self.both(index) {
            Some((_, cum)) => cum,
            None => *self.0.cum.get_or_init(|| self.covered(index).cost()),
        }
    }

    /// Base and cum, where one pass over the occurrences yields both. `None` for recursive paths, for which one of them can be
    /// far more work than the other.
    fn both(&self, index: &Index) -> Option<(i64, i64)> {
        *self.0.both.get_or_init(|| match self.0.places {
            Places::Name(name) => Some(index.name_cost(name)),
            Places::Call(_) | Places::Listed(_) | Places::Lazy(_) if self.are_disjoint(index) => {
                let (mut base, mut cum, mut covered) = (0, 0, 0);
                let read_ahead = |these: &[Occurrence]| self.costs_ahead(index, these);
                self.each_ahead(index, read_ahead, |Occurrence { last, first }| {
                    let along = index.along(first, last);
                    base += along;
                    if last >= covered {
                        covered = index.end(last);
                        cum += along + index.between(last + 1, covered);
                    }
                });
                Some((base, cum))
            }
            Places::Call(_) | Places::Listed(_) | Places::Lazy(_) => None,
        })
    }

    /// Computes base and cum where occurrences may share nodes, unless the path is long. `marks` is scratch space: an empty set.
    pub(crate) fn count_shared(&self, index: &Index, marks: &mut Cover) {
        let length = self.0.path.len();
        if length > SHORT || self.0.both.get().is_some_and(Option::is_some) {
            return;
        }
        // Marks so many nodes from one upwards. Returns the own cost of those that are new.
        let mut mark = |mut n: u32, length: usize, marked: &mut Vec<u32>| {
            let mut cost = 0;
            for left in (0..length).rev() {
                if marks.insert(n) {
                    marked.push(n);
                    cost += index.own(n);
                }
                if left > 0 {
                    n = index.parent(n);
                }
            }
            cost
        };
        let (mut cum, mut covered, mut marked) = (0, 0, Vec::new());
        let costs_ahead = |these: &[Occurrence]| self.costs_ahead(index, these);
        self.each_ahead(index, costs_ahead, |it| {
            if it.last >= covered {
                covered = index.end(it.last);
                cum += index.subtree(it.last);
                if length > 1 {
                    cum += mark(index.parent(it.last), length - 1, &mut marked);
                }
            }
        });
        // What is above the outermost final nodes is marked already.
        let mut base = marked.iter().map(|&n| index.own(n)).sum::<i64>();
        self.each(index, |it| base += mark(it.last, length, &mut marked));
        marked.into_iter().for_each(|n| marks.remove(n));
        let _ = self.0.both.set(Some((base, cum)));
    }

    /// The set `along(s)`.
    pub(crate) fn along(&self, index: &Index) -> &Arc<Region> {
        self.0.along.get_or_init(|| {
            if let Places::Name(name) = self.0.places {
                let nodes = index.nodes_of(name).iter().map(|&n| (n, n + 1));
                return Region::of_sorted(nodes, index).into();
            }
            let length = self.0.path.len() as u32;
            let mut ends = Vec::new();
            self.each(index, |it| ends.push((it.last, length)));
            Region::of(self.nodes(index, ends), index).into()
        })
    }

    /// The set `along(s) ∪ descendants(s)`.
    ///
    /// An occurrence whose final node is below another one begins no higher, so the outermost final nodes suffice.
    pub(crate) fn covered(&self, index: &Index) -> &Arc<Region> {
        self.0.covered.get_or_init(|| {
            let above = self.0.path.len() as u32 - 1;
            let mut intervals = Vec::new();
            let mut ends = Vec::new();
            self.each_outermost(index, |last| {
                intervals.push((last, index.end(last)));
                if above > 0 {
                    ends.push((index.parent(last), above));
                }
            });
            if above == 0 {
                return Region::of_sorted(intervals.into_iter(), index).into();
            }
            intervals.extend(self.nodes(index, ends));
            Region::of(intervals, index).into()
        })
    }

    /// The cost that `along(s)` shares with a set.
    pub(crate) fn along_shared(&self, with: &Region, index: &Index) -> i64 {
        match self.0.places {
            _ if with.is_empty() => 0,
            Places::Name(name) if self.0.along.get().is_none() => {
                let nodes = index.nodes_of(name);
                with.shared_with(nodes.len(), |at| (nodes[at], nodes[at] + 1), index)
            }
            _ => with.shared(self.along(index), index),
        }
    }

    /// The cost that `along(s) ∪ descendants(s)` shares with a set.
    pub(crate) fn covered_shared(&self, with: &Region, index: &Index) -> i64 {
        match self.0.places {
            _ if with.is_empty() => 0,
            Places::Name(name) if self.0.covered.get().is_none() => {
                let nodes = index.outermost_of(name);
                let subtree = |at: usize| (nodes[at], index.end(nodes[at]));
                with.shared_with(nodes.len(), subtree, index)
            }
            _ => with.shared(self.covered(index), index),
        }
    }

    /// Adds `along(s) ∪ descendants(s)` to a set. Returns the cost of the nodes that are new in it.
    pub(crate) fn add_to(&self, cover: &mut Cover, index: &Index) -> i64 {
        let length = self.0.path.len();
        if self.0.covered.get().is_some() || length > SHORT {
            return cover.add(self.covered(index), index);
        }
        // In any order, so that we need not build a set of these nodes alone.
        let mut cost = 0;
        self.each_outermost(index, |last| {
            cost += cover.add_interval(last, index.end(last), index);
            let mut n = last;
            for _ in 1..length {
                n = index.parent(n);
                if cover.insert(n) {
                    cost += index.own(n);
                }
            }
        });
        cost
    }

    /// The nodes from each end upwards, as intervals, possibly with duplicates. Each end comes with the number of nodes to take,
    /// itself included.
    fn nodes(&self, index: &Index, ends: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let length = self.0.path.len();
        if length <= SHORT || self.are_disjoint(index) {
            let up = |mut n: u32, length: u32, visit: &mut dyn FnMut(u32)| {
                for left in (0..length).rev() {
                    visit(n);
                    if left > 0 {
                        n = index.parent(n);
                    }
                }
            };
            // Marking nodes in a set and reading it takes less time than sorting, unless there are few.
            if ends.len() * length > index.len() as usize / MARK {
                let mut marked = Cover::new(index.len());
                for ends in ends.chunks(TOGETHER) {
                    ahead::stacks(index, ends.iter().map(|it| it.0), length.min(WALKED) - 1);
                    for &(n, length) in ends {
                        up(n, length, &mut |n| {
                            marked.insert(n);
                        });
                    }
                }
                return marked.intervals();
            }
            let mut nodes = Vec::with_capacity(ends.len() * length);
            for (n, length) in ends {
                up(n, length, &mut |n| nodes.push((n, n + 1)));
            }
            return nodes;
        }
        // Deep recursion: visit each node once, however many occurrences go through it. Children come before their parents,
        // and among the entries of a node, the one that goes on furthest comes first.
        let mut nodes = Vec::new();
        let mut open = BinaryHeap::from(ends);
        while let Some((n, length)) = open.pop() {
            if nodes.last() == Some(&(n, n + 1)) {
                continue;
            }
            nodes.push((n, n + 1));
            if length > 1 {
                open.push((index.parent(n), length - 1));
            }
        }
        nodes
    }

    /// Whether no two occurrences share a node. A shared node is at two places of the path, so its name is in the path twice,
    /// or two of its children have the same name.
    pub(crate) fn are_disjoint(&self, index: &Index) -> bool {
        index.siblings_differ() && all_differ(&self.0.path)
    }
}

/// The occurrences with these final nodes, in blocks. `first` is the first node by the final one.
fn each_block(nodes: &[u32], first: impl Fn(u32) -> u32, mut visit: impl FnMut(&[Occurrence])) {
    let mut block = [Occurrence { last: 0, first: 0 }; TOGETHER];
    for nodes in nodes.chunks(TOGETHER) {
        for (to, &n) in block.iter_mut().zip(nodes) {
            let first = first(n);
            *to = Occurrence { last: n, first };
        }
        visit(&block[..nodes.len()]);
    }
}

/// Whether no name is in a path twice.
fn all_differ(path: &[NameId]) -> bool {
    if path.len() <= FEW {
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            if others.contains(first) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    let mut names = path.to_vec();
    names.sort_unstable();
    names.windows(2).all(|it| it[0] != it[1])
}

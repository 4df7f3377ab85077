//! Where a path occurs in one tree (BOTTLENECKS §2.2: the roots and finals of a summary).

use std::collections::BinaryHeap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::calls::{Call, CallNodes};
use crate::find;
use crate::index::Index;
use crate::names::NameId;
use crate::region::{Cover, Region};

/// Occurrences of paths of at most so many names are gone through one by one, even if they share nodes.
const SHORT: usize = 64;

/// More than one in so many nodes of the tree are marked instead of sorted.
const MARK: usize = 400;

/// One occurrence of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    /// Its final node. It determines all others.
    pub last: u32,
    /// Its root: the first node of the path.
    pub first: u32,
}

/// All occurrences of a path, sorted. Cheap to clone; remembers its regions.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: Arc<[NameId]>,
    at: At,
    both: OnceLock<Option<(i64, i64)>>,
    base: OnceLock<i64>,
    cum: OnceLock<i64>,
    along: OnceLock<Arc<Region>>,
    covered: OnceLock<Arc<Region>>,
    nested: OnceLock<bool>,
}

#[derive(Debug)]
enum At {
    /// At every node with the path's only name.
    Name(NameId),
    /// At the called nodes of a path of two names.
    Call(CallNodes),
    These(Vec<Occurrence>),
    /// Found when first needed.
    Later(Box<dyn Later>),
}

/// Occurrences of a path that another one was extended to, which are found when first needed.
pub(crate) trait Later: fmt::Debug + Send + Sync {
    /// The occurrences, sorted; at least one.
    fn these(&self, index: &Index) -> &[Occurrence];

    /// Those of the path that was extended.
    fn extended(&self) -> &Occurrences;
}

impl Occurrences {
    fn with(path: Arc<[NameId]>, at: At) -> Self {
        Occurrences(Arc::new(Inner {
            path,
            at,
            both: OnceLock::new(),
            base: OnceLock::new(),
            cum: OnceLock::new(),
            along: OnceLock::new(),
            covered: OnceLock::new(),
            nested: OnceLock::new(),
        }))
    }

    /// Those of the path of one name.
    pub fn of_name(name: NameId) -> Self {
        Occurrences::with(Arc::new([name]), At::Name(name))
    }

    /// Those of a path of two names.
    pub fn of_call(index: &Index, call: &Call) -> Self {
        let path = [call.caller, call.callee];
        let these = Occurrences::with(Arc::new(path), At::Call(call.at));
        if these.apart(index) {
            these.0.both.get_or_init(|| Some((call.base, call.cum)));
        }
        these
    }

    /// Those of a path, which are known.
    pub fn of(path: Arc<[NameId]>, these: Vec<Occurrence>) -> Self {
        debug_assert!(these.is_sorted());
        Occurrences::with(path, At::These(these))
    }

    /// Those of a path that are found later. Its base and cum may be known.
    pub fn later(path: Arc<[NameId]>, later: Box<dyn Later>, costs: Option<(i64, i64)>) -> Self {
        let these = Occurrences::with(path, At::Later(later));
        if let Some(costs) = costs {
            these.0.both.get_or_init(|| Some(costs));
        }
        these
    }

    /// Those of this path, if it was extended to the one that this is about.
    pub fn extended(&self, path: &[NameId]) -> Option<&Occurrences> {
        match &self.0.at {
            At::Later(later) => Some(later.extended()).filter(|it| it.path()[..] == *path),
            At::Name(_) | At::Call(_) | At::These(_) => None,
        }
    }

    /// Those of a path.
    pub fn find(index: &Index, path: &[NameId]) -> Self {
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

    pub fn path(&self) -> &Arc<[NameId]> {
        &self.0.path
    }

    pub fn is_empty(&self, index: &Index) -> bool {
        match &self.0.at {
            At::Name(name) => index.nodes_of(*name).is_empty(),
            At::Call(nodes) => nodes.count() == 0,
            At::These(these) => these.is_empty(),
            At::Later(_) => false,
        }
    }

    /// How many there are.
    pub fn count(&self, index: &Index) -> usize {
        match &self.0.at {
            At::Name(name) => index.nodes_of(*name).len(),
            At::Call(nodes) => nodes.count(),
            At::These(these) => these.len(),
            At::Later(it) => it.these(index).len(),
        }
    }

    /// Visits each occurrence, sorted by the final.
    pub fn each(&self, index: &Index, mut visit: impl FnMut(Occurrence)) {
        match &self.0.at {
            At::Name(name) => {
                for &n in index.nodes_of(*name) {
                    visit(Occurrence { last: n, first: n });
                }
            }
            At::Call(nodes) => {
                for &n in index.calls().nodes(*nodes) {
                    let first = index.parent(n);
                    visit(Occurrence { last: n, first });
                }
            }
            At::These(these) => these.iter().copied().for_each(visit),
            At::Later(it) => it.these(index).iter().copied().for_each(visit),
        }
    }

    /// Visits each final that is not below another. What is below belongs to the other's descendants.
    pub fn each_outermost(&self, index: &Index, mut visit: impl FnMut(u32)) {
        let mut covered = 0;
        self.each(index, |it| {
            if it.last >= covered {
                covered = index.end(it.last);
                visit(it.last);
            }
        });
    }

    /// Whether some finals are below others.
    pub fn nested(&self, index: &Index) -> bool {
        if let At::Name(name) = self.0.at {
            return index.nested(name);
        }
        *self.0.nested.get_or_init(|| {
            let (mut nested, mut covered) = (false, 0);
            self.each(index, |it| {
                nested |= it.last < covered;
                covered = covered.max(index.end(it.last));
            });
            nested
        })
    }

    /// The path's own cost: that of `along(s)`.
    pub fn base(&self, index: &Index) -> i64 {
        match self.both(index) {
            Some((base, _)) => base,
            None => *self.0.base.get_or_init(|| self.along(index).cost()),
        }
    }

    /// The cost of the path and what it calls: of `along(s) ∪ descendants(s)`.
    pub fn cum(&self, index: &Index) -> i64 {
        match self.both(index) {
            Some((_, cum)) => cum,
            None => *self.0.cum.get_or_init(|| self.covered(index).cost()),
        }
    }

    /// Base and cum, where both take one look at each occurrence. `None` under recursion: then the one can be far more work
    /// than the other.
    fn both(&self, index: &Index) -> Option<(i64, i64)> {
        *self.0.both.get_or_init(|| match self.0.at {
            At::Name(name) => Some(index.flat(name)),
            At::Call(_) | At::These(_) | At::Later(_) if self.apart(index) => {
                let (mut base, mut cum, mut covered) = (0, 0, 0);
                self.each(index, |Occurrence { last, first }| {
                    let along = index.along(first, last);
                    base += along;
                    if last >= covered {
                        covered = index.end(last);
                        cum += along + index.between(last + 1, covered);
                    }
                });
                Some((base, cum))
            }
            At::Call(_) | At::These(_) | At::Later(_) => None,
        })
    }

    /// The set `along(s)`.
    pub fn along(&self, index: &Index) -> &Arc<Region> {
        self.0.along.get_or_init(|| {
            if let At::Name(name) = self.0.at {
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
    /// The path of a final below another begins no higher than the other's, so the outermost finals tell all.
    pub fn covered(&self, index: &Index) -> &Arc<Region> {
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

    /// Adds `along(s) ∪ descendants(s)` to a set; the cost of what is new in it.
    pub fn add_to(&self, cover: &mut Cover, index: &Index) -> i64 {
        let length = self.0.path.len();
        if self.0.covered.get().is_some() || length > SHORT {
            return cover.add(self.covered(index), index);
        }
        // In any order, so that the set of these alone need not be made.
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

    /// The nodes from each end upwards, as intervals, some perhaps twice. An end comes with how many nodes to go, itself
    /// included.
    fn nodes(&self, index: &Index, ends: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let length = self.0.path.len();
        if length <= SHORT || self.apart(index) {
            let up = |mut n: u32, length: u32, visit: &mut dyn FnMut(u32)| {
                for left in (0..length).rev() {
                    visit(n);
                    if left > 0 {
                        n = index.parent(n);
                    }
                }
            };
            // Marking in a set of all nodes and reading it takes less time than sorting, unless there are few.
            if ends.len() * length > index.len() as usize / MARK {
                let mut marked = Cover::new(index.len());
                for (n, length) in ends {
                    up(n, length, &mut |n| {
                        marked.insert(n);
                    });
                }
                return marked.intervals();
            }
            let mut nodes = Vec::new();
            for (n, length) in ends {
                up(n, length, &mut |n| nodes.push((n, n + 1)));
            }
            return nodes;
        }
        // Deep recursion: each node once, however many occurrences go through it. Children come before their parents,
        // and of one node's entries the one that goes on furthest comes first.
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

    /// Whether no two occurrences share a node. A shared node stands at two places of the path, so that its name is there
    /// twice; or two of its children have the same name.
    pub fn apart(&self, index: &Index) -> bool {
        let mut names = self.0.path.to_vec();
        names.sort_unstable();
        index.siblings_differ() && names.windows(2).all(|it| it[0] != it[1])
    }
}

//! Where a path occurs in one tree (BOTTLENECKS §2.2: the roots and finals of a summary).

use std::collections::BinaryHeap;
use std::sync::{Arc, OnceLock};

use crate::index::Index;
use crate::names::NameId;
use crate::region::Region;

/// Occurrences of paths of at most so many names are gone through one by one, even if they share nodes.
const SHORT: usize = 64;

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
    base: OnceLock<i64>,
    cum: OnceLock<i64>,
    along: OnceLock<Region>,
    covered: OnceLock<Region>,
}

#[derive(Debug)]
enum At {
    /// At every node with the path's only name.
    Name(NameId),
    These(Vec<Occurrence>),
}

impl Occurrences {
    fn with(path: Arc<[NameId]>, at: At) -> Self {
        Occurrences(Arc::new(Inner {
            path,
            at,
            base: OnceLock::new(),
            cum: OnceLock::new(),
            along: OnceLock::new(),
            covered: OnceLock::new(),
        }))
    }

    /// Those of the path of one name.
    pub fn of_name(name: NameId) -> Self {
        Occurrences::with(Arc::new([name]), At::Name(name))
    }

    /// Those of a path, which are known.
    pub fn of(path: Arc<[NameId]>, these: Vec<Occurrence>) -> Self {
        debug_assert!(these.is_sorted());
        Occurrences::with(path, At::These(these))
    }

    /// Those of a path: looks at each node with its last name.
    pub fn find(index: &Index, path: &[NameId]) -> Self {
        let (&last, above) = path.split_last().expect("paths are never empty");
        if above.is_empty() {
            return Occurrences::of_name(last);
        }
        let first_of = |last: u32| {
            above.iter().rev().try_fold(last, |n, &name| {
                index
                    .parent_name(n)
                    .filter(|it| it.1 == name)
                    .map(|it| it.0)
            })
        };
        let nodes = index.nodes_of(last).iter();
        let found =
            nodes.filter_map(|&last| first_of(last).map(|first| Occurrence { last, first }));
        Occurrences::of(path.into(), found.collect())
    }

    pub fn path(&self) -> &Arc<[NameId]> {
        &self.0.path
    }

    pub fn is_empty(&self, index: &Index) -> bool {
        match &self.0.at {
            At::Name(name) => index.nodes_of(*name).is_empty(),
            At::These(these) => these.is_empty(),
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
            At::These(these) => these.iter().copied().for_each(visit),
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

    /// The path's own cost: that of `along(s)`.
    pub fn base(&self, index: &Index) -> i64 {
        *self.0.base.get_or_init(|| match self.0.at {
            At::Name(name) => index.flat(name).0,
            At::These(_) if self.apart(index) => {
                let mut sum = 0;
                self.each(index, |it| {
                    self.walk(index, it.last, 0, |n| sum += index.own(n));
                });
                sum
            }
            At::These(_) => self.along(index).cost(index),
        })
    }

    /// The cost of the path and what it calls: of `along(s) ∪ descendants(s)`.
    pub fn cum(&self, index: &Index) -> i64 {
        *self.0.cum.get_or_init(|| match self.0.at {
            At::Name(name) => index.flat(name).1,
            At::These(_) if self.apart(index) => {
                let mut sum = 0;
                self.each_outermost(index, |last| {
                    sum += index.subtree(last);
                    self.walk(index, last, 1, |n| sum += index.own(n));
                });
                sum
            }
            At::These(_) => self.covered(index).cost(index),
        })
    }

    /// The set `along(s)`.
    pub fn along(&self, index: &Index) -> &Region {
        self.0.along.get_or_init(|| {
            let length = self.0.path.len() as u32;
            let mut ends = Vec::new();
            self.each(index, |it| ends.push((it.last, length)));
            Region::of(self.nodes(index, ends))
        })
    }

    /// The set `along(s) ∪ descendants(s)`.
    ///
    /// The path of a final below another begins no higher than the other's, so the outermost finals tell all.
    pub fn covered(&self, index: &Index) -> &Region {
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
            intervals.extend(self.nodes(index, ends));
            Region::of(intervals)
        })
    }

    /// Visits the nodes of the occurrence that ends at `last`, from the bottom, leaving out the lowest `skip`.
    fn walk(&self, index: &Index, last: u32, skip: usize, mut visit: impl FnMut(u32)) {
        let mut n = last;
        for at in 0..self.0.path.len() {
            if at > 0 {
                n = index.parent(n);
            }
            if at >= skip {
                visit(n);
            }
        }
    }

    /// The nodes from each end upwards, as intervals, some perhaps twice. An end comes with how many nodes to go, itself included.
    fn nodes(&self, index: &Index, ends: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        let mut nodes = Vec::new();
        if self.0.path.len() <= SHORT || self.apart(index) {
            for (mut n, length) in ends {
                for left in (0..length).rev() {
                    nodes.push((n, n + 1));
                    if left > 0 {
                        n = index.parent(n);
                    }
                }
            }
            return nodes;
        }
        // Deep recursion: each node once, however many occurrences go through it. Children come before their parents,
        // and of one node's entries the one that goes on furthest comes first.
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
    fn apart(&self, index: &Index) -> bool {
        let mut names = self.0.path.to_vec();
        names.sort_unstable();
        index.siblings_differ() && names.windows(2).all(|it| it[0] != it[1])
    }
}

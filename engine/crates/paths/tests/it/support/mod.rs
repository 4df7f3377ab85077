//! Trees for tests, and the paper's definitions evaluated by the letter.

#![allow(dead_code, reason = "not every test needs all of it")]

pub(crate) mod planted;

use std::collections::BTreeSet;
use std::sync::Arc;

use fulcrum_model::call_tree::{Frame, NO_NODE, ValueType};
use fulcrum_model::{CallTree, CallTreeBuilder, Progress};
use fulcrum_paths::{Automatic, Denominator, Options, ProfileInterface};
use fulcrum_stats::Random;

/// A tree of stacks, written as names between spaces, outermost first, with their own costs.
pub(crate) fn tree<S: AsRef<str>>(stacks: &[(S, i64)]) -> Arc<CallTree> {
    tree_of(stacks, |name| Frame::function(name))
}

/// The same, with a frame for each name.
pub(crate) fn tree_of<S: AsRef<str>>(
    stacks: &[(S, i64)],
    frame: impl Fn(&str) -> Frame,
) -> Arc<CallTree> {
    let mut builder = CallTreeBuilder::new(vec![ValueType::new("cpu", "ns")]).unwrap();
    for (stack, cost) in stacks {
        let names = stack.as_ref().split(' ');
        let ids: Vec<_> = names
            .map(|name| builder.intern(frame(name)).unwrap())
            .collect();
        builder.add(&ids, &[*cost]).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

/// A random tree over few names, so that recursion is everywhere, with some negative costs. With `twins`, some functions
/// of one name are different frames, and siblings may have the same name.
pub(crate) fn random_tree(random: &mut Random, twins: bool) -> Arc<CallTree> {
    let names = 2 + random.index(3);
    let mut stacks = Vec::new();
    for _ in 0..2 + random.index(25) {
        let depth = 1 + random.index(7);
        let name = |random: &mut Random| {
            let name = ["a", "b", "c", "d"][random.index(names)];
            let twin = if twins && random.index(3) == 0 {
                "'"
            } else {
                ""
            };
            format!("{name}{twin}")
        };
        let stack: Vec<_> = (0..depth).map(|_| name(random)).collect();
        stacks.push((stack.join(" "), random.index(30) as i64 - 8));
    }
    tree_of(&stacks, |name| Frame {
        file: name.ends_with('\'').then(|| "twin.c".into()),
        ..Frame::function(name.trim_end_matches('\''))
    })
}

/// A random tree of so many deep stacks over four names. No cost is negative, unless `signed`.
pub(crate) fn large_tree(random: &mut Random, stacks: usize, signed: bool) -> Arc<CallTree> {
    let below = if signed { 8 } else { 0 };
    let stack = |random: &mut Random| {
        let depth = 1 + random.index(12);
        let names = (0..depth).map(|_| ["a", "b", "c", "d"][random.index(4)]);
        (
            names.collect::<Vec<_>>().join(" "),
            random.index(30) as i64 - below,
        )
    };
    let stacks: Vec<_> = (0..stacks).map(|_| stack(random)).collect();
    tree(&stacks)
}

/// The paper's sets (§2.2) for a list of paths, in one tree.
pub(crate) struct Naive<'a>(pub &'a CallTree);

impl Naive<'_> {
    fn name(&self, n: u32) -> &str {
        &self.0.frame(n).name
    }

    /// All paths with these names, as lists of nodes.
    pub(crate) fn paths(&self, names: &[&str]) -> Vec<Vec<u32>> {
        let all = (0..self.0.len()).map(|n| vec![n]);
        let mut paths: Vec<_> = all.filter(|path| self.name(path[0]) == names[0]).collect();
        for name in &names[1..] {
            let mut longer = Vec::new();
            for path in &paths {
                let below = self.0.children(*path.last().unwrap());
                for child in below.filter(|&n| self.name(n) == *name) {
                    longer.push([path.as_slice(), &[child]].concat());
                }
            }
            paths = longer;
        }
        paths
    }

    fn all_paths(&self, set: &[Vec<&str>]) -> Vec<Vec<u32>> {
        set.iter().flat_map(|names| self.paths(names)).collect()
    }

    fn along(&self, set: &[Vec<&str>]) -> BTreeSet<u32> {
        self.all_paths(set).into_iter().flatten().collect()
    }

    fn descendants(&self, set: &[Vec<&str>]) -> BTreeSet<u32> {
        let paths = self.all_paths(set).into_iter();
        let finals: BTreeSet<u32> = paths.map(|path| *path.last().unwrap()).collect();
        let below = |&n: &u32| {
            let mut above = self.0.parents()[n as usize];
            while above != NO_NODE && !finals.contains(&above) {
                above = self.0.parents()[above as usize];
            }
            above != NO_NODE
        };
        (0..self.0.len()).filter(below).collect()
    }

    fn cost(&self, nodes: &BTreeSet<u32>) -> i64 {
        nodes.iter().map(|&n| self.0.values(0)[n as usize]).sum()
    }

    /// Total base: the cost of `along(S)`.
    pub(crate) fn base(&self, set: &[Vec<&str>]) -> i64 {
        self.cost(&self.along(set))
    }

    /// Total cum: the cost of `along(S) ∪ descendants(S)`.
    pub(crate) fn cum(&self, set: &[Vec<&str>]) -> i64 {
        self.cost(&(&self.along(set) | &self.descendants(set)))
    }

    /// The names before the path, sorted.
    pub(crate) fn above(&self, names: &[&str]) -> BTreeSet<&str> {
        let paths = self.paths(names).into_iter();
        let parents = paths.map(|path| self.0.parents()[path[0] as usize]);
        parents
            .filter(|&n| n != NO_NODE)
            .map(|n| self.name(n))
            .collect()
    }

    /// The names behind the path, sorted.
    pub(crate) fn below(&self, names: &[&str]) -> BTreeSet<&str> {
        let paths = self.paths(names).into_iter();
        paths
            .flat_map(|path| self.0.children(*path.last().unwrap()))
            .map(|n| self.name(n))
            .collect()
    }

    /// Every path of at most `longest` names that occurs.
    pub(crate) fn all(&self, longest: usize) -> BTreeSet<Vec<&str>> {
        let mut all = BTreeSet::new();
        for n in 0..self.0.len() {
            let stack: Vec<&str> = self.0.stack(n).map(|n| self.name(n)).collect();
            for length in 1..=longest.min(stack.len()) {
                all.insert(stack[stack.len() - length..].to_vec());
            }
        }
        all
    }
}

/// The automatic search of a whole profile.
pub(crate) fn automatic<P: ProfileInterface>(
    profile: &P,
    options: &Options,
    known: &[P::Summary],
) -> Automatic<P::Summary> {
    let (whole, progress) = (Denominator::of(profile), Progress::default());
    let found = fulcrum_paths::automatic(profile, options, known, whole, &progress);
    found.expect("nobody cancels it")
}

//! The union of a comparison's trees: one tree with the nodes of all.
//!
//! For drawing only. The search keeps the trees separate (`compare/call_trees.rs`).

use std::collections::HashMap;

use fulcrum_model::call_tree::NO_NODE;

use super::costs::{Costs, Width};
use crate::compare::call_trees::ComparativeProfile;
use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::named::Named;
use crate::profile::call_tree::names::NO_NAME;

/// Nodes in preorder, as columns. Takes 41 bytes a node, plus 8 for each side with negative costs.
#[derive(Debug, Default)]
pub(super) struct Union {
    pub(crate) keys: Vec<u32>,
    pub(crate) parents: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    /// The cost in A. With several inputs, the mean.
    pub(crate) a: Sums,
    pub(crate) b: Sums,
    /// The absolute difference of each node's own cost.
    pub(crate) change: Option<Sums>,
    /// Absolute costs. `None` if no cost is negative.
    pub(crate) size_a: Option<Sums>,
    pub(crate) size_b: Option<Sums>,
    /// Nodes by name, ascending within each name, and where each name's nodes begin and the last ones end.
    nodes: Vec<u32>,
    starts: Vec<u32>,
    /// Bit 0: A has the node; bit 1: B has it.
    present: Vec<u8>,
    /// Names: those of functions, sorted, then those of containers.
    pub(crate) titles: Vec<String>,
    pub(crate) functions: usize,
}

/// The sum of all nodes before each one; the last entry is the total.
#[derive(Debug)]
pub(super) struct Sums(Vec<f64>);

impl Default for Sums {
    fn default() -> Self {
        Sums(vec![0.0])
    }
}

impl Sums {
    fn of(costs: impl Iterator<Item = f64>) -> Self {
        let mut sums = Sums::default();
        costs.for_each(|cost| sums.push(cost));
        sums
    }

    fn push(&mut self, cost: f64) {
        let last = self.0.last().expect("Sums begins with 0");
        self.0.push(last + cost);
    }

    fn own(&self) -> impl Iterator<Item = f64> {
        self.0.windows(2).map(|it| it[1] - it[0])
    }

    pub(crate) fn between(&self, start: u32, end: u32) -> f64 {
        self.0[end as usize] - self.0[start as usize]
    }
}

/// A node of one of the trees.
type At = (u32, u32);

struct Builder<'a> {
    trees: &'a [Index],
    /// The weight of each tree's costs on its side: positive in A, negative in B.
    weights: Vec<f64>,
    containers: HashMap<String, u32>,
    union: Union,
}

impl Union {
    /// The sums of widths.
    pub(crate) fn wide(&self, width: Width) -> &Sums {
        match width {
            Width::A => self.size_a.as_ref().unwrap_or(&self.a),
            Width::B => self.size_b.as_ref().unwrap_or(&self.b),
            Width::Change => self.change.as_ref().unwrap_or(&self.a),
        }
    }

    /// The cost of the nodes from `start` to before `end`.
    pub(crate) fn costs(&self, wide: &Sums, start: u32, end: u32) -> Costs {
        Costs {
            a: self.a.between(start, end).round() as i64,
            b: self.b.between(start, end).round() as i64,
            // Sums of fractions may differ from 0 by rounding.
            weight: wide.between(start, end).max(0.0),
        }
    }

    pub(crate) fn of(profile: &ComparativeProfile) -> Self {
        let (names, inputs) = (profile.names(), profile.inputs());
        let titles: Vec<String> = (0..names.len() as u32)
            .map(|name| names.get(name).to_owned())
            .collect();
        let trees = inputs.trees();
        let mut builder = Builder {
            trees,
            weights: (0..trees.len()).map(|tree| inputs.weight(tree)).collect(),
            containers: HashMap::new(),
            union: Union {
                functions: titles.len(),
                titles,
                ..Union::default()
            },
        };
        let mut roots = Vec::new();
        for (tree, index) in (0..).zip(trees) {
            builder.children(tree, 0, index.len(), &mut roots);
        }
        builder.build(roots);
        let mut union = builder.union;
        let own = || union.a.own().zip(union.b.own());
        union.change = Some(Sums::of(own().map(|(a, b)| (a - b).abs())));
        let sizes = |of: &Sums| {
            let negative = of.own().any(|cost| cost < 0.0);
            negative.then(|| Sums::of(of.own().map(f64::abs)))
        };
        (union.size_a, union.size_b) = (sizes(&union.a), sizes(&union.b));
        union.group();
        union
    }

    /// Groups the nodes by name: a counting sort.
    fn group(&mut self) {
        let mut starts = vec![0_u32; self.titles.len() + 1];
        for &key in &self.keys {
            starts[key as usize + 1] += 1;
        }
        for key in 0..self.titles.len() {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        self.nodes = vec![0; self.keys.len()];
        for (node, &key) in (0..).zip(&self.keys) {
            let at = &mut next[key as usize];
            self.nodes[*at as usize] = node;
            *at += 1;
        }
        self.starts = starts;
    }

    /// The nodes with this name, ascending.
    pub(crate) fn nodes_of(&self, key: u32) -> &[u32] {
        let key = key as usize;
        &self.nodes[self.starts[key] as usize..self.starts[key + 1] as usize]
    }

    pub(crate) fn len(&self) -> u32 {
        self.keys.len() as u32
    }

    pub(crate) fn present(&self, n: u32) -> (bool, bool) {
        let bits = self.present[n as usize];
        (bits & 1 == 1, bits & 2 == 2)
    }
}

impl Named for Union {
    fn nodes_of(&self, name: u32) -> &[u32] {
        self.nodes_of(name)
    }

    fn name(&self, n: u32) -> u32 {
        self.keys[n as usize]
    }

    fn parent(&self, n: u32) -> u32 {
        self.parents[n as usize]
    }

    fn end(&self, n: u32) -> u32 {
        self.ends[n as usize]
    }
}

impl Builder<'_> {
    fn key(&mut self, (tree, n): At) -> u32 {
        let index = &self.trees[tree as usize];
        match index.name(n) {
            NO_NAME => {
                let name = &index.tree().frame(n).name;
                if let Some(&key) = self.containers.get(name) {
                    return key;
                }
                let key = self.union.titles.len() as u32;
                self.union.titles.push(name.clone());
                self.containers.insert(name.clone(), key);
                key
            }
            name => name,
        }
    }

    fn children(&mut self, tree: u32, first: u32, end: u32, into: &mut Vec<(u32, At)>) {
        let mut n = first;
        while n < end {
            let at = (tree, n);
            into.push((self.key(at), at));
            n = self.trees[tree as usize].end(n);
        }
    }

    /// Each step takes one group of siblings with the same name, the first of the remaining ones.
    fn build(&mut self, roots: Vec<(u32, At)>) {
        let mut open: Vec<(u32, Vec<(u32, At)>)> = vec![(NO_NODE, grouped(roots))];
        while let Some((parent, siblings)) = open.last_mut() {
            let parent = *parent;
            let Some(&(key, _)) = siblings.last() else {
                open.pop();
                if parent != NO_NODE {
                    self.union.ends[parent as usize] = self.union.len();
                }
                continue;
            };
            let same = siblings.iter().rev().take_while(|it| it.0 == key).count();
            let group = siblings.split_off(siblings.len() - same);
            let node = self.union.len();
            let mut children = Vec::new();
            let (mut a, mut b, mut present) = (0.0, 0.0, 0);
            for &(_, (tree, n)) in &group {
                let index = &self.trees[tree as usize];
                let cost = self.weights[tree as usize] * index.own(n) as f64;
                // Weights of B's trees are negative.
                if self.weights[tree as usize] < 0.0 {
                    b -= cost;
                    present |= 2;
                } else {
                    a += cost;
                    present |= 1;
                }
                self.children(tree, n + 1, self.trees[tree as usize].end(n), &mut children);
            }
            self.union.keys.push(key);
            self.union.parents.push(parent);
            self.union.ends.push(node + 1);
            self.union.a.push(a);
            self.union.b.push(b);
            self.union.present.push(present);
            if !children.is_empty() {
                open.push((node, grouped(children)));
            }
        }
    }
}

/// Sorts siblings by descending name, so that the first name is taken first.
fn grouped(mut siblings: Vec<(u32, At)>) -> Vec<(u32, At)> {
    siblings.sort_by_key(|it| std::cmp::Reverse(it.0));
    siblings
}

//! Makes a tree's numbers exact by adding leaves in random places.

use std::collections::HashSet;

use crate::base::Base;
use crate::plant::Additions;
use crate::program::Program;
use crate::shape::TreeShape;
use fulcrum_stats::Random;

/// Chooses leaves of the base tree to leave out: at most one below each node, and never an only child.
pub(crate) fn dropped(base: &Base, count: usize, random: &mut Random) -> HashSet<u32> {
    let (mut dropped, mut parents) = (HashSet::new(), HashSet::new());
    while dropped.len() < count {
        let n = random.index(base.nodes.len()) as u32;
        let node = base.nodes[n as usize];
        let siblings = base.nodes[node.parent as usize].degree;
        if node.degree == 0 && (2..20).contains(&siblings) && parents.insert(node.parent) {
            dropped.insert(n);
        }
    }
    dropped
}

/// Adds single nodes until the tree has the shape's nodes, leaves and greatest out-degree.
///
/// # Panics
/// When this number of nodes cannot have this number of leaves, because too much or too little was planted.
pub(crate) fn fill(
    base: &Base,
    program: &Program,
    shape: &TreeShape,
    dropped: &HashSet<u32>,
    to: &mut Additions,
    random: &mut Random,
) {
    let gone = dropped.len() as u32;
    let base_leaves = base.nodes.iter().filter(|it| it.degree == 0).count() as u32;
    let nodes = shape.nodes - (base.nodes.len() as u32 - gone + to.nodes);
    let leaves = shape.leaves - (base_leaves - gone + to.leaves);
    assert!(
        leaves <= nodes,
        "{leaves} more leaves of {nodes} more nodes"
    );
    let widest = (0..base.nodes.len()).max_by_key(|&n| base.nodes[n].degree);
    let widest = widest.expect("trees have a root") as u32;
    let wider = shape.widest - u32::from(base.nodes[widest as usize].degree);
    let children = Children::new(base);
    let mut one = Filler {
        base,
        program,
        children,
        added: HashSet::new(),
        to,
    };
    for _ in 0..wider {
        while !one.sibling(widest, random) {}
    }
    let mut left = leaves - wider;
    while left > 0 {
        let n = random.index(base.nodes.len()) as u32;
        let degree = base.nodes[n as usize].degree;
        if (1..20).contains(&degree) && one.sibling(n, random) {
            left -= 1;
        }
    }
    let mut left = nodes - leaves;
    let mut used = HashSet::new();
    while left > 0 {
        let n = random.index(base.nodes.len()) as u32;
        let node = base.nodes[n as usize];
        let room = node.degree == 0 && u32::from(node.depth) < shape.deepest;
        if room && !dropped.contains(&n) && used.insert(n) {
            one.add(n, random);
            left -= 1;
        }
    }
}

struct Filler<'a> {
    base: &'a Base,
    program: &'a Program,
    children: Children,
    added: HashSet<(u32, u32)>,
    to: &'a mut Additions,
}

impl Filler<'_> {
    /// Adds a child to a node that has children, unless it already has this one.
    fn sibling(&mut self, n: u32, random: &mut Random) -> bool {
        let method = random.index(self.program.methods()) as u32;
        let method_of = |child: u32| self.base.nodes[child as usize].method;
        let there = self.children.of(n).any(|child| method_of(child) == method);
        if there || !self.added.insert((n, method)) {
            return false;
        }
        self.push(n, method, random);
        true
    }

    /// Adds a child to a leaf.
    fn add(&mut self, n: u32, random: &mut Random) {
        let method = random.index(self.program.methods()) as u32;
        self.push(n, method, random);
    }

    fn push(&mut self, n: u32, method: u32, random: &mut Random) {
        let weight = self.program.weight(method);
        self.to
            .push(n, &[method], (1 + random.index(weight)) as i64);
    }
}

/// The children of each node.
struct Children {
    /// The next sibling plus one, or 0 for none.
    next: Vec<u32>,
    first: Vec<u32>,
}

impl Children {
    fn new(base: &Base) -> Self {
        let mut children = Children {
            next: vec![0; base.nodes.len()],
            first: vec![0; base.nodes.len()],
        };
        for (n, node) in (0..).zip(&base.nodes).skip(1) {
            let first = &mut children.first[node.parent as usize];
            children.next[n as usize] = *first;
            *first = n + 1;
        }
        children
    }

    fn of(&self, n: u32) -> impl Iterator<Item = u32> {
        let some = |n: u32| n.checked_sub(1);
        std::iter::successors(some(self.first[n as usize]), move |&n: &u32| {
            some(self.next[n as usize])
        })
    }
}

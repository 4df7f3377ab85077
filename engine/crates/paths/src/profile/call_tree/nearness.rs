//! How close the cost of a call tree is to its paths, by exact distances.

use fulcrum_model::call_tree::NO_NODE;

use crate::profile::call_tree::index::Index;
use crate::profile::call_tree::names::NO_NAME;
use crate::profile::call_tree::occurrences::Occurrences;
use crate::profile::call_tree::region::Cover;

/// The nearness in one call tree.
pub(crate) struct TreeNearness<'a> {
    index: &'a Index,
    fade: f64,
    recursions: Vec<Recursion>,
    /// The faded cost of each subtree, without what is taken.
    near: Vec<f64>,
    /// The same, but faded by the number of calls between, whatever they call.
    plain: Vec<f64>,
    taken: Cover,
    /// The own cost of all nodes before each node, without what is taken; the last entry is that of all nodes.
    left: Vec<i64>,
}

/// A node that has an ancestor with the same name.
struct Recursion {
    node: u32,
    /// The nearest such ancestor.
    above: u32,
    /// The number of calls between them.
    steps: i32,
}

impl<'a> TreeNearness<'a> {
    pub(crate) fn new(index: &'a Index, fade: f64) -> Self {
        let mut tree = TreeNearness {
            index,
            fade,
            recursions: recursions(index),
            near: Vec::new(),
            plain: Vec::new(),
            taken: Cover::new(index.len()),
            left: Vec::new(),
        };
        tree.refresh();
        tree
    }

    pub(crate) fn set_fade(&mut self, fade: f64) {
        self.fade = fade;
        self.refresh();
    }

    fn refresh(&mut self) {
        let TreeNearness {
            index,
            fade,
            near,
            plain,
            ..
        } = self;
        let count = index.len() as usize;
        self.left.clear();
        self.left.reserve(count + 1);
        plain.clear();
        plain.reserve(count);
        let mut sum = 0;
        for n in 0..index.len() {
            self.left.push(sum);
            let own = match self.taken.has(n) {
                true => 0,
                false => index.own(n),
            };
            sum += own;
            plain.push(own as f64);
        }
        self.left.push(sum);
        near.clear();
        near.resize(count, 0.0);
        let mut recursions = self.recursions.iter().rev().peekable();
        for (n, &parent) in index.parents().iter().enumerate().rev() {
            near[n] += plain[n];
            if parent != NO_NODE {
                plain[parent as usize] += *fade * plain[n];
            }
            if let Some(it) = recursions.next_if(|it| it.node as usize == n) {
                near[it.above as usize] += near[n] - fade.powi(it.steps) * plain[n];
            }
        }
    }

    fn left_between(&self, start: u32, end: u32) -> i64 {
        self.left[end as usize] - self.left[start as usize]
    }

    pub(crate) fn left(&self, s: &Occurrences) -> i64 {
        let mut sum = 0;
        if s.path().len() == 1 {
            s.each_outermost(self.index, |last| {
                sum += self.left_between(last, self.index.end(last));
            });
        } else {
            let covered = s.covered(self.index).intervals();
            sum = covered
                .map(|(start, end)| self.left_between(start, end))
                .sum();
        }
        sum
    }

    pub(crate) fn left_at_top(&self, s: &Occurrences) -> i64 {
        if s.path().len() == 1 {
            return 0;
        }
        let mut tops = Vec::new();
        s.each(self.index, |it| tops.push(it.first));
        tops.sort_unstable();
        tops.dedup();
        tops.into_iter().map(|n| self.left_between(n, n + 1)).sum()
    }

    pub(crate) fn of(&self, s: &Occurrences) -> f64 {
        let mut sum = 0.0;
        s.each_outermost(self.index, |last| sum += self.near[last as usize]);
        sum
    }

    pub(crate) fn take(&mut self, s: &Occurrences) {
        self.taken.add(s.covered(self.index), self.index);
        self.refresh();
    }
}

/// Every node that has an ancestor with the same name, ascending.
fn recursions(index: &Index) -> Vec<Recursion> {
    let mut recursions = Vec::new();
    // For each name, the innermost open node and its depth. The last entry is for nodes without a name.
    let mut innermost = vec![None; index.names() + 1];
    // For each open node, where it ends, its name, and the entry that it replaced in `innermost`.
    let mut open: Vec<(u32, usize, _)> = Vec::new();
    for node in 0..index.len() {
        while let Some((_, name, before)) = open.pop_if(|&mut (end, ..)| end <= node) {
            innermost[name] = before;
        }
        let depth = open.len() as i32;
        let name = index.name(node);
        if name == NO_NAME {
            // Containers are open, too, but have no name.
            open.push((index.end(node), index.names(), None));
            continue;
        }
        let before = innermost[name as usize].replace((node, depth));
        if let Some((above, at)) = before {
            let steps = depth - at;
            recursions.push(Recursion { node, above, steps });
        }
        open.push((index.end(node), name as usize, before));
    }
    recursions
}

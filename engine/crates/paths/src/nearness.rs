//! How close cost is to a path: what lets the automatic search weigh *how much* against *how precisely*.
//!
//! A sequence high in the tree covers much and says little. So each node's cost counts for a summary multiplied by
//! `fade` to the power of its distance below the path's final node. Where that calls itself, also through others, the
//! distance is that to the last of these calls: a recursion is as near as its first call. Cost that is covered by summaries
//! taken before is *taken* and counts nothing. All values are in the profile's unit.

use fulcrum_model::call_tree::NO_NODE;

use crate::index::Index;
use crate::names::NO_NAME;
use crate::occurrences::Occurrences;
use crate::region::Cover;

/// The faded cost of summaries, less what is taken.
pub trait Nearness<S> {
    /// The faded cost of what the summary's finals call, themselves included.
    fn of(&self, s: &S) -> f64;

    /// The part of the summary's cum that is not taken.
    fn left(&self, s: &S) -> i64;

    /// The part of the own cost of the path's first name that is not taken, where the path has more than one.
    fn left_at_top(&self, s: &S) -> i64;

    /// Takes everything that the summary's cum covers.
    fn take(&mut self, s: &S);

    /// From now on cost fades like this, between 0 and 1.
    fn set_fade(&mut self, fade: f64);
}

/// In one call tree, by exact distances.
pub(crate) struct InTree<'a> {
    index: &'a Index,
    fade: f64,
    again: Vec<Again>,
    /// The faded cost of each subtree, without what is taken.
    near: Vec<f64>,
    /// The same, but faded by plain distances.
    plain: Vec<f64>,
    taken: Cover,
    /// The own cost of all nodes before each node, and at last of all, without what is taken.
    left: Vec<i64>,
}

/// A node that has an ancestor of its name.
struct Again {
    node: u32,
    /// The nearest such ancestor.
    above: u32,
    /// How far up that is.
    steps: i32,
}

impl<'a> InTree<'a> {
    pub fn new(index: &'a Index, fade: f64) -> Self {
        let mut tree = InTree {
            index,
            fade,
            again: again(index),
            near: Vec::new(),
            plain: Vec::new(),
            taken: Cover::new(index.len()),
            left: Vec::new(),
        };
        tree.refresh();
        tree
    }

    pub fn set_fade(&mut self, fade: f64) {
        self.fade = fade;
        self.refresh();
    }

    fn refresh(&mut self) {
        let InTree {
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
        let mut again = self.again.iter().rev().peekable();
        for (n, &parent) in index.parents().iter().enumerate().rev() {
            near[n] += plain[n];
            if parent != NO_NODE {
                plain[parent as usize] += *fade * plain[n];
            }
            if let Some(it) = again.next_if(|it| it.node as usize == n) {
                near[it.above as usize] += near[n] - fade.powi(it.steps) * plain[n];
            }
        }
    }

    fn left_between(&self, start: u32, end: u32) -> i64 {
        self.left[end as usize] - self.left[start as usize]
    }

    pub fn left(&self, s: &Occurrences) -> i64 {
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

    pub fn left_at_top(&self, s: &Occurrences) -> i64 {
        if s.path().len() == 1 {
            return 0;
        }
        let mut tops = Vec::new();
        s.each(self.index, |it| tops.push(it.first));
        tops.sort_unstable();
        tops.dedup();
        tops.into_iter().map(|n| self.left_between(n, n + 1)).sum()
    }

    pub fn of(&self, s: &Occurrences) -> f64 {
        let mut sum = 0.0;
        s.each_outermost(self.index, |last| sum += self.near[last as usize]);
        sum
    }

    pub fn take(&mut self, s: &Occurrences) {
        self.taken.add(s.covered(self.index), self.index);
        self.refresh();
    }
}

/// Every node that has an ancestor of its name, ascending.
fn again(index: &Index) -> Vec<Again> {
    let mut again = Vec::new();
    // For each name the innermost open node and its depth. The last is for nodes that have no name.
    let mut innermost = vec![None; index.names() + 1];
    // Where each open node ends, its name, and what was innermost before it.
    let mut open: Vec<(u32, usize, _)> = Vec::new();
    for node in 0..index.len() {
        while let Some((_, name, before)) = open.pop_if(|&mut (end, ..)| end <= node) {
            innermost[name] = before;
        }
        let depth = open.len() as i32;
        let name = index.name(node);
        if name == NO_NAME {
            // It is open, and of no name.
            open.push((index.end(node), index.names(), None));
            continue;
        }
        let before = innermost[name as usize].replace((node, depth));
        if let Some((above, at)) = before {
            let steps = depth - at;
            again.push(Again { node, above, steps });
        }
        open.push((index.end(node), name as usize, before));
    }
    again
}

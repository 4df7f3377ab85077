//! How close cost is to a path: what lets the automatic search weigh *how much* against *how precisely*.
//!
//! A sequence high in the tree covers much and says little. So each node's cost counts for a summary multiplied by
//! `fade` to the power of its distance below the path's final node. Cost that is covered by summaries taken before is
//! *taken* and counts nothing. All values are in the profile's unit.

use fulcrum_model::call_tree::NO_NODE;

use crate::index::Index;
use crate::interface::ProfileInterface;
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
}

/// For any profile: own cost counts fully, all other cost is one step away.
pub(crate) struct ByTotals<'a, P: ProfileInterface + ?Sized> {
    profile: &'a P,
    fade: f64,
    taken: Vec<P::Summary>,
}

impl<'a, P: ProfileInterface + ?Sized> ByTotals<'a, P> {
    pub fn new(profile: &'a P, fade: f64) -> Self {
        ByTotals {
            profile,
            fade,
            taken: Vec::new(),
        }
    }
}

impl<P: ProfileInterface + ?Sized> ByTotals<'_, P> {
    fn with(&self, s: &P::Summary) -> Vec<P::Summary> {
        let mut with = self.taken.clone();
        with.push(s.clone());
        with
    }

    fn left_of_base(&self, s: &P::Summary) -> i64 {
        self.profile.total_base_of(&self.with(s)) - self.profile.total_base_of(&self.taken)
    }
}

impl<P: ProfileInterface + ?Sized> Nearness<P::Summary> for ByTotals<'_, P> {
    fn of(&self, s: &P::Summary) -> f64 {
        let base = self.left_of_base(s);
        base as f64 + self.fade * (self.left(s) - base) as f64
    }

    fn left(&self, s: &P::Summary) -> i64 {
        self.profile.total_cum_of(&self.with(s)) - self.profile.total_cum_of(&self.taken)
    }

    fn left_at_top(&self, s: &P::Summary) -> i64 {
        let rest = self.profile.trim_top(s);
        rest.map_or(0, |rest| self.left_of_base(s) - self.left_of_base(&rest))
    }

    fn take(&mut self, s: &P::Summary) {
        self.taken.push(s.clone());
    }
}

/// In one call tree, by exact distances.
pub(crate) struct InTree<'a> {
    index: &'a Index,
    fade: f64,
    /// The faded cost of each subtree, without what is taken.
    near: Vec<f64>,
    taken: Cover,
    /// The own cost of all nodes before each node, and at last of all, without what is taken.
    left: Vec<i64>,
}

impl<'a> InTree<'a> {
    pub fn new(index: &'a Index, fade: f64) -> Self {
        let mut near: Vec<f64> = (0..index.len()).map(|n| index.own(n) as f64).collect();
        for (n, &parent) in index.parents().iter().enumerate().rev() {
            if parent != NO_NODE {
                near[parent as usize] += fade * near[n];
            }
        }
        let mut tree = InTree {
            index,
            fade,
            near,
            taken: Cover::new(index.len()),
            left: Vec::with_capacity(index.len() as usize + 1),
        };
        tree.sum_left();
        tree
    }

    fn sum_left(&mut self) {
        let mut sum = 0;
        self.left.clear();
        self.left.push(sum);
        for n in 0..self.index.len() {
            if !self.taken.has(n) {
                sum += self.index.own(n);
            }
            self.left.push(sum);
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
        for (mut n, end) in s.covered(self.index).intervals() {
            while n < end {
                let after = self.index.end(n);
                if after <= end {
                    self.taken.add_interval(n, after, self.index);
                    let gone = self.near[n as usize];
                    self.near[n as usize..after as usize].fill(0.0);
                    self.subtract_above(n, gone);
                    n = after;
                } else {
                    // A node of the path itself, of whose subtree not all is covered.
                    let gone = self.taken.add_interval(n, n + 1, self.index) as f64;
                    self.near[n as usize] -= gone;
                    self.subtract_above(n, gone);
                    n += 1;
                }
            }
        }
        self.sum_left();
    }

    fn subtract_above(&mut self, n: u32, mut gone: f64) {
        let mut above = self.index.parent(n);
        // Costs are whole numbers: a thousandth is nothing.
        while above != NO_NODE && gone.abs() > 1e-3 {
            gone *= self.fade;
            self.near[above as usize] -= gone;
            above = self.index.parent(above);
        }
    }
}

//! Sets of tree nodes: sorted, disjoint intervals of preorder numbers.

use std::borrow::Cow;

/// The costs of a tree's nodes, summed in preorder.
pub(crate) trait Sums {
    /// The cost of all nodes before `n`. For the number of nodes, the total.
    fn before(&self, n: u32) -> i64;
}

/// A set of nodes and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    intervals: Vec<(u32, u32)>,
    /// The cost of all intervals before each one; the last entry is the total.
    before: Vec<i64>,
}

impl Default for Region {
    /// The empty set.
    fn default() -> Self {
        Region {
            intervals: Vec::new(),
            before: vec![0],
        }
    }
}

impl Region {
    /// The union of intervals `[start, end)` of a tree's nodes, in any order.
    pub(crate) fn of(mut intervals: Vec<(u32, u32)>, tree: &impl Sums) -> Self {
        // The intervals are usually sorted already, for which the stable sort is fast.
        intervals.sort();
        intervals.dedup_by(|next, into| {
            let touches = next.0 <= into.1;
            if touches {
                into.1 = into.1.max(next.1);
            }
            touches
        });
        intervals.shrink_to_fit();
        let mut before = Vec::with_capacity(intervals.len() + 1);
        let mut sum = 0;
        before.push(sum);
        before.extend(intervals.iter().map(|&interval| {
            sum += cost(interval, tree);
            sum
        }));
        Region { intervals, before }
    }

    /// The union of sorted intervals.
    pub(crate) fn of_sorted(sorted: impl Iterator<Item = (u32, u32)>, tree: &impl Sums) -> Self {
        let (mut intervals, mut before) = (Vec::new(), vec![0]);
        let mut sum = 0;
        let mut last: Option<(u32, u32)> = None;
        let mut add = |interval: (u32, u32)| {
            sum += cost(interval, tree);
            intervals.push(interval);
            before.push(sum);
        };
        for (start, end) in sorted {
            match &mut last {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                last => {
                    if let Some(whole) = last.replace((start, end)) {
                        add(whole);
                    }
                }
            }
        }
        last.into_iter().for_each(add);
        Region { intervals, before }
    }

    /// The union of sets.
    pub(crate) fn union<'a>(regions: impl Iterator<Item = &'a Region>, tree: &impl Sums) -> Self {
        let mut all: Vec<Cow<'a, Region>> = regions.map(Cow::Borrowed).collect();
        while all.len() > 1 {
            let merged = all.chunks(2).map(|two| match two {
                [a, b] => Cow::Owned(a.merged(b, tree)),
                rest => rest[0].clone(),
            });
            all = merged.collect();
        }
        all.pop().unwrap_or_default().into_owned()
    }

    /// The union with another set. The cost of what is in one interval only is known.
    fn merged(&self, other: &Region, tree: &impl Sums) -> Region {
        let (mut a, mut b) = (0, 0);
        let mut intervals: Vec<(u32, u32)> = Vec::new();
        let (mut before, mut sum) = (vec![0], 0);
        loop {
            let (of, at) = match (self.intervals.get(a), other.intervals.get(b)) {
                (Some(x), Some(y)) if x.0 > y.0 => (other, &mut b),
                (Some(_), _) => (self, &mut a),
                (None, Some(_)) => (other, &mut b),
                (None, None) => return Region { intervals, before },
            };
            let (start, end) = of.intervals[*at];
            let own = of.before[*at + 1] - of.before[*at];
            *at += 1;
            match intervals.last_mut() {
                Some(last) if end <= last.1 => continue,
                Some(last) if start <= last.1 => {
                    sum += match start == last.1 {
                        true => own,
                        false => cost((last.1, end), tree),
                    };
                    last.1 = end;
                    before.pop();
                }
                _ => {
                    sum += own;
                    intervals.push((start, end));
                }
            }
            before.push(sum);
        }
    }

    /// The cost of all nodes.
    pub(crate) fn cost(&self) -> i64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// The cost of the nodes in both sets. All intervals of one set within an interval of the other are handled in one step, so
    /// the time is proportional to the number of intervals in the smaller set, times the logarithm of the other's.
    pub(crate) fn shared(&self, other: &Region, tree: &impl Sums) -> i64 {
        let (mut a, mut b) = (0, 0);
        let mut sum = 0;
        while let (Some(&x), Some(&y)) = (self.intervals.get(a), other.intervals.get(b)) {
            if x.1 <= y.0 {
                a = self.after(a, y.0);
            } else if y.1 <= x.0 {
                b = other.after(b, x.0);
            } else if x.0 <= y.0 && y.1 <= x.1 {
                let within = other.after(b, x.1);
                sum += other.before[within] - other.before[b];
                b = within;
            } else if y.0 <= x.0 && x.1 <= y.1 {
                let within = self.after(a, y.1);
                sum += self.before[within] - self.before[a];
                a = within;
            } else {
                sum += cost((x.0.max(y.0), x.1.min(y.1)), tree);
                match x.1 < y.1 {
                    true => a += 1,
                    false => b += 1,
                }
            }
        }
        sum
    }

    /// The cost of the nodes that are also in one of `count` sorted, disjoint intervals. Of those that share nothing, few are
    /// asked for.
    pub(crate) fn shared_with(
        &self,
        count: usize,
        interval: impl Fn(usize) -> (u32, u32),
        tree: &impl Sums,
    ) -> i64 {
        let (mut a, mut b) = (0, 0);
        let mut sum = 0;
        while let Some(&x) = self.intervals.get(a) {
            b = first_from(b, count, |b| interval(b).1 > x.0);
            if b == count {
                break;
            }
            let y = interval(b);
            if x.1 <= y.0 {
                a = self.after(a, y.0);
            } else if y.0 <= x.0 && x.1 <= y.1 {
                let within = self.after(a, y.1);
                sum += self.before[within] - self.before[a];
                a = within;
            } else {
                sum += cost((x.0.max(y.0), x.1.min(y.1)), tree);
                match x.1 < y.1 {
                    true => a += 1,
                    false => b += 1,
                }
            }
        }
        sum
    }

    /// Whether there is no node.
    pub(crate) fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The first interval from position `from` on that ends after `n`.
    fn after(&self, from: usize, n: u32) -> usize {
        first_from(from, self.intervals.len(), |at| self.intervals[at].1 > n)
    }

    /// The intervals, ascending.
    pub(crate) fn intervals(&self) -> impl Iterator<Item = (u32, u32)> {
        self.intervals.iter().copied()
    }
}

/// The first of the numbers from `from` to before `end` that fulfils a condition, as do all after it: exponential, then binary
/// search. `end` if none does.
fn first_from(from: usize, end: usize, condition: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    // All before `low` do not.
    while low < end && !condition((low + step - 1).min(end - 1)) {
        low = (low + step).min(end);
        step *= 2;
    }
    let mut high = (low + step - 1).min(end);
    while low < high {
        let middle = low + (high - low) / 2;
        match condition(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

fn cost((start, end): (u32, u32), tree: &impl Sums) -> i64 {
    tree.before(end) - tree.before(start)
}

/// A growing set of nodes, one bit a node.
#[derive(Debug)]
pub(crate) struct Cover(Vec<u64>);

impl Cover {
    /// The empty set among `nodes` nodes.
    pub(crate) fn new(nodes: u32) -> Self {
        Cover(vec![0; (nodes as usize).div_ceil(64)])
    }

    /// Adds one node. Returns whether it is new.
    pub(crate) fn insert(&mut self, n: u32) -> bool {
        let (word, bit) = (&mut self.0[n as usize / 64], 1 << (n % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes one node.
    pub(crate) fn remove(&mut self, n: u32) {
        self.0[n as usize / 64] &= !(1 << (n % 64));
    }

    /// The nodes as intervals, ascending.
    pub(crate) fn intervals(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = Vec::new();
        for (n, &word) in (0_u32..).zip(&self.0) {
            let (mut bits, mut at) = (word, n * 64);
            while bits != 0 {
                let gap = bits.trailing_zeros();
                let ones = (!(bits >> gap)).trailing_zeros();
                let (start, end) = (at + gap, at + gap + ones);
                match all.last_mut() {
                    Some(last) if last.1 == start => last.1 = end,
                    _ => all.push((start, end)),
                }
                bits = bits.checked_shr(gap + ones).unwrap_or(0);
                at = end;
            }
        }
        all
    }

    /// Whether a node is in the set.
    pub(crate) fn has(&self, n: u32) -> bool {
        self.0[n as usize / 64] >> (n % 64) & 1 == 1
    }

    /// Adds a set. Returns the cost of the nodes that are new.
    pub(crate) fn add(&mut self, region: &Region, tree: &impl Sums) -> i64 {
        let each = region.intervals();
        each.map(|(start, end)| self.add_interval(start, end, tree))
            .sum()
    }

    /// Adds the nodes from `start` to before `end`. Returns the cost of those that are new.
    pub(crate) fn add_interval(&mut self, start: u32, end: u32, tree: &impl Sums) -> i64 {
        let mut cost = 0;
        let mut from = start;
        while from < end {
            let word = from / 64;
            let until = (word * 64).saturating_add(64).min(end);
            let wanted = (u64::MAX << (from % 64)) & (u64::MAX >> (63 - (until - 1) % 64));
            let bits = &mut self.0[word as usize];
            let mut new = wanted & !*bits;
            *bits |= wanted;
            if new == wanted {
                cost += tree.before(until) - tree.before(from);
            } else {
                while new != 0 {
                    let n = word * 64 + new.trailing_zeros();
                    cost += tree.before(n + 1) - tree.before(n);
                    new &= new - 1;
                }
            }
            from = until;
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::{Cover, Region, Sums, first_from};
    use fulcrum_stats::Random;

    impl Sums for Vec<i64> {
        fn before(&self, n: u32) -> i64 {
            self[n as usize]
        }
    }

    /// Prefix sums in which every node costs something else.
    fn prefix() -> Vec<i64> {
        (0..=3000).map(|n: i64| n * n * 7 - n).collect()
    }

    #[test]
    fn touching_and_nested_intervals_become_one() {
        let region = Region::of(vec![(7, 9), (0, 5), (1, 2), (5, 6)], &prefix());
        assert_eq!(region.intervals().collect::<Vec<_>>(), [(0, 6), (7, 9)]);
        let prefix = prefix();
        assert_eq!(region.cost(), prefix[6] + prefix[9] - prefix[7]);
        assert_eq!(Region::of(Vec::new(), &prefix).cost(), 0);
    }

    #[test]
    fn sorted_intervals_become_the_same_set() {
        let (prefix, mut dice) = (prefix(), dice(3));
        for count in [0, 1, 2, 30, 500] {
            let interval = |_| {
                let start = dice(1000);
                (start, start + 1 + dice(9))
            };
            let mut intervals: Vec<_> = (0..count).map(interval).collect();
            intervals.sort_unstable();
            let sorted = Region::of_sorted(intervals.iter().copied(), &prefix);
            assert_eq!(sorted, Region::of(intervals, &prefix));
        }
    }

    #[test]
    fn a_union_is_of_all_intervals() {
        let (prefix, mut dice) = (prefix(), dice(4));
        for count in [0, 1, 2, 3, 7] {
            for (intervals, longest) in [(0, 1), (1, 900), (20, 30), (300, 3)] {
                let some: Vec<Region> = (0..count)
                    .map(|_| random(&mut dice, intervals, longest))
                    .collect();
                let all = some.iter().flat_map(Region::intervals).collect();
                let union = Region::union(some.iter(), &prefix);
                assert_eq!(union, Region::of(all, &prefix), "{some:?}");
            }
        }
    }

    #[test]
    fn a_search_finds_the_first() {
        for end in 0..20 {
            for from in 0..=end {
                for first in from..=end {
                    assert_eq!(first_from(from, end, |at| at >= first), first);
                }
            }
        }
    }

    /// Numbers below `most`, the same each time.
    fn dice(seed: u64) -> impl FnMut(u32) -> u32 {
        let mut random = Random::new(seed);
        move |most| random.below(most.into()) as u32
    }

    fn random(dice: &mut impl FnMut(u32) -> u32, count: u32, longest: u32) -> Region {
        let interval = |_| {
            let start = dice(1000);
            (start, start + 1 + dice(longest))
        };
        Region::of((0..count).map(interval).collect(), &prefix())
    }

    #[test]
    fn what_two_sets_share_is_what_both_have() {
        let (prefix, mut dice) = (prefix(), dice(1));
        let has = |region: &Region, n: u32| region.intervals().any(|it| (it.0..it.1).contains(&n));
        for (count, longest) in [(0, 5), (1, 900), (3, 200), (40, 10), (300, 3)] {
            for (others, length) in [(1, 1), (200, 2), (20, 100), (2, 1000)] {
                for _ in 0..3 {
                    let a = random(&mut dice, count, longest);
                    let b = random(&mut dice, others, length);
                    let both = (0..2000).filter(|&n| has(&a, n) && has(&b, n));
                    let own = |n: u32| prefix[n as usize + 1] - prefix[n as usize];
                    let expect: i64 = both.map(own).sum();
                    assert_eq!(a.shared(&b, &prefix), expect, "{a:?} {b:?}");
                    assert_eq!(b.shared(&a, &prefix), expect, "{b:?} {a:?}");
                    let of_b: Vec<_> = b.intervals().collect();
                    let listed = a.shared_with(of_b.len(), |at| of_b[at], &prefix);
                    assert_eq!(listed, expect, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn marked_nodes_are_intervals() {
        let mut dice = dice(2);
        for count in [0, 1, 40, 700, 5000] {
            let mut cover = Cover::new(1000);
            let mut nodes = Vec::new();
            for _ in 0..count {
                let n = dice(1000);
                cover.insert(n);
                nodes.push((n, n + 1));
            }
            let expect = Region::of(nodes, &prefix());
            assert_eq!(cover.intervals(), expect.intervals);
        }
        let mut all = Cover::new(256);
        assert!((0..256).all(|n| all.insert(n)) && !all.insert(255));
        assert_eq!(all.intervals(), [(0, 256)]);
    }
}

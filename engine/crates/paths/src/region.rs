//! Sets of tree nodes: sorted, disjoint intervals of preorder numbers.

use crate::index::Index;

/// A set of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region(Vec<(u32, u32)>);

impl Region {
    /// The union of intervals `[start, end)` in any order.
    pub fn of(mut intervals: Vec<(u32, u32)>) -> Self {
        // Mostly sorted already: what the stable sort is fast at.
        intervals.sort();
        intervals.dedup_by(|next, into| {
            let touches = next.0 <= into.1;
            if touches {
                into.1 = into.1.max(next.1);
            }
            touches
        });
        intervals.shrink_to_fit();
        Region(intervals)
    }

    /// The union of sets.
    pub fn union<'a>(regions: impl Iterator<Item = &'a Region>) -> Self {
        Region::of(
            regions
                .flat_map(|region| region.0.iter().copied())
                .collect(),
        )
    }

    /// What the nodes cost.
    pub fn cost(&self, index: &Index) -> i64 {
        self.intervals()
            .map(|(start, end)| index.between(start, end))
            .sum()
    }

    /// The intervals, ascending.
    pub fn intervals(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }
}

/// A set of nodes that grows, one bit a node.
#[derive(Debug)]
pub(crate) struct Cover(Vec<u64>);

impl Cover {
    /// The empty set among `nodes` nodes.
    pub fn new(nodes: u32) -> Self {
        Cover(vec![0; (nodes as usize).div_ceil(64)])
    }

    /// Whether a node is in the set.
    pub fn has(&self, n: u32) -> bool {
        self.0[n as usize / 64] >> (n % 64) & 1 == 1
    }

    /// Adds a set; the cost of what is new in it.
    pub fn add(&mut self, region: &Region, index: &Index) -> i64 {
        let each = region.intervals();
        each.map(|(start, end)| self.add_interval(start, end, index))
            .sum()
    }

    /// Adds the nodes from `start` to before `end`; the cost of those that are new.
    fn add_interval(&mut self, start: u32, end: u32, index: &Index) -> i64 {
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
                cost += index.between(from, until);
            } else {
                while new != 0 {
                    cost += index.own(word * 64 + new.trailing_zeros());
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
    use super::Region;

    #[test]
    fn touching_and_nested_intervals_become_one() {
        let region = Region::of(vec![(7, 9), (0, 5), (1, 2), (5, 6)]);
        assert_eq!(region.intervals().collect::<Vec<_>>(), [(0, 6), (7, 9)]);
    }
}

//! The recorded byte ranges of a stream.

use std::ops::Range;

/// Byte ranges, in any order until [`Self::finish`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub(crate) fn add(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }

    /// Sorts the ranges and merges adjacent ones.
    pub(crate) fn finish(&mut self) {
        self.0.sort_by_key(|it| it.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in self.0.drain(..) {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        self.0 = joined;
    }

    /// The number of recorded bytes in this range.
    pub(crate) fn covered(&self, range: Range<u64>) -> u64 {
        let first = self.0.partition_point(|it| it.end <= range.start);
        self.0[first..]
            .iter()
            .take_while(|it| it.start < range.end)
            .map(|it| it.end.min(range.end) - it.start.max(range.start))
            .sum()
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.0.first().map(|it| it.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_covered_once_whatever_the_order() {
        let mut ranges = Ranges::default();
        for range in [20..30, 0..5, 5..10, 28..32, 50..60] {
            ranges.add(range);
        }
        ranges.finish();
        let covered = [0..10, 8..22, 30..50, 0..100, 55..55, 60..70].map(|it| ranges.covered(it));
        assert_eq!(covered, [10, 4, 2, 32, 0, 0]);
        assert_eq!(ranges.first(), Some(0));
    }
}

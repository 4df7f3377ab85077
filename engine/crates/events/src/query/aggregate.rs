//! Aggregates many numbers in little memory.

use std::collections::BTreeMap;

use super::Cell;
use fulcrum_stats::{Moments, quantile};

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Count,
    Sum,
    Mean,
    Min,
    Max,
    /// The standard deviation of the numbers themselves, not of a population from which they are drawn.
    Deviation,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// Aggregated numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    moments: Moments,
    /// For percentiles: the numbers themselves, while they are few.
    few: Vec<u64>,
    /// For percentiles: the number of values in each bucket, when they are many.
    many: BTreeMap<u32, u64>,
}

/// The most numbers that are kept individually.
const FEW: usize = 4096;

/// The binary logarithm of the number of buckets between a power of two and the next. No bucket is wider than 1/128 of its values.
const FINE: u32 = 7;

impl Numbers {
    /// Adds a number. Percentiles are not updated.
    pub(crate) fn add(&mut self, value: u64) {
        self.min = if self.count == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        self.moments.add(value as f64);
    }

    /// Adds a number, also for percentiles.
    pub(crate) fn add_with_percentiles(&mut self, value: u64) {
        self.add(value);
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push(value);
            return;
        }
        for few in self.few.drain(..) {
            *self.many.entry(bucket(few)).or_default() += 1;
        }
        *self.many.entry(bucket(value)).or_default() += 1;
    }

    pub(crate) fn get(&mut self, function: Function) -> Cell {
        if function == Function::Count {
            return Cell::Whole(self.count);
        }
        if self.count == 0 {
            return Cell::Nothing;
        }
        match function {
            Function::Count => Cell::Whole(self.count),
            Function::Sum => {
                u64::try_from(self.sum).map_or(Cell::Real(self.sum as f64), Cell::Whole)
            }
            Function::Mean => Cell::Real(self.sum as f64 / self.count as f64),
            Function::Min => Cell::Whole(self.min),
            Function::Max => Cell::Whole(self.max),
            Function::Deviation => self.moments.deviation().map_or(Cell::Nothing, Cell::Real),
            Function::Percentile(part) => self.percentile(part),
        }
    }

    fn percentile(&mut self, part: f64) -> Cell {
        let rank = quantile::rank(self.count, part / 100.0);
        if self.many.is_empty() {
            let at = rank as usize - 1;
            let (_, value, _) = self.few.select_nth_unstable(at);
            return Cell::Whole(*value);
        }
        let mut seen = 0;
        for (bucket, count) in &self.many {
            seen += count;
            if seen >= rank {
                return Cell::Whole(middle(*bucket).clamp(self.min, self.max));
            }
        }
        Cell::Whole(self.max)
    }
}

fn bucket(value: u64) -> u32 {
    let shift = (63 - FINE).saturating_sub((value | 1).leading_zeros());
    (shift << FINE) + (value >> shift) as u32
}

fn middle(bucket: u32) -> u64 {
    let shift = (bucket >> FINE).saturating_sub(1);
    let low = u64::from(bucket - (shift << FINE)) << shift;
    low + (1_u64 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_no_wider_than_a_128th_of_what_it_holds() {
        for value in (0..100_000)
            .chain((0..64).flat_map(|n| [1 << n, (1 << n) + (1 << n >> 1)]))
            .chain([u64::MAX])
        {
            let near = middle(bucket(value));
            assert!(near.abs_diff(value) <= value / 256 + 1, "{value} {near}");
        }
        assert!((0..1 << 20).map(bucket).is_sorted());
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for count in [1_u64, 4, 4096, 50_000] {
            let mut numbers = Numbers::default();
            // 1 to count, in another order.
            for n in 0..count {
                numbers.add_with_percentiles(n * 7919 % count + 1);
            }
            let mean = (count as f64 + 1.0) / 2.0;
            let deviation = ((count as f64 * count as f64 - 1.0) / 12.0).sqrt();
            assert_eq!(numbers.get(Function::Count), Cell::Whole(count));
            assert_eq!(
                numbers.get(Function::Sum),
                Cell::Whole(count * (count + 1) / 2)
            );
            assert_eq!(numbers.get(Function::Mean), Cell::Real(mean));
            assert_eq!(numbers.get(Function::Min), Cell::Whole(1));
            assert_eq!(numbers.get(Function::Max), Cell::Whole(count));
            let Cell::Real(seen) = numbers.get(Function::Deviation) else {
                panic!()
            };
            assert!(
                (seen - deviation).abs() < 1e-6 * count as f64,
                "{seen} {deviation}"
            );
            for part in [0.0, 1.0, 50.0, 99.0, 100.0] {
                let expect = (part as u64 * count).div_ceil(100).max(1);
                let Cell::Whole(seen) = numbers.get(Function::Percentile(part)) else {
                    panic!()
                };
                let allowed = if count as usize <= FEW {
                    0
                } else {
                    expect / 256 + 1
                };
                assert!(
                    seen.abs_diff(expect) <= allowed,
                    "p{part} of {count}: {seen}, not {expect}"
                );
            }
        }
        let mut none = Numbers::default();
        assert_eq!(none.get(Function::Count), Cell::Whole(0));
        assert_eq!(none.get(Function::Percentile(50.0)), Cell::Nothing);
    }
}

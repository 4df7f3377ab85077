//! Percentile intervals of bootstrap replicates (Efron and Tibshirani 1993, §13.3).

use crate::{Interval, quantile};

/// The 95 % interval of replicates, which it sorts: a part of 2.5 % of them, rounded down, is cut off at either end. The
/// upper end is their quantile of 97.5 %, and the lower end is the upper one seen from the other side, so that an
/// interval of negated replicates is the negated interval. NaN when there are none.
pub fn interval(replicates: &mut [f64]) -> Interval {
    replicates.sort_unstable_by(f64::total_cmp);
    let Some(high) = quantile::rank(replicates.len() as u64, 0.975).checked_sub(1) else {
        return Interval {
            low: f64::NAN,
            high: f64::NAN,
        };
    };
    let high = high as usize;
    Interval {
        low: replicates[replicates.len() - 1 - high],
        high: replicates[high],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn as_many_are_cut_off_at_either_end() {
        for (count, cut) in [(1, 0), (39, 0), (40, 1), (79, 1), (400, 10), (2000, 50)] {
            // 0 to count - 1, in another order.
            let mut values: Vec<f64> = (0..count).map(|n| f64::from(n * 7919 % count)).collect();
            let expected = Interval {
                low: f64::from(cut),
                high: f64::from(count - 1 - cut),
            };
            assert_eq!(interval(&mut values), expected, "{count}");
            let mut negated: Vec<f64> = values.iter().map(|it| -it).collect();
            assert_eq!(
                interval(&mut negated),
                Interval {
                    low: -expected.high,
                    high: -expected.low
                },
                "{count}"
            );
        }
        assert!(interval(&mut []).low.is_nan());
    }
}

//! Quantiles of data, by nearest rank: type 1 of Hyndman and Fan (1996), the inverse of the empirical distribution
//! function.
//!
//! The quantile of `p` is the smallest value such that at least a share `p` of all values are not greater. It is always one of
//! the values, so it works for whole numbers and for anything that can be ordered.

/// Which of `count` values in ascending order is the quantile of `p`, counted from 1; `p` outside 0 to 1 is taken as the
/// nearer end. 0 when there are no values.
pub fn rank(count: u64, p: f64) -> u64 {
    if count == 0 {
        return 0;
    }
    // 0.07 · 100 is 7.000000000000001: what rounding added is no further rank.
    let exact = p * count as f64 * (1.0 - 4.0 * f64::EPSILON);
    (libm::ceil(exact) as u64).clamp(1, count)
}

/// The quantile of `p` of values in ascending order; `None` when there are none.
pub fn of_sorted<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    debug_assert!(p.is_finite(), "a part of 1");
    let rank = rank(sorted.len() as u64, p);
    sorted.get(rank.checked_sub(1)? as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn a_quantile_is_the_nearest_rank() {
        let five = [15, 20, 35, 40, 50];
        for (p, expected) in [
            (0.0, 15),
            (0.05, 15),
            (0.2, 15),
            (0.21, 20),
            (0.3, 20),
            (0.4, 20),
            (0.5, 35),
            (0.8, 40),
            (0.81, 50),
            (1.0, 50),
        ] {
            assert_eq!(of_sorted(&five, p), Some(expected), "{p}");
        }
        // Type 1 takes the lower of two middle values.
        assert_eq!(of_sorted(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.0));
        assert_eq!(of_sorted(&[7], 0.99), Some(7));
        assert_eq!(of_sorted::<u8>(&[], 0.5), None);
    }

    #[test]
    fn rounding_adds_no_rank() {
        for count in [1, 7, 100, 1000, 4096, 1_000_000_u64] {
            for percent in 1..=100_u64 {
                let expected = (percent * count).div_ceil(100);
                assert_eq!(
                    rank(count, percent as f64 / 100.0),
                    expected,
                    "p{percent} of {count}"
                );
            }
        }
        assert_eq!(rank(10, -1.0), 1);
        assert_eq!(rank(10, 2.0), 10);
        assert_eq!(rank(0, 0.5), 0);
    }
}

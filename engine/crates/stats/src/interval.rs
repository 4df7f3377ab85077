//! Confidence intervals.

/// A confidence interval, at 95 % unless another level is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// From `center - margin` to `center + margin`.
    pub fn around(center: f64, margin: f64) -> Self {
        Interval {
            low: center - margin,
            high: center + margin,
        }
    }

    /// Whether `value` lies in it; its ends do.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// From end to end.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Half of [`Interval::width`].
    pub fn half_width(self) -> f64 {
        self.width() / 2.0
    }

    /// The same interval, widened as far as it takes to contain `value`.
    pub fn including(self, value: f64) -> Self {
        Interval {
            low: self.low.min(value),
            high: self.high.max(value),
        }
    }

    /// The interval of `center`, which lies in it, if a further error of up to `margin` is possible that is independent of those
    /// that this interval is for: each side is added to it in quadrature.
    pub fn with_margin(self, center: f64, margin: f64) -> Self {
        Interval {
            low: center - libm::hypot(center - self.low, margin),
            high: center + libm::hypot(self.high - center, margin),
        }
    }

    /// The interval of a quantity that grows with this one: `of` applied to both ends.
    pub fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Interval {
            low: of(self.low),
            high: of(self.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_knows_its_ends_and_what_lies_between() {
        let it = Interval::around(1.0, 0.5);
        assert_eq!(
            it,
            Interval {
                low: 0.5,
                high: 1.5
            }
        );
        assert_eq!((it.width(), it.half_width()), (1.0, 0.5));
        assert!(it.contains(0.5) && it.contains(1.5) && !it.contains(1.6));
        assert_eq!(it.including(1.2), it);
        assert_eq!(
            it.including(-1.0),
            Interval {
                low: -1.0,
                high: 1.5
            }
        );
        assert_eq!(it.map(|end| 2.0 * end), Interval::around(2.0, 1.0));
    }

    #[test]
    fn independent_errors_add_up_in_quadrature() {
        let it = Interval {
            low: -2.0,
            high: 1.0,
        };
        let wider = Interval {
            low: -4.0,
            high: 5.0,
        };
        assert_eq!(it.with_margin(1.0, 4.0), wider);
        assert_eq!(it.with_margin(1.0, 0.0), it);
    }
}

//! Welch's t-test: whether two means differ by more than the spread of their samples explains.

use crate::{Interval, Mean, student};

/// A difference of means and how certain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// The first mean less the second.
    pub difference: f64,
    /// The 95 % interval of the difference.
    pub interval: Interval,
    /// How probable so great a difference is if the true means are equal (two-sided).
    pub p: f64,
}

/// Compares two means whose samples' variances need not be equal, with the degrees of freedom of Welch and Satterthwaite.
pub fn welch(a: impl Into<Mean>, b: impl Into<Mean>) -> Welch {
    let (a, b) = (a.into(), b.into());
    // Rounding errors of scaled values are no difference.
    let noise = 1e-12 * (a.mean.abs() + b.mean.abs());
    let difference = a.mean - b.mean;
    let difference = if difference.abs() <= noise {
        0.0
    } else {
        difference
    };
    let variance = a.variance + b.variance;
    let error = libm::sqrt(variance);
    if error <= noise {
        // No value differs from another of its sample.
        return Welch {
            difference,
            interval: Interval::around(difference, 0.0),
            p: if difference == 0.0 { 1.0 } else { 0.0 },
        };
    }
    // As parts of the sum, whose squares cannot overflow.
    let part = |it: Mean| it.variance / variance * (it.variance / variance) / it.freedom;
    let freedom = 1.0 / (part(a) + part(b));
    let margin = student::quantile(0.975, freedom) * error;
    Welch {
        difference,
        interval: Interval::around(difference, margin),
        p: student::two_sided(difference / error, freedom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;
    use crate::{Sample, Scatter};

    /// By hand: means 12 and 10, variances 1 and 1, three values each: t = 2 / √(2/3) = 2.4495, 4 degrees of freedom,
    /// where p has a closed form.
    #[test]
    fn a_difference_has_welchs_interval_and_p() {
        let a = Sample::of(&[11.0, 12.0, 13.0]).unwrap();
        let b = Sample::of(&[9.0, 10.0, 11.0]).unwrap();
        assert_eq!((a.mean, a.deviation, a.count), (12.0, 1.0, 3));
        let found = welch(a, b);
        let error = (2.0_f64 / 3.0).sqrt();
        let t = 2.0 / error;
        let u = t / (4.0 + t * t).sqrt();
        close(found.p, 1.0 - (1.5 * u - 0.5 * u * u * u), 1e-13, 4.0);
        let margin = 2.776_445_105_197_798_7 * error;
        close(found.interval.low, 2.0 - margin, 1e-12, 4.0);
        close(found.interval.high, 2.0 + margin, 1e-14, 4.0);
    }

    /// By hand: variances 12.5 of five and 4 of three, whose means have 2.5 and 4/3; the degrees of freedom are
    /// (23/6)² / (2.5² / 4 + (4/3)² / 2) = 5.994….
    #[test]
    fn degrees_of_freedom_may_be_fractional() {
        let a = Sample::of(&[1.0, 2.0, 3.0, 4.0, 10.0]).unwrap();
        let b = Sample::of(&[2.0, 4.0, 6.0]).unwrap();
        let found = welch(a, b);
        assert_eq!((found.difference, found.p), (0.0, 1.0));
        let freedom = (529.0 / 36.0) / (6.25 / 4.0 + 8.0 / 9.0);
        let margin = student::quantile(0.975, freedom) * (23.0_f64 / 6.0).sqrt();
        close(found.interval.high, margin, 1e-13, freedom);
    }

    /// By hand: variances 1 and 4 of three and two values, pooled (2 · 1 + 1 · 4) / 3 = 2.
    #[test]
    fn a_sample_that_scatters_by_chance_less_than_its_like_is_trusted_no_more() {
        let narrow = Sample::of(&[9.0, 10.0, 11.0]).unwrap();
        let wide = Sample {
            count: 2,
            mean: 5.0,
            deviation: 2.0,
        };
        let all = Scatter::of([narrow, wide]).unwrap();
        assert_eq!((all.variance, all.freedom), (2.0, 3.0));
        let found = narrow.scattering_as(all);
        close(found.variance, 2.0 / 3.0, 1e-15, 3);
        assert_eq!((found.mean, found.freedom), (10.0, 3.0));
        assert_eq!(wide.scattering_as(all), wide.into(), "its own is larger");
        assert_eq!(Scatter::of([]), None);
    }

    #[test]
    fn values_that_do_not_differ_leave_no_doubt() {
        let [a, b] = [[5.0, 5.0], [4.0, 4.0]].map(|it| Sample::of(&it).unwrap());
        let found = welch(a, b);
        assert_eq!((found.interval, found.p), (Interval::around(1.0, 0.0), 0.0));
        assert_eq!(welch(a, a).p, 1.0);
        assert_eq!(Sample::of(&[1.0]), None);
        let scaled = Sample::of(&[5.000_000_000_000_001; 2]).unwrap();
        assert_eq!(welch(scaled, a).p, 1.0);
        let scaled = Sample::of(&[5.000_000_000_000_001, 5.0]).unwrap();
        let found = welch(scaled, a);
        assert_eq!((found.interval, found.p), (Interval::around(0.0, 0.0), 1.0));
    }
}

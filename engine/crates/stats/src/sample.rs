//! Mean and standard deviation of a sample, and of a whole population.

use crate::{Interval, student};

/// What a sample says about the mean that it was drawn around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many values, at least two.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (n - 1).
    pub deviation: f64,
}

impl Sample {
    /// `None` when there are fewer than two.
    pub fn of(values: &[f64]) -> Option<Self> {
        Sample::with_zeros(values, 0)
    }

    /// The sample of these values and so many zeros, which take no memory. `None` when there are fewer than two in all.
    pub fn with_zeros(values: &[f64], zeros: usize) -> Option<Self> {
        let count = values.len() + zeros;
        if count < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|it| (it - mean) * (it - mean)).sum();
        let squares = squares + zeros as f64 * mean * mean;
        Some(Sample {
            count,
            mean,
            deviation: libm::sqrt(squares / (count - 1) as f64),
        })
    }

    /// The standard error of the mean, in the values' unit.
    pub fn standard_error(self) -> f64 {
        self.deviation / libm::sqrt(self.count as f64)
    }

    /// Student's 95 % interval of the mean.
    pub fn interval(self) -> Interval {
        let margin = student::quantile(0.975, self.freedom()) * self.standard_error();
        Interval::around(self.mean, margin)
    }

    /// The degrees of freedom of its deviation: one fewer than there are values.
    pub fn freedom(self) -> f64 {
        (self.count - 1) as f64
    }

    /// Its mean, if the sample is one of several that scatter alike: few values may scatter little by chance. Where its own
    /// variance is larger than theirs, that counts.
    pub fn scattering_as(self, all: Scatter) -> Mean {
        if self.deviation * self.deviation > all.variance {
            return self.into();
        }
        Mean {
            mean: self.mean,
            variance: all.variance / self.count as f64,
            freedom: all.freedom,
        }
    }

    /// The variance of the mean.
    pub(crate) fn error(self) -> f64 {
        self.deviation * self.deviation / self.count as f64
    }
}

/// A mean and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
    /// The degrees of freedom of the variance.
    pub freedom: f64,
}

impl From<Sample> for Mean {
    fn from(it: Sample) -> Self {
        Mean {
            mean: it.mean,
            variance: it.error(),
            freedom: it.freedom(),
        }
    }
}

/// The pooled variance of several samples, each around a mean of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The variance of a value.
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
}

impl Scatter {
    /// `None` without samples.
    pub fn of(samples: impl IntoIterator<Item = Sample>) -> Option<Self> {
        let add = |(squares, freedom): (f64, f64), it: Sample| {
            let variance = it.deviation * it.deviation;
            (squares + it.freedom() * variance, freedom + it.freedom())
        };
        let (squares, freedom) = samples.into_iter().fold((0.0, 0.0), add);
        (freedom > 0.0).then(|| Scatter {
            variance: squares / freedom,
            freedom,
        })
    }
}

/// Mean and spread of a whole population, added one number after the other (Welford 1962). Since it is no sample, the variance
/// is divided by the number of values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let from_mean = value - self.mean;
        self.mean += from_mean / self.count as f64;
        self.squares += from_mean * (value - self.mean);
    }

    /// Their mean; `None` when there are none.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Their variance, in squares of their unit; `None` when there are none.
    pub fn variance(self) -> Option<f64> {
        (self.count > 0).then(|| self.squares / self.count as f64)
    }

    /// Their standard deviation; `None` when there are none.
    pub fn deviation(self) -> Option<f64> {
        self.variance().map(libm::sqrt)
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Moments::default();
        values.into_iter().for_each(|it| moments.add(it));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::tests::close;

    /// By hand: the mean of 9, 10 and 11 has a standard error of 1/√3 and two degrees of freedom.
    #[test]
    fn a_mean_has_students_interval() {
        let found = Sample::of(&[9.0, 10.0, 11.0]).unwrap();
        let error = 1.0 / 3.0_f64.sqrt();
        close(found.standard_error(), error, 1e-15, 3);
        let margin = 4.302_652_729_749_464 * error;
        close(found.interval().low, 10.0 - margin, 1e-13, 3);
        close(found.interval().high, 10.0 + margin, 1e-13, 3);
        assert_eq!(Sample::of(&[1.0]), None);
    }

    #[test]
    fn zeros_count_as_if_they_were_there() {
        let found = Sample::with_zeros(&[3.0, 9.0], 2);
        assert_eq!(found, Sample::of(&[3.0, 9.0, 0.0, 0.0]));
        assert_eq!(Sample::with_zeros(&[], 3).map(|it| it.deviation), Some(0.0));
        assert_eq!(Sample::with_zeros(&[], 1), None);
    }

    /// Of 20,000 samples each, where 19,000 are expected with a standard deviation of 31.
    #[test]
    fn an_interval_holds_the_mean_in_95_of_100_samples_however_few_the_values() {
        let mut random = Random::new(1);
        for count in 2..=5 {
            let held = (0..20_000)
                .filter(|_| {
                    let values = [(); 5].map(|()| random.normal());
                    let found = Sample::of(&values[..count]).unwrap();
                    found.interval().contains(0.0)
                })
                .count();
            assert!((18_907..=19_093).contains(&held), "{count}: {held}");
        }
    }

    /// By hand: 1 to n have the mean (n + 1) / 2 and the variance (n² - 1) / 12, wherever they begin.
    #[test]
    fn numbers_have_their_moments() {
        let none = Moments::default();
        assert_eq!(
            (none.mean(), none.variance(), none.deviation()),
            (None, None, None)
        );
        let one = Moments::from_iter([3.0]);
        assert_eq!((one.mean(), one.deviation()), (Some(3.0), Some(0.0)));
        for offset in [0.0, 1e9] {
            let found: Moments = (1..=1000).map(|it| offset + f64::from(it)).collect();
            close(found.mean().unwrap(), offset + 500.5, 1e-14, offset);
            close(found.variance().unwrap(), 999_999.0 / 12.0, 1e-9, offset);
            close(found.deviation().unwrap(), 288.674_990_3, 1e-9, offset);
        }
    }
}

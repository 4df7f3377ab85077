//! Means and spread of several runs: whether a difference is more than noise (Welch's t-test).

use serde::Serialize;

/// The runs of one side, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// How many runs, at least two.
    pub runs: usize,
    /// The mean cost.
    pub mean: f64,
    /// The standard deviation between runs (n - 1).
    pub deviation: f64,
}

impl Sample {
    /// `None` when there are fewer than two.
    pub(crate) fn of(costs: &[f64]) -> Option<Self> {
        if costs.len() < 2 {
            return None;
        }
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        let squares: f64 = costs.iter().map(|it| (it - mean).powi(2)).sum();
        Some(Sample {
            runs: costs.len(),
            mean,
            deviation: (squares / (costs.len() - 1) as f64).sqrt(),
        })
    }

    /// The variance of the mean.
    fn error(self) -> f64 {
        self.deviation.powi(2) / self.runs as f64
    }
}

/// A difference between two sides and how certain it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The side that is looked at.
    pub a: Sample,
    /// The side that it is compared with.
    pub b: Sample,
    /// The lower end of the 95 % interval of A - B.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How probable a difference so great is when there is none: Welch's two-sided p.
    pub p: f64,
}

/// A difference whose p is below this is told from noise. Stricter than the usual 0.05, as many paths are looked at.
pub const SIGNIFICANT: f64 = 0.01;

impl Spread {
    pub(crate) fn new(a: Sample, b: Sample) -> Option<Self> {
        // What scaling leaves in the last digits is no difference.
        let noise = 1e-12 * (a.mean.abs() + b.mean.abs());
        let delta = a.mean - b.mean;
        let delta = if delta.abs() <= noise { 0.0 } else { delta };
        let error = a.error() + b.error();
        if error.sqrt() <= noise {
            // No run differs from another on its side.
            let p = if delta == 0.0 { 1.0 } else { 0.0 };
            let (low, high) = (delta, delta);
            return Some(Spread { a, b, low, high, p });
        }
        let part = |it: Sample| it.error().powi(2) / (it.runs - 1) as f64;
        // Welch and Satterthwaite.
        let freedom = error.powi(2) / (part(a) + part(b));
        let margin = quantile(freedom) * error.sqrt();
        Some(Spread {
            a,
            b,
            low: delta - margin,
            high: delta + margin,
            p: two_sided(delta / error.sqrt(), freedom),
        })
    }

    /// Whether the difference is told from noise.
    pub fn significant(&self) -> bool {
        self.p < SIGNIFICANT
    }
}

/// The probability that Student's t is at least so far from 0.
fn two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The t that is exceeded, in either direction, with a probability of 5 %.
fn quantile(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > 0.05 {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if two_sided(middle, freedom) > 0.05 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The regularised incomplete beta function, by Lentz's continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp();
    // The fraction converges fast on this side only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let apart = |it: f64| if it.abs() < TINY { TINY } else { it };
    let mut c = 1.0;
    let mut d = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..300 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = result;
        for step in [even, odd] {
            d = 1.0 / apart(1.0 + step * d);
            c = apart(1.0 + step / c);
            result *= c * d;
        }
        if (result / before - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// The logarithm of the gamma function for positive numbers, by Lanczos.
fn ln_gamma(x: f64) -> f64 {
    const PARTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        1.208_650_973_866_179e-3,
        -5.395_239_384_953e-6,
    ];
    let mut sum = 1.000_000_000_190_015;
    for (n, part) in PARTS.iter().enumerate() {
        sum += part / (x + 1.0 + n as f64);
    }
    let t = x + 5.5;
    (x + 0.5) * t.ln() - t + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's table: 97.5 % quantiles.
    #[test]
    fn quantiles_are_those_of_the_table() {
        for (freedom, expected) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (1000.0, 1.962),
        ] {
            let got = quantile(freedom);
            assert!((got - expected).abs() < 6e-4, "{freedom}: {got}");
        }
    }

    /// By hand: means 12 and 10, variances 1 and 1, three runs each: t = 2 / sqrt(2/3) = 2.4495, 4 degrees of freedom,
    /// where p has a closed form.
    #[test]
    fn a_difference_has_welchs_interval_and_p() {
        let a = Sample::of(&[11.0, 12.0, 13.0]).unwrap();
        let b = Sample::of(&[9.0, 10.0, 11.0]).unwrap();
        let spread = Spread::new(a, b).unwrap();
        assert_eq!((a.mean, a.deviation, a.runs), (12.0, 1.0, 3));
        let t = 2.0 / (2.0_f64 / 3.0).sqrt();
        let u = t / (4.0 + t * t).sqrt();
        let p = 1.0 - (1.5 * u - 0.5 * u.powi(3));
        assert!((spread.p - p).abs() < 1e-9, "{} {p}", spread.p);
        let margin = 2.776_445 * (2.0_f64 / 3.0).sqrt();
        assert!((spread.low - (2.0 - margin)).abs() < 1e-5, "{spread:?}");
        assert!((spread.high - (2.0 + margin)).abs() < 1e-5, "{spread:?}");
        assert!(!spread.significant());
    }

    #[test]
    fn runs_that_do_not_differ_leave_no_doubt() {
        let [a, b] = [[5.0, 5.0], [4.0, 4.0]].map(|it| Sample::of(&it).unwrap());
        let spread = Spread::new(a, b).unwrap();
        assert_eq!((spread.low, spread.high, spread.p), (1.0, 1.0, 0.0));
        assert_eq!(Spread::new(a, a).unwrap().p, 1.0);
        assert_eq!(Sample::of(&[1.0]), None);
        let scaled = Sample::of(&[5.000_000_000_000_001; 2]).unwrap();
        assert_eq!(Spread::new(scaled, a).unwrap().p, 1.0);
        let scaled = Sample::of(&[5.000_000_000_000_001, 5.0]).unwrap();
        let spread = Spread::new(scaled, a).unwrap();
        assert_eq!((spread.low, spread.high, spread.p), (0.0, 0.0, 1.0));
    }
}

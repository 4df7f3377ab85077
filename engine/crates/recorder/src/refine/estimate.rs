//! Estimates from pairs of runs how much slower units of work are with instrumentation.

use fulcrum_stats::{Interval, Moments, Sample, student};

/// An estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// A fraction: 0.02 is 2 % more time.
    pub value: f64,
    /// Its 95 % interval; `None` when there is one pair.
    pub interval: Option<Interval>,
}

/// An interval wider than this, a fraction, says almost nothing.
const WIDE: f64 = 0.2;

impl Estimate {
    /// A sentence when the overhead is hardly known.
    pub fn doubt(&self) -> Option<String> {
        let interval = self.interval?;
        let percent = |it: f64| {
            let sign = if it < 0.0 { "\u{2212}" } else { "+" };
            format!("{sign}{:.0} %", (it * 100.0).abs())
        };
        (interval.width() > WIDE).then(|| {
            format!(
                "The cost of the remaining probes is hardly known: anything from {} to {}. More --runs would narrow it.",
                percent(interval.low),
                percent(interval.high)
            )
        })
    }
}

/// From this number of pairs on, the mean is trimmed.
const MANY: usize = 10;
/// The share of them that is trimmed at either end.
const TRIMMED: f64 = 0.2;

/// From the time of a unit with and without instrumentation, in runs one beside the other. Ratios count, so that a machine
/// that is slower for both of a pair changes nothing; their logarithms have a mean and Student's interval. Of ten pairs and
/// more it is the trimmed mean, with its interval by the Winsorised variance (Tukey and McLaughlin 1963): a few runs beside
/// which something else ran neither move it nor widen it. `None` without a pair.
pub(crate) fn overhead(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let ratios = pairs
        .iter()
        .filter(|(with, without)| *with > 0.0 && *without > 0.0);
    let mut logs: Vec<f64> = ratios
        .map(|(with, without)| (with / without).ln())
        .collect();
    let count = logs.len();
    let trimmed = match count {
        0 => return None,
        1..MANY => 0,
        _ => (count as f64 * TRIMMED) as usize,
    };
    logs.sort_unstable_by(f64::total_cmp);
    let kept = count - 2 * trimmed;
    let middle: Moments = logs[trimmed..count - trimmed].iter().copied().collect();
    let value = middle.mean()?;
    // What was trimmed counts as the nearest that was not.
    let (least, most) = (logs[trimmed], logs[count - 1 - trimmed]);
    for log in &mut logs {
        *log = log.clamp(least, most);
    }
    let interval = Sample::of(&logs).map(|it| {
        let error = it.standard_error() * count as f64 / kept as f64;
        let half = student::quantile(0.975, (kept - 1) as f64) * error;
        Interval::around(value, half).map(f64::exp_m1)
    });
    Some(Estimate {
        value: value.exp_m1(),
        interval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_that_is_hardly_known_has_a_sentence() {
        let of = |interval: Option<(f64, f64)>| Estimate {
            value: 0.38,
            interval: interval.map(|(low, high)| Interval { low, high }),
        };
        assert_eq!(
            of(Some((-0.52, 2.95))).doubt().unwrap(),
            "The cost of the remaining probes is hardly known: anything from \u{2212}52 % to +295 %. More --runs would narrow it."
        );
        assert_eq!(of(Some((0.36, 0.41))).doubt(), None);
        // One pair has no interval, which the table shows.
        assert_eq!(of(None).doubt(), None);
    }

    #[test]
    fn pairs_share_what_disturbs_them() {
        assert_eq!(overhead(&[]), None);
        assert_eq!(overhead(&[(0.0, 1.0)]), None);
        let one = overhead(&[(102.0, 100.0)]).unwrap();
        assert!((one.value - 0.02).abs() < 1e-12 && one.interval.is_none());
        // The second pair ran while the machine was twice as slow.
        let two = overhead(&[(102.0, 100.0), (204.0, 200.0), (51.0, 50.0)]).unwrap();
        let Interval { low, high } = two.interval.unwrap();
        assert!((two.value - 0.02).abs() < 1e-12);
        assert!((low - 0.02).abs() < 1e-9 && (high - 0.02).abs() < 1e-9);
    }

    #[test]
    fn the_interval_is_students() {
        let pairs = [(1.0_f64, 1.0), (1.0_f64.exp(), 1.0), (2.0_f64.exp(), 1.0)];
        let it = overhead(&pairs).unwrap();
        // Mean 1, standard deviation 1, three of them.
        let half = 4.302_652_730 / 3.0_f64.sqrt();
        let Interval { low, high } = it.interval.unwrap();
        assert!((it.value.ln_1p() - 1.0).abs() < 1e-12);
        assert!((low.ln_1p() - (1.0 - half)).abs() < 1e-9);
        assert!((high.ln_1p() - (1.0 + half)).abs() < 1e-9);
    }

    /// Twelve pairs, of which two ran beside something else; done by hand.
    #[test]
    fn a_few_disturbed_pairs_of_many_change_little() {
        let logs = [
            0.0, 0.01, 0.02, 0.03, 0.01, 0.02, 0.0, 0.03, 0.02, 0.01, 2.0, -1.0,
        ];
        let pairs = logs.map(|log: f64| (log.exp(), 1.0));
        let it = overhead(&pairs).unwrap();
        // Two at either end are left out: 0.0, 0.01 * 3, 0.02 * 3, 0.03 are left, or count in place of those.
        assert!((it.value.ln_1p() - 0.015).abs() < 1e-12);
        let Interval { low, high } = it.interval.unwrap();
        // Winsorised: three of 0, three of 0.01, three of 0.02, three of 0.03 around 0.015.
        let squares: f64 = 3.0 * 2.0 * (0.015_f64.powi(2) + 0.005_f64.powi(2));
        let half = 2.364_624_252 * (squares / 11.0 * 12.0).sqrt() / 8.0;
        assert!((low.ln_1p() - (0.015 - half)).abs() < 1e-9);
        assert!((high.ln_1p() - (0.015 + half)).abs() < 1e-9);
    }
}

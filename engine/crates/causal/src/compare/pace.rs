//! How fast a progress point went in a run, from the experiments without virtual speedup.
//!
//! The error is that of a ratio of sums. Two runs are not interleaved, so drift of the machine's speed is an error here: it shows
//! in parts of the run that differ by more than their experiments do. The larger of the two errors counts.

use fulcrum_model::causal::{Count, PointKind, PointProfile, Recording, is_end_to_end};
use fulcrum_stats::{Sample, student};

use super::estimate::Positive;
use crate::estimate::latency::in_progress_time;
use crate::experiments::disturbance;

/// Parts of a run that are compared with each other.
const PARTS: usize = 8;

/// A progress point's pace.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Nanoseconds between visits, or of latency.
    pub period: Positive,
    /// Visits a nanosecond of baseline experiments.
    pub rate: f64,
    /// Visits in all experiments, and how long those lasted.
    pub visits: f64,
    pub duration: f64,
}

impl Pace {
    /// `None` when there are fewer than two baseline experiments, or too few visits in them.
    pub(crate) fn of(recording: &Recording, point: &PointProfile) -> Option<Pace> {
        let kept = disturbance::undisturbed(recording).kept;
        let (mut visits, mut duration, mut departures) = (0.0, 0.0, 0.0);
        let mut baseline: Vec<(f64, f64)> = Vec::new();
        let mut time = 0.0;
        let usable = recording.experiments.iter().zip(kept);
        for (experiment, kept) in usable.filter(|(it, _)| it.duration_ns > 0) {
            let ns = experiment.duration_ns as f64;
            duration += ns;
            for it in experiment.points.iter().filter(|it| it.name == point.name) {
                let part = match (it.count, point.kind) {
                    (Count::Throughput { delta }, PointKind::Throughput) => (ns, delta as f64),
                    (
                        Count::Latency {
                            arrivals,
                            difference,
                            ..
                        },
                        PointKind::Latency,
                    ) => (in_progress_time(difference, ns), arrivals as f64),
                    _ => continue,
                };
                visits += it.count.visits() as f64;
                if experiment.speedup == 0.0 && kept {
                    departures += it.count.visits() as f64;
                    time += ns;
                    baseline.push(part);
                }
            }
        }
        let least = if is_end_to_end(&point.name) { 2.0 } else { 5.0 };
        let period = ratio(&baseline).filter(|_| departures >= least)?;
        Some(Pace {
            period,
            rate: departures / time,
            visits,
            duration,
        })
    }
}

/// Σ first / Σ second with its error.
fn ratio(parts: &[(f64, f64)]) -> Option<Positive> {
    let sums = |parts: &[(f64, f64)]| {
        parts
            .iter()
            .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y))
    };
    let (first, second) = sums(parts);
    let value = first / second;
    if parts.len() < 2 || !value.is_finite() || value <= 0.0 {
        return None;
    }
    let n = parts.len() as f64;
    let squares: f64 = parts.iter().map(|(x, y)| (x - value * y).powi(2)).sum();
    let single = (squares * n / (n - 1.0)).sqrt() / first * student::widening(n - 1.0);
    let drift = if parts.len() < 2 * PARTS {
        0.0
    } else {
        let size = parts.len().div_ceil(PARTS);
        let means: Vec<f64> = parts
            .chunks(size)
            .map(sums)
            .map(|(a, b)| a / b / value - 1.0)
            .filter(|it| it.is_finite())
            .collect();
        Sample::of(&means).map_or(0.0, |it| {
            it.standard_error() * student::widening(it.freedom())
        })
    };
    Some(Positive {
        value,
        relative: single.max(drift),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use fulcrum_stats::Random;

    #[test]
    fn the_error_of_a_ratio_of_sums() {
        // Worked by hand: sums 40 and 4, residuals ±1, squares 4; √(4 · 4/3) / 40, with Student's t for 3 degrees of
        // freedom instead of the normal quantile.
        let found = ratio(&[(9.0, 1.0), (11.0, 1.0), (9.0, 1.0), (11.0, 1.0)]).expect("a ratio");
        let expected = (4.0_f64 * 4.0 / 3.0).sqrt() / 40.0 * 3.182_446_305 / 1.959_963_985;
        assert_eq!(found.value, 10.0);
        assert!((found.relative - expected).abs() < 1e-9, "{found:?}");
        assert_eq!(ratio(&[(9.0, 1.0)]), None);
        assert_eq!(ratio(&[(9.0, 0.0), (9.0, 0.0)]), None);
    }

    /// Of 100,000 simulated runs each: 95 % are 95,000, and their standard deviation is 69.
    #[test]
    fn intervals_of_few_experiments_hold_the_truth_in_95_of_100_runs() {
        let mut random = Random::new(17);
        let held = [2, 3, 4, 5].map(|experiments| {
            (0..100_000)
                .filter(|_| {
                    // A period of 10, an experiment's count scatters by 0.1 %.
                    let parts: Vec<_> = (0..experiments)
                        .map(|_| (10.0, 1.0 + 0.001 * random.normal()))
                        .collect();
                    let found = ratio(&parts).expect("a ratio").estimate();
                    found.interval.expect("always one").contains(10.0)
                })
                .count()
        });
        expect!["[94974, 95056, 95119, 94990]"].assert_eq(&format!("{held:?}"));
    }

    #[test]
    fn drift_is_part_of_the_error() {
        let mixed: Vec<_> = (0..160)
            .map(|n| (if n % 2 == 0 { 9.0 } else { 11.0 }, 1.0))
            .collect();
        let drifting: Vec<_> = (0..160)
            .map(|n| (if n < 80 { 9.0 } else { 11.0 }, 1.0))
            .collect();
        let error = |parts: &[_]| ratio(parts).expect("a ratio").relative;
        assert!(error(&drifting) > 4.0 * error(&mixed));
    }
}

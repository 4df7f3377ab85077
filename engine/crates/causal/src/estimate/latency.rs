//! Latency by Little's law (COZ §3.3): `W = L / λ`.
//!
//! `L` is the duration-weighted mean of the requests in progress (coz's `difference`), `λ` the arrivals over the duration.
//! Over a group of experiments the duration cancels: `W = Σ(difference · duration) / Σ arrivals`. So a latency point is
//! combined like a throughput point, with another numerator and denominator. A shorter latency is a *positive* program
//! speedup, as for throughput; coz's viewer shows it with the sign turned.
//!
//! The law holds for a stable system, in which everything that arrives also departs. When more requests arrive than depart over
//! the run, the requests in progress reflect how long the run was, not how long a request takes.

use fulcrum_model::causal::{Count, Note, PointKind, Recording};

use crate::estimate::point::PointKey;

/// Arrivals and departures may differ by this share.
const TOLERANCE: f64 = 0.05;

/// The time that an experiment's requests spent in progress, in nanoseconds: the numerator of `W`.
pub(crate) fn in_progress_time(difference: f64, duration_ns: f64) -> f64 {
    difference * duration_ns
}

/// Arrivals and departures over all experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stability {
    arrivals: u64,
    departures: u64,
    /// Requests in progress: the mean over the first or the last quarter of the run, whichever is less. So many are always in
    /// progress, and a run may begin and end with more or fewer of them. In a growing backlog the first mean is small.
    in_progress: f64,
}

/// The arrivals and departures at a progress point over the run. A throughput point is always stable.
pub(crate) fn stability(recording: &Recording, key: &PointKey) -> Stability {
    let mut found = Stability::default();
    if key.kind == PointKind::Throughput {
        return found;
    }
    let mut in_progress = Vec::new();
    for experiment in &recording.experiments {
        for point in experiment.points.iter().filter(|it| it.name == key.name) {
            if let Count::Latency {
                arrivals,
                departures,
                difference,
            } = point.count
            {
                found.arrivals = found.arrivals.saturating_add(arrivals);
                found.departures = found.departures.saturating_add(departures);
                in_progress.push(difference.max(0.0));
            }
        }
    }
    let quarter = in_progress.len().div_ceil(4);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (first, last) = (
        &in_progress[..quarter],
        &in_progress[in_progress.len() - quarter..],
    );
    found.in_progress = mean(first).min(mean(last));
    found
}

impl Stability {
    /// Whether as many requests departed as arrived, apart from those that were in progress.
    pub(crate) fn holds(&self) -> bool {
        let apart = self.arrivals.abs_diff(self.departures) as f64;
        let most = self.arrivals.max(self.departures) as f64;
        let on_their_way = (2.0 * self.in_progress).clamp(1.0, 0.5 * most.max(2.0));
        apart <= (TOLERANCE * most).max(on_their_way)
    }

    /// A note on the progress point when the law does not hold.
    pub(crate) fn note(&self, point: &str) -> Option<Note> {
        (!self.holds()).then(|| Note::Unstable {
            point: point.to_owned(),
            arrivals: self.arrivals,
            departures: self.departures,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arrivals: u64, departures: u64, in_progress: f64, holds: bool) {
        let found = Stability {
            arrivals,
            departures,
            in_progress,
        };
        assert_eq!(found.holds(), holds, "{found:?}");
        assert_eq!(found.note("r").is_none(), holds);
    }

    #[test]
    fn what_arrives_must_leave() {
        check(1000, 1000, 4.0, true);
        check(1000, 960, 4.0, true); // within 5 %
        check(1000, 800, 4.0, false);
        check(800, 1000, 4.0, false); // a backlog that shrinks
        check(20, 14, 3.0, true); // a short run that ended with six on their way
        check(20, 14, 1.0, false);
        check(100, 10, 1000.0, false); // nearly nothing departs, however many wait
        check(0, 0, 0.0, true);
    }

    #[test]
    fn a_backlog_that_grows_is_not_on_its_way() {
        use fulcrum_model::causal::{Experiment, Visits};
        let recording = |level: fn(u64) -> f64| Recording {
            experiments: (0..100)
                .map(|n| Experiment {
                    points: vec![Visits {
                        name: "r".into(),
                        count: Count::Latency {
                            arrivals: 10,
                            departures: 9,
                            difference: level(n),
                        },
                        half: None,
                    }],
                    ..Experiment::on("a.c:1".parse().expect("a target"))
                })
                .collect(),
            ..Recording::default()
        };
        let key = PointKey {
            name: "r".into(),
            kind: PointKind::Latency,
        };
        let growing = stability(&recording(|n| n as f64), &key);
        assert_eq!(
            (growing.arrivals, growing.departures, growing.in_progress),
            (1000, 900, 12.0)
        );
        assert!(!growing.holds());
        assert!(stability(&recording(|_| 60.0), &key).holds());
    }
}

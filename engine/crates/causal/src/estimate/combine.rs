//! Combination: experiments with the same line, progress point and speedup are added up (COZ §2), each as often as it
//! counts (see `experiments::weights`).

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::TargetId;
use fulcrum_model::causal::{Count, Experiment, PointKind, Recording};

use crate::estimate::latency::in_progress_time;
use crate::estimate::point::PointKey;
use crate::experiments::weights;

/// All experiments, combined.
pub(crate) struct Combined<'a> {
    /// In order of first appearance.
    pub lines: Vec<Line<'a>>,
    /// Per progress point, per line (an index into `lines`), the combined measurements.
    pub points: BTreeMap<PointKey, BTreeMap<usize, Series>>,
}

/// A line's experiments as eq. 8 needs them, whatever the progress point.
pub(crate) struct Line<'a> {
    pub id: &'a TargetId,
    /// Effective duration and selected samples of each experiment, as often as it counts; damaged ones (no duration) left
    /// out.
    pub observed: Vec<(f64, f64)>,
    /// Nanoseconds that threads stood in run queues, and the durations of the experiments that say so.
    pub queued: (f64, f64),
}

/// A line's measurements at one progress point, ascending by speedup.
#[derive(Default)]
pub(crate) struct Series {
    pub groups: Vec<Group>,
    /// The placebos' groups.
    pub placebos: Vec<Group>,
}

/// Experiments with the same line, progress point and speedup.
pub(crate) struct Group {
    pub speedup: f64,
    /// Visits; departures for latency.
    pub visits: u64,
    /// Sum of effective durations.
    pub duration_ns: u64,
    /// What a period is made of, see [`Observation`]; summed.
    pub numerator: f64,
    /// Summed.
    pub denominator: f64,
    /// Selected samples, summed.
    pub samples: f64,
    /// Σ count² · visits, so that `denominator²` over it is how many equally counted visits say as much.
    pub squares: f64,
    /// Pauses of all threads, summed; 0 where recordings do not say.
    pub pauses: f64,
    /// Some experiment lasted no time, so the sums mean nothing.
    pub damaged: bool,
    pub observations: Vec<Observation>,
}

/// One experiment's part in a group, as often as it counts: the period is Σ numerator / Σ denominator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub duration: f64,
    /// Throughput: the duration. Latency: requests in progress × duration.
    pub numerator: f64,
    /// Throughput: visits. Latency: arrivals.
    pub denominator: f64,
    /// How often it counts.
    pub count: f64,
}

/// Adds up visits and durations of the experiments that are `kept`, by line, progress point and speedup. What eq. 8 needs is
/// taken from all experiments: what disturbed one of them disturbed the samples of the whole run just as much.
pub(crate) fn combine<'a>(recording: &'a Recording, kept: &[bool]) -> Combined<'a> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut index: HashMap<&TargetId, usize> = HashMap::new();
    let mut names: HashMap<(&str, PointKind), usize> = HashMap::new();
    let mut points: Vec<(PointKey, BTreeMap<usize, Series>)> = Vec::new();
    let counts = weights::counts(&recording.experiments);
    for ((experiment, count), &kept) in recording.experiments.iter().zip(counts).zip(kept) {
        let line = *index.entry(&experiment.selected).or_insert_with_key(|id| {
            lines.push(Line {
                id,
                observed: Vec::new(),
                queued: (0.0, 0.0),
            });
            lines.len() - 1
        });
        lines[line].add(experiment, count);
        if !kept {
            continue;
        }
        for visits in &experiment.points {
            let kind = kind(visits.count);
            let at = *names.entry((&visits.name, kind)).or_insert_with(|| {
                let name = visits.name.clone();
                points.push((PointKey { name, kind }, BTreeMap::new()));
                points.len() - 1
            });
            let series = points[at].1.entry(line).or_default();
            series
                .group(experiment)
                .add(experiment, visits.count, count);
        }
    }
    Combined {
        lines,
        points: points.into_iter().collect(),
    }
}

fn kind(count: Count) -> PointKind {
    match count {
        Count::Throughput { .. } => PointKind::Throughput,
        Count::Latency { .. } => PointKind::Latency,
    }
}

impl Line<'_> {
    /// Adds an experiment that counts so often.
    fn add(&mut self, experiment: &Experiment, count: f64) {
        if experiment.duration_ns <= 0 {
            return;
        }
        let duration = experiment.duration_ns as f64;
        if let Some(queued) = experiment.queued_ns {
            let (sum, time) = &mut self.queued;
            *sum += queued as f64;
            *time += duration;
        }
        let samples = experiment.selected_samples as f64;
        self.observed.push((duration * count, samples * count));
    }
}

impl Series {
    /// The group of an experiment.
    fn group(&mut self, of: &Experiment) -> &mut Group {
        let groups = if of.placebo {
            &mut self.placebos
        } else {
            &mut self.groups
        };
        let at = match groups.binary_search_by(|group| group.speedup.total_cmp(&of.speedup)) {
            Ok(at) => at,
            Err(at) => {
                groups.insert(at, Group::new(of.speedup));
                at
            }
        };
        &mut groups[at]
    }

    /// All groups, the placebos' too.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().chain(&self.placebos)
    }
}

impl Group {
    fn new(speedup: f64) -> Self {
        Group {
            speedup,
            visits: 0,
            duration_ns: 0,
            numerator: 0.0,
            denominator: 0.0,
            samples: 0.0,
            squares: 0.0,
            pauses: 0.0,
            damaged: false,
            observations: Vec::new(),
        }
    }

    /// Adds an experiment that counts so often, and its visits to the progress point.
    fn add(&mut self, experiment: &Experiment, visits: Count, count: f64) {
        let duration = experiment.duration_ns as f64 * count;
        let (numerator, denominator) = match visits {
            Count::Throughput { delta } => (duration, delta as f64 * count),
            Count::Latency {
                arrivals,
                difference,
                ..
            } => (
                in_progress_time(difference, duration),
                arrivals as f64 * count,
            ),
        };
        self.visits = self.visits.saturating_add(visits.visits());
        self.numerator += numerator;
        self.denominator += denominator;
        self.squares += denominator * count;
        self.samples += experiment.selected_samples as f64 * count;
        self.pauses += experiment.pauses.unwrap_or(0) as f64 * count;
        match u64::try_from(experiment.duration_ns) {
            Ok(ns @ 1..) => self.duration_ns = self.duration_ns.saturating_add(ns),
            _ => self.damaged = true,
        }
        self.observations.push(Observation {
            duration,
            numerator,
            denominator,
            count,
        });
    }

    /// Pauses of all threads a nanosecond of effective time.
    pub(crate) fn pause_rate(&self) -> f64 {
        let duration: f64 = self.observations.iter().map(|it| it.duration).sum();
        if duration > 0.0 {
            self.pauses / duration
        } else {
            0.0
        }
    }
}

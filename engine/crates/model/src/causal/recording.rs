//! What a causal profiler recorded: experiments (COZ §3.2) and samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{TargetId, TargetKind};

/// What a causal profiler recorded, by us or by coz: the input of `fulcrum-causal`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// In the order they ran. Several processes or appended runs follow one another.
    pub experiments: Vec<Experiment>,
    /// Samples of each target over the whole execution, in and out of experiments: `s` of eq. 8.
    pub samples: Vec<(TargetId, u64)>,
    /// Total run time in nanoseconds: `T` of eq. 8. Zero when the file does not say.
    pub runtime_ns: u64,
    /// The record streams: one for each process, or several when its target was changed during the run. Empty when the file does
    /// not distinguish them (coz).
    pub streams: Vec<Stream>,
    /// Targets whose code also belongs to other targets, because the linker folded identical functions.
    pub shared: Vec<TargetId>,
    /// CPU time between two samples of a thread, in nanoseconds. `None` when the file does not say (coz: 1 ms).
    pub period_ns: Option<u64>,
    /// The speedups that experiments drew from, 0 excluded, ascending. Empty when unknown (coz).
    pub levels: Vec<f64>,
    /// What a reader should know: records that were skipped, a file cut short. Whole sentences.
    pub notes: Vec<String>,
}

/// What one process did, or a part of it: eq. 8 compares samples and time of the same stretch of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// Effective run time in nanoseconds, without the time in which no samples were taken.
    pub runtime_ns: u64,
    /// Samples of each target, in and out of experiments.
    pub samples: Vec<(TargetId, u64)>,
    /// The progress points that it visited during experiments, sorted.
    pub points: Vec<String>,
    /// What its samples were attributed to. `None`, when the stream does not say, means lines.
    pub target: Option<TargetKind>,
    /// The executable that the process ran. `None` when the stream does not say.
    pub program: Option<Arc<str>>,
    /// What its targets did in functions that may wait or that the kernel works for.
    pub calls: Vec<CallTime>,
    /// Who held the locks that its targets waited for.
    pub holders: Vec<Holder>,
    /// Its samples leave out the time in which the kernel worked for it.
    pub kernel_unseen: bool,
    /// Time that its threads stood in run queues, as a multiple of their processor time; 0 when it was not measured.
    pub queued: f64,
}

/// What a target did in one function of libc that may wait or that the kernel works for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTime {
    /// The line or function that called it.
    pub target: TargetId,
    /// Its name; [`KERNEL`] for the kernel's work besides.
    pub function: String,
    /// Samples of the target in it: processor time, in sampling periods.
    pub processor: u64,
    /// Wall time in it, in sampling periods, without inserted delays; 0 for [`KERNEL`].
    pub whole: u64,
}

/// Who held a lock that a target waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The target that waited.
    pub waiter: TargetId,
    /// The target that released the lock.
    pub holder: TargetId,
    /// How often, of the times that were observed.
    pub count: u64,
}

/// Stands for the kernel, working for a function that is not watched or for memory that is touched for the first time.
pub const KERNEL: &str = "kernel";

/// One performance experiment (COZ §3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What was virtually sped up.
    pub selected: TargetId,
    /// Virtual speedup, 0 (baseline) to 1 (the line takes no time).
    pub speedup: f64,
    /// Every thread made the pauses of this speedup, including the one that ran the target, so its only effect is the cost of
    /// pausing.
    pub placebo: bool,
    /// Effective duration in nanoseconds: real time less the inserted delays. Negative in damaged files.
    pub duration_ns: i64,
    /// Relative probability with which a sample of this target was accepted as the choice; 1 when every sample was.
    /// Estimates that combine experiments over phases are weighted by its inverse.
    pub weight: f64,
    /// How many pauses all threads together made during it, including those that began before or ended later. `None` when the
    /// recording does not say (coz).
    pub pauses: Option<u64>,
    /// Samples that fell in the selected target while the experiment ran: `s_obs` of eq. 6.
    pub selected_samples: u64,
    /// The shortest time for which the speedup had been in force when the experiment began, in nanoseconds. `None` when the
    /// recording does not say.
    pub warmup_ns: Option<u64>,
    /// Effective duration of the first half in nanoseconds, real time less delays. `None` when halves were not recorded.
    pub half_ns: Option<i64>,
    /// What each progress point counted.
    pub points: Vec<Visits>,
    /// How many processors other programs kept busy during it. `None` when the recording does not say (coz).
    pub others: Option<f64>,
    /// Nanoseconds that the program's threads stood in run queues, summed over threads. `None` when not known.
    pub queued_ns: Option<u64>,
    /// The executable that it was made in. `None` when the recording does not say (coz).
    pub program: Option<Arc<str>>,
}

impl Experiment {
    /// An experiment on `selected` that saw nothing: no time, no samples, no points, weight 1, speedup 0.
    pub fn on(selected: TargetId) -> Self {
        Experiment {
            selected,
            speedup: 0.0,
            placebo: false,
            duration_ns: 0,
            weight: 1.0,
            pauses: None,
            selected_samples: 0,
            warmup_ns: None,
            half_ns: None,
            points: Vec::new(),
            others: None,
            queued_ns: None,
            program: None,
        }
    }

    /// A progress point's pace: visits a nanosecond of effective time. `None` without visits or time.
    pub fn pace(&self, point: &Visits) -> Option<f64> {
        pace(point.count.visits(), self.duration_ns)
    }

    /// By how much a progress point's pace in the second half differs from that in the first: the logarithm of their ratio.
    /// `None` when halves were not recorded, or one of them has no visits.
    pub fn change_of_pace(&self, point: &Visits) -> Option<f64> {
        let (first_ns, first) = (self.half_ns?, point.half?);
        let (second_ns, second) = (
            self.duration_ns.checked_sub(first_ns)?,
            point.count.visits().checked_sub(first)?,
        );
        Some((pace(second, second_ns)? / pace(first, first_ns)?).ln())
    }
}

fn pace(visits: u64, ns: i64) -> Option<f64> {
    (visits > 0 && ns > 0).then(|| visits as f64 / ns as f64)
}

/// What one progress point counted during one experiment (COZ §3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Visits {
    /// The progress point's name.
    pub name: String,
    /// How it counts.
    pub count: Count,
    /// Visits in the experiment's first half; departures for latency. `None` when halves were not recorded.
    pub half: Option<u64>,
}

/// The name of the progress point that counts whole executions of the program (COZ §3.3, `--end-to-end`).
pub const END_TO_END: &str = "end-to-end";

/// Whether a progress point counts whole executions; also of one program among several (`PROGRAM: end-to-end`).
pub fn is_end_to_end(name: &str) -> bool {
    name.strip_suffix(END_TO_END)
        .is_some_and(|program| program.is_empty() || program.ends_with(": "))
}

/// The two kinds of progress point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// Visits to a throughput point.
    Throughput {
        /// Number of visits.
        delta: u64,
    },
    /// A begin/end pair, for Little's law.
    Latency {
        /// Visits to the begin point.
        arrivals: u64,
        /// Visits to the end point.
        departures: u64,
        /// Requests in progress (average over the experiment): `L`. Can be negative in damaged files.
        difference: f64,
    },
}

impl Count {
    /// Visits to a throughput point, departures at a latency point.
    pub fn visits(&self) -> u64 {
        match *self {
            Count::Throughput { delta } => delta,
            Count::Latency { departures, .. } => departures,
        }
    }

    /// Whether the program passed it at all.
    pub fn is_visited(&self) -> bool {
        match *self {
            Count::Throughput { delta } => delta > 0,
            Count::Latency {
                arrivals,
                departures,
                ..
            } => arrivals > 0 || departures > 0,
        }
    }
}

impl Recording {
    /// Whether any progress point was visited during any experiment.
    pub fn is_visited(&self) -> bool {
        self.experiments
            .iter()
            .flat_map(|it| &it.points)
            .any(|point| point.count.is_visited())
    }

    /// The programs in which experiments were made, sorted, each once; `None` stands for experiments that do not name theirs.
    pub fn programs(&self) -> Vec<Option<Arc<str>>> {
        let mut programs: Vec<_> = self
            .experiments
            .iter()
            .map(|it| it.program.clone())
            .collect();
        programs.sort_unstable();
        programs.dedup();
        programs
    }

    /// What one program recorded, without notes.
    pub fn of_program(&self, program: Option<&str>) -> Recording {
        let streams: Vec<Stream> = self
            .streams
            .iter()
            .filter(|it| it.program.as_deref() == program)
            .cloned()
            .collect();
        let mut samples: BTreeMap<TargetId, u64> = BTreeMap::new();
        for (id, count) in streams.iter().flat_map(|it| &it.samples) {
            let sum = samples.entry(id.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        let times = streams.iter().map(|it| it.runtime_ns);
        Recording {
            experiments: self
                .experiments
                .iter()
                .filter(|it| it.program.as_deref() == program)
                .cloned()
                .collect(),
            samples: samples.into_iter().collect(),
            runtime_ns: times.fold(0, u64::saturating_add),
            streams,
            shared: self.shared.clone(),
            period_ns: self.period_ns,
            levels: self.levels.clone(),
            notes: Vec::new(),
        }
    }
}

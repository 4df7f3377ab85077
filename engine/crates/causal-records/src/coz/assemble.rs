//! Assembles coz's records, in order, into a [`Recording`].

use std::collections::BTreeMap;

use fulcrum_model::causal::{Count, Experiment, Recording, Visits};

use super::fields::Fields;
use super::processes::Processes;
use crate::notes::Note;

/// In the path of coz's own macro, whose lines no program can speed up.
pub(super) const HEADER: &str = "/coz.h:";

/// Collects records.
#[derive(Default)]
pub(crate) struct Assembler {
    recording: Recording,
    processes: Processes,
    /// Where point records go.
    current: Current,
    unknown: BTreeMap<String, u64>,
    stray_points: u64,
    in_header: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Current {
    /// No experiment yet in this process.
    #[default]
    None,
    /// The last experiment of the recording.
    Last,
    /// An experiment that was skipped, with its points.
    Skipped,
}

/// Whether coz writes records of this type.
pub(crate) fn is_known(kind: &str) -> bool {
    RecordKind::of(kind).is_some()
}

#[derive(Clone, Copy)]
enum RecordKind {
    Startup,
    Experiment,
    Throughput,
    Latency,
    Samples,
    Runtime,
    Shutdown,
}

impl RecordKind {
    fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "startup" => RecordKind::Startup,
            "experiment" => RecordKind::Experiment,
            "throughput-point" | "throughput_point" | "progress-point" | "progress_point" => {
                RecordKind::Throughput
            }
            "latency-point" | "latency_point" => RecordKind::Latency,
            "samples" => RecordKind::Samples,
            "runtime" => RecordKind::Runtime,
            "shutdown" => RecordKind::Shutdown,
            _ => return None,
        })
    }
}

impl Assembler {
    /// Adds one record. The error says what was expected.
    pub(crate) fn push(&mut self, record: &Fields<'_>) -> Result<(), String> {
        let Some(kind) = RecordKind::of(&record.kind) else {
            *self.unknown.entry(record.kind.to_string()).or_default() += 1;
            return Ok(());
        };
        // Lines of coz's own macro: every program that uses it has them.
        let header = |key| {
            record
                .get(key)
                .is_some_and(|text: &str| text.contains(HEADER))
        };
        match kind {
            RecordKind::Startup => {
                self.current = Current::None;
                self.processes.startup(record.count("time").ok());
            }
            RecordKind::Shutdown => self.processes.shutdown(record.count("time").ok()),
            RecordKind::Runtime => self.processes.runtime(record.count("time")?),
            RecordKind::Samples if header("location") => self.in_header += 1,
            RecordKind::Samples => self
                .processes
                .samples(record.target("location")?, record.count("count")?),
            RecordKind::Experiment if header("selected") => {
                self.current = Current::Skipped;
                self.in_header += 1;
            }
            RecordKind::Experiment => {
                let experiment = Experiment {
                    speedup: record.speedup()?,
                    duration_ns: record.signed("duration")?,
                    selected_samples: record.count("selected-samples")?,
                    ..Experiment::on(record.target("selected")?)
                };
                self.processes.experiment(experiment.duration_ns);
                self.recording.experiments.push(experiment);
                self.current = Current::Last;
            }
            RecordKind::Throughput => {
                let count = Count::Throughput {
                    delta: record.count("delta")?,
                };
                self.visits(record.text("name")?, count);
            }
            RecordKind::Latency => {
                let count = Count::Latency {
                    arrivals: record.count("arrivals")?,
                    departures: record.count("departures")?,
                    difference: record.number("difference")?,
                };
                self.visits(record.text("name")?, count);
            }
        }
        Ok(())
    }

    /// Adds what the last experiment counted at a progress point.
    fn visits(&mut self, name: &str, count: Count) {
        match (self.current, self.recording.experiments.last_mut()) {
            (Current::Skipped, _) => {}
            _ if name.contains(HEADER) => self.in_header += 1,
            (Current::Last, Some(last)) => last.points.push(Visits {
                name: name.into(),
                count,
                half: None,
            }),
            (Current::None, _) | (Current::Last, None) => self.stray_points += 1,
        }
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: &Note<'_>) {
        self.recording.notes.push(note.to_string());
    }

    /// The recording, with notes on what was skipped.
    pub(super) fn finish(mut self) -> Recording {
        for (kind, count) in std::mem::take(&mut self.unknown) {
            self.note(&Note::UnknownRecords { kind: &kind, count });
        }
        if self.stray_points > 0 {
            self.note(&Note::StrayPoints(self.stray_points));
        }
        if self.in_header > 0 {
            self.note(&Note::CozHeader(self.in_header));
        }
        let experiments = self.recording.experiments.iter();
        let damaged = experiments.filter(|it| it.duration_ns <= 0).count();
        if damaged > 0 {
            self.note(&Note::NoTime(damaged as u64));
        }
        let total = self.processes.finish();
        self.recording.samples = total.samples;
        self.recording.runtime_ns = total.runtime_ns;
        self.recording.notes.extend(total.notes);
        self.recording
    }
}

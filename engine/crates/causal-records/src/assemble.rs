//! coz's records, in order, to a [`Recording`].

use std::collections::BTreeMap;

use fulcrum_model::causal::{Count, Experiment, Recording, Visits};

use crate::counted::counted;
use crate::fields::Fields;
use crate::processes::Processes;
use crate::write::HEADER;

/// Collects records.
#[derive(Default)]
pub struct Assembler {
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

/// Is this the type of a record that coz writes?
pub fn is_known(kind: &str) -> bool {
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
    pub fn push(&mut self, record: &Fields<'_>) -> Result<(), String> {
        let Some(kind) = RecordKind::of(&record.kind) else {
            *self.unknown.entry(record.kind.to_string()).or_default() += 1;
            return Ok(());
        };
        // Lines of coz's own macro: every program that uses it has them, nobody can speed them up.
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
            RecordKind::Throughput | RecordKind::Latency => {
                let count = match kind {
                    RecordKind::Throughput => Count::Throughput {
                        delta: record.count("delta")?,
                    },
                    _ => Count::Latency {
                        arrivals: record.count("arrivals")?,
                        departures: record.count("departures")?,
                        difference: record.number("difference")?,
                    },
                };
                let name = record.text("name")?;
                match (self.current, self.recording.experiments.last_mut()) {
                    (Current::Skipped, _) => {}
                    _ if name.contains(HEADER) => self.in_header += 1,
                    (Current::Last, Some(last)) => last.points.push(Visits {
                        name: name.into(),
                        count,
                        half: None,
                    }),
                    _ => self.stray_points += 1,
                }
            }
        }
        Ok(())
    }

    /// Adds a note.
    pub fn note(&mut self, text: String) {
        self.recording.notes.push(text);
    }

    /// Notes that the file ends within a record.
    pub fn cut_short(&mut self, line: u64) {
        self.note(format!(
            "The file ends in the middle of line {line}; everything before it was read."
        ));
    }

    /// The recording, with notes on what was skipped.
    pub fn finish(mut self) -> Recording {
        let recording = &mut self.recording;
        for (kind, count) in &self.unknown {
            let kind = fulcrum_model::text::shorten(kind);
            recording.notes.push(format!(
                "Skipped {} of the unknown type {kind:?}.",
                counted(*count, "record")
            ));
        }
        if self.stray_points > 0 {
            let count = counted(self.stray_points, "progress-point record");
            recording
                .notes
                .push(format!("Skipped {count} that belong to no experiment."));
        }
        if self.in_header > 0 {
            let count = counted(self.in_header, "record");
            recording
                .notes
                .push(format!("Skipped {count} of lines inside coz.h."));
        }
        let damaged = recording
            .experiments
            .iter()
            .filter(|e| e.duration_ns <= 0)
            .count();
        if damaged > 0 {
            let count = counted(damaged as u64, "experiment");
            recording.notes.push(format!(
                "{count} lasted no time or less, because more delay was inserted than time passed."
            ));
        }
        let total = self.processes.finish();
        recording.samples = total.samples;
        recording.runtime_ns = total.runtime_ns;
        recording.notes.extend(total.notes);
        self.recording
    }
}

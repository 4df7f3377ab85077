//! Our own record stream, `causal-<pid>-<n>.jsonl`: written by the runtime, one write a record (docs/formats.md).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use fulcrum_model::causal::{self, CallTime, Count, Experiment, Holder, Recording, Visits};
use fulcrum_model::{TargetId, TargetKind};
use serde::Deserialize;
use serde_json::Value;

use crate::counted::counted;
use crate::lines::{Line, lines};
use fulcrum_model::ReadError;

/// The version of the stream that this reader knows.
const VERSION: u64 = 1;

pub fn detect(first: &str, name: &str) -> bool {
    if let Ok(value) = serde_json::from_str::<Value>(first) {
        return value.get("format").and_then(Value::as_str) == Some("fulcrum-causal");
    }
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    first.starts_with("{\"type\":\"header\"")
        || (base.starts_with("causal-") && base.ends_with(".jsonl"))
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    version: u64,
    #[serde(default)]
    levels: Vec<f64>,
    period: Option<u64>,
    target: Option<String>,
    #[serde(default)]
    program: String,
    #[serde(default)]
    shared: Vec<String>,
}

#[derive(Deserialize)]
struct ExperimentRecord {
    selected: String,
    speedup: f64,
    duration: i64,
    selected_samples: u64,
    #[serde(default)]
    start: u64,
    #[serde(default)]
    wall: u64,
    others: Option<u64>,
    weight: Option<f64>,
    queued: Option<u64>,
    pauses: Option<u64>,
    warmup: Option<u64>,
    half: Option<i64>,
    #[serde(default)]
    points: Vec<PointRecord>,
}

#[derive(Deserialize)]
struct PointRecord {
    name: String,
    kind: String,
    #[serde(default)]
    delta: u64,
    #[serde(default)]
    arrivals: u64,
    #[serde(default)]
    departures: u64,
    #[serde(default)]
    difference: f64,
    half: Option<u64>,
}

#[derive(Deserialize)]
struct SamplesRecord {
    time: u64,
    #[serde(default)]
    delay: u64,
    #[serde(default)]
    rested: u64,
    #[serde(default)]
    total: u64,
    #[serde(default)]
    queued: u64,
    #[serde(default)]
    lines: HashMap<String, u64>,
    #[serde(default)]
    calls: Vec<CallRecord>,
    #[serde(default)]
    holders: Vec<HolderRecord>,
    /// Whether samples see the kernel's work.
    #[serde(default = "yes")]
    kernel: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct CallRecord {
    at: String,
    function: String,
    processor: u64,
    whole: u64,
}

#[derive(Deserialize)]
struct HolderRecord {
    at: String,
    by: String,
    count: u64,
}

#[derive(Deserialize)]
struct EndRecord {
    time: u64,
    #[serde(default)]
    delay: u64,
    #[serde(default)]
    rested: u64,
}

/// What one process said last.
#[derive(Default)]
struct Process {
    samples: HashMap<TargetId, u64>,
    last_seen: u64,
    /// Delay inserted by virtual speedups so far: like experiments' durations, the run time is told without it.
    delay: u64,
    /// Time without samples so far, to keep a limit on overhead or because the user paused.
    rested: u64,
    /// When the samples were counted, without the delay and the rests until then. While a run goes on, samples are older
    /// than its last experiment; eq. 8 wants samples and time of the same stretch.
    counted: Option<u64>,
    ended: bool,
    begun: bool,
    /// Progress points visited during experiments.
    points: BTreeSet<String>,
    target: Option<TargetKind>,
    program: Option<Arc<str>>,
    calls: Vec<CallTime>,
    holders: Vec<Holder>,
    kernel_unseen: bool,
    queued: f64,
    period: Option<u64>,
}

#[derive(Default)]
struct Stream {
    recording: Recording,
    samples: BTreeMap<TargetId, u64>,
    process: Process,
    unknown: BTreeMap<String, u64>,
}

pub fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let mut stream = Stream::default();
    for line in lines(bytes) {
        match stream.push(&line) {
            Ok(()) => {}
            Err(_) if line.unfinished => stream.recording.notes.push(format!(
                "The file ends in the middle of line {}; everything before it was read.",
                line.number
            )),
            Err(problem) => return Err(line.error(name, problem)),
        }
    }
    Ok(stream.finish())
}

impl Stream {
    fn push(&mut self, line: &Line<'_>) -> Result<(), String> {
        if line.broken {
            return Err("the line is not UTF-8 text".into());
        }
        let value: Value = serde_json::from_str(line.text).map_err(|e| {
            format!(
                "expected a JSON object on one line, column {} is wrong",
                e.column()
            )
        })?;
        let kind = value
            .get("type")
            .and_then(Value::as_str)
            .ok_or("expected \"type\" to name the record")?;
        match kind {
            "header" => {
                let header: Header = record(&value)?;
                if header.version > VERSION {
                    return Err(format!(
                        "the recording has version {}, this Fulcrum knows version {VERSION}: use a newer Fulcrum",
                        header.version
                    ));
                }
                self.end_process();
                self.process.begun = true;
                self.process.program =
                    (!header.program.is_empty()).then(|| header.program.as_str().into());
                self.process.target = header
                    .target
                    .map(|word| {
                        TargetKind::of_word(&word).ok_or_else(|| {
                            format!("expected a target of line, function, inclusive, path or blocked, got {word:?}")
                        })
                    })
                    .transpose()?;
                for text in header.shared {
                    let id = text.parse().map_err(|e| format!("bad shared: {e}"))?;
                    if !self.recording.shared.contains(&id) {
                        self.recording.shared.push(id);
                    }
                }
                self.process.period = header.period;
                self.recording.period_ns = self.recording.period_ns.or(header.period);
                for level in header.levels {
                    if !(0.0..=1.0).contains(&level) {
                        return Err(format!("expected levels from 0 to 1, got {level}"));
                    }
                    if level > 0.0 && !self.recording.levels.contains(&level) {
                        self.recording.levels.push(level);
                    }
                }
                self.recording.levels.sort_by(f64::total_cmp);
            }
            "experiment" | "placebo" => {
                let placebo = kind == "placebo";
                let experiment: ExperimentRecord = record(&value)?;
                let seen = experiment.start.saturating_add(experiment.wall);
                self.process.last_seen = self.process.last_seen.max(seen);
                let effective = u64::try_from(experiment.duration).unwrap_or_default();
                self.process.delay = self
                    .process
                    .delay
                    .saturating_add(experiment.wall.saturating_sub(effective));
                let experiment = Experiment {
                    program: self.process.program.clone(),
                    ..experiment.check(placebo)?
                };
                let visited = experiment.points.iter().filter(|it| it.count.is_visited());
                self.process
                    .points
                    .extend(visited.map(|it| it.name.clone()));
                self.recording.experiments.push(experiment);
            }
            "samples" => {
                let samples: SamplesRecord = record(&value)?;
                self.process.last_seen = self.process.last_seen.max(samples.time);
                self.process.delay = self.process.delay.max(samples.delay);
                self.process.rested = self.process.rested.max(samples.rested);
                let unsampled = self.process.delay.saturating_add(self.process.rested);
                self.process.counted = Some(samples.time.saturating_sub(unsampled));
                // Cumulative: the last one counts.
                self.process.samples = samples
                    .lines
                    .into_iter()
                    .map(|(at, count)| {
                        Ok((at.parse::<TargetId>().map_err(|e| e.to_string())?, count))
                    })
                    .collect::<Result<_, String>>()?;
                self.process.kernel_unseen = !samples.kernel;
                let processor = samples.total as f64 * self.process.period.unwrap_or(0) as f64;
                self.process.queued = if processor > 0.0 {
                    samples.queued as f64 / processor
                } else {
                    0.0
                };
                let calls = samples.calls.into_iter().map(CallRecord::check);
                self.process.calls = calls.collect::<Result<_, _>>()?;
                let holders = samples.holders.into_iter().map(HolderRecord::check);
                self.process.holders = holders.collect::<Result<_, _>>()?;
            }
            "end" => {
                let end: EndRecord = record(&value)?;
                self.process.last_seen = end.time;
                self.process.delay = self.process.delay.max(end.delay);
                self.process.rested = self.process.rested.max(end.rested);
                self.process.ended = true;
            }
            other => *self.unknown.entry(other.into()).or_default() += 1,
        }
        Ok(())
    }

    fn end_process(&mut self) {
        let process = std::mem::take(&mut self.process);
        let effective = match process.counted {
            Some(counted) if !process.ended => counted,
            _ => process
                .last_seen
                .saturating_sub(process.delay.saturating_add(process.rested)),
        };
        self.recording.runtime_ns = self.recording.runtime_ns.saturating_add(effective);
        for (at, count) in &process.samples {
            let sum = self.samples.entry(at.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        if effective > 0 || !process.samples.is_empty() {
            let mut samples: Vec<_> = process.samples.into_iter().collect();
            samples.sort();
            self.recording.streams.push(causal::Stream {
                runtime_ns: effective,
                samples,
                points: process.points.into_iter().collect(),
                target: process.target,
                program: process.program,
                calls: process.calls,
                holders: process.holders,
                kernel_unseen: process.kernel_unseen,
                queued: process.queued,
            });
        }
        if process.begun && !process.ended {
            self.recording.notes.push(
                "The program did not end by itself (it was killed or is still running); everything up to then was read.".into(),
            );
        }
    }

    fn finish(mut self) -> Recording {
        self.end_process();
        self.recording.samples = self.samples.into_iter().collect();
        for (kind, count) in self.unknown {
            let kind = fulcrum_model::text::shorten(&kind);
            let count = counted(count, "record");
            self.recording
                .notes
                .push(format!("Skipped {count} of the unknown type {kind:?}."));
        }
        self.recording
    }
}

fn record<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|e| {
        let kind = value
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        format!("the {kind} record is not as expected: {e}")
    })
}

impl ExperimentRecord {
    fn check(self, placebo: bool) -> Result<Experiment, String> {
        if !(0.0..=1.0).contains(&self.speedup) {
            return Err(format!(
                "expected a speedup from 0 to 1, got {}",
                self.speedup
            ));
        }
        let others = self
            .others
            .map(|cpu_ns| cpu_ns as f64 / self.wall.max(1) as f64);
        let weight = self.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(format!("expected a weight above 0, got {weight}"));
        }
        Ok(Experiment {
            others,
            weight,
            queued_ns: self.queued,
            pauses: self.pauses,
            warmup_ns: self.warmup,
            half_ns: self.half,
            placebo,
            selected: self
                .selected
                .parse()
                .map_err(|e| format!("bad selected: {e}"))?,
            speedup: self.speedup + 0.0,
            duration_ns: self.duration,
            selected_samples: self.selected_samples,
            program: None,
            points: self
                .points
                .into_iter()
                .map(PointRecord::check)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl CallRecord {
    fn check(self) -> Result<CallTime, String> {
        let target = self.at.parse::<TargetId>();
        Ok(CallTime {
            target: target.map_err(|e| format!("bad call: {e}"))?,
            function: fulcrum_model::text::shorten(&self.function),
            processor: self.processor,
            whole: self.whole,
        })
    }
}

impl HolderRecord {
    fn check(self) -> Result<Holder, String> {
        let target = |text: &str| {
            text.parse::<TargetId>()
                .map_err(|e| format!("bad holder: {e}"))
        };
        Ok(Holder {
            waiter: target(&self.at)?,
            holder: target(&self.by)?,
            count: self.count,
        })
    }
}

impl PointRecord {
    fn check(self) -> Result<Visits, String> {
        let count = match self.kind.as_str() {
            "throughput" => Count::Throughput { delta: self.delta },
            "latency" => Count::Latency {
                arrivals: self.arrivals,
                departures: self.departures,
                difference: self.difference,
            },
            other => {
                return Err(format!(
                    "expected the kind throughput or latency, got {other:?}"
                ));
            }
        };
        Ok(Visits {
            name: self.name,
            count,
            half: self.half,
        })
    }
}

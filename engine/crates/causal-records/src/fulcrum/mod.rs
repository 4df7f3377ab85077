//! Our own record stream, `causal-<pid>-<n>.jsonl`: written by the runtime, one write for each record (docs/formats.md).

mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use fulcrum_model::causal::{self, CallTime, Experiment, Holder, Recording};
use fulcrum_model::{ReadError, TargetId, TargetKind};
use fulcrum_wire::causal::{FORMAT, HEADER, TYPE, VERSION, kind};
use serde_json::Value;

use self::records::{
    CallRecord, EndRecord, ExperimentRecord, Header, HolderRecord, SamplesRecord, record,
};
use crate::lines::{Line, lines};
use crate::notes::Note;

pub(crate) fn detect(first: &str, name: &str) -> bool {
    if let Ok(value) = serde_json::from_str::<Value>(first) {
        return value.get(HEADER.format).and_then(Value::as_str) == Some(FORMAT);
    }
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let header = format!("{{\"{TYPE}\":\"{}\"", kind::HEADER);
    first.starts_with(&header) || (base.starts_with("causal-") && base.ends_with(".jsonl"))
}

/// What one process has recorded so far.
#[derive(Default)]
struct Process {
    samples: HashMap<TargetId, u64>,
    last_seen: u64,
    /// Delay inserted by virtual speedups so far. Like experiments' durations, the run time leaves it out.
    delay: u64,
    /// Time without samples so far, to keep a limit on overhead or because the user paused.
    rested: u64,
    /// When the samples were counted, without the delay and the rests until then. While a run goes on, samples are older
    /// than its last experiment; eq. 8 needs samples and time of the same stretch.
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

pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Recording, ReadError> {
    let mut stream = Stream::default();
    for line in lines(bytes) {
        match stream.push(&line) {
            Ok(()) => {}
            Err(_) if line.unfinished => stream.note(&Note::CutShort { line: line.number }),
            Err(problem) => return Err(line.error(name, problem)),
        }
    }
    Ok(stream.finish())
}

fn target_kind(word: &str) -> Result<TargetKind, String> {
    TargetKind::of_word(word).ok_or_else(|| {
        format!("expected a target of line, function, inclusive, path or blocked, got {word:?}")
    })
}

impl Process {
    /// Counts the time that an experiment took.
    fn count_time(&mut self, experiment: &ExperimentRecord) {
        let seen = experiment.start.saturating_add(experiment.wall);
        self.last_seen = self.last_seen.max(seen);
        let effective = u64::try_from(experiment.duration).unwrap_or_default();
        let delay = experiment.wall.saturating_sub(effective);
        self.delay = self.delay.saturating_add(delay);
    }

    /// Takes the samples so far in place of those before.
    fn samples(&mut self, samples: SamplesRecord) -> Result<(), String> {
        self.last_seen = self.last_seen.max(samples.time);
        self.delay = self.delay.max(samples.delay);
        self.rested = self.rested.max(samples.rested);
        let unsampled = self.delay.saturating_add(self.rested);
        self.counted = Some(samples.time.saturating_sub(unsampled));
        self.samples = samples
            .lines
            .into_iter()
            .map(|(at, count)| Ok((at.parse::<TargetId>().map_err(|e| e.to_string())?, count)))
            .collect::<Result<_, String>>()?;
        self.kernel_unseen = !samples.kernel;
        let processor = samples.total as f64 * self.period.unwrap_or(0) as f64;
        self.queued = if processor > 0.0 {
            samples.queued as f64 / processor
        } else {
            0.0
        };
        let calls = samples.calls.into_iter().map(CallRecord::check);
        self.calls = calls.collect::<Result<_, _>>()?;
        let holders = samples.holders.into_iter().map(HolderRecord::check);
        self.holders = holders.collect::<Result<_, _>>()?;
        Ok(())
    }

    fn end(&mut self, end: &EndRecord) {
        self.last_seen = end.time;
        self.delay = self.delay.max(end.delay);
        self.rested = self.rested.max(end.rested);
        self.ended = true;
    }
}

impl Stream {
    fn note(&mut self, note: &Note<'_>) {
        self.recording.notes.push(note.to_string());
    }

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
            .get(TYPE)
            .and_then(Value::as_str)
            .ok_or("expected \"type\" to name the record")?;
        match kind {
            kind::HEADER => self.header(record(&value)?)?,
            kind::EXPERIMENT | kind::PLACEBO => {
                let experiment: ExperimentRecord = record(&value)?;
                self.process.count_time(&experiment);
                let experiment = experiment.check()?;
                self.experiment(Experiment {
                    placebo: kind == kind::PLACEBO,
                    ..experiment
                });
            }
            kind::SAMPLES => self.process.samples(record(&value)?)?,
            kind::END => self.process.end(&record(&value)?),
            other => *self.unknown.entry(other.into()).or_default() += 1,
        }
        Ok(())
    }

    fn header(&mut self, header: Header) -> Result<(), String> {
        if header.version > VERSION {
            return Err(format!(
                "the recording has version {}, this Fulcrum knows version {VERSION}: use a newer Fulcrum",
                header.version
            ));
        }
        self.end_process();
        self.process.begun = true;
        self.process.program = (!header.program.is_empty()).then(|| header.program.as_str().into());
        self.process.target = header.target.as_deref().map(target_kind).transpose()?;
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
        Ok(())
    }

    fn experiment(&mut self, experiment: Experiment) {
        let visited = experiment.points.iter().filter(|it| it.count.is_visited());
        self.process
            .points
            .extend(visited.map(|it| it.name.clone()));
        self.recording.experiments.push(Experiment {
            program: self.process.program.clone(),
            ..experiment
        });
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
            self.note(&Note::NotEnded);
        }
    }

    fn finish(mut self) -> Recording {
        self.end_process();
        self.recording.samples = std::mem::take(&mut self.samples).into_iter().collect();
        for (kind, count) in std::mem::take(&mut self.unknown) {
            self.note(&Note::UnknownRecords { kind: &kind, count });
        }
        self.recording
    }
}

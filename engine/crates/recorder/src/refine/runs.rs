//! The runs of one iteration: pairs of a run with probes and one without.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_events::refine::{Measured, MethodName, Units, units};
use fulcrum_events::{End, Trace};

use super::estimate::overhead;
use super::first::only_unit;
use super::live::Live;
use super::{Iteration, RefineOptions};
use crate::jvm::{self, Ran};
use crate::{Error, Exit, Recorded, Remote, Stdio, TraceOptions};

/// The runs of an iteration so far.
pub(crate) struct IterationRuns<'a> {
    options: &'a RefineOptions,
    number: usize,
    filter: String,
    previous: Option<PathBuf>,
    /// The folder of the run that is kept.
    kept: Option<PathBuf>,
    pub measured: Measured,
    /// The times of a unit with instrumentation, and without.
    with: Vec<Option<Units>>,
    without: Vec<Option<Units>>,
    pub notes: Vec<String>,
}

impl<'a> IterationRuns<'a> {
    pub(crate) fn new(
        options: &'a RefineOptions,
        number: usize,
        filter: String,
        previous: Option<PathBuf>,
    ) -> IterationRuns<'a> {
        IterationRuns {
            options,
            number,
            filter,
            previous,
            kept: None,
            measured: Measured::default(),
            with: Vec::new(),
            without: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Makes a run with probes and one without. Which comes first alternates, so that drifts of the machine cancel out.
    pub(crate) fn pair(&mut self, live: &mut Option<Live>, remote: &Remote) -> Result<(), Error> {
        let run = self.with.len();
        if !run.is_multiple_of(2) {
            self.without(run, live, remote)?;
        }
        if run == 0 || !remote.is_cancelled() {
            self.with(run, live, remote)?;
        }
        if run.is_multiple_of(2) && !remote.is_cancelled() {
            self.without(run, live, remote)?;
        }
        Ok(())
    }

    fn with(&mut self, run: usize, live: &mut Option<Live>, remote: &Remote) -> Result<(), Error> {
        let options = self.options;
        let mut trace = self.settings(self.filter.clone());
        trace.settings.push(("rule", options.rule.to_string()));
        if let Some(unit) = &options.unit {
            trace.settings.push(("unit", unit.clone()));
        }
        trace.settings.push(("iteration", self.number.to_string()));
        if let Some(previous) = &self.previous {
            let previous = previous.display().to_string();
            trace
                .settings
                .push(("previous", previous.replace('\n', " ")));
        }
        match (&self.kept, &options.trace.output) {
            (Some(kept), _) => trace.output = Some(kept.join(format!("repeat-{}", run + 1))),
            (None, Some(output)) => {
                trace.output = Some(output.join(format!("iteration-{}", self.number)));
            }
            (None, None) => trace.suffix = Some(format!("refine-{}", self.number)),
        }
        let (recorded, ran) = observed(&trace, live, remote)?;
        let found = self.add_logs(&recorded.run)?;
        if run == 0 && self.measured.runs == 0 {
            return Err(nothing_measured(&recorded));
        }
        self.with.push(self.time(&found, &ran));
        self.notes.extend(recorded.notes.iter().cloned());
        self.note_end("with probes", recorded.exit);
        match &self.kept {
            None => {
                let whole = !ran.stopped || live.is_some();
                if let (Some(unit), true) = (&options.unit, found.is_empty() && whole) {
                    return Err(Error::CannotStart(format!(
                        "{unit} was never called: name a method that the program calls as the unit of work, Class.method with \
                         the package of the class"
                    )));
                }
                self.kept = Some(recorded.run);
            }
            Some(_) => remove(&recorded.run),
        }
        Ok(())
    }

    /// Adds the logs of a run to what was measured. Returns the units of work in them.
    fn add_logs(&mut self, run: &Path) -> Result<Vec<Units>, Error> {
        let options = self.options;
        let mut found = Vec::new();
        for (n, log) in jvm::logs(run).iter().enumerate() {
            let trace = Trace::open(log)
                .map_err(|error| Error::CannotRecord(format!("{}: {error}", log.display())))?;
            match n {
                0 => self.measured.add(&trace, &options.rule),
                _ => self.measured.add_part(&trace, &options.rule),
            }
            found.extend(options.unit.as_deref().and_then(|unit| units(&trace, unit)));
            if let End::Full { .. } = trace.end
                && let Some(note) = trace.end.note()
            {
                self.notes.push(format!(
                    "Iteration {}: {note} Units of work after that do not count.",
                    self.number
                ));
            }
        }
        Ok(found)
    }

    fn without(
        &mut self,
        run: usize,
        live: &mut Option<Live>,
        remote: &Remote,
    ) -> Result<(), Error> {
        let options = self.options;
        let (true, Some(kept)) = (options.baseline, &self.kept) else {
            return Ok(());
        };
        let folder = kept.join(format!("baseline-{}", run + 1));
        let mut trace = self.settings(String::new());
        let time = match &options.unit {
            Some(unit) => {
                trace.filter = Some(only_unit(unit));
                trace.output = Some(folder.clone());
                let (recorded, ran) = observed(&trace, live, remote)?;
                let logs = jvm::logs(&recorded.run);
                let traces = logs.iter().filter_map(|log| Trace::open(log).ok());
                let found: Vec<_> = traces.filter_map(|trace| units(&trace, unit)).collect();
                self.note_end("without probes", recorded.exit);
                self.time(&found, &ran)
            }
            // Between sessions, it is unknown what work was done.
            None if live.is_some() => None,
            None => {
                fs::create_dir_all(&folder).map_err(|error| {
                    Error::CannotRecord(format!("cannot make {}: {error}", folder.display()))
                })?;
                let ran = jvm::alone(&trace, &folder, remote)?;
                if !ran.stopped {
                    let code = ran.status.code().unwrap_or(0);
                    self.note_end("without probes", Exit::Code(code));
                }
                self.time(&[], &ran)
            }
        };
        self.without.push(time);
        remove(&folder);
        Ok(())
    }

    fn settings(&self, filter: String) -> TraceOptions {
        TraceOptions {
            filter: Some(filter),
            stdio: Stdio::Files,
            output: None,
            ..self.options.trace.clone()
        }
    }

    /// The time of a unit: from the logs if a method is the unit, else the time of the whole run.
    fn time(&self, found: &[Units], ran: &Ran) -> Option<Units> {
        if self.options.unit.is_none() {
            return (!ran.stopped).then_some(Units {
                count: 1,
                wall_ns: ran.wall.as_nanos() as f64,
                cpu_ns: Some(ran.cpu.as_nanos() as f64),
            });
        }
        let count: u64 = found.iter().map(|it| it.count).sum();
        let mean = |of: &dyn Fn(&Units) -> f64| {
            found.iter().map(|it| of(it) * it.count as f64).sum::<f64>() / count as f64
        };
        let cpu = found.iter().all(|it| it.cpu_ns.is_some());
        (count > 0).then(|| Units {
            count,
            wall_ns: mean(&|it| it.wall_ns),
            cpu_ns: cpu.then(|| mean(&|it| it.cpu_ns.unwrap_or(0.0))),
        })
    }

    fn note_end(&mut self, how: &str, exit: Exit) {
        match exit {
            Exit::Code(0) | Exit::Stopped => {}
            Exit::Code(code) => self
                .notes
                .push(format!("The program ended with status {code} {how}.")),
            Exit::Signal(signal) => self
                .notes
                .push(format!("The program was ended by signal {signal} {how}.")),
        }
    }

    /// The iteration, as far as it was measured.
    pub(crate) fn row(&self, drawn: &BTreeSet<MethodName>) -> Option<Iteration> {
        let run = self.kept.clone()?;
        let known = |times: &[Option<Units>]| times.iter().flatten().copied().collect::<Vec<_>>();
        let (with, without) = (known(&self.with), known(&self.without));
        let mean = |times: &[Units], of: &dyn Fn(&Units) -> Option<f64>| {
            let values: Option<Vec<f64>> = times.iter().map(of).collect();
            let values = values.filter(|values| !values.is_empty())?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        let wall = |it: &Units| Some(it.wall_ns);
        let cpu = |it: &Units| it.cpu_ns;
        let pairs = |of: &dyn Fn(&Units) -> Option<f64>| {
            let pairs = self.with.iter().zip(&self.without);
            let pairs: Vec<_> = pairs
                .filter_map(|(a, b)| Some((of(a.as_ref()?)?, of(b.as_ref()?)?)))
                .collect();
            overhead(&pairs)
        };
        let probed: BTreeSet<&MethodName> = self.measured.methods.keys().collect();
        let looked_at = drawn.iter().filter(|it| probed.contains(it));
        Some(Iteration {
            number: self.number,
            filter: run.join("filter"),
            run,
            methods: self.measured.methods.len() as u64,
            classes: self.measured.classes() as u64,
            fired: self.measured.fired(),
            metered: self.measured.metered(),
            hotspots: self.measured.hotspots(&self.options.rule).len() as u64,
            units: mean(&with, &|it| Some(it.count as f64))
                .unwrap_or(0.0)
                .round() as u64,
            wall_ns: mean(&with, &wall),
            cpu_ns: mean(&with, &cpu),
            baseline_wall_ns: mean(&without, &wall),
            baseline_cpu_ns: mean(&without, &cpu),
            overhead: pairs(&wall),
            cpu_overhead: pairs(&cpu),
            rechecked: looked_at.map(ToString::to_string).collect(),
            found: Vec::new(),
        })
    }
}

/// Makes a run under the agent, or a session of it.
fn observed(
    options: &TraceOptions,
    live: &mut Option<Live>,
    remote: &Remote,
) -> Result<(Recorded, Ran), Error> {
    match live {
        Some(live) => live.session(options, remote),
        None => jvm::timed(options, remote, &mut |_| {}),
    }
}

/// The error when nothing was measured.
fn nothing_measured(recorded: &Recorded) -> Error {
    let last = last_lines(&recorded.run.join("stderr.txt"));
    let why = match last {
        Some(lines) => format!("; it last wrote: {lines}"),
        None => String::new(),
    };
    Error::CannotStart(format!(
        "nothing was measured: name java, a native program that was built with -finstrument-functions, or what starts one{why}"
    ))
}

/// The last three lines of a file.
fn last_lines(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(3)..];
    (!last.is_empty()).then(|| last.join(" / "))
}

/// Removes a folder that was read. If that fails, it only takes space.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

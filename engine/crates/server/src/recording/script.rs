//! The scripted recorder of `fulcrum lsp --script NAME`, for tests of clients: it plays a file instead of running a program.
//!
//! A run of `PROGRAM` is played when there is a file `PROGRAM.NAME`; any other program really runs. The file has a
//! [`Step`] on each line, as JSON. A script without an end waits until the test appends another line, so that nothing depends
//! on how long anything takes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fulcrum_model::Interval;
use fulcrum_recorder::{
    Error, Exit, Options, Recorded, RefineOptions, Remote, RunStatus, TraceOptions, TraceProgress,
};
use fulcrum_runs::{Ended, RunFolder};
use serde::Deserialize;

use crate::protocol::{RefineIteration, RefineLiveParams, RefineOutcome};
use crate::recording::recorder::{Real, Recorder};
use crate::recording::refine;

/// How often a script that has no further line is read again, and a [`Step::Await`] asked.
const POLL: Duration = Duration::from_millis(5);

/// One line of a script.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "do",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Step {
    /// The run's folder: `name` in the workspace's store, a copy of `from`, in which `@WORKSPACE@` stands for the
    /// workspace. It goes on from now. A refine loop has one for each iteration.
    Run { from: PathBuf, name: String },
    /// How the run stands.
    Report(Box<Report>),
    /// Waits until the client has done this.
    Await { event: Event },
    /// From now on the run ignores being stopped: it waits until the script ends it.
    Deaf,
    /// The program ends. A refine loop's outcome is its last folder's `refine.json`.
    End {
        #[serde(default)]
        status: i32,
        #[serde(default)]
        notes: Vec<String>,
    },
    /// Nothing can be recorded.
    Fail { message: String },
    /// The engine aborts.
    Die,
}

/// The progress of a causal run, a trace or a refine loop. What is left out is zero or nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Report {
    elapsed_seconds: f64,
    fraction: Option<f64>,
    // A causal run.
    experiments: u64,
    lines: u64,
    visits: u64,
    remaining_seconds: Option<f64>,
    best: Option<Best>,
    /// With the analysis of the run's folder.
    analysed: bool,
    // A trace.
    bytes: u64,
    // A refine loop.
    iterations: Vec<RefineIteration>,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Best {
    /// `FILE:LINE`.
    at: String,
    gain: f64,
    interval: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Event {
    Paused,
    Resumed,
    Stopped,
}

/// Plays scripts of this name.
#[derive(Debug)]
pub struct Scripted {
    name: OsString,
}

impl Scripted {
    /// A recorder that plays `PROGRAM.name` where that file exists.
    pub fn new(name: impl Into<OsString>) -> Scripted {
        Scripted { name: name.into() }
    }

    fn play<'a>(
        &self,
        program: &OsStr,
        cwd: Option<&Path>,
        workspace: Option<&Path>,
        remote: &'a Remote,
    ) -> Result<Option<Play<'a>>, Error> {
        let mut file = program.to_owned();
        file.push(".");
        file.push(&self.name);
        let file = cwd.unwrap_or(Path::new("")).join(file);
        if !file.is_file() {
            return Ok(None);
        }
        let lines = File::open(&file).map_err(cannot("open", &file))?;
        Ok(Some(Play {
            lines: BufReader::new(lines),
            partial: String::new(),
            file,
            workspace: workspace.or(cwd).unwrap_or(Path::new("")).to_path_buf(),
            remote,
            run: None,
            deaf: false,
        }))
    }
}

impl Recorder for Scripted {
    fn record(
        &self,
        options: &Options,
        remote: &Remote,
        report: &mut dyn FnMut(&RunStatus),
    ) -> Result<Recorded, Error> {
        let (cwd, workspace) = (options.cwd.as_deref(), options.workspace.as_deref());
        match self.play(&options.program, cwd, workspace, remote)? {
            None => Real.record(options, remote, report),
            Some(mut play) => play.through(|play, said| {
                report(&play.progress(said)?);
                Ok(())
            }),
        }
    }

    fn trace(
        &self,
        options: &TraceOptions,
        remote: &Remote,
        report: &mut dyn FnMut(&TraceProgress),
    ) -> Result<Recorded, Error> {
        let (cwd, workspace) = (options.cwd.as_deref(), options.workspace.as_deref());
        match self.play(&options.program, cwd, workspace, remote)? {
            None => Real.trace(options, remote, report),
            Some(mut play) => play.through(|play, said| {
                report(&TraceProgress {
                    run: play.folder()?.to_path_buf(),
                    elapsed: Duration::from_secs_f64(said.elapsed_seconds),
                    bytes: said.bytes,
                });
                Ok(())
            }),
        }
    }

    fn refine(
        &self,
        options: &RefineOptions,
        remote: &Remote,
        report: &mut dyn FnMut(RefineLiveParams),
    ) -> Result<RefineOutcome, Error> {
        let trace = &options.trace;
        let (cwd, workspace) = (trace.cwd.as_deref(), trace.workspace.as_deref());
        let Some(mut play) = self.play(&trace.program, cwd, workspace, remote)? else {
            return Real.refine(options, remote, report);
        };
        let recorded = play.through(|_, said| {
            report(RefineLiveParams {
                token: None,
                iterations: said.iterations,
                fraction: said.fraction.unwrap_or_default(),
                message: said.message,
            });
            Ok(())
        })?;
        let mut outcome = refine::outcome_of(&recorded.run)
            .map_err(|failure| Error::CannotRecord(failure.message().to_owned()))?;
        if recorded.exit == Exit::Stopped {
            outcome.exit = refine::stopped(&outcome);
        }
        outcome.notes.extend(recorded.notes);
        Ok(outcome)
    }
}

/// A script that is being played.
struct Play<'a> {
    file: PathBuf,
    lines: BufReader<File>,
    /// The beginning of a line whose end is not written yet.
    partial: String,
    workspace: PathBuf,
    remote: &'a Remote,
    run: Option<RunFolder>,
    deaf: bool,
}

impl Play<'_> {
    /// Plays to the end.
    fn through(
        &mut self,
        mut report: impl FnMut(&Self, Report) -> Result<(), Error>,
    ) -> Result<Recorded, Error> {
        loop {
            let Some(step) = self.next()? else {
                return self.end(Exit::Stopped, Vec::new());
            };
            match step {
                Step::Run { from, name } => self.begin(&from, &name)?,
                Step::Report(said) => report(self, *said)?,
                Step::Await { event } => {
                    let came = || match event {
                        Event::Paused => self.remote.is_paused(),
                        Event::Resumed => !self.remote.is_paused(),
                        Event::Stopped => self.remote.is_cancelled(),
                    };
                    while !came() && !self.stopped() {
                        std::thread::sleep(POLL);
                    }
                }
                Step::Deaf => self.deaf = true,
                Step::End { status, notes } => {
                    let exit = match self.remote.is_cancelled() {
                        true => Exit::Stopped,
                        false => Exit::Code(status),
                    };
                    return self.end(exit, notes);
                }
                Step::Fail { message } => return Err(Error::CannotRecord(message)),
                Step::Die => std::process::abort(),
            }
        }
    }

    fn stopped(&self) -> bool {
        self.remote.is_cancelled() && !self.deaf
    }

    /// The next step, once it is written; `None` when the run is stopped first. What was written before it was stopped is
    /// played.
    fn next(&mut self) -> Result<Option<Step>, Error> {
        loop {
            let stopped = self.stopped();
            self.lines
                .read_line(&mut self.partial)
                .map_err(cannot("read", &self.file))?;
            if self.partial.ends_with('\n') {
                let line = std::mem::take(&mut self.partial);
                return match serde_json::from_str(&line) {
                    Ok(step) => Ok(Some(step)),
                    Err(error) => Err(Error::CannotRecord(format!(
                        "{}: {error} in {line}",
                        self.file.display()
                    ))),
                };
            }
            if stopped {
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }

    fn begin(&mut self, from: &Path, name: &str) -> Result<(), Error> {
        self.finish(Ended::Exited)?;
        let to = self.workspace.join(".fulcrum/runs").join(name);
        copy(from, &to, &self.workspace.to_string_lossy())?;
        let run = RunFolder::open(&to).map_err(cannot_record)?;
        let mut manifest = run.read_manifest().map_err(cannot_record)?;
        manifest.ended = Ended::Running;
        manifest.end = None;
        manifest.exit_code = None;
        manifest.recorder = Some(fulcrum_runs::Recorder::this());
        run.write_manifest(&manifest).map_err(cannot_record)?;
        self.run = Some(run);
        Ok(())
    }

    fn folder(&self) -> Result<&Path, Error> {
        match &self.run {
            Some(run) => Ok(run.path()),
            None => Err(Error::CannotRecord(format!(
                "{}: there is no \"run\" yet",
                self.file.display()
            ))),
        }
    }

    fn finish(&mut self, ended: Ended) -> Result<(), Error> {
        let Some(run) = &self.run else {
            return Ok(());
        };
        let mut manifest = run.read_manifest().map_err(cannot_record)?;
        manifest.ended = ended;
        manifest.end = Some(manifest.start.clone());
        run.write_manifest(&manifest).map_err(cannot_record)
    }

    fn end(&mut self, exit: Exit, notes: Vec<String>) -> Result<Recorded, Error> {
        self.finish(match exit {
            Exit::Stopped => Ended::Stopped,
            Exit::Code(_) | Exit::Signal(_) => Ended::Exited,
        })?;
        Ok(Recorded {
            run: self.folder()?.to_path_buf(),
            exit,
            notes,
        })
    }

    fn progress(&self, said: Report) -> Result<RunStatus, Error> {
        let run = self.folder()?.to_path_buf();
        let best = match said.best {
            None => None,
            Some(best) => {
                let at = best
                    .at
                    .parse()
                    .map_err(|error| Error::CannotRecord(format!("{}: {error}", best.at)))?;
                let interval = best.interval.map(|[low, high]| Interval { low, high });
                Some((at, best.gain, interval))
            }
        };
        let profile = match said.analysed {
            false => None,
            true => {
                let loaded = fulcrum_runs::load_causal(&run)
                    .map_err(|error| Error::CannotRecord(error.to_string()))?;
                let options = fulcrum_causal::Options::default();
                let profile = fulcrum_causal::analyse(&loaded.recording, &options);
                Some(Arc::new(profile))
            }
        };
        Ok(RunStatus {
            elapsed: Duration::from_secs_f64(said.elapsed_seconds),
            experiments: said.experiments,
            lines: said.lines,
            visits: said.visits,
            best,
            first: None,
            fraction: said.fraction,
            paused: self.remote.is_paused(),
            remaining: said.remaining_seconds.map(Duration::from_secs_f64),
            background: false,
            run,
            profile,
        })
    }
}

/// Copies a folder; in its text files `@WORKSPACE@` becomes the workspace.
fn copy(from: &Path, to: &Path, workspace: &str) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(cannot("create", to))?;
    for entry in fs::read_dir(from).map_err(cannot("read", from))? {
        let entry = entry.map_err(cannot("read", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target, workspace)?;
            continue;
        }
        let bytes = fs::read(&source).map_err(cannot("read", &source))?;
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => text.replace("@WORKSPACE@", workspace).into_bytes(),
            Err(binary) => binary.into_bytes(),
        };
        fs::write(&target, bytes).map_err(cannot("write", &target))?;
    }
    Ok(())
}

fn cannot<'a>(doing: &'a str, path: &'a Path) -> impl Fn(std::io::Error) -> Error + 'a {
    move |error| Error::CannotRecord(format!("cannot {doing} {}: {error}", path.display()))
}

fn cannot_record(error: fulcrum_runs::RunError) -> Error {
    Error::CannotRecord(error.to_string())
}

//! A causal run from beginning to end.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fulcrum_causal::{FirstVerdict, Known, known, next_warmups, next_weights};
use fulcrum_runs::{Ended, Manifest, RunFolder, load_causal};
use fulcrum_wire::{SESSION_FILE, command};
use serde_json::json;

use super::control::{self, Control, ProcessBlock, unpark_at_end};
use super::diagnosis::Diagnosis;
use super::first_verdict::FirstVerdictSearch;
use super::periodic::PeriodicTask;
use super::process::plan::Tables;
use super::process::{Shared, Watched, breakpoints};
use super::{continuation, end_to_end, members, section, status};
use crate::program::open_folder::OpenFolder;
use crate::program::{launch, unwind};
use crate::{Error, Exit, Options, Recorded, Remote, RunStatus, Sampler, Stdio, TargetChoice};

/// How often the session polls. It is woken for what cannot wait: the announcement of a process, and the end of the program.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often it polls while it ends the program.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// How often the status is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);
/// How often everything recorded is analysed.
const ANALYSIS_INTERVAL: RangeInclusive<Duration> =
    Duration::from_secs(2)..=Duration::from_secs(30);
/// How often the maps of running processes are updated.
const UPDATE_INTERVAL: RangeInclusive<Duration> =
    Duration::from_millis(500)..=Duration::from_secs(10);
/// How often the times in run queues are read.
const RUN_QUEUE_INTERVAL: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(1);
/// How often is looked whether experiments have to warm up for longer.
const WARMUP_INTERVAL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(30);
/// The part of a processor's time that each of these may take: one in so many. Together, everything that runs beside the
/// program takes less than one in a hundred.
const ANALYSIS_PARTS: u32 = 250;
const UPDATE_PARTS: u32 = 500;
const RUN_QUEUE_PARTS: u32 = 500;
const WARMUP_PARTS: u32 = 1000;
/// How long a program may take to end after SIGTERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a process that a program leaves behind may take to announce itself.
const ANNOUNCEMENT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long the runtime may take to write its last records.
const LAST_RECORDS_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the program to its end (or until `remote`, the duration or the confidence stops it) and leaves a run folder.
/// Returns before anything is created when the program cannot be started.
pub fn record(
    options: &Options,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&RunStatus),
) -> Result<Recorded, Error> {
    let here = std::env::current_dir().map_err(|e| cannot("find the working folder", &e))?;
    let cwd = working_folder(options, &here)?;
    let program = launch::resolve(options, &cwd)?;
    breakpoints::check(options, &program.path)?;
    section::check(options)?;
    let preload = launch::Preload::new(launch::runtime_library()?)?;
    let (folder, open, control, manifest) = create_run(options, &program, &here, &cwd)?;
    let run = folder.path().to_path_buf();
    let start = Start {
        program,
        cwd,
        run: run.clone(),
        preload,
    };
    let child = start.spawn(options).inspect_err(|_| remove(&folder))?;
    let shared = Shared {
        folder: &run,
        aim: options.aim.clone(),
        fixed: options.fixed_line.clone(),
        tables: Tables::default(),
        unwind: unwind::Cache::default(),
        must_have_all: (!start.program.starts_others).then(|| child.id()),
        options,
    };
    let mut session = ActiveRecording {
        options,
        shared,
        folder,
        open,
        manifest,
        control,
        child,
        started: Instant::now(),
        processes: Vec::new(),
        seen: BTreeSet::new(),
        snapshots: BTreeSet::new(),
        answered: 0,
        start,
        repeats: None,
    };
    let ended = session.run(remote, on_progress)?;
    session.finish(ended)
}

fn cannot(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::CannotRecord(format!("cannot {what}: {error}"))
}

/// The folder in which the program starts.
fn working_folder(options: &Options, here: &Path) -> Result<PathBuf, Error> {
    let cwd = options.cwd.as_ref();
    let cwd = cwd.map_or_else(|| here.to_path_buf(), |cwd| here.join(cwd));
    if !cwd.is_dir() {
        let cwd = cwd.display();
        return Err(Error::CannotStart(format!(
            "cannot start in {cwd}: it is not a folder; check the working folder"
        )));
    }
    Ok(cwd)
}

/// Creates the folder of the run, the control block and the manifest in it.
fn create_run(
    options: &Options,
    program: &launch::Program,
    here: &Path,
    cwd: &Path,
) -> Result<(RunFolder, OpenFolder, Control, Manifest), Error> {
    let workspace = options
        .workspace
        .clone()
        .unwrap_or_else(|| here.to_path_buf());
    let workspace = here.join(workspace);
    let fingerprint = continuation::fingerprint(program, options);
    let continues = continuation::earlier(options, &workspace, fingerprint.as_deref())?;
    let folder = match &options.output {
        Some(output) => RunFolder::create_at(&here.join(output)),
        None => RunFolder::create(&workspace, &program.path.to_string_lossy()),
    };
    let folder = folder.map_err(|error| Error::CannotRecord(error.to_string()))?;
    let run = folder.path();
    let open = OpenFolder::open(run)
        .map_err(|e| cannot(&format!("open {} to the program", run.display()), &e))?;
    let control = Control::create(&run.join(SESSION_FILE), options)
        .map_err(|e| cannot(&format!("write into {}", run.display()), &e))?;
    let mut manifest = Manifest::begin(&options.program, &options.args, cwd);
    manifest.program_digest = fingerprint;
    manifest.section.clone_from(&options.section);
    describe(options, &program.path, &mut manifest);
    let continues = continues.map(continuation::describe);
    manifest.options.extend(continues);
    folder
        .write_manifest(&manifest)
        .map_err(|error| Error::CannotRecord(error.to_string()))?;
    Ok((folder, open, control, manifest))
}

/// Removes the folder when nothing was recorded.
fn remove(folder: &RunFolder) {
    // If that fails, an empty run remains.
    let _ = fs::remove_dir_all(folder.path());
}

/// The extensions of files that only running processes need.
const LIVE_EXTENSIONS: [&str; 6] = ["proc", "map", "ctl", "counts", "unwind", "points"];

/// The whole time of a run of which this fraction is done. `None` while that is too uncertain.
fn total_time(elapsed: Duration, fraction: f64) -> Option<Duration> {
    const TOO_LONG: f64 = 7.0 * 24.0 * 3600.0;
    let all = elapsed.as_secs_f64() / fraction;
    (all < TOO_LONG).then(|| Duration::from_secs_f64(all))
}

/// Writes the options into the manifest.
fn describe(options: &Options, program: &Path, manifest: &mut Manifest) {
    let mut set =
        |name: &str, value: serde_json::Value| manifest.options.insert(name.into(), value);
    set("program", json!(program));
    if let Some(duration) = options.duration {
        set("duration", json!(duration.as_secs_f64()));
    }
    if let Some(until) = options.until {
        set("until", json!(until));
    }
    if !options.aim.source_scope.is_empty() {
        set("sourceScope", json!(options.aim.source_scope));
    }
    if !options.aim.binary_scope.is_empty() {
        set("binaryScope", json!(options.aim.binary_scope));
    }
    if options.aim.target != TargetChoice::Line {
        set("target", json!(options.aim.target.to_string()));
    }
    if let Some(share) = options.max_overhead {
        set("maxOverhead", json!(share));
    }
    if let Some(end_to_end) = options.end_to_end {
        set("endToEnd", json!(true));
        if let Some(runs) = end_to_end.runs {
            set("runs", json!(runs));
        }
    }
    if !options.progress.is_empty() {
        set("progress", json!(options.progress));
    }
    if let Some(line) = &options.fixed_line {
        set("fixedLine", json!(line));
    }
    if let Some(speedup) = options.fixed_speedup {
        set("fixedSpeedup", json!(speedup));
    }
    if options.no_placebo {
        set("noPlacebo", json!(true));
    }
    if options.sampler != Sampler::Auto {
        let name = if options.sampler == Sampler::Perf {
            "perf"
        } else {
            "timer"
        };
        set("sampler", json!(name));
    }
}

/// How the program is started, each time.
struct Start {
    program: launch::Program,
    cwd: PathBuf,
    run: PathBuf,
    preload: launch::Preload,
}

impl Start {
    fn spawn(&self, options: &Options) -> Result<Child, Error> {
        let program = &self.program.path;
        launch::spawn(options, program, &self.cwd, &self.run, self.preload.path())
    }
}

struct ActiveRecording<'a> {
    options: &'a Options,
    shared: Shared<'a>,
    folder: RunFolder,
    open: OpenFolder,
    manifest: Manifest,
    control: Control,
    child: Child,
    started: Instant,
    processes: Vec<Watched>,
    seen: BTreeSet<PathBuf>,
    snapshots: BTreeSet<String>,
    /// How many processes were answered.
    answered: u32,
    start: Start,
    /// In end-to-end mode.
    repeats: Option<end_to_end::Repeats>,
}

/// What is repeated while the program runs.
struct PeriodicTasks {
    analysis: PeriodicTask,
    map_updates: PeriodicTask,
    run_queues: PeriodicTask,
    warmups: PeriodicTask,
}

impl PeriodicTasks {
    fn new() -> PeriodicTasks {
        PeriodicTasks {
            analysis: PeriodicTask::new(ANALYSIS_INTERVAL, ANALYSIS_PARTS),
            map_updates: PeriodicTask::new(UPDATE_INTERVAL, UPDATE_PARTS),
            run_queues: PeriodicTask::new(RUN_QUEUE_INTERVAL, RUN_QUEUE_PARTS),
            warmups: PeriodicTask::new(WARMUP_INTERVAL, WARMUP_PARTS),
        }
    }
}

/// How the program ended.
enum End {
    Itself(ExitStatus),
    Stopped,
    /// It has not begun, and must not: it waits for an answer that it will not get.
    Refused(String),
}

impl ActiveRecording<'_> {
    /// Follows the program to its end; in end-to-end mode, runs it again and again.
    fn run(
        &mut self,
        remote: &Remote,
        on_progress: &mut dyn FnMut(&RunStatus),
    ) -> Result<End, Error> {
        let mut ended = self.watch(remote, on_progress);
        if let End::Refused(why) = ended {
            // It waits in the runtime's constructor and has done nothing yet.
            let _ = self.child.kill().and_then(|()| self.child.wait());
            remove(&self.folder);
            return Err(Error::CannotStart(why));
        }
        let Some(end_to_end) = self.options.end_to_end else {
            return Ok(ended);
        };
        let mut draw = end_to_end::Draw::new(control::levels(self.options));
        let mut repeats = end_to_end::Repeats::default();
        while let End::Itself(status) = ended
            && !remote.is_cancelled()
        {
            let in_scope = |it: &Watched| it.block.get().in_scope.load(Ordering::Relaxed);
            let go_on = repeats.ended(status, self.processes.iter().map(in_scope).sum());
            let elapsed = self.started.elapsed();
            let limit = self.options.duration;
            let is_allowed =
                end_to_end::allows_another(end_to_end.runs, repeats.runs(), limit, elapsed);
            if !go_on || !is_allowed {
                break;
            }
            self.prepare_next_run(&mut draw);
            self.child = self.start.spawn(self.options)?;
            ended = self.watch(remote, on_progress);
        }
        self.repeats = Some(repeats);
        Ok(ended)
    }

    /// Decides what the next run of the program experiments on (end-to-end mode).
    fn prepare_next_run(&mut self, draw: &mut end_to_end::Draw) {
        let Ok(loaded) = fulcrum_runs::load_causal(self.folder.path()) else {
            return;
        };
        if let Some((target, treatment)) = draw.next(&loaded.recording) {
            if self.options.fixed_line.is_none() {
                self.shared.fixed = Some(target.to_string());
            }
            self.control.set_treatment(treatment);
        }
    }

    /// Watches the program, with the processes that it leaves behind, until it ends or must be stopped.
    fn watch(&mut self, remote: &Remote, on_progress: &mut dyn FnMut(&RunStatus)) -> End {
        let mut last_report = Instant::now();
        let mut tasks = PeriodicTasks::new();
        let mut confident_after = None;
        let mut search = FirstVerdictSearch::new(self.options);
        let mut status = RunStatus {
            run: self.folder.path().into(),
            ..RunStatus::default()
        };
        on_progress(&status);
        // Without the thread that this starts, polling notices the end.
        let _ = unpark_at_end(self.child.id());
        loop {
            self.answer_new_processes();
            if let Some(why) = self.processes.iter().find_map(Watched::refusal) {
                return End::Refused(why.to_owned());
            }
            if let Ok(Some(exit)) = self.child.try_wait() {
                if !self.has_left_processes(remote) {
                    return End::Itself(exit);
                }
                remote.set_background();
            }
            self.obey(remote, &mut search);
            self.update_processes(&mut tasks);
            let elapsed = self.started.elapsed();
            if let Some(verdict) = search.update(&self.processes, self.folder.path(), elapsed) {
                self.record_verdict(&verdict, elapsed);
                status.first = Some(verdict);
            }
            let mut stop = remote.is_cancelled()
                || self.options.duration.is_some_and(|limit| elapsed >= limit);
            if tasks.warmups.is_due() {
                tasks.warmups.run(|| self.update_warmups());
            }
            if tasks.analysis.is_due()
                && let Some(known) = tasks.analysis.run(|| self.analyse(&mut status, &search))
            {
                stop |= known.done;
                confident_after = total_time(elapsed, known.fraction);
            }
            if last_report.elapsed() >= REPORT_INTERVAL || stop {
                last_report = Instant::now();
                status = self.current_status(status, remote, elapsed, confident_after);
                on_progress(&status);
                status.profile = None;
            }
            if stop {
                return self.stop();
            }
            std::thread::park_timeout(POLL_INTERVAL);
        }
    }

    /// Pauses, resumes or retargets the experiments as `remote` says.
    fn obey(&mut self, remote: &Remote, search: &mut FirstVerdictSearch) {
        self.control.command(if remote.is_paused() {
            command::PAUSE
        } else {
            command::RUN
        });
        if let Some(aim) = remote.take_aim() {
            search.end(&self.processes);
            self.shared.aim = aim;
            for process in &mut self.processes {
                process.retarget(&mut self.shared);
            }
        }
    }

    /// The counters as they are now, with the results of the `last` status.
    fn current_status(
        &self,
        last: RunStatus,
        remote: &Remote,
        elapsed: Duration,
        confident_after: Option<Duration>,
    ) -> RunStatus {
        let counters = status::counters(&self.processes, elapsed, self.options);
        // The run ends with whichever comes first.
        let until_confident = confident_after.map(|all| all.saturating_sub(elapsed));
        let remaining = match (counters.remaining, until_confident) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        RunStatus {
            lines: last.lines,
            best: last.best,
            first: last.first,
            profile: last.profile,
            run: last.run,
            paused: remote.is_paused(),
            background: remote.is_in_background(),
            remaining,
            ..counters
        }
    }

    fn update_processes(&mut self, tasks: &mut PeriodicTasks) {
        if tasks.map_updates.is_due() {
            let any_updated = tasks.map_updates.run(|| {
                let running = self.processes.iter_mut().filter(|it| it.is_alive());
                let updated = running.map(|it| it.update(&mut self.shared));
                updated.filter(|updated| *updated).count() > 0
            });
            // This cost does not recur, and more libraries may follow soon.
            if any_updated {
                tasks.map_updates = PeriodicTask::new(UPDATE_INTERVAL, UPDATE_PARTS);
            }
        }
        if tasks.run_queues.is_due() {
            let update = || {
                self.processes
                    .iter_mut()
                    .for_each(Watched::update_run_queue)
            };
            tasks.run_queues.run(update);
        }
    }

    /// Analyses everything recorded so far, and steers the coming experiments accordingly. Returns how far the requested
    /// confidence is reached.
    fn analyse(&mut self, status: &mut RunStatus, search: &FirstVerdictSearch) -> Option<Known> {
        let analysis = status::interim_analysis(self.folder.path())?;
        (status.lines, status.best) = (analysis.lines, analysis.best);
        let first = status.first.take();
        status.first = first.filter(|it| it.agrees_with(&analysis.profile));
        self.snapshot(&analysis.files);
        let weights = next_weights(&analysis.profile, self.options.until);
        for process in &self.processes {
            if !search.is_testing() {
                process.set_weights(&weights);
            }
        }
        let known = self.options.until.map(|it| known(&analysis.profile, it));
        status.profile = Some(Arc::new(analysis.profile));
        known
    }

    /// Lets the experiments on targets that have not settled warm up for longer. This is apart from the analysis, which costs more
    /// and so comes less often: whatever is measured before cannot be used.
    fn update_warmups(&mut self) {
        if let Ok(loaded) = load_causal(self.folder.path()) {
            let warmups = next_warmups(&loaded.recording);
            let processes = self.processes.iter();
            processes.for_each(|it| it.set_warmups(&warmups));
        }
    }

    /// Writes the first verdict down as soon as there is one.
    fn record_verdict(&mut self, verdict: &FirstVerdict, elapsed: Duration) {
        self.manifest.first_verdict = Some(fulcrum_runs::FirstVerdict {
            target: verdict.target.to_string(),
            progress_point: verdict.point.clone(),
            at_least: verdict.at_least,
            seconds: elapsed.as_secs_f64(),
        });
        // A failure is no reason to end the run: the manifest is written again at the end.
        let _ = self.folder.write_manifest(&self.manifest);
    }

    /// Whether a process that the program has started runs on after the program has ended: a daemon, or what a launcher started.
    fn has_left_processes(&mut self, remote: &Remote) -> bool {
        // In end-to-end mode, a run is the started program alone.
        if self.options.end_to_end.is_some() {
            return false;
        }
        let limit = Instant::now() + ANNOUNCEMENT_TIMEOUT;
        loop {
            self.answer_new_processes();
            if self.processes.iter().any(Watched::is_recording) {
                return true;
            }
            // There may be processes that have not announced themselves yet, or never will.
            let is_over = Instant::now() >= limit || remote.is_cancelled();
            if is_over || members::members(self.folder.path()).is_empty() {
                return false;
            }
            // An announcement wakes us.
            std::thread::park_timeout(POLL_INTERVAL);
        }
    }

    fn answer_new_processes(&mut self) {
        if self.control.hellos() == self.answered {
            return;
        }
        let Ok(entries) = fs::read_dir(self.folder.path()) else {
            return;
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.extension().is_none_or(|it| it != "proc") || self.seen.contains(&path) {
                continue;
            }
            if let Ok(Some(block)) = ProcessBlock::open(&path) {
                let stem = path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let process = Watched::answer(&stem, block, &mut self.shared, &self.processes);
                self.processes.push(process);
                self.seen.insert(path);
                self.answered += 1;
            }
        }
    }

    /// Copies each file that results point into, as soon as they do: the engine may be killed at any time.
    fn snapshot(&mut self, files: &[String]) {
        let mut changed = false;
        for file in files {
            if self.snapshots.insert(file.clone())
                && let Some(snapshot) = self.folder.snapshot_source(Path::new(file))
            {
                self.manifest.sources.push(snapshot);
                changed = true;
            }
        }
        if changed {
            // A failure is no reason to end the run: without a snapshot, results attach by line number.
            let _ = self.folder.write_manifest(&self.manifest);
        }
    }

    /// Lets the runtime write the last records, then ends the program: by SIGTERM, then by SIGKILL if it does not end.
    fn stop(&mut self) -> End {
        self.control.command(command::FINISH);
        let limit = Instant::now() + LAST_RECORDS_TIMEOUT;
        while Instant::now() < limit && self.processes.iter().any(Watched::is_recording) {
            std::thread::sleep(STOP_POLL_INTERVAL);
        }
        let mut killed = false;
        let limit = Instant::now() + TERMINATION_TIMEOUT;
        self.signal(libc::SIGTERM);
        loop {
            // A program that ends between our decision and our signal counts as stopped: the result shows no difference.
            // Processes that it has left behind belong to the program too.
            let has_ended = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            if has_ended && !self.processes.iter().any(Watched::is_profiled_and_alive) {
                return End::Stopped;
            }
            if !killed && Instant::now() >= limit {
                killed = true;
                self.signal(libc::SIGKILL);
            }
            std::thread::sleep(STOP_POLL_INTERVAL);
        }
    }

    fn signal(&mut self, signal: i32) {
        let own = self.child.id() as i32;
        let mut targets = Vec::new();
        let has_group = self.options.stdio == Stdio::Files;
        // Once the program was reaped, its process id may belong to another process.
        let runs = matches!(self.child.try_wait(), Ok(None));
        if runs {
            targets.push(if has_group { -own } else { own });
        }
        // In a terminal the program shares our group, and daemons have left theirs: signal each process not reached yet.
        let others = self.processes.iter().filter(|it| it.is_alive());
        targets.extend(others.map(|it| it.pid() as i32).filter(|pid| {
            // SAFETY: takes a number and returns one.
            let in_group = || has_group && runs && unsafe { libc::getpgid(*pid) } == own;
            *pid != own && !in_group()
        }));
        for target in targets {
            // SAFETY: takes numbers only. It fails for processes that are gone, which does not matter.
            unsafe { libc::kill(target, signal) };
        }
    }

    fn finish(mut self, end: End) -> Result<Recorded, Error> {
        self.answer_new_processes();
        let mut notes = Vec::new();
        for process in &self.processes {
            if let Err(error) = process.complete() {
                notes.push(format!("The last records could not be written: {error}."));
            }
        }
        if let Some(analysis) = status::interim_analysis(self.folder.path()) {
            self.snapshot(&analysis.files);
        }
        let (exit, ended, code, signal) = match end {
            End::Stopped | End::Refused(_) => (Exit::Stopped, Ended::Stopped, None, None),
            End::Itself(status) => match (status.code(), status.signal()) {
                (Some(code), _) => (Exit::Code(code), Ended::Exited, Some(code), None),
                (None, Some(signal)) => {
                    (Exit::Signal(signal), Ended::Signalled, None, Some(signal))
                }
                (None, None) => (Exit::Stopped, Ended::Lost, None, None),
            },
        };
        match self
            .repeats
            .as_ref()
            .and_then(end_to_end::Repeats::why_ended)
        {
            Some(why) => notes.push(why.to_owned()),
            None => notes.extend(self.diagnose()),
        }
        if !self.is_alive() {
            self.remove_live_files();
            if let Err(error) = self.open.close() {
                let folder = self.folder.path().display();
                notes.push(format!(
                    "{folder} stays open to every user: {error}; restrict it with chmod 755."
                ));
            }
        }
        self.manifest.notes = notes.clone();
        self.folder
            .finish(&mut self.manifest, ended, code, signal)
            .map_err(|error| Error::CannotRecord(error.to_string()))?;
        Ok(Recorded {
            run: self.folder.path().into(),
            exit,
            notes,
        })
    }

    fn diagnose(&self) -> Vec<String> {
        let diagnosis = Diagnosis {
            processes: &self.processes,
            elapsed: self.started.elapsed(),
            options: self.options,
            program: &self.start.program,
        };
        let mut notes = diagnosis.notes();
        notes.extend(self.repeats.as_ref().and_then(end_to_end::Repeats::note));
        notes
    }

    /// Whether a process still writes records.
    fn is_alive(&self) -> bool {
        self.processes.iter().any(Watched::is_recording)
    }

    /// Removes the files that are useless after the run.
    fn remove_live_files(&self) {
        let Ok(entries) = fs::read_dir(self.folder.path()) else {
            return;
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path
                .extension()
                .is_some_and(|it| LIVE_EXTENSIONS.iter().any(|kind| it == *kind))
            {
                let _ = fs::remove_file(path);
            }
        }
    }
}

//! A recording from beginning to end.

use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fulcrum_causal::{FirstVerdict, Known, known, next_weights};
use fulcrum_runs::{Ended, Manifest, RunFolder};
use fulcrum_wire::{SESSION_FILE, command};
use serde_json::json;

use crate::chore::Chore;
use crate::control::{self, Control, ProcessBlock, unpark_at_end};
use crate::open_folder::OpenFolder;
use crate::plan::Tables;
use crate::process::{Shared, Watched};
use crate::weakness::{Observed, why_weak};
use crate::{
    Error, Exit, Options, Progress, Recorded, Remote, Sampler, Stdio, TargetChoice, launch, watch,
};
use crate::{breakpoints, continuation, endtoend, opening, section, tree, unwind};

/// How often the session looks around by itself. It is woken for what cannot wait: a process that says hello, and the end
/// of the program.
const LOOK: Duration = Duration::from_millis(50);
/// How often it does while it ends the program.
const QUICK: Duration = Duration::from_millis(2);
/// How often progress is told.
const TELL: Duration = Duration::from_millis(500);
/// How often everything recorded is analysed.
const ANALYSE: RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(30);
/// How often running processes are looked after.
const TEND: RangeInclusive<Duration> = Duration::from_millis(500)..=Duration::from_secs(10);
/// How often one looks for how long threads have stood in run queues.
const QUEUE: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(1);
/// Which part of a processor's time each of them may take: one in so many. All that goes on beside the program takes less than
/// one in a hundred.
const ANALYSIS: u32 = 250;
const TENDING: u32 = 500;
const LOOKING: u32 = 500;
/// How long a program may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);
/// How long a process that a program leaves behind may take to announce itself.
const NEWCOMERS: Duration = Duration::from_secs(1);
/// How long the runtime may take to write its last records.
const LAST_RECORDS: Duration = Duration::from_secs(2);

/// Runs the program to its end (or until `remote`, the duration or the confidence stops it) and leaves a run folder.
/// Returns before anything is created when the program cannot be started.
pub fn record(
    options: &Options,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Recorded, Error> {
    let cannot = |what: &str, error: &dyn std::fmt::Display| {
        Error::CannotRecord(format!("cannot {what}: {error}"))
    };
    let here = std::env::current_dir().map_err(|e| cannot("find the working folder", &e))?;
    let cwd = options
        .cwd
        .as_ref()
        .map_or_else(|| here.clone(), |cwd| here.join(cwd));
    if !cwd.is_dir() {
        let cwd = cwd.display();
        return Err(Error::CannotStart(format!(
            "cannot start in {cwd}: it is not a folder; check the working folder"
        )));
    }
    let program = launch::resolve(options, &cwd)?;
    breakpoints::check(options, &program.path)?;
    section::check(options)?;
    let preload = launch::Preload::new(launch::runtime_library()?)?;
    let workspace = options.workspace.clone().unwrap_or_else(|| here.clone());
    let workspace = here.join(workspace);
    let fingerprint = continuation::fingerprint(&program, options);
    let continues = continuation::earlier(options, &workspace, fingerprint.as_deref())?;
    let folder = match &options.output {
        Some(output) => RunFolder::create_at(&here.join(output)),
        None => RunFolder::create(&workspace, &program.path.to_string_lossy()),
    }
    .map_err(|error| Error::CannotRecord(error.to_string()))?;
    let open = OpenFolder::open(folder.path()).map_err(|e| {
        cannot(
            &format!("open {} to the program", folder.path().display()),
            &e,
        )
    })?;
    let control = Control::create(&folder.path().join(SESSION_FILE), options)
        .map_err(|e| cannot(&format!("write into {}", folder.path().display()), &e))?;
    let mut manifest = Manifest::begin(&options.program, &options.args, &cwd);
    describe(options, &program.path, &mut manifest);
    manifest.program_digest = fingerprint;
    manifest.section.clone_from(&options.section);
    manifest
        .options
        .extend(continues.map(continuation::describe));
    folder
        .write_manifest(&manifest)
        .map_err(|error| Error::CannotRecord(error.to_string()))?;
    let start = Start {
        program,
        cwd,
        run: folder.path().to_path_buf(),
        preload,
    };
    let child = match start.spawn(options) {
        Ok(child) => child,
        Err(error) => {
            drop(control);
            leave_nothing(&folder);
            return Err(error);
        }
    };
    let run = folder.path().to_path_buf();
    let mut session = ActiveRecording {
        options,
        shared: Shared {
            folder: &run,
            aim: options.aim.clone(),
            fixed: options.fixed_line.clone(),
            tables: Tables::default(),
            unwind: unwind::Cache::default(),
            must_have_all: (!start.program.starts_others).then(|| child.id()),
            options,
        },
        folder,
        open,
        manifest,
        control,
        child,
        started: Instant::now(),
        processes: Vec::new(),
        seen: BTreeSet::new(),
        snapshots: BTreeSet::new(),
        greeted: 0,
        start,
        repeats: None,
    };
    let ended = session.run(remote, on_progress)?;
    session.finish(ended)
}

/// Nothing was recorded.
fn leave_nothing(folder: &RunFolder) {
    // What cannot be removed is an empty run.
    let _ = fs::remove_dir_all(folder.path());
}

/// Files that only live processes need.
const LIVE_ONLY: [&str; 6] = ["proc", "map", "ctl", "counts", "unwind", "points"];

/// How long a run takes in all of which this fraction is done; `None` before anybody can tell.
fn after(elapsed: Duration, fraction: f64) -> Option<Duration> {
    const TOO_LONG: f64 = 7.0 * 24.0 * 3600.0;
    let all = elapsed.as_secs_f64() / fraction;
    (all < TOO_LONG).then(|| Duration::from_secs_f64(all))
}

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
    if let Some(wanted) = options.end_to_end {
        set("endToEnd", json!(true));
        if let Some(runs) = wanted.runs {
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

/// What the program is started with, each time.
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
    greeted: u32,
    start: Start,
    /// In end-to-end mode.
    repeats: Option<endtoend::Repeats>,
}

/// What is done again and again while the program runs.
struct Chores {
    analysis: Chore,
    tending: Chore,
    looking: Chore,
}

impl Chores {
    fn new() -> Chores {
        Chores {
            analysis: Chore::new(ANALYSE, ANALYSIS),
            tending: Chore::new(TEND, TENDING),
            looking: Chore::new(QUEUE, LOOKING),
        }
    }
}

enum End {
    Itself(ExitStatus),
    Stopped,
    /// It waits, and must not begin.
    Refused(String),
}

impl ActiveRecording<'_> {
    /// Follows the program to its end; in end-to-end mode, runs it again and again.
    fn run(
        &mut self,
        remote: &Remote,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<End, Error> {
        let mut ended = self.watch(remote, on_progress);
        if let End::Refused(why) = ended {
            // It waits in the runtime's constructor: it has done nothing yet.
            let _ = self.child.kill().and_then(|()| self.child.wait());
            leave_nothing(&self.folder);
            return Err(Error::CannotStart(why));
        }
        let Some(wanted) = self.options.end_to_end else {
            return Ok(ended);
        };
        let mut draw = endtoend::Draw::new(control::levels(self.options));
        let mut repeats = endtoend::Repeats::default();
        while let End::Itself(status) = ended
            && !remote.is_cancelled()
        {
            let in_scope = |it: &Watched| it.block.get().in_scope.load(Ordering::Relaxed);
            let go_on = repeats.ended(status, self.processes.iter().map(in_scope).sum());
            let elapsed = self.started.elapsed();
            let wanted =
                endtoend::goes_on(wanted.runs, repeats.runs(), self.options.duration, elapsed);
            if !go_on || !wanted {
                break;
            }
            self.prepare(&mut draw);
            self.child = self.start.spawn(self.options)?;
            ended = self.watch(remote, on_progress);
        }
        self.repeats = Some(repeats);
        Ok(ended)
    }

    /// Says what the next run of the program experiments on (end-to-end mode).
    fn prepare(&mut self, draw: &mut endtoend::Draw) {
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

    fn watch(&mut self, remote: &Remote, on_progress: &mut dyn FnMut(&Progress)) -> End {
        let mut told = Instant::now();
        let mut chores = Chores::new();
        let mut confident = None;
        let mut opening = opening::Begun::new(self.options);
        let mut progress = Progress {
            run: self.folder.path().into(),
            ..Progress::default()
        };
        on_progress(&progress);
        // Without the thread that this needs, the end is noticed at the next look.
        let _ = unpark_at_end(self.child.id());
        loop {
            self.greet_newcomers();
            if let Some(why) = self.processes.iter().find_map(Watched::refusal) {
                return End::Refused(why.to_owned());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                if !self.goes_on(remote) {
                    return End::Itself(status);
                }
                remote.set_background();
            }
            self.control.command(if remote.is_paused() {
                command::PAUSE
            } else {
                command::RUN
            });
            if let Some(aim) = remote.take_aim() {
                opening.end(&self.processes);
                self.shared.aim = aim;
                for process in &mut self.processes {
                    process.retarget(&mut self.shared);
                }
            }
            self.look_after_processes(&mut chores);
            let elapsed = self.started.elapsed();
            if let Some(verdict) = opening.tend(&self.processes, self.folder.path(), elapsed) {
                self.keep(&verdict, elapsed);
                progress.first = Some(verdict);
            }
            let mut stop = remote.is_cancelled()
                || self.options.duration.is_some_and(|limit| elapsed >= limit);
            if chores.analysis.is_due()
                && let Some(known) = chores
                    .analysis
                    .turn(|| self.analyse(&mut progress, &opening))
            {
                stop |= known.done;
                confident = after(elapsed, known.fraction);
            }
            if told.elapsed() >= TELL || stop {
                told = Instant::now();
                let counters = watch::counters(&self.processes, elapsed, self.options);
                progress = Progress {
                    lines: progress.lines,
                    best: progress.best.take(),
                    first: progress.first.take(),
                    profile: progress.profile.take(),
                    paused: remote.is_paused(),
                    background: remote.is_in_background(),
                    run: progress.run,
                    ..counters
                };
                // Whichever comes first ends the run.
                let until = confident.map(|all: Duration| all.saturating_sub(elapsed));
                progress.remaining = match (progress.remaining, until) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
                on_progress(&progress);
                progress.profile = None;
            }
            if stop {
                return self.stop();
            }
            std::thread::park_timeout(LOOK);
        }
    }

    fn look_after_processes(&mut self, chores: &mut Chores) {
        if chores.tending.is_due() {
            let has_news = chores.tending.turn(|| {
                let running = self.processes.iter_mut().filter(|it| it.is_alive());
                let news = running.map(|it| it.tend(&mut self.shared));
                news.filter(|has_news| *has_news).count() > 0
            });
            // What that costs comes once, and more libraries may follow.
            if has_news {
                chores.tending = Chore::new(TEND, TENDING);
            }
        }
        if chores.looking.is_due() {
            let queues = || self.processes.iter_mut().for_each(Watched::look_at_queue);
            chores.looking.turn(queues);
        }
    }

    /// Analyses what was recorded so far, and has the experiments to come follow from it. What is known of what was asked for.
    fn analyse(&mut self, progress: &mut Progress, opening: &opening::Begun) -> Option<Known> {
        let standing = watch::standing(self.folder.path())?;
        (progress.lines, progress.best) = (standing.lines, standing.best);
        self.snapshot(&standing.files);
        let weights = next_weights(&standing.profile, self.options.until);
        for process in &self.processes {
            if !opening.is_testing() {
                process.set_weights(&weights);
            }
            process.set_warmups(&standing.warmups);
        }
        let known = self.options.until.map(|it| known(&standing.profile, it));
        progress.profile = Some(Arc::new(standing.profile));
        known
    }

    /// Writes down the first verdict, as soon as there is one.
    fn keep(&mut self, verdict: &FirstVerdict, elapsed: Duration) {
        self.manifest.first_verdict = Some(fulcrum_runs::FirstVerdict {
            target: verdict.target.to_string(),
            progress_point: verdict.point.clone(),
            at_least: verdict.at_least,
            seconds: elapsed.as_secs_f64(),
        });
        // Not worth ending a run for: it is written again at the end.
        let _ = self.folder.write_manifest(&self.manifest);
    }

    /// Whether what the program has started goes on, now that it has ended itself: a daemon, or a launcher's program.
    fn goes_on(&mut self, remote: &Remote) -> bool {
        // Of whole runs, each is what was started.
        if self.options.end_to_end.is_some() {
            return false;
        }
        let limit = Instant::now() + NEWCOMERS;
        loop {
            self.greet_newcomers();
            if self.processes.iter().any(Watched::goes_on) {
                return true;
            }
            // Some are there that have not said hello yet, or never will.
            let is_over = Instant::now() >= limit || remote.is_cancelled();
            if is_over || tree::members(self.folder.path()).is_empty() {
                return false;
            }
            // A hello wakes us.
            std::thread::park_timeout(LOOK);
        }
    }

    fn greet_newcomers(&mut self) {
        let hellos = self.control.hellos();
        if hellos == self.greeted {
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
                let process = Watched::greet(&stem, block, &mut self.shared, &self.processes);
                self.processes.push(process);
                self.seen.insert(path);
                self.greeted += 1;
            }
        }
    }

    /// Keeps a copy of each file that results point into, as soon as they do: the engine may be killed any time.
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
            // Not worth ending a run for: without a snapshot, results attach by line number.
            let _ = self.folder.write_manifest(&self.manifest);
        }
    }

    /// Has the last records written, then ends the program: SIGTERM first, SIGKILL if it does not listen.
    fn stop(&mut self) -> End {
        self.control.command(command::FINISH);
        let limit = Instant::now() + LAST_RECORDS;
        while Instant::now() < limit && self.processes.iter().any(Watched::goes_on) {
            std::thread::sleep(QUICK);
        }
        let mut polite = true;
        let limit = Instant::now() + GRACE;
        self.signal(libc::SIGTERM);
        loop {
            // A program that ends between our decision and our signal has still been stopped by us, as far as anybody
            // can tell from the result. What it has left behind is of the program too.
            let has_ended = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            if has_ended && !self.processes.iter().any(Watched::is_left) {
                return End::Stopped;
            }
            if polite && Instant::now() >= limit {
                polite = false;
                self.signal(libc::SIGKILL);
            }
            std::thread::sleep(QUICK);
        }
    }

    fn signal(&mut self, signal: i32) {
        let own = self.child.id() as i32;
        let mut targets = Vec::new();
        let has_group = self.options.stdio == Stdio::Files;
        // The number of a program that was waited for may be another's by now.
        let runs = matches!(self.child.try_wait(), Ok(None));
        if runs {
            targets.push(if has_group { -own } else { own });
        }
        // In a terminal the program shares our group, and daemons have left it: name each process that is not reached yet.
        let others = self.processes.iter().filter(|it| it.is_alive());
        targets.extend(others.map(|it| it.pid() as i32).filter(|pid| {
            // SAFETY: a plain call with a number.
            let in_group = || has_group && runs && unsafe { libc::getpgid(*pid) } == own;
            *pid != own && !in_group()
        }));
        for target in targets {
            // SAFETY: plain system call; processes that are gone are no error for us.
            unsafe { libc::kill(target, signal) };
        }
    }

    fn finish(mut self, end: End) -> Result<Recorded, Error> {
        self.greet_newcomers();
        let mut notes = Vec::new();
        for process in &self.processes {
            if let Err(error) = process.complete() {
                notes.push(format!("The last records could not be written: {error}."));
            }
        }
        if let Some(standing) = watch::standing(self.folder.path()) {
            self.snapshot(&standing.files);
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
        match self.repeats.as_ref().and_then(endtoend::Repeats::why_ended) {
            Some(why) => notes.push(why.to_owned()),
            None => notes.extend(self.why_weak()),
        }
        if !self.is_alive() {
            self.remove_live_only();
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

    fn why_weak(&self) -> Vec<String> {
        let mut notes = why_weak(&Observed {
            processes: &self.processes,
            elapsed: self.started.elapsed(),
            options: self.options,
            program: &self.start.program,
        });
        notes.extend(self.repeats.as_ref().and_then(endtoend::Repeats::note));
        notes
    }

    /// Whether a process still writes records.
    fn is_alive(&self) -> bool {
        self.processes.iter().any(Watched::goes_on)
    }

    /// The control block's files are of no use after the run.
    fn remove_live_only(&self) {
        let Ok(entries) = fs::read_dir(self.folder.path()) else {
            return;
        };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path
                .extension()
                .is_some_and(|it| LIVE_ONLY.iter().any(|kind| it == *kind))
            {
                let _ = fs::remove_file(path);
            }
        }
    }
}

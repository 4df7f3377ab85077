//! A recording of transactions from beginning to end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum_runs::{Ended, Manifest, RunFolder, RunKind};
use fulcrum_symbols::{ExecutableKind, executable_kind};
use fulcrum_transaction_records::samples::FILE as SAMPLES_FILE;
use fulcrum_wire::Unwind;
use fulcrum_wire::transactions::{
    COPIES_SUFFIX, LOG_SUFFIX, SESSION_VARIABLE, SETTINGS_FILE, UNWIND_SUFFIX,
};

use super::code::{Code, Copies};
use super::newcomers::Newcomers;
use super::process::{Counts, Logged, Unready};
use super::sampler::Sampler;
use super::settings::Settings;
use super::windows::Windows;
use super::{TransactionOptions, TransactionProgress};
use crate::program::open_folder::OpenFolder;
use crate::program::proc::is_alive;
use crate::program::{launch, unwind};
use crate::{Error, Exit, Recorded, Remote, Stdio};

const LIBRARY_VARIABLE: &str = "FULCRUM_TRANSACTION_RUNTIME";
const LIBRARY_FILE: &str = "libfulcrum_transaction_runtime.so";

/// How often the session polls while nothing waits for it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often it polls while a process that is starting waits for its answer.
const START_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How often it looks whether processes were killed. Others close their logs.
const LIVES: Duration = Duration::from_millis(200);
/// How often progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);
/// How long processes may take to end after SIGTERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the program with everything that it starts, until the last process has ended or until `remote` or the duration stops
/// them, and leaves a run folder.
///
/// # Errors
/// [`Error`], when the program cannot be started or nothing can be recorded.
pub fn record_transactions(
    options: &TransactionOptions,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&TransactionProgress),
) -> Result<Recorded, Error> {
    let here = std::env::current_dir().map_err(|it| cannot("find the working folder", &it))?;
    let cwd = options.cwd.as_ref();
    let cwd = cwd.map_or_else(|| here.clone(), |cwd| here.join(cwd));
    let program = launch::program(&options.program, &cwd)?;
    let mut notes = refusal(&program);
    let library = launch::Preload::new(launch::library(LIBRARY_VARIABLE, LIBRARY_FILE)?)?;
    let (folder, manifest) = prepare(options, &program, &here, &cwd)?;
    let open = OpenFolder::open(folder.path())
        .map_err(|it| cannot(&format!("open {}", folder.path().display()), &it))?;
    let settings = Settings::create(folder.path(), options)
        .map_err(|it| cannot(&format!("write into {}", folder.path().display()), &it))?;
    let tables = unwind::Cache::default();
    let samples = folder.path().join(SAMPLES_FILE);
    let sampler = match Sampler::start(&samples, options.period_ns, tables.clone()) {
        Ok(sampler) => Some(sampler),
        Err(error) => {
            notes.push(no_samples(&error));
            None
        }
    };
    if sampler.as_ref().is_some_and(|it| !it.with_kernel()) {
        notes.push(
            "Time in the kernel is not sampled, since this user may not: set kernel.perf_event_paranoid to 1.".into(),
        );
    }
    let child = match spawn(options, &program, &cwd, folder.path(), library.path()) {
        Ok(child) => child,
        Err(error) => {
            drop(settings);
            // Nothing was recorded: remove the folder.
            let _ = fs::remove_dir_all(folder.path());
            return Err(error);
        }
    };
    let at = folder.path().to_owned();
    let mut session = Session {
        options,
        folder,
        open,
        manifest,
        settings,
        tables,
        sampler,
        windows: options.max_overhead.map(|most| Windows::new(&at, most)),
        child,
        status: None,
        started: Instant::now(),
        processes: BTreeMap::new(),
        refused: BTreeSet::new(),
        newcomers: Newcomers::of(&at),
        starting: BTreeSet::new(),
        lives: Instant::now(),
        known: HashMap::new(),
        notes,
        _library: library,
    };
    let stopped = session.watch(remote, on_progress);
    session.finish(stopped)
}

fn cannot(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::CannotRecord(format!("cannot {what}: {error}"))
}

/// Why the program itself will have no log, if it will not. What it starts may have one.
fn refusal(program: &Path) -> Vec<String> {
    let Ok(found) = executable_kind(program) else {
        return Vec::new();
    };
    let name = program.display();
    let why = match found.kind {
        ExecutableKind::Script(_) | ExecutableKind::Dynamic => return Vec::new(),
        _ => found.refusal(program),
    };
    let why = why.unwrap_or_else(|| format!("{name} cannot be entered."));
    vec![format!(
        "{why} Its CPU time is sampled, but its transactions are not seen."
    )]
}

fn no_samples(error: &io::Error) -> String {
    format!(
        "There are no CPU samples, because perf events are not allowed here ({error}): set kernel.perf_event_paranoid to 2 \
         or less, or give the container the capability CAP_PERFMON."
    )
}

fn prepare(
    options: &TransactionOptions,
    program: &Path,
    here: &Path,
    cwd: &Path,
) -> Result<(RunFolder, Manifest), Error> {
    let folder = match &options.output {
        Some(output) => RunFolder::create_at(&here.join(output)),
        None => {
            let workspace = options.workspace.as_deref().unwrap_or(here);
            RunFolder::create(&here.join(workspace), &program.to_string_lossy())
        }
    };
    let folder = folder.map_err(|error| Error::CannotRecord(error.to_string()))?;
    let mut manifest = Manifest::begin(&options.program, &options.args, cwd);
    manifest.kind = RunKind::Transactions;
    let mut set = |name: &str, value: serde_json::Value| {
        manifest.options.insert(name.into(), value);
    };
    set("program", program.to_string_lossy().into());
    set("limit", options.limit.into());
    set("names", options.names.into());
    set("sharedMemory", options.shared_memory.into());
    set("periodNs", options.period_ns.into());
    if let Some(most) = options.max_overhead {
        set("maxOverhead", most.into());
    }
    if let Some(duration) = options.duration {
        set("duration", duration.as_secs_f64().into());
    }
    folder
        .write_manifest(&manifest)
        .map_err(|error| Error::CannotRecord(error.to_string()))?;
    Ok((folder, manifest))
}

fn spawn(
    options: &TransactionOptions,
    program: &Path,
    cwd: &Path,
    run: &Path,
    library: &Path,
) -> Result<Child, Error> {
    let mut command = Command::new(program);
    command
        .arg0(&options.program)
        .args(&options.args)
        .current_dir(cwd)
        .env(SESSION_VARIABLE, run);
    launch::streams(&mut command, options.stdio, run)?;
    launch::start(command, library, &options.program)
}

struct Session<'a> {
    options: &'a TransactionOptions,
    folder: RunFolder,
    /// Servers drop root's privileges, and their children create logs too.
    open: OpenFolder,
    manifest: Manifest,
    settings: Settings,
    tables: unwind::Cache,
    sampler: Option<Sampler>,
    /// Recording pauses when it costs too much. `None` if it may cost anything.
    windows: Option<Windows>,
    child: Child,
    /// The exit status of the program, once it has ended.
    status: Option<ExitStatus>,
    started: Instant,
    /// By the stems of their logs.
    processes: BTreeMap<String, Logged>,
    refused: BTreeSet<String>,
    newcomers: Newcomers,
    /// The stems of the logs of processes that are starting.
    starting: BTreeSet<String>,
    /// When it last looked whether processes were killed.
    lives: Instant,
    /// The code of processes with a log.
    known: HashMap<u32, Code>,
    notes: Vec<String>,
    _library: launch::Preload,
}

impl Session<'_> {
    /// Watches the processes until all have ended. Returns whether we stopped them.
    fn watch(
        &mut self,
        remote: &Remote,
        on_progress: &mut dyn FnMut(&TransactionProgress),
    ) -> bool {
        on_progress(&self.progress());
        let mut last_report = Instant::now();
        let mut asked: Option<Instant> = None;
        let mut killed = false;
        loop {
            self.update();
            if self.status.is_none()
                && let Ok(Some(status)) = self.child.try_wait()
            {
                self.status = Some(status);
                // Read what it wrote last, and find what it left behind.
                self.update();
            }
            if self.status.is_some() && self.starting.is_empty() && self.running() == 0 {
                return asked.is_some();
            }
            if last_report.elapsed() >= REPORT_INTERVAL {
                last_report = Instant::now();
                on_progress(&self.progress());
            }
            let limit = self.options.duration;
            let over = limit.is_some_and(|most| self.started.elapsed() >= most);
            match asked {
                None if over || remote.is_cancelled() => {
                    asked = Some(Instant::now());
                    self.signal(libc::SIGTERM);
                }
                Some(since) if since.elapsed() > TERMINATION_TIMEOUT && !killed => {
                    killed = true;
                    self.signal(libc::SIGKILL);
                }
                _ => {}
            }
            self.wait();
        }
    }

    /// Answers the requests of processes, and writes the new samples.
    fn update(&mut self) {
        let mut has_changed = self.find_logs();
        for process in self.processes.values_mut() {
            has_changed |= process.answer(&self.tables);
            has_changed |= process.find_copies();
        }
        if has_changed {
            self.find_code();
        }
        let looks_for_lives = self.lives.elapsed() >= LIVES;
        if looks_for_lives {
            self.lives = Instant::now();
        }
        for process in self.processes.values_mut() {
            process.look_for_its_end(looks_for_lives);
        }
        if let Some(sampler) = &mut self.sampler {
            let windows = self.windows.as_ref();
            sampler.drain(&self.known, |time_ns| was_paused(windows, time_ns));
        }
        self.decide();
    }

    /// Pauses recording or goes on with it, if it is time to.
    fn decide(&mut self) {
        let Some(windows) = &mut self.windows else {
            return;
        };
        let open = self.processes.values().filter(|it| it.is_open());
        let messages = || counts(self.processes.values()).messages;
        let has_changed = windows.decide(|| open.map(|it| it.pid), messages, &self.settings);
        if has_changed && let Some(sampler) = &mut self.sampler {
            sampler.pause(windows.is_paused());
        }
    }

    /// A process, and those that it was forked from, the nearest first.
    fn line<'a>(&'a self, process: &'a Logged) -> impl Iterator<Item = &'a Logged> {
        let parent = |it: &&'a Logged| self.processes.get(it.parent.as_ref()?);
        // Damaged logs may name each other as parents.
        std::iter::successors(Some(process), parent).take(1 + self.processes.len())
    }

    /// The unwind table of a process, or that of its parent, whose code it has until it asks for one itself.
    fn table<'a>(&'a self, process: &'a Logged) -> &'a Arc<Vec<Unwind>> {
        let mut line = self.line(process);
        let found = line.find(|it| !it.table.is_empty());
        &found.unwrap_or(process).table
    }

    /// The copies in a process: its own, and those that existed when it was forked.
    fn copies(&self, process: &Logged) -> Vec<Arc<Copies>> {
        let line = self.line(process);
        line.filter_map(|it| it.copies.clone()).collect()
    }

    /// The code of the processes that run, for their samples.
    fn find_code(&mut self) {
        for process in self.processes.values().filter(|it| it.is_open()) {
            let table = self.table(process);
            if !table.is_empty() {
                let code = Code {
                    table: Arc::clone(table),
                    copies: self.copies(process),
                };
                self.known.insert(process.pid, code);
            }
        }
    }

    /// Finds new logs, and returns whether it found one.
    fn find_logs(&mut self) -> bool {
        let mut stems = std::mem::take(&mut self.starting);
        stems.extend(self.newcomers.take());
        let before = self.processes.len();
        for stem in stems {
            if self.processes.contains_key(&stem) || self.refused.contains(&stem) {
                continue;
            }
            let path = self.folder.path().join(format!("{stem}{LOG_SUFFIX}"));
            match Logged::open(&path, &stem) {
                Ok(process) => {
                    // The earlier program of the same process is gone, and so is its table.
                    self.known.remove(&process.pid);
                    self.processes.insert(stem, process);
                }
                Err(Unready::Later) if is_of_living_process(&stem) => {
                    self.starting.insert(stem);
                }
                Err(Unready::Later) => {}
                Err(Unready::Never(why)) => {
                    self.refused.insert(stem);
                    self.notes.push(why);
                }
            }
        }
        self.processes.len() > before
    }

    fn running(&self) -> usize {
        self.processes.values().filter(|it| it.is_open()).count()
    }

    fn progress(&self) -> TransactionProgress {
        TransactionProgress {
            run: self.folder.path().into(),
            elapsed: self.started.elapsed(),
            processes: self.processes.len(),
            running: self.running(),
            bytes: counts(self.processes.values()).bytes,
            samples: self.sampler.as_ref().map_or(0, Sampler::taken),
            is_paused: self.windows.as_ref().is_some_and(Windows::is_paused),
            program_ended: self.status.is_some(),
        }
    }

    /// Sleeps until there is much to read, or until it is time to poll.
    fn wait(&self) {
        let most = if !self.starting.is_empty() {
            START_POLL_INTERVAL
        } else {
            POLL_INTERVAL
        };
        let descriptors = self.sampler.iter().flat_map(Sampler::descriptors);
        let mut polled: Vec<libc::pollfd> = descriptors
            .map(|fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        let count = polled.len() as libc::nfds_t;
        // SAFETY: the entries are ours and outlive the call. An interruption does not matter.
        let ready =
            unsafe { libc::poll(polled.as_mut_ptr(), count, most.as_millis() as libc::c_int) };
        let hung_up = polled.iter().any(|it| it.revents & libc::POLLHUP != 0);
        if ready > 0 && hung_up {
            // Events whose processes are all gone stay ready forever.
            std::thread::sleep(most);
        }
    }

    fn signal(&self, signal: i32) {
        let child = self.child.id();
        let mut targets: BTreeSet<i32> = self
            .processes
            .values()
            .filter(|it| it.is_open())
            .map(|it| it.pid as i32)
            .collect();
        if self.status.is_none() {
            let own_group = self.options.stdio == Stdio::Files;
            targets.insert(if own_group {
                -(child as i32)
            } else {
                child as i32
            });
        }
        for target in targets {
            // SAFETY: takes numbers only. It fails for processes that are gone, which does not matter.
            unsafe { libc::kill(target, signal) };
        }
    }

    fn finish(mut self, stopped: bool) -> Result<Recorded, Error> {
        self.update();
        let windows = self.windows.as_ref();
        if let Some(sampler) = self.sampler.take()
            && let Err(error) = sampler.finish(&self.known, |it| was_paused(windows, it))
        {
            self.notes
                .push(format!("The CPU samples could not be written: {error}."));
        }
        self.notes.extend(self.what_is_missing());
        self.trim();
        if self.running() == 0
            && let Err(error) = self.open.close()
        {
            self.notes
                .push(format!("The run folder stays open to all users: {error}."));
        }
        let status = self.status.unwrap_or_default();
        let (exit, ended) = match (status.code(), status.signal()) {
            _ if stopped => (Exit::Stopped, Ended::Stopped),
            (Some(code), _) => (Exit::Code(code), Ended::Exited),
            (None, Some(signal)) => (Exit::Signal(signal), Ended::Signalled),
            (None, None) => (Exit::Stopped, Ended::Lost),
        };
        self.manifest.notes.clone_from(&self.notes);
        self.folder
            .finish(&mut self.manifest, ended, status.code(), status.signal())
            .map_err(|error| Error::CannotRecord(error.to_string()))?;
        drop(self.settings);
        let _ = fs::remove_file(self.folder.path().join(SETTINGS_FILE));
        Ok(Recorded {
            run: self.folder.path().into(),
            exit,
            notes: self.notes,
        })
    }

    fn what_is_missing(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.processes.is_empty() {
            notes.push(
                "The library could not enter any process, so no transactions were seen: it cannot enter static programs, programs \
                 with special privileges, and programs that remove LD_PRELOAD."
                    .into(),
            );
        }
        if let Some(windows) = &self.windows {
            if let Some(cost) = windows.cost() {
                notes.push(format!(
                    "Recording paused at times: while it went on, the program needed {:.0} % more CPU time for each message that it \
                     sent. Record everything with --no-pauses, or longer windows with --max-overhead.",
                    100.0 * cost
                ));
            }
            if let Some(error) = windows.failure() {
                notes.push(format!("Recording could not pause ({error}), so it may have cost more than was allowed."));
            }
        }
        let dropped = counts(self.processes.values()).dropped;
        if dropped > 0 {
            notes.push(format!(
                "{dropped} records were lost: a log reached its limit of {} MB, or the disk is full. Record for a shorter time, \
                 or raise the limit with --limit.",
                self.options.limit >> 20
            ));
        }
        notes
    }

    /// Cuts logs after their last records, and removes tables, which are useless now.
    fn trim(&self) {
        for (stem, process) in &self.processes {
            if process.is_open() {
                continue;
            }
            let path = self.folder.path().join(format!("{stem}{LOG_SUFFIX}"));
            // A log that stays long does no harm: its end is a hole.
            let file = fs::OpenOptions::new().write(true).open(path);
            let _ = file.and_then(|file| file.set_len(process.counts().bytes));
        }
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten();
        for path in entries.flatten().map(|it| it.path()) {
            if name_ends(&path, UNWIND_SUFFIX) || name_ends(&path, COPIES_SUFFIX) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// What all these logs have counted.
fn counts<'a>(processes: impl Iterator<Item = &'a Logged>) -> Counts {
    let mut all = Counts::default();
    for it in processes.map(Logged::counts) {
        all.bytes += it.bytes;
        all.messages += it.messages;
        all.dropped += it.dropped;
    }
    all
}

/// Whether recording paused at a moment.
fn was_paused(windows: Option<&Windows>, time_ns: u64) -> bool {
    windows.is_some_and(|it| it.was_paused(time_ns))
}

fn name_ends(path: &Path, with: &str) -> bool {
    path.file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|it| it.ends_with(with))
}

fn is_of_living_process(stem: &str) -> bool {
    let pid = stem.split_once('-').and_then(|(pid, _)| pid.parse().ok());
    pid.is_some_and(is_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_recognised_by_the_name_of_its_log() {
        assert!(is_of_living_process(&format!("{}-0", std::process::id())));
        assert!(!is_of_living_process("x-0"));
    }
}

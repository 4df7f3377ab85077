//! Records event traces: starts a program under `jvm-agent` or `native-agent`, or attaches to a running virtual machine. The
//! agent writes the event log itself.

mod arm;
mod attach;
mod child;
mod name;
mod options;
mod output;
mod values;

use std::env;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fulcrum_events::End;
use fulcrum_filter::Filter;
use fulcrum_runs::{Ended, Manifest, RunFolder, RunKind};

use crate::program::launch;
use crate::{Error, Exit, Recorded, Remote};
pub(crate) use arm::agent;
pub(crate) use attach::is_ready;
pub use attach::trace_attached;
pub(crate) use child::Ran;
pub use options::{LOG_LIMIT, TraceOptions};

/// Why a run has no log.
pub(crate) const NO_EVENTS: &str = "Nothing was recorded: no Java virtual machine was started, and no native function that was built \
                                    with -finstrument-functions was called.";

/// The status of a trace in progress. Sent about twice a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceProgress {
    /// The run folder.
    pub run: PathBuf,
    /// The time since the program started.
    pub elapsed: Duration,
    /// The size of its event logs, in bytes.
    pub bytes: u64,
}

/// Checks whether a text is a filter. The error is a sentence that names the line.
pub fn check_filter(text: &str) -> Result<(), String> {
    Filter::parse(text)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Extends a filter so that it also logs the arguments and results of these methods, `CLASS.METHOD`. The error is a sentence.
pub fn filter_with_values(filter: Option<&str>, methods: &[String]) -> Result<String, String> {
    fulcrum_filter::with_values(filter, methods)
}

/// Runs the program to its end and writes the run.
pub fn trace(
    options: &TraceOptions,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&TraceProgress),
) -> Result<Recorded, Error> {
    let (mut recorded, _) = timed(options, remote, on_progress)?;
    // Every reader of the log sees this, so the manifest need not repeat it.
    recorded.notes.extend(truncation_notes(&recorded.run));
    Ok(recorded)
}

/// As [`trace`]; also returns the times of the program.
pub(crate) fn timed(
    options: &TraceOptions,
    remote: &Remote,
    on_progress: &mut dyn FnMut(&TraceProgress),
) -> Result<(Recorded, Ran), Error> {
    let cannot = |error: &dyn std::fmt::Display| Error::CannotRecord(error.to_string());
    let here = env::current_dir().map_err(|error| cannot(&error))?;
    let cwd = options
        .cwd
        .as_ref()
        .map_or(here.clone(), |it| here.join(it));
    let program = launch::program(&options.program, &cwd)?;
    let name = name_of(&options.program, &options.args);
    let manifest = Manifest::begin(&options.program, &options.args, &cwd);
    let (folder, mut manifest) = prepare(options, manifest, &name, &cwd)?;

    let mut command = Command::new(&program);
    command.arg0(&options.program).current_dir(&cwd);
    let armed = arm::arm(&mut command, options, &program, folder.path())?;
    let mut notes = armed.notes.clone();
    command.args(&options.args);
    launch::streams(&mut command, options.stdio, folder.path())?;
    let start = Instant::now();
    let mut report = || {
        on_progress(&TraceProgress {
            run: folder.path().into(),
            elapsed: start.elapsed(),
            bytes: logs(folder.path())
                .iter()
                .filter_map(|log| log.metadata().ok())
                .map(|it| it.len())
                .sum(),
        });
    };
    let ran = child::run(command, options.duration, remote, &mut report)?;
    notes.extend(agent_messages(folder.path()));
    if logs(folder.path()).is_empty() {
        notes.push(armed.refusal.unwrap_or_else(|| NO_EVENTS.to_owned()));
    }
    let (exit, ended) = match (ran.status.code(), ran.status.signal()) {
        _ if ran.stopped => (Exit::Stopped, Ended::Stopped),
        (Some(code), _) => (Exit::Code(code), Ended::Exited),
        (None, Some(signal)) => (Exit::Signal(signal), Ended::Signalled),
        (None, None) => (Exit::Stopped, Ended::Lost),
    };
    manifest.notes.clone_from(&notes);
    folder
        .finish(&mut manifest, ended, ran.status.code(), ran.status.signal())
        .map_err(|error| cannot(&error))?;
    let recorded = Recorded {
        run: folder.path().into(),
        exit,
        notes,
    };
    Ok((recorded, ran))
}

/// Runs the program without the agent.
pub(crate) fn alone(options: &TraceOptions, into: &Path, remote: &Remote) -> Result<Ran, Error> {
    let here = env::current_dir().map_err(|error| Error::CannotRecord(error.to_string()))?;
    let cwd = options
        .cwd
        .as_ref()
        .map_or(here.clone(), |it| here.join(it));
    let program = launch::program(&options.program, &cwd)?;
    let mut command = Command::new(program);
    command
        .arg0(&options.program)
        .args(&options.args)
        .current_dir(&cwd);
    launch::streams(&mut command, options.stdio, into)?;
    child::run(command, options.duration, remote, &mut || {})
}

/// Creates the folder of a new run, with the files that the agent reads, and completes the manifest.
pub(crate) fn prepare(
    options: &TraceOptions,
    mut manifest: Manifest,
    name: &str,
    cwd: &Path,
) -> Result<(RunFolder, Manifest), Error> {
    let cannot = |error: &dyn std::fmt::Display| Error::CannotRecord(error.to_string());
    let output = options
        .filter
        .as_deref()
        .map(|filter| output::link_for_log(filter, cwd));
    let output = output.transpose()?.flatten();
    let here = env::current_dir().map_err(|error| cannot(&error))?;
    let folder = match &options.output {
        Some(output) => RunFolder::create_at(&here.join(output)),
        None => {
            let workspace = options.workspace.as_deref().unwrap_or(cwd);
            let name = match &options.suffix {
                Some(suffix) => &format!("{name}-{suffix}"),
                None => name,
            };
            RunFolder::create(&here.join(workspace), name)
        }
    }
    .map_err(|error| cannot(&error))?;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text)
            .map_err(|error| cannot(&format!("cannot write {}: {error}", path.display())))
    };
    if let Some(filter) = &options.filter {
        write("filter", filter)?;
    }
    let recorder = std::process::id();
    let mut settings = format!("limit={}\nrecorder={recorder}\n", options.limit);
    if let Some(output) = output {
        settings += &format!("output={}\n", output.display());
    }
    manifest.kind = RunKind::Events;
    manifest
        .options
        .insert("limit".into(), options.limit.into());
    for (name, value) in &options.settings {
        settings += &format!("{name}={value}\n");
        manifest
            .options
            .insert((*name).into(), value.clone().into());
    }
    write("agent.options", &settings)?;
    folder
        .write_manifest(&manifest)
        .map_err(|error| cannot(&error))?;
    Ok((folder, manifest))
}

pub use fulcrum_events::logs;
pub(crate) use name::name_of;

/// Sentences on what is missing in logs that reached their limit.
pub(crate) fn truncation_notes(run: &Path) -> Vec<String> {
    let logs = logs(run);
    let several = logs.len() > 1;
    let note = |log: PathBuf| {
        let name = log.file_name().unwrap_or_default().display().to_string();
        match fulcrum_events::end_of(&log) {
            Ok(end @ End::Full { .. }) if several => Some(format!("{name}: {}", end.note()?)),
            Ok(end @ End::Full { .. }) => end.note(),
            Ok(End::Ended | End::Open) => None,
            Err(error) => Some(format!(
                "{name} is empty ({error}): there was no room for it, or its program ended at once."
            )),
        }
    };
    logs.into_iter().filter_map(note).collect()
}

/// What agents wrote beside their logs, because it does not fit in there.
pub(crate) fn agent_messages(run: &Path) -> Vec<String> {
    let files = fs::read_dir(run).into_iter().flatten().flatten();
    let files = files.filter(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        name.starts_with("agent-") && name.ends_with(".txt")
    });
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

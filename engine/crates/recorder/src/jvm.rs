//! Starts a program of the Java virtual machine under `jvm-agent`: the agent writes the event log itself.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fulcrum_jvm_core::filter::Filter;
use fulcrum_runs::{Ended, Manifest, RunFolder};

use crate::{Error, Exit, Recorded, Remote, launch};

const AGENT_VARIABLE: &str = "FULCRUM_JVM_AGENT";
const AGENT_FILE: &str = "libfulcrum_jvm_agent.so";
/// Java programs that are asked to end write their last events meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// What to trace and how.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// `java`, or a program that starts one.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder that holds `.fulcrum/runs`; the working folder when `None`.
    pub workspace: Option<PathBuf>,
    /// Exactly this folder instead of a new one in the store.
    pub output: Option<PathBuf>,
    /// The filter's text; the agent's standard one when `None`.
    pub filter: Option<String>,
    /// No log grows larger than this, bytes.
    pub limit: u64,
}

/// Whether a text is a filter; a sentence with its line when it is none.
pub fn check_filter(text: &str) -> Result<(), String> {
    Filter::parse(text)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Runs the program to its end and writes the run.
pub fn trace(options: &TraceOptions, remote: &Remote) -> Result<Recorded, Error> {
    let cannot = |error: &dyn std::fmt::Display| Error::CannotRecord(error.to_string());
    let here = env::current_dir().map_err(|error| cannot(&error))?;
    let program = launch::program(&options.program, &here)?;
    let agent = launch::library(AGENT_VARIABLE, AGENT_FILE)?;
    if agent.as_os_str().as_bytes().contains(&b'=') {
        let agent = agent.display();
        return Err(Error::CannotRecord(format!(
            "{agent} has a = in its path, which Java cannot read: install Fulcrum elsewhere"
        )));
    }
    let folder = match &options.output {
        Some(output) => RunFolder::create_at(&here.join(output)),
        None => {
            let workspace = options
                .workspace
                .as_ref()
                .map_or_else(|| here.clone(), |it| here.join(it));
            RunFolder::create(&workspace, &options.program.to_string_lossy())
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
    write("agent.options", &format!("limit={}\n", options.limit))?;
    let mut manifest = Manifest::begin(&options.program, &options.args, &here);
    manifest.kind = "events".into();
    manifest
        .options
        .insert("limit".into(), options.limit.into());
    folder
        .write_manifest(&manifest)
        .map_err(|error| cannot(&error))?;

    let mut notes = Vec::new();
    let mut command = Command::new(&program);
    command.arg0(&options.program);
    let mut option = OsString::from("-agentpath:");
    option.push(&agent);
    option.push("=");
    option.push(folder.path());
    if program.file_name().is_some_and(|name| name == "java") {
        command.arg(option);
    } else {
        let spaces = option.as_bytes().iter().any(u8::is_ascii_whitespace);
        if spaces || env::var_os("JAVA_TOOL_OPTIONS").is_some() {
            return Err(Error::CannotStart(format!(
                "{} is not java itself, so the agent must come by JAVA_TOOL_OPTIONS, which has a value already or cannot hold a \
                 path with spaces: start java itself",
                options.program.display()
            )));
        }
        command.env("JAVA_TOOL_OPTIONS", option);
        notes.push("The agent came by JAVA_TOOL_OPTIONS: each Java virtual machine says so in one line on its standard error.".to_owned());
    }
    let child = command.args(&options.args).spawn().map_err(|error| {
        let name = options.program.display();
        Error::CannotStart(format!(
            "cannot start {name}: {error}; run it by itself to see why"
        ))
    })?;
    let (status, stopped) = wait(child, remote).map_err(|error| cannot(&error))?;
    notes.extend(said(folder.path()));
    let (exit, ended) = match (status.code(), status.signal()) {
        _ if stopped => (Exit::Stopped, Ended::Stopped),
        (Some(code), _) => (Exit::Code(code), Ended::Exited),
        (None, Some(signal)) => (Exit::Signal(signal), Ended::Signalled),
        (None, None) => (Exit::Stopped, Ended::Lost),
    };
    manifest.notes.clone_from(&notes);
    folder
        .finish(&mut manifest, ended, status.code(), status.signal())
        .map_err(|error| cannot(&error))?;
    Ok(Recorded {
        run: folder.path().into(),
        exit,
        notes,
    })
}

/// Waits for the program's end, and asks it to end when we are asked to.
fn wait(mut child: Child, remote: &Remote) -> std::io::Result<(ExitStatus, bool)> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, asked.is_some()));
        }
        if remote.is_stopped() {
            match asked {
                None => {
                    asked = Some(Instant::now());
                    // SAFETY: a plain call; the child was not waited for yet, so its number is its own.
                    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
                }
                Some(since) if since.elapsed() > PATIENCE => child.kill()?,
                Some(_) => {}
            }
        }
        sleep(Duration::from_millis(10));
    }
}

/// What agents could not say in their logs.
fn said(run: &Path) -> Vec<String> {
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

//! Chooses the agents for a program, and how they get into it: the one for Java virtual machines, the one for native programs,
//! or both when the program may start either.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_symbols::{ExecutableKind, executable_kind, is_instrumented};

use crate::program::launch::{Preload, library};
use crate::{Error, TraceOptions};

const VARIABLE: &str = "FULCRUM_NATIVE_AGENT";
const JAVA_VARIABLE: &str = "FULCRUM_JVM_AGENT";
const JAVA_FILE: &str = "libfulcrum_jvm_agent.so";
const FILE: &str = "libfulcrum_native_agent.so";
/// The variable that names the run folder to the agent for native programs.
const FOLDER: &str = "FULCRUM_TRACE";

/// What must live until the program has started.
#[derive(Default)]
pub(crate) struct Armed {
    /// Notes for the reader of the run.
    pub notes: Vec<String>,
    /// Why no native calls can be recorded.
    pub refusal: Option<String>,
    _preload: Option<Preload>,
}

/// What a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// `java` itself.
    Java,
    /// Built with `-finstrument-functions`.
    Native,
    /// Does not load preloaded libraries, but may start Java.
    NotPreloadable,
    /// A script, a shell, or another program that may start either.
    Either,
}

fn kind_of(path: &Path) -> Program {
    if path.file_name().is_some_and(|name| name == "java") {
        return Program::Java;
    }
    match executable_kind(path).map(|it| it.kind) {
        Ok(ExecutableKind::Dynamic) if is_instrumented(path) => Program::Native,
        Ok(ExecutableKind::Dynamic | ExecutableKind::Script(_)) => Program::Either,
        _ => Program::NotPreloadable,
    }
}

/// Makes the command start with the agents, which write into the run folder.
pub(crate) fn arm(
    command: &mut Command,
    options: &TraceOptions,
    program: &Path,
    run: &Path,
) -> Result<Armed, Error> {
    let kind = kind_of(program);
    let mut armed = Armed {
        refusal: executable_kind(program)
            .ok()
            .filter(|_| kind == Program::NotPreloadable)
            .and_then(|it| it.refusal(program)),
        ..Armed::default()
    };
    if kind != Program::Native {
        let mut option = OsString::from("-agentpath:");
        option.push(agent()?);
        option.push("=");
        option.push(run);
        match kind {
            Program::Java => _ = command.arg(option),
            _ => by_variable(command, options, option, &mut armed.notes)?,
        }
    }
    if matches!(kind, Program::Native | Program::Either) {
        let preload = Preload::new(library(VARIABLE, FILE)?)?;
        let mut value = OsString::from(preload.path());
        if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            value.push(":");
            value.push(others);
        }
        command.env("LD_PRELOAD", value).env(FOLDER, run);
        if kind == Program::Native {
            let filter = options.filter.as_deref();
            armed
                .notes
                .extend(super::values::write(run, program, filter));
        }
        armed._preload = Some(preload);
    }
    Ok(armed)
}

fn by_variable(
    command: &mut Command,
    options: &TraceOptions,
    option: OsString,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let spaces = option.as_bytes().iter().any(u8::is_ascii_whitespace);
    if spaces || env::var_os("JAVA_TOOL_OPTIONS").is_some() {
        return Err(Error::CannotStart(format!(
            "{} is not java itself, so the agent must be loaded through JAVA_TOOL_OPTIONS. But that variable is already set, \
             or Fulcrum's path has a space, which it cannot hold: unset it, install Fulcrum elsewhere, or start java directly",
            options.program.display()
        )));
    }
    command.env("JAVA_TOOL_OPTIONS", option);
    notes.push("The agent was loaded by JAVA_TOOL_OPTIONS: each Java virtual machine says so in one line on its standard \
                error.".to_owned());
    Ok(())
}

/// The agent's library.
pub(crate) fn agent() -> Result<PathBuf, Error> {
    let agent = library(JAVA_VARIABLE, JAVA_FILE)?;
    if agent.as_os_str().as_bytes().contains(&b'=') {
        let agent = agent.display();
        return Err(Error::CannotRecord(format!(
            "{agent} has a = in its path, which Java cannot read: install Fulcrum elsewhere"
        )));
    }
    Ok(agent)
}

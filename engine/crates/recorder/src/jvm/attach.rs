//! Attaches to a running Java virtual machine by HotSpot's own protocol: a signal makes the machine open a socket in `/tmp`,
//! which takes commands. The agent does the rest, and restores every changed class when it stops.
//!
//! The signal is SIGQUIT. It is sent only to a machine that handles it: others would print their threads on the program's
//! output, or end.
//!
//! By hand: `jattach` 2.2 is a program in C, not a crate, and signals any process without asking whether it handles the signal. The
//! JDK's own `com.sun.tools.attach` would need a second virtual machine with the module jdk.attach, which many servers do not have.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fulcrum_runs::{Ended, Manifest};

use super::{TraceOptions, agent, agent_messages, name_of, prepare, truncation_notes};
use crate::program::open_folder::OpenFolder;
use crate::{Error, Exit, Recorded, Remote};

/// How long a machine may take to answer: it may be busy or swapped out.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// HotSpot's limit: it cuts longer arguments.
const LONGEST_ARGUMENT: usize = 1024;

/// A Java virtual machine that can be attached to.
struct Machine {
    pid: u32,
    socket: PathBuf,
    /// The file by which the machine sees that SIGQUIT asks it to listen.
    request: PathBuf,
    command: Vec<String>,
    /// The id of its user.
    owner: u32,
    /// Ends waiting when cancelled.
    remote: Remote,
    /// It prints a warning when an agent is loaded.
    warns: bool,
}

/// The note on the warning (JEP 451).
const WARNING: &str = "Java 21 and later versions print a warning on the program's standard error when an agent is loaded while it \
    runs, unless the program was started with -XX:+EnableDynamicAgentLoading.";

/// Traces a running program until it ends, until it is cancelled, or for the duration in the options. Options about starting a
/// program have no effect.
pub fn trace_attached(
    pid: u32,
    options: &TraceOptions,
    remote: &Remote,
) -> Result<Recorded, Error> {
    let cannot = |error: &dyn std::fmt::Display| Error::CannotRecord(error.to_string());
    let here = env::current_dir().map_err(|error| cannot(&error))?;
    let machine = Machine::find(pid, remote).map_err(Error::CannotStart)?;
    let agent = agent()?;
    let arguments = machine.command.get(1..).unwrap_or_default();
    let mut manifest = Manifest::begin(machine.name().as_ref(), arguments, &here);
    manifest.options.insert("attached".into(), pid.into());
    let name = name_of(machine.name().as_ref(), arguments);
    let options = &TraceOptions {
        suffix: Some(options.suffix.clone().unwrap_or_else(|| pid.to_string())),
        ..options.clone()
    };
    let (folder, mut manifest) = prepare(options, manifest, &name, &here)?;
    let path = fs::canonicalize(folder.path()).map_err(|error| cannot(&error))?;
    // The agent writes as the machine's user.
    let open = OpenFolder::open(&path).map_err(|error| cannot(&error))?;
    if let Err(why) = start_agent(&machine, &agent, &path) {
        manifest.notes = vec![why.clone()];
        open.close().map_err(|error| cannot(&error))?;
        folder
            .finish(&mut manifest, Ended::Lost, None, None)
            .map_err(|error| cannot(&error))?;
        return Err(Error::CannotStart(format!(
            "process {pid} is not traced: {why}"
        )));
    }
    let start = Instant::now();
    while machine.is_there()
        && !remote.is_cancelled()
        && options.duration.is_none_or(|time| start.elapsed() < time)
    {
        sleep(Duration::from_millis(20));
    }
    let stopped = machine.is_there();
    let mut notes = Vec::new();
    if machine.warns {
        notes.push(WARNING.to_owned());
    }
    if stopped {
        notes.extend(stop_agent(&machine, &agent, &path));
    }
    notes.extend(agent_messages(&path));
    open.close().map_err(|error| cannot(&error))?;
    manifest.notes.clone_from(&notes);
    // Every reader of the log sees this, so the manifest need not repeat it.
    notes.extend(truncation_notes(&path));
    // How the program ended is unknown, as it is not our child.
    let ended = if stopped {
        Ended::Stopped
    } else {
        Ended::Exited
    };
    folder
        .finish(&mut manifest, ended, None, None)
        .map_err(|error| cannot(&error))?;
    Ok(Recorded {
        run: folder.path().into(),
        exit: Exit::Stopped,
        notes,
    })
}

/// Loads the agent, which begins to trace into the folder. The error says why it does not, as part of a sentence.
fn start_agent(machine: &Machine, agent: &Path, folder: &Path) -> Result<(), String> {
    let start = format!("start={}", folder.display());
    let started = machine
        .load(agent, "prepare")
        .and_then(|()| machine.load(agent, &start));
    started.map_err(|refusal| {
        let message = agent_messages(folder).into_iter().next();
        message.unwrap_or_else(|| refusal.sentence(machine, folder))
    })
}

/// Stops the agent. Returns a note when that may have failed.
fn stop_agent(machine: &Machine, agent: &Path, folder: &Path) -> Option<String> {
    let refusal = machine.load(agent, "stop").err()?;
    // The machine may have ended just now.
    if !machine.is_there() {
        return None;
    }
    let (pid, why) = (machine.pid, refusal.sentence(machine, folder));
    Some(format!("Process {pid} may still be traced: {why}."))
}

/// Why the agent is not loaded, or refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    /// The reason, as part of a sentence.
    Because(String),
    /// It could not write into the run folder, not even the reason: an error number.
    CannotWrite(i32),
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::Because(why)
    }
}

impl Refusal {
    /// The reason, as part of a sentence.
    fn sentence(&self, machine: &Machine, folder: &Path) -> String {
        let errno = match self {
            Refusal::Because(why) => return why.clone(),
            Refusal::CannotWrite(errno) => *errno,
        };
        let error = std::io::Error::from_raw_os_error(errno);
        let folder = folder.display();
        let owner = machine.owner;
        match errno {
            libc::EACCES | libc::EPERM | libc::ENOENT | libc::ENOTDIR => format!(
                "its user ({owner}) may not write into {folder} ({error}): name a folder that this user can reach with \
                 --output, such as a new one in /tmp"
            ),
            libc::ENOSPC | libc::EDQUOT => {
                format!(
                    "there is no room in {folder} ({error}): free space, or name another folder with --output"
                )
            }
            _ => format!(
                "it cannot write into {folder} ({error}): name another folder with --output"
            ),
        }
    }
}

/// Whether a machine accepts the agent already.
pub(crate) fn is_ready(pid: u32, remote: &Remote) -> bool {
    let agent = agent();
    let ready = |machine: Machine| agent.is_ok_and(|agent| machine.load(&agent, "prepare").is_ok());
    Machine::find(pid, remote).is_ok_and(ready)
}

impl Machine {
    /// The virtual machine in a process, if it can be attached to. The error is a sentence.
    fn find(pid: u32, remote: &Remote) -> Result<Machine, String> {
        let proc = PathBuf::from(format!("/proc/{pid}"));
        let Ok(status) = fs::read_to_string(proc.join("status")) else {
            return Err(format!("there is no process {pid}"));
        };
        let command = command_of(&proc);
        let name = field(&status, "Name:").unwrap_or("?").to_owned();
        // SAFETY: takes nothing and cannot fail.
        let us = unsafe { libc::geteuid() };
        let owner = fs::metadata(&proc).map_or(us, |it| it.uid());
        if us != 0 && owner != us {
            return Err(format!(
                "process {pid} ({name}) belongs to user {owner}: only its own user can attach to a Java virtual machine"
            ));
        }
        let maps = fs::read_to_string(proc.join("maps"))
            .map_err(|error| format!("process {pid} ({name}) cannot be inspected: {error}"))?;
        let has = |option: &str| command.iter().any(|it| it == option);
        if let Some(why) = why_not_attachable(&proc, &maps, &has) {
            return Err(format!("process {pid} ({name}) {why}"));
        }
        // In a process namespace, the last of these is the number by which the machine knows itself.
        let inside = field(&status, "NSpid:").and_then(|it| it.split_whitespace().last());
        let inside = inside.and_then(|it| it.parse().ok()).unwrap_or(pid);
        let machine = Machine {
            pid,
            socket: PathBuf::from(format!("/tmp/.java_pid{inside}")),
            request: PathBuf::from(format!("/tmp/.attach_pid{inside}")),
            owner,
            remote: remote.clone(),
            warns: !has("-XX:+EnableDynamicAgentLoading")
                && version(&maps).is_some_and(|it| it >= 21),
            command,
        };
        if !machine.socket.exists() && !catches_quit(&status) {
            return Err(format!(
                "process {pid} ({name}) does not listen: it was started with -Xrs, or by a program that handles SIGQUIT itself, \
                 or it is still starting"
            ));
        }
        Ok(machine)
    }

    /// The program's file.
    fn name(&self) -> String {
        let file = self.command.first().map(Path::new);
        let name = file.and_then(Path::file_name);
        name.map_or_else(|| "java".into(), |it| it.to_string_lossy().into_owned())
    }

    fn is_there(&self) -> bool {
        // A zombie has no memory any more.
        fs::read_to_string(format!("/proc/{}/status", self.pid))
            .is_ok_and(|status| field(&status, "VmSize:").is_some())
    }

    /// Makes the machine load a library and call its `Agent_OnAttach`.
    fn load(&self, library: &Path, options: &str) -> Result<(), Refusal> {
        let library = library.as_os_str().as_bytes();
        if library.len() > LONGEST_ARGUMENT || options.len() > LONGEST_ARGUMENT {
            let why = "a path is longer than the 1,024 bytes that Java accepts";
            return Err(Refusal::Because(why.into()));
        }
        let unreachable = |error: std::io::Error| format!("the machine does not answer: {error}");
        let mut stream = self.connect()?;
        // Version of the protocol, command, library, whether its path is absolute, options.
        for part in [b"1", &b"load"[..], library, b"true", options.as_bytes()] {
            stream.write_all(part).map_err(unreachable)?;
            stream.write_all(&[0]).map_err(unreachable)?;
        }
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(unreachable)?;
        loaded(&answer)
    }

    fn connect(&self) -> Result<UnixStream, String> {
        let no_socket =
            |error: std::io::Error| format!("{} cannot be used: {error}", self.socket.display());
        if !self.socket.exists() {
            self.ask()?;
        }
        let stream = UnixStream::connect(&self.socket).map_err(no_socket)?;
        // Changing thousands of classes takes seconds.
        stream
            .set_read_timeout(Some(ANSWER_TIMEOUT))
            .map_err(no_socket)?;
        Ok(stream)
    }

    /// Asks the machine to open its socket.
    fn ask(&self) -> Result<(), String> {
        let cannot = |error: std::io::Error| {
            format!("{} cannot be created: {error}", self.request.display())
        };
        fs::write(&self.request, "").map_err(cannot)?;
        // SAFETY: takes numbers only. `find` has checked that the machine handles this signal. It is sent only once, since a
        // machine that does not find the file prints its threads.
        unsafe { libc::kill(self.pid as libc::pid_t, libc::SIGQUIT) };
        let start = Instant::now();
        while !self.socket.exists()
            && start.elapsed() < ANSWER_TIMEOUT
            && self.is_there()
            && !self.remote.is_cancelled()
        {
            sleep(Duration::from_millis(20));
        }
        let answered = self.socket.exists().then_some(()).ok_or_else(|| {
            let seconds = start.elapsed().as_secs();
            format!("it did not answer within {seconds} s: is it stopped?")
        });
        // A file that stays behind does no harm.
        let _ = fs::remove_file(&self.request);
        answered
    }
}

/// The command line of a process.
fn command_of(proc: &Path) -> Vec<String> {
    let command = fs::read(proc.join("cmdline")).unwrap_or_default();
    let words = command.split(|byte| *byte == 0);
    words
        .filter(|it| !it.is_empty())
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect()
}

/// Why a process is not a virtual machine that can be attached to, as the end of a sentence about it. `has` says whether it was
/// started with an option.
fn why_not_attachable(proc: &Path, maps: &str, has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    if !maps.contains("/libjvm.so") {
        return Some(
            "is not a Java virtual machine: it has no libjvm.so; `jps` lists those that are",
        );
    }
    let ours = fs::read_link("/proc/self/ns/mnt").ok();
    if fs::read_link(proc.join("ns/mnt")).ok() != ours {
        return Some("is in a container, which sees other files: run fulcrum inside it");
    }
    has("-XX:+DisableAttachMechanism").then_some(
        "was started with -XX:+DisableAttachMechanism, so nothing can attach to it: start it without that option, or with \
         fulcrum trace",
    )
}

/// The version of the virtual machine in a process, from the `release` file of its JDK.
fn version(maps: &str) -> Option<u32> {
    let line = maps.lines().find(|line| line.contains("/libjvm.so"))?;
    let library = Path::new(line.get(line.find('/')?..)?);
    // `lib/server/libjvm.so`; of JDK 8, whose version begins with 1, `jre/lib/amd64/server/libjvm.so`.
    let release = library.ancestors().skip(1).map(|it| it.join("release"));
    let text = release.take(6).find_map(|it| fs::read_to_string(it).ok())?;
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '-', '+']).next()?.parse().ok()
}

/// The value of a field in `/proc/PID/status`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim())
}

/// Whether a process has a handler for SIGQUIT.
fn catches_quit(status: &str) -> bool {
    let caught = field(status, "SigCgt:").and_then(|it| u64::from_str_radix(it, 16).ok());
    caught.is_some_and(|it| it & (1 << (libc::SIGQUIT - 1)) != 0)
}

/// Reads the machine's answer: its own status, then what the agent returned, with or without text before it.
fn loaded(answer: &str) -> Result<(), Refusal> {
    let (status, rest) = answer.split_once('\n').unwrap_or((answer, ""));
    let rest = rest.trim();
    if status.trim() != "0" {
        return Err(Refusal::Because(match rest {
            "" => format!("the machine answers {:?}", status.trim()),
            why => format!("the machine says: {why}"),
        }));
    }
    match rest
        .rsplit([' ', '\n'])
        .next()
        .and_then(|it| it.parse::<i32>().ok())
    {
        Some(0) => Ok(()),
        Some(errno) if errno < 0 => Err(Refusal::CannotWrite(-errno)),
        Some(_) => Err(Refusal::Because(
            "the agent refused, and its reason is lost".into(),
        )),
        None => Err(Refusal::Because(format!("the machine says: {rest}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_all_versions_are_understood() {
        // JDK 8; later ones; an agent that returns 1; without the library; without permission.
        assert_eq!(loaded("0\n0\n"), Ok(()));
        assert_eq!(loaded("0\nreturn code: 0\n"), Ok(()));
        assert_eq!(
            loaded("0\nreturn code: -13\n"),
            Err(Refusal::CannotWrite(libc::EACCES))
        );
        let because = |answer: &str| match loaded(answer) {
            Err(Refusal::Because(why)) => why,
            other => panic!("{answer}: {other:?}"),
        };
        assert!(because("0\nreturn code: 1\n").starts_with("the agent refused"));
        let missing = "0\n/x.so was not loaded.\n/x.so: cannot open shared object file\n";
        assert!(because(missing).starts_with("the machine says: /x.so was not loaded."));
        assert_eq!(
            because("100\nDynamic agent loading is not enabled.\n"),
            "the machine says: Dynamic agent loading is not enabled."
        );
        assert_eq!(because(""), "the machine answers \"\"");
    }

    #[test]
    fn only_machines_that_can_be_attached_to_are_found() {
        let check = |pid: u32, expect: &str| {
            let why = Machine::find(pid, &Remote::default())
                .err()
                .unwrap_or_default();
            assert!(why.contains(expect), "{why}");
        };
        check(u32::MAX / 2, "there is no process");
        check(
            std::process::id(),
            "is not a Java virtual machine: it has no libjvm.so",
        );
    }

    #[test]
    fn the_version_is_in_the_release_file() {
        let jdk = tempfile::tempdir().unwrap();
        fs::create_dir_all(jdk.path().join("lib/server")).unwrap();
        let library = jdk.path().join("lib/server/libjvm.so");
        let maps = format!(
            "7f00-7f01 r--p 00000000 fe:00 1   /usr/bin/x\n7f10-7f11 r-xp 00000000 fe:00 2    {}\n",
            library.display()
        );
        assert_eq!(version(&maps), None);
        for (text, expect) in [
            ("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.3\"\n", Some(21)),
            ("JAVA_VERSION=\"25\"\n", Some(25)),
            ("JAVA_VERSION=\"1.8.0_392\"\n", Some(1)),
            ("JAVA_VERSION=\"\"\n", None),
        ] {
            fs::write(jdk.path().join("release"), text).unwrap();
            assert_eq!(version(&maps), expect, "{text}");
        }
        assert_eq!(version("7f00-7f01 r--p 0 0 0\n"), None);
    }

    #[test]
    fn handlers_are_seen_in_the_status() {
        let status = "Name:\tjava\nSigCgt:\t2000000181005ccf\n";
        assert!(catches_quit(status));
        assert_eq!(field(status, "Name:"), Some("java"));
        assert!(!catches_quit("SigCgt:\t0000000000000002\n"));
        assert!(!catches_quit(""));
    }
}

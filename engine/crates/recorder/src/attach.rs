//! Attaching to a running Java virtual machine, by HotSpot's own protocol: a signal makes the machine open a socket in
//! `/tmp`, which takes commands. The agent does the rest, and leaves no class changed when it is stopped.
//!
//! The signal is SIGQUIT. It is sent only to a machine that says that it takes it for this: others would print their
//! threads on the program's output, or end.

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

use crate::jvm::{self, TraceOptions};
use crate::open_folder::OpenFolder;
use crate::{Error, Exit, Recorded, Remote};

/// A machine that is busy or swapped out needs its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of its own, in HotSpot: longer arguments are cut.
const LONGEST_ARGUMENT: usize = 1024;

/// A Java virtual machine that can be attached to.
struct Machine {
    pid: u32,
    socket: PathBuf,
    /// Where the machine looks for the file that says what SIGQUIT is for.
    asked: PathBuf,
    command: Vec<String>,
    /// Its user's number.
    owner: u32,
    /// Who may want to wait no longer.
    remote: Remote,
    /// It prints a warning when an agent is loaded.
    warning: bool,
}

/// Of JEP 451.
const WARNING: &str = "Java 21 and later versions print a warning on the program's standard error when an agent comes while it \
    runs. A program that was started with -XX:+EnableDynamicAgentLoading does not.";

/// Traces a program that is running, until we are asked to stop, for the duration that the options have, or until it ends.
/// Of the options, those about starting a program do not count.
pub fn trace_attached(
    pid: u32,
    options: &TraceOptions,
    remote: &Remote,
) -> Result<Recorded, Error> {
    let cannot = |error: &dyn std::fmt::Display| Error::CannotRecord(error.to_string());
    let here = env::current_dir().map_err(|error| cannot(&error))?;
    let machine = Machine::find(pid, remote).map_err(Error::CannotStart)?;
    let agent = jvm::agent()?;
    let arguments = machine.command.get(1..).unwrap_or_default();
    let mut manifest = Manifest::begin(machine.name().as_ref(), arguments, &here);
    manifest.options.insert("attached".into(), pid.into());
    let name = jvm::name_of(machine.name().as_ref(), arguments);
    let options = &TraceOptions {
        suffix: Some(options.suffix.clone().unwrap_or_else(|| pid.to_string())),
        ..options.clone()
    };
    let (folder, mut manifest) = jvm::prepare(options, manifest, &name, &here)?;
    let path = fs::canonicalize(folder.path()).map_err(|error| cannot(&error))?;
    // The agent writes as the machine's user.
    let open = OpenFolder::open(&path).map_err(|error| cannot(&error))?;
    let begin = format!("start={}", path.display());
    let begun = machine
        .load(&agent, "prepare")
        .and_then(|()| machine.load(&agent, &begin));
    if let Err(refusal) = begun {
        let said = jvm::said(&path).into_iter().next();
        let why = said.unwrap_or_else(|| refusal.sentence(&machine, &path));
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
    let mut notes: Vec<String> = machine
        .warning
        .then(|| WARNING.into())
        .into_iter()
        .collect();
    if stopped && let Err(why) = machine.load(&agent, "stop") {
        // It may have ended just now.
        if machine.is_there() {
            let why = why.sentence(&machine, &path);
            notes.push(format!("Process {pid} may still be traced: {why}."));
        }
    }
    notes.extend(jvm::said(&path));
    open.close().map_err(|error| cannot(&error))?;
    manifest.notes.clone_from(&notes);
    // The log itself says this too, to whoever opens it.
    notes.extend(jvm::cut(&path));
    // How a program ended that is not our child, nobody tells us.
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

/// Why the agent is not in a machine, or does not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Refusal {
    /// The whole reason, as part of a sentence.
    Because(String),
    /// It could not write its reason into the run's folder: an error number.
    Untold(i32),
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
            Refusal::Untold(errno) => *errno,
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

/// Whether a machine lets us in already.
pub(crate) fn is_ready(pid: u32, remote: &Remote) -> bool {
    let agent = jvm::agent();
    let ready = |machine: Machine| agent.is_ok_and(|agent| machine.load(&agent, "prepare").is_ok());
    Machine::find(pid, remote).is_ok_and(ready)
}

impl Machine {
    /// A process that is one and lets us in; a sentence when it is or does not.
    fn find(pid: u32, remote: &Remote) -> Result<Machine, String> {
        let proc = PathBuf::from(format!("/proc/{pid}"));
        let Ok(status) = fs::read_to_string(proc.join("status")) else {
            return Err(format!("there is no process {pid}"));
        };
        let command = fs::read(proc.join("cmdline")).unwrap_or_default();
        let command: Vec<String> = command
            .split(|byte| *byte == 0)
            .filter(|it| !it.is_empty())
            .map(|it| String::from_utf8_lossy(it).into_owned())
            .collect();
        let name = field(&status, "Name:").unwrap_or("?").to_owned();
        // SAFETY: a plain call without arguments.
        let us = unsafe { libc::geteuid() };
        let owner = fs::metadata(&proc).map_or(us, |it| it.uid());
        if us != 0 && owner != us {
            return Err(format!(
                "process {pid} ({name}) belongs to user {owner}: a Java virtual machine only lets its own user in"
            ));
        }
        let maps = fs::read_to_string(proc.join("maps"))
            .map_err(|error| format!("process {pid} ({name}) cannot be looked at: {error}"))?;
        if !maps.contains("/libjvm.so") {
            return Err(format!(
                "process {pid} ({name}) is no Java virtual machine: it has no libjvm.so; `jps` lists those that are"
            ));
        }
        let ours = fs::read_link("/proc/self/ns/mnt").ok();
        if fs::read_link(proc.join("ns/mnt")).ok() != ours {
            return Err(format!(
                "process {pid} ({name}) is in a container, which sees other files: run fulcrum inside it"
            ));
        }
        if command.iter().any(|it| it == "-XX:+DisableAttachMechanism") {
            return Err(format!(
                "process {pid} ({name}) was started with -XX:+DisableAttachMechanism, so it lets nobody in: start it without, \
                 or with fulcrum trace"
            ));
        }
        // In a process namespace of its own, it knows itself by the last of these.
        let inside = field(&status, "NSpid:").and_then(|it| it.split_whitespace().last());
        let inside = inside.and_then(|it| it.parse().ok()).unwrap_or(pid);
        let machine = Machine {
            pid,
            socket: PathBuf::from(format!("/tmp/.java_pid{inside}")),
            asked: PathBuf::from(format!("/tmp/.attach_pid{inside}")),
            owner,
            remote: remote.clone(),
            warning: !command
                .iter()
                .any(|it| it == "-XX:+EnableDynamicAgentLoading")
                && version(&maps).is_some_and(|it| it >= 21),
            command,
        };
        if !machine.socket.exists() && !catches_quit(&status) {
            return Err(format!(
                "process {pid} ({name}) does not listen: it was started with -Xrs or by a program that takes SIGQUIT for itself, \
                 or it is just starting"
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

    /// Lets the machine load a library and call its `Agent_OnAttach`; why it did not.
    fn load(&self, library: &Path, options: &str) -> Result<(), Refusal> {
        let library = library.as_os_str().as_bytes();
        if library.len() > LONGEST_ARGUMENT || options.len() > LONGEST_ARGUMENT {
            let why = "a path is longer than the 1,024 bytes that Java takes";
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
        stream.set_read_timeout(Some(PATIENCE)).map_err(no_socket)?;
        Ok(stream)
    }

    /// Asks the machine to open its socket.
    fn ask(&self) -> Result<(), String> {
        let cannot =
            |error: std::io::Error| format!("{} cannot be made: {error}", self.asked.display());
        fs::write(&self.asked, "").map_err(cannot)?;
        // SAFETY: a plain call. The machine catches this signal: `find` has looked. Once only: when the machine does not find
        // the file, it prints its threads.
        unsafe { libc::kill(self.pid as libc::pid_t, libc::SIGQUIT) };
        let start = Instant::now();
        while !self.socket.exists()
            && start.elapsed() < PATIENCE
            && self.is_there()
            && !self.remote.is_cancelled()
        {
            sleep(Duration::from_millis(20));
        }
        let answered = self.socket.exists().then_some(()).ok_or_else(|| {
            let seconds = start.elapsed().as_secs();
            format!("it did not answer within {seconds} s: is it stopped?")
        });
        // Who finds it left behind does not mind it.
        let _ = fs::remove_file(&self.asked);
        answered
    }
}

/// The version of the machine that a process has in its memory, by the file that each JDK has beside it.
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

/// The value behind a name of `/proc/PID/status`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim())
}

/// Whether a process has a handler for SIGQUIT.
fn catches_quit(status: &str) -> bool {
    let caught = field(status, "SigCgt:").and_then(|it| u64::from_str_radix(it, 16).ok());
    caught.is_some_and(|it| it & (1 << (libc::SIGQUIT - 1)) != 0)
}

/// Reads the machine's answer: a status of its own, then what the agent returned, with or without words before it.
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
        Some(errno) if errno < 0 => Err(Refusal::Untold(-errno)),
        Some(_) => Err(Refusal::Because(
            "the agent refused, and its reason is gone".into(),
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
            Err(Refusal::Untold(libc::EACCES))
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
    fn only_machines_that_let_us_in_are_found() {
        let check = |pid: u32, expect: &str| {
            let why = Machine::find(pid, &Remote::default())
                .err()
                .unwrap_or_default();
            assert!(why.contains(expect), "{why}");
        };
        check(u32::MAX / 2, "there is no process");
        check(
            std::process::id(),
            "is no Java virtual machine: it has no libjvm.so",
        );
    }

    #[test]
    fn the_version_stands_beside_the_machine() {
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

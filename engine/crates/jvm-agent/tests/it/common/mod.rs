//! Programs that run with the agent, and their logs.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fulcrum_events::{Event, Trace, What};

pub(crate) use fulcrum_test_support::jdk::{Jdk, jdks};
use fulcrum_test_support::libraries::{self, jvm_agent};
use fulcrum_test_support::wait::until;

/// A compiled program, and a folder for its runs.
pub(crate) struct Program {
    classes: PathBuf,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) main: String,
}

impl Program {
    /// Compiles `tests/java/NAME.java` with this JDK.
    pub(crate) fn new(jdk: &Jdk, name: &str) -> Program {
        Program::at(jdk, &Path::new("tests/java").join(format!("{name}.java")))
    }

    /// Compiles a file of this package.
    pub(crate) fn at(jdk: &Jdk, source: &Path) -> Program {
        libraries::all();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let main = source.file_stem().unwrap().to_string_lossy().into_owned();
        Program {
            classes: jdk.classes(&[source], &jdk.version.to_string()),
            folder: tempfile::tempdir().unwrap(),
            main,
        }
    }

    /// `java` with the program's classes. The caller adds the main class and its arguments.
    pub(crate) fn alone(&self, jdk: &Jdk) -> Command {
        let mut java = jdk.java();
        java.current_dir(self.folder.path())
            .arg("-cp")
            .arg(&self.classes);
        java
    }

    /// The same with the agent, which writes into the new folder `run`.
    pub(crate) fn traced(&self, jdk: &Jdk, filter: &str, limit: u64) -> Command {
        let run = self.run();
        let _ = fs::remove_dir_all(&run);
        fs::create_dir(&run).unwrap();
        fs::write(run.join("filter"), filter).unwrap();
        fs::write(run.join("agent.options"), format!("limit={limit}\n")).unwrap();
        let mut java = self.alone(jdk);
        let mut option = std::ffi::OsString::from("-agentpath:");
        option.push(jvm_agent());
        option.push("=");
        option.push(&run);
        java.arg("-Xverify:all").arg(option);
        java
    }

    /// Runs the main class to its end.
    pub(crate) fn run_traced(&self, jdk: &Jdk, filter: &str, arguments: &[&str]) -> Output {
        let mut java = self.traced(jdk, filter, 1 << 30);
        java.arg(&self.main).args(arguments).output().unwrap()
    }

    /// Runs the main class, which waits at its end until its input is closed: that happens when the log is complete.
    pub(crate) fn run_until(
        &self,
        jdk: &Jdk,
        filter: &str,
        done: impl Fn(&Trace) -> bool,
    ) -> Output {
        let mut java = self.traced(jdk, filter, 1 << 30);
        let java = java.arg(&self.main).stdin(Stdio::piped());
        let mut child = java
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until("the log", || {
            let trace = self.log().and_then(|log| Trace::open(&log).ok());
            let ended = child.try_wait().unwrap().is_some();
            (ended || trace.is_some_and(|it| done(&it))).then_some(())
        });
        drop(child.stdin.take());
        child.wait_with_output().unwrap()
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// The log that the agent wrote.
    pub(crate) fn trace(&self) -> Trace {
        Trace::open(&self.log().expect("a log")).unwrap()
    }

    /// Events in the log so far.
    pub(crate) fn written(&self) -> usize {
        self.trace().events().count()
    }

    fn log(&self) -> Option<PathBuf> {
        let files = fs::read_dir(self.run()).unwrap().flatten();
        let mut logs = files.filter(|file| file.file_name().to_string_lossy().ends_with(".log"));
        let log = logs.next();
        assert!(logs.next().is_none(), "more than one");
        Some(log?.path())
    }
}

/// The numbers of the threads with this name.
pub(crate) fn threads(trace: &Trace, name: &str) -> Vec<u32> {
    let named = trace.threads.iter().filter(|it| it.name == name);
    named.map(|it| it.id).collect()
}

/// Counts events by a key.
pub(crate) fn count<K: Ord>(
    trace: &Trace,
    mut key: impl FnMut(&Event) -> Option<K>,
) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for event in trace.events() {
        if let Some(key) = key(&event) {
            *counts.entry(key).or_insert(0) += 1;
        }
    }
    counts
}

/// Calls by `Class.method`; every call that began has ended, in its own thread and within its caller.
pub(crate) fn balanced_calls(trace: &Trace) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for thread in &trace.threads {
        let mut open = Vec::new();
        for event in trace.thread_events(thread.id) {
            match event.what {
                What::Enter { method } => open.push(method),
                What::Exit { method, .. } => {
                    assert_eq!(open.pop(), Some(method), "thread {}", thread.id);
                    let method = &trace.methods[&method];
                    let name = format!("{}.{}", method.class, method.name);
                    *calls.entry(name).or_insert(0) += 1;
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "thread {} {}", thread.id, thread.name);
    }
    calls
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

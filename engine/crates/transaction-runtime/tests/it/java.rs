//! Java (Whodunit §4.2): the transactions that executors, futures, queues and virtual threads work for, compared with the
//! programs' own records.
//!
//! A program reads numbers from one connection and writes them to another one. The written numbers are the program's own
//! record. The log tells which of the read numbers the writing thread worked for.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use fulcrum_test_support::jdk::{Jdk, jdks};
use fulcrum_wire::transactions::{Calling, LockKind, Record, word};

use crate::support::{Entry, Lab, Log, Ran};

/// A thread's work, according to the log.
#[derive(Default)]
struct Thread {
    /// The request that it works for.
    request: Option<u64>,
    /// What it continues when tasks have returned, outermost first.
    around: Vec<Option<u64>>,
}

/// The contents of a log.
#[derive(Default)]
struct Logged {
    threads: HashMap<u32, Thread>,
    /// The requests for which items were produced.
    items: HashMap<u64, Vec<Option<u64>>>,
    /// The streams of requests and of answers.
    requests: Option<u32>,
    answers: Option<u32>,
    /// The request for which each answer was sent.
    sent: Vec<Option<u64>>,
}

impl Logged {
    fn of(log: &Log, ports: [u16; 2]) -> Logged {
        let mut logged = Logged::default();
        let mut entries: Vec<&Entry> = log.entries.iter().collect();
        entries.sort_by_key(|it| it.head.time_ns);
        for entry in entries {
            logged.take(entry, ports);
        }
        logged
    }

    fn take(&mut self, entry: &Entry, [requests, answers]: [u16; 2]) {
        let thread = self.threads.entry(entry.thread).or_default();
        match entry.record {
            Record::Open { stream, peer, .. } if peer.port == requests => {
                self.requests = Some(stream);
            }
            Record::Open { stream, peer, .. } if peer.port == answers => {
                self.answers = Some(stream);
            }
            Record::Receive {
                stream,
                offset,
                length,
                ..
            } if Some(stream) == self.requests && length > 0 => {
                thread.request = Some(offset / 8);
            }
            Record::Send {
                stream,
                offset,
                length,
                ..
            } if Some(stream) == self.answers => {
                assert_eq!((offset % 8, length), (0, 8), "an answer is sent at once");
                let at = (offset / 8) as usize;
                self.sent.resize(self.sent.len().max(at + 1), None);
                self.sent[at] = thread.request;
            }
            Record::Produce { item } => {
                self.items.entry(item).or_default().push(thread.request);
            }
            Record::Handler {
                item, depth, how, ..
            } => {
                assert!(matches!(how, Calling::Task | Calling::Taken));
                thread.returns(depth);
                assert_eq!(thread.around.len() + 1, depth as usize);
                thread.around.push(thread.request);
                let of = self.items.get(&item).map_or(&[][..], Vec::as_slice);
                let of = match of {
                    [first, others @ ..] if others.iter().all(|it| it == first) => *first,
                    _ => None,
                };
                // An object that nobody was seen to put into a queue takes no thread away from its work.
                if of.is_some() || how == Calling::Task {
                    thread.request = of;
                }
            }
            Record::Returned { depth } => thread.returns(depth),
            Record::Idle { .. } if thread.around.is_empty() => thread.request = None,
            _ => {}
        }
    }
}

impl Thread {
    fn returns(&mut self, depth: u32) {
        while self.around.len() >= depth as usize {
            self.request = self.around.pop().unwrap();
        }
    }
}

/// Sends this many requests to the first client.
fn asks(listener: TcpListener, count: u64) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let all: Vec<u8> = (0..count).flat_map(u64::to_be_bytes).collect();
        connection.write_all(&all).unwrap();
        // Until the program closes the connection.
        let _ = connection.read(&mut [0]);
    })
}

/// Receives what the first client writes.
fn receives_all(listener: TcpListener) -> JoinHandle<Vec<u64>> {
    std::thread::spawn(move || {
        let (mut connection, _): (TcpStream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        let words = bytes.chunks_exact(8);
        words
            .map(|it| u64::from_be_bytes(it.try_into().unwrap()))
            .collect()
    })
}

struct Java {
    lab: Lab,
    classes: PathBuf,
}

impl Java {
    fn new(jdk: &Jdk, sources: &[&str]) -> Java {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let sources: Vec<PathBuf> = sources.iter().map(|it| folder.join(it)).collect();
        Java {
            lab: Lab::of(jdk.home.join("bin/java")),
            classes: jdk.classes(&sources, &jdk.version.to_string()),
        }
    }

    /// Runs a scenario of the program, and compares. `each` is how often each request is written.
    fn check(&self, main: &str, way: &str, (count, each): (u64, u64)) {
        let [requests, answers] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = [&requests, &answers].map(|it| it.local_addr().unwrap().port());
        let (asks, receives_all) = (asks(requests, count), receives_all(answers));
        let words = [
            "-XX:TieredStopAtLevel=1".to_owned(),
            "-XX:+UseSerialGC".into(),
            "-Xverify:all".into(),
            format!("-Dlast={}", count - 1),
            "-cp".into(),
            self.classes.to_str().unwrap().into(),
            main.into(),
            way.into(),
            ports[0].to_string(),
            ports[1].to_string(),
            count.to_string(),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = self.lab.run(&words);
        check_output(way, &ran);
        asks.join().unwrap();
        let written = receives_all.join().unwrap();
        assert_eq!(written.len() as u64, count * each, "{way}");
        let logged = Logged::of(ran.logs.last().unwrap(), ports);
        let wrong = written.iter().zip(&logged.sent);
        let wrong: Vec<_> = wrong
            .filter(|(it, logged)| Some(**it) != **logged)
            .collect();
        assert_eq!(logged.sent.len(), written.len(), "{way}");
        assert!(
            wrong.is_empty(),
            "{way}: {} of {}, {:?}…",
            wrong.len(),
            written.len(),
            &wrong[..wrong.len().min(10)]
        );
        assert_eq!(ran.logs.last().unwrap().word(word::DROPPED), 0, "{way}");
    }
}

/// The program's output is the same as without the library.
fn check_output(way: &str, ran: &Ran) {
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    // `-Xverify:all` causes a warning of its own.
    let ours = |it: &&str| !it.contains("-Xverify");
    assert_eq!(errors.lines().find(ours), None, "{way}");
    let text = ran.text();
    let lines: Vec<&str> = text.lines().filter(ours).collect();
    assert_eq!(lines, ["done"], "{way}");
    assert!(ran.output.status.success(), "{way}");
}

/// Compares a program's output and exit status with and without the library. Returns the number of virtual machines tried.
#[allow(dead_code, reason = "the campaign has no use for it")]
pub(crate) fn alike(main: &str) -> usize {
    for jdk in jdks() {
        let java = Java::new(jdk, &[&format!("{main}.java")]);
        let words = [
            "-XX:+UseSerialGC",
            "-cp",
            java.classes.to_str().unwrap(),
            main,
        ];
        let (ran, alone) = (java.lab.run(&words), java.lab.alone(&words));
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        let all = |it: &std::process::Output| {
            let status = it.status.code();
            (text(&it.stdout), text(&it.stderr), status)
        };
        assert_eq!(all(&ran.output), all(&alone), "JDK {}", jdk.version);
        assert_eq!(alone.status.code(), Some(7), "{}", text(&alone.stderr));
        let tasks =
            ran.logs[0].each(|it| matches!(it.record, Record::Handler { .. }).then_some(()));
        assert!(tasks.len() >= 5, "{} tasks", tasks.len());
    }
    jdks().len()
}

/// A wait as it is recorded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JavaWait {
    /// The lock's class.
    pub(crate) class: String,
    /// The method that waited.
    pub(crate) method: String,
    /// The method that ended the wait, where it is known.
    pub(crate) ended_by: Option<String>,
    /// What the lock is to the program.
    pub(crate) kind: LockKind,
    pub(crate) timed_out: bool,
}

/// The waits of the program's own methods, in order. Another thread has ended each, unless its time was over.
#[allow(dead_code, reason = "the campaign has no use for it")]
pub(crate) fn java_waits(main: &str) -> Vec<(u32, Vec<JavaWait>)> {
    let all = jdks().iter().map(|jdk| {
        let java = Java::new(jdk, &[&format!("{main}.java")]);
        let classes = java.classes.to_str().unwrap();
        let ran = java.lab.run(&["-XX:+UseSerialGC", "-cp", classes, main]);
        check_output(main, &ran);
        let log = ran.log();
        let names: HashMap<u64, String> = log
            .each(|it| match it.record {
                Record::Function { function, name } => {
                    Some((function, String::from_utf8_lossy(name).into_owned()))
                }
                _ => None,
            })
            .into_iter()
            .collect();
        let releases = log.each(|it| match it.record {
            Record::Release { lock, .. } => Some((lock, it.head.time_ns, it.thread)),
            _ => None,
        });
        let ends = log.each(|it| match it.record {
            Record::JavaRelease { condition, method } => {
                Some((condition, it.head.time_ns, names[&method].clone()))
            }
            _ => None,
        });
        let waits = log.each(|it| match it.record {
            Record::JavaWait {
                class,
                method,
                kind,
                condition,
                began_ns,
                timed_out,
                ..
            } => {
                let is_end = |(lock, time_ns, by): &(u64, u64, u32)| {
                    *lock == condition && *time_ns > began_ns && *by != it.thread
                };
                // 0: not known. Any other must have a name.
                let method = match method {
                    0 => String::new(),
                    _ => names[&method].clone(),
                };
                assert!(
                    timed_out || releases.iter().any(is_end),
                    "nobody has ended the wait in {method:?}"
                );
                let ended = ends.iter().find(|it| it.0 == condition && it.1 > began_ns);
                let wait = JavaWait {
                    class: names[&class].clone(),
                    method,
                    ended_by: ended.map(|it| it.2.clone()),
                    kind,
                    timed_out,
                };
                Some((it.head.time_ns, wait))
            }
            _ => None,
        });
        let mut waits: Vec<_> = waits
            .into_iter()
            .filter(|(_, wait)| wait.method.starts_with(&format!("{main}.")))
            .collect();
        waits.sort_by_key(|it| it.0);
        (jdk.version, waits.into_iter().map(|it| it.1).collect())
    });
    all.collect()
}

/// Scenarios of a program, with how often each request is written in them.
pub(crate) type Ways = [(&'static str, u64)];

/// Runs scenarios of a program with this many requests each, on all virtual machines of this version or later. Returns a
/// line for each run.
pub(crate) fn check(sources: &[&str], ways: &Ways, requests: u64, since: u32) -> Vec<String> {
    let mut lines = Vec::new();
    for jdk in jdks().iter().filter(|it| it.version >= since) {
        let java = Java::new(jdk, sources);
        let main = sources.last().and_then(|it| it.strip_suffix(".java"));
        for (way, each) in ways {
            java.check(main.expect("a source"), way, (requests, *each));
            lines.push(format!("JDK {}, {way}: {requests} requests", jdk.version));
        }
    }
    lines
}

pub(crate) const EXECUTORS: &Ways = &[
    ("executor", 1),
    ("cached", 1),
    ("scheduled", 1),
    ("caller", 1),
];
pub(crate) const FORKS: &Ways = &[("fork", 4), ("common", 1)];
pub(crate) const FUTURES: &Ways = &[("futures", 1), ("completed", 1)];
pub(crate) const QUEUES: &Ways = &[("queues", 1), ("pool", 1)];
pub(crate) const VIRTUAL_THREADS: &Ways = &[("sleep", 1), ("locks", 1), ("within", 1)];
/// The sources of the programs without and with virtual threads.
pub(crate) const TASKS: &[&str] = &["Tasks.java"];
pub(crate) const VIRTUAL_TASKS: &[&str] = &["Tasks.java", "VirtualTasks.java"];
/// The first version with virtual threads.
pub(crate) const JDK_21: u32 = 21;

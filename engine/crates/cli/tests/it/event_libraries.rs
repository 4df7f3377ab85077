//! `fulcrum transactions` on servers of event libraries, where these are installed: requests whose handlers are timers, deferred work
//! and work for threads have all that they cost, and the contexts that the programs know.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};
use serde_json::Value;

use crate::common::json;

/// Requests of each kind, by each of two clients.
const EACH: usize = 20;

/// The library's file, if it is installed; says so when it is not.
fn installed(library: &str) -> Option<PathBuf> {
    let option = format!("-print-file-name={library}");
    let output = Command::new("gcc").arg(option).output().expect("gcc runs");
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if !path.is_absolute() {
        eprintln!("{library} is not installed: the case with it was not run.");
        return None;
    }
    Some(path)
}

fn built(name: &str, library: &std::path::Path) -> PathBuf {
    let programs = engine_folder().join("crates/transaction-runtime/tests/programs");
    let source = programs.join(format!("libraries/{name}.c"));
    Recipe::new(name)
        .reads(&source)
        .reads(programs.join("common.h"))
        .reads(library)
        .command(
            [
                "gcc",
                "-O1",
                "-g",
                "-w",
                "-pthread",
                "-D_GNU_SOURCE",
                "-o",
                name,
            ]
            .map(std::ffi::OsStr::new)
            .into_iter()
            .chain([source.as_os_str(), library.as_os_str()]),
        )
        .build()
        .join(name)
}

/// Asks for something, and waits for the answer.
pub(crate) fn ask(connection: &mut TcpStream, what: &str) {
    let request = format!("GET /{what} HTTP/1.1\r\nHost: server\r\n\r\n");
    connection.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") {
        connection.read_exact(&mut byte).expect("an answer");
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
}

fn clients(port: u16) {
    let both = [["hit", "miss"], ["miss", "hit"]].map(|kinds| {
        std::thread::spawn(move || {
            let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            for _ in 0..EACH {
                for kind in kinds {
                    ask(&mut connection, kind);
                }
            }
        })
    });
    for client in both {
        client.join().expect("it got all answers");
    }
    let mut last = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    ask(&mut last, "quit");
}

/// What is shown of a run with clients.
fn shown(program: &std::path::Path) -> Value {
    libraries::all();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let options = [
        "transactions",
        "run",
        "--quiet",
        "--no-pauses",
        "-o",
        &run,
        "--",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args(options)
        .arg(program)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the port");
    clients(line.trim().parse().expect("a port"));
    assert!(child.wait().expect("it ends").success());
    json(&["transactions", "show", &run, "--json"])
}

fn check(shown: &Value, context: &[&str], flows: &[(&str, &str)]) {
    let of = |name: &str| {
        let mut all = shown["types"].as_array().expect("a list").iter();
        let found = all.find(|it| it["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {shown:#}"))
    };
    let (hit, miss) = (of("GET /hit"), of("GET /miss"));
    for found in [hit, miss] {
        assert_eq!(found["count"], 2 * EACH, "{found:#}");
        assert_eq!(found["unreplied"], 0, "{found:#}");
    }
    let steps: Vec<&str> = miss["context"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(steps, context);
    for (from, to) in flows {
        let mut all = shown["flows"].as_array().expect("a list").iter();
        let found = all.find(|it| it["from"] == *from && it["to"] == *to);
        let count = found.map(|it| &it["count"]);
        assert_eq!(count, Some(&(2 * EACH).into()), "{from} → {to}: {shown:#}");
    }
    // Nine milliseconds each, against one: all of its handlers count for it, and no tick does.
    let cpu = |of: &Value| of["cpuNs"].as_f64().unwrap_or(0.0);
    if shown["totalCpuNs"].as_f64() > Some(0.0) {
        let share = cpu(miss) / (cpu(miss) + cpu(hit));
        assert!((0.8..0.97).contains(&share), "{share}: {shown:#}");
        assert!(cpu(of("on_tick")) > 0.0);
    }
}

#[test]
fn a_server_of_libevents_is_followed_through_timers() {
    let Some(library) = installed("libevent-2.1.so.7") else {
        return;
    };
    let shown = shown(&built("server_event", &library));
    let flows = [
        ("GET /miss", "on_request"),
        ("on_request", "on_delay"),
        ("on_delay", "on_fetched"),
    ];
    check(&shown, &["main", "GET /miss"], &flows);
}

#[test]
fn a_server_of_libuvs_is_followed_through_timers_and_threads() {
    let Some(library) = installed("libuv.so.1") else {
        return;
    };
    let shown = shown(&built("server_uv", &library));
    let flows = [("on_delay", "on_work"), ("on_work", "on_done")];
    check(&shown, &["on_connection", "on_read", "GET /miss"], &flows);
}

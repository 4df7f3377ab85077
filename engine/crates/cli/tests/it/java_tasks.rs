//! `fulcrum transactions` on a server in Java (Whodunit §4.2): a request is read by one thread, and another one asks the database for
//! it, by an executor, a future, a queue or a virtual thread. What the database does for it is the request's.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use fulcrum_test_support::jdk::{Jdk, jdks};
use fulcrum_test_support::{engine_folder, libraries};
use serde_json::Value;

use crate::common::json;
use crate::event_libraries::ask;

/// Requests of each kind, by each of two clients.
const EACH: usize = 20;

fn clients(port: u16, kinds: &[&'static str]) {
    let both = [kinds.to_vec(), kinds.iter().rev().copied().collect()];
    let both = both.map(|kinds| {
        std::thread::spawn(move || {
            let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
            for _ in 0..EACH {
                for kind in &kinds {
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
fn shown(jdk: &Jdk, kinds: &[&'static str]) -> Value {
    libraries::all();
    let source = engine_folder().join("crates/transaction-runtime/tests/java/Shop.java");
    let classes = jdk.classes(&[source], "17");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args([
            "transactions",
            "run",
            "--quiet",
            "--no-pauses",
            "-o",
            &run,
            "--",
        ])
        .arg(jdk.home.join("bin/java"))
        .args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"])
        .arg(classes)
        .arg("Shop")
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the port");
    clients(line.trim().parse().expect("a port"), kinds);
    assert!(child.wait().expect("it ends").success());
    json(&["transactions", "show", &run, "--json"])
}

/// Nanoseconds that the database spent for a type.
fn of_database(of: &Value) -> f64 {
    let stages = of["stages"].as_array().expect("a list").iter();
    let own = stages.filter(|it| it["thread"] == "database");
    own.filter_map(|it| it["cpuNs"].as_f64()).sum()
}

fn check(shown: &Value, kinds: &[&str]) {
    let types = shown["types"].as_array().expect("a list");
    let is_sampled = shown["totalCpuNs"].as_f64() > Some(0.0);
    for kind in kinds {
        let name = format!("GET /{kind}");
        let found = types.iter().find(|it| it["name"] == name.as_str());
        let found = found.unwrap_or_else(|| panic!("no {name} in {shown:#}"));
        assert_eq!(found["count"], 2 * EACH, "{found:#}");
        assert_eq!(found["unreplied"], 0, "{found:#}");
        // Each asks for three milliseconds of the database's.
        if is_sampled {
            let expected = 2.0 * EACH as f64 * 3e6;
            let share = of_database(found) / expected;
            assert!((0.5..1.5).contains(&share), "{name}: {share}: {shown:#}");
        }
    }
}

#[test]
fn what_a_database_does_for_tasks_is_of_the_requests_that_handed_them_on() {
    for jdk in jdks() {
        let kinds: &[&str] = match jdk.version {
            21.. => &["executor", "future", "queue", "virtual"],
            _ => &["executor", "future", "queue"],
        };
        check(&shown(jdk, kinds), kinds);
    }
}

//! `fulcrum transactions price`: a server whose checkouts wait for reports is started again, and tells what the section is worth.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::wait::until;
use fulcrum_test_support::{engine_folder, libraries};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{check_bad, fulcrum, json};

/// Checkouts that waited while transactions were recorded.
const WAITS: usize = 3;
/// Enough of them have a speedup, and enough have none.
const EXPERIMENTS: usize = 6;
pub(crate) const PAIR: [&str; 4] = ["--waits", "GET /checkout", "--holds", "GET /report"];

fn till() -> String {
    libraries::all();
    let source = engine_folder().join("../test/fixtures/till.c");
    let built = Recipe::new("till")
        .file("till.c", std::fs::read(source).expect("it is there"))
        .command("gcc -O1 -g -pthread till.c -o till".split(' '))
        .build();
    built.join("till").display().to_string()
}

fn send(to: &mut TcpStream, what: &str) -> std::io::Result<()> {
    let request = format!("GET /{what}?id=7 HTTP/1.1\r\nHost: till\r\n\r\n");
    to.write_all(request.as_bytes())
}

fn answered(from: &mut TcpStream) -> std::io::Result<()> {
    let mut answer = [0; 40];
    from.read_exact(&mut answer)
}

fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).expect("the till listens")
}

fn quit(port: u16) {
    let request = b"GET /quit HTTP/1.1\r\n\r\n";
    connect(port).write_all(request).expect("sent");
}

/// Each checkout waits once for a report.
pub(crate) fn recorded() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let mut child = fulcrum(&[
        "transactions",
        "run",
        "--quiet",
        "--no-pauses",
        "-o",
        &run,
        "--",
        &till(),
    ])
    .env("TILL_UNTIL_WAITED", "1")
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .expect("the command starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut line).expect("the port");
    let port = line.trim().parse().expect("a port");
    let (mut holds, mut waits) = (connect(port), connect(port));
    for _ in 0..WAITS {
        send(&mut holds, "report").expect("sent");
        send(&mut waits, "checkout").expect("sent");
        answered(&mut holds).expect("an answer");
        answered(&mut waits).expect("an answer");
    }
    quit(port);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    (folder, run)
}

/// Asks for the same again and again until the till is closed.
fn keep_asking(port: u16, what: &str, stopped: &AtomicBool) {
    let mut asking = connect(port);
    while !stopped.load(Ordering::Relaxed)
        && send(&mut asking, what).is_ok()
        && answered(&mut asking).is_ok()
    {}
}

/// The till's port, which it has told into the run's folder.
fn port_in(folder: &Path) -> u16 {
    until("the till's port", || {
        let text = std::fs::read_to_string(folder.join("stdout.txt")).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    })
}

fn experiments_in(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let records = files
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| it == "jsonl"));
    let texts = records.filter_map(|it| std::fs::read_to_string(it).ok());
    texts
        .map(|it| it.matches("\"type\":\"experiment\"").count())
        .sum()
}

/// Serves the till while it is measured, and closes it when there are experiments.
fn served(mut child: Child, folder: &Path) -> (Option<i32>, Value) {
    let port = port_in(folder);
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for what in ["report", "checkout"] {
            let stopped = &stopped;
            scope.spawn(move || keep_asking(port, what, stopped));
        }
        until("experiments", || {
            (experiments_in(folder) >= EXPERIMENTS).then_some(())
        });
        stopped.store(true, Ordering::Relaxed);
        quit(port);
    });
    let mut text = String::new();
    let mut out = child.stdout.take().expect("piped");
    out.read_to_string(&mut text).expect("text");
    let status = child.wait().expect("it ends");
    (
        status.code(),
        serde_json::from_str(&text).expect("an answer"),
    )
}

#[test]
fn a_section_is_measured_on_request_and_its_price_is_shown_again() {
    let (_folder, run) = recorded();
    let crosstalk = ["transactions", "crosstalk", &run, "--json"];
    let pair = &json(&crosstalk)["pairs"][0];
    assert_eq!(
        (&pair["lock"], &pair["count"], &pair["price"]),
        (&"cart_lock".into(), &WAITS.into(), &Value::Null),
        "{pair:#}"
    );

    let price = ["transactions", "price", &run];
    let how = ["--stdio", "files", "--json", "--quiet", "--duration", "10m"];
    let child = fulcrum(&[&price[..], &PAIR[..], &how[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let folder = Path::new(&run).join("prices/001");
    let (code, found) = served(child, &folder);
    check_price(&found, code);
    // The causal profile is one as any other.
    let folder = folder.display().to_string();
    let shown = json(&["causal", "show", &folder, "--json"]);
    let point = &shown["progressPoints"][0];
    assert_eq!(
        (&point["name"], &point["kind"]),
        (&"GET /checkout".into(), &"latency".into()),
        "{shown:#}"
    );

    assert_eq!(json(&crosstalk)["pairs"][0]["price"], found);
    let text = fulcrum(&crosstalk[..3]).output().expect("it runs").stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(
        text.contains(" behind GET /report on cart_lock; "),
        "{text}"
    );
    check_refusals(&run);
}

fn check_price(found: &Value, code: Option<i32>) {
    for (key, value) in [
        ("waiter", "GET /checkout"),
        ("holder", "GET /report"),
        ("lock", "cart_lock"),
        ("function", "report"),
        ("progressPoint", "GET /checkout"),
    ] {
        assert_eq!(found[key], value, "{found:#}");
    }
    assert_eq!(found["speedup"], 0.5);
    assert!(
        found["experiments"].as_u64() >= Some(EXPERIMENTS as u64),
        "{found:#}"
    );
    let notes = found["notes"].to_string();
    assert!(
        notes.contains(
            "The experiments sped up what report and everything it calls do while they hold cart_lock."
        ),
        "{notes}"
    );
    let sentence = found["sentence"].as_str().expect("a sentence");
    assert!(sentence.starts_with("GET /checkout waits "), "{sentence}");
    // On a machine that is very busy, so few experiments need not tell.
    match found["gain"].as_f64() {
        Some(gain) => {
            let bound = |key: &str| found[key].as_f64().expect("a number");
            assert!(
                bound("gainLow") <= gain && gain <= bound("gainHigh"),
                "{found:#}"
            );
            assert!(
                sentence.contains("if that section took half the time, GET /checkout would be "),
                "{sentence}"
            );
            assert_eq!(code, Some(0));
        }
        None => {
            assert!(sentence.contains("is not known: "), "{sentence}");
            assert_eq!(code, Some(1));
        }
    }
}

fn check_refusals(run: &str) {
    let price = ["transactions", "price", run];
    let other_way = ["--waits", "GET /report", "--holds", "GET /checkout"];
    check_bad(
        &[&price[..], &other_way[..]].concat(),
        1,
        "GET /report never waited for GET /checkout",
    );
    let with = |options: &[&'static str]| [&price[..], &PAIR[..], &["--quiet"], options].concat();
    check_bad(&with(&["--at", "stock_lock"]), 1, "it did at cart_lock");
    check_bad(
        &with(&["--in", "audit"]),
        4,
        "has no function audit with code of its own",
    );
    let named = [
        "--type",
        "checkout=GET /checkout",
        "--type",
        "report=GET /report",
    ];
    let types = ["--waits", "checkout", "--holds", "report"];
    check_bad(
        &[&price[..], &types[..], &named[..]].concat(),
        4,
        "checkout is not an HTTP request",
    );
    // Whatever was refused has left nothing behind.
    assert!(!Path::new(run).join("prices/002").exists());
}

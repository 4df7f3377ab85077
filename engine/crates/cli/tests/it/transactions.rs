//! `fulcrum transactions`: a shop of two processes, whose requests are told apart at both, and wait for each other at a lock.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{check_bad, fulcrum, json};
use crate::open_telemetry;

/// Requests of each kind.
const BUY: usize = 40;
const LIST: usize = 40;
const WAITS: usize = 5;
/// What requests of one kind say of their trace.
const TRACE_PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Recorded {
    _folder: TempDir,
    run: String,
}

/// Records the shop while it serves; whoever asks is not recorded.
fn recorded() -> Recorded {
    libraries::all();
    let source = engine_folder().join("../test/fixtures/shop.c");
    let built = Recipe::new("shop")
        .file(
            "shop.c",
            std::fs::read(source).expect("the editor's tests have it"),
        )
        .command("gcc -O1 -g -pthread shop.c -o shop".split(' '))
        .build();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let shop = built.join("shop").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args([
            "transactions",
            "run",
            "--quiet",
            "--no-pauses",
            "-o",
            &run,
            "--",
            &shop,
            "5",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the port");
    let port: u16 = line.trim().parse().unwrap_or_else(|_| failed(&mut child));
    let mut asking: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).expect("the shop listens"))
        .collect();
    for n in 0..BUY.max(LIST) {
        if n < BUY {
            ask(&mut asking[0], "buy");
        }
        if n < LIST {
            ask(&mut asking[1], "list");
        }
    }
    let (last, rest) = asking.split_last_mut().expect("four");
    for _ in 0..WAITS {
        send(last, "report");
        ask(&mut rest[2], "checkout");
        answered(last);
    }
    drop(asking);
    let mut errors = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut errors).expect("text");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(5), "the program's own status\n{errors}");
    let mode = std::fs::metadata(&run)
        .expect("a folder")
        .permissions()
        .mode();
    assert_eq!(
        mode & 0o002,
        0,
        "nobody else may write into what was recorded"
    );
    Recorded {
        _folder: folder,
        run,
    }
}

fn failed(child: &mut Child) -> u16 {
    let mut errors = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut errors).expect("text");
    panic!("the shop did not start: {errors}");
}

fn send(to: &mut TcpStream, what: &str) {
    let trace = match what {
        "list" => format!("traceparent: {TRACE_PARENT}\r\n"),
        _ => String::new(),
    };
    let request = format!("GET /{what}?id=77 HTTP/1.1\r\nHost: shop\r\n{trace}\r\n");
    to.write_all(request.as_bytes()).expect("sent");
}

fn answered(from: &mut TcpStream) {
    let mut answer = [0; 40];
    from.read_exact(&mut answer).expect("an answer");
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
}

fn ask(whom: &mut TcpStream, what: &str) {
    send(whom, what);
    answered(whom);
}

fn of<'a>(all: &'a Value, name: &str) -> &'a Value {
    let all = all.as_array().expect("a list");
    let names: Vec<&Value> = all.iter().map(|it| &it["name"]).collect();
    let found = all.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn requests_are_told_apart_at_both_processes_and_wait_for_each_other() {
    let shop = recorded();
    let shown = json(&["transactions", "show", &shop.run, "--json"]);
    for (name, count) in [
        ("GET /buy", BUY),
        ("GET /list", LIST),
        ("GET /report", WAITS),
        ("GET /checkout", WAITS),
    ] {
        let found = of(&shown["types"], name);
        assert_eq!(found["count"], count, "{name}: {shown:#}");
        assert_eq!(found["unreplied"], 0, "{name}");
    }
    check_cpu(&shown);
    check_flows(&shown);
    let found = json(&["transactions", "crosstalk", &shop.run, "--json"]);
    let pairs = found["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 1, "{found:#}");
    let pair = &pairs[0];
    assert_eq!(
        (&pair["waiter"], &pair["holder"]),
        (&"GET /checkout".into(), &"GET /report".into())
    );
    assert_eq!(
        (&pair["lock"], &pair["kind"]),
        (&"cart_lock".into(), &"mutex".into())
    );
    assert_eq!(pair["count"], WAITS);
    // Each holds it for ten milliseconds after it sees that somebody waits.
    assert!(
        pair["waitNs"].as_f64() > Some(WAITS as f64 * 10e6),
        "{pair:#}"
    );
    let paths = &pair["paths"][0];
    assert!(
        paths["waiter"]
            .as_str()
            .is_some_and(|it| it.ends_with("checkout")),
        "{paths:#}"
    );
    assert!(
        paths["holder"]
            .as_str()
            .is_some_and(|it| it.ends_with("report")),
        "{paths:#}"
    );

    let show = ["transactions", "show", &shop.run];
    let text = fulcrum(&show).output().expect("it runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("GET /buy"), "{text}");
    let folded = format!("{}/buy.folded", shop.run);
    let only = ["--only", "GET /buy", "--into", &folded];
    let export = ["transactions", "export", &shop.run];
    let exported = fulcrum(&[&export[..], &only[..]].concat()).output();
    assert!(exported.expect("it runs").status.success());
    let folded = std::fs::read_to_string(folded).expect("a profile");
    assert!(folded.contains("serve_back;compute "), "{folded}");
    let unknown = ["--only", "GET /nothing", "--into", "x"];
    check_bad(
        &[&export[..], &unknown[..]].concat(),
        1,
        "there is no type GET /nothing; there are GET /",
    );
    check_comparisons(&shop.run);
    check_search(&shop.run);
    open_telemetry::check(&shop.run, LIST);
}

/// Two types, and one type in two runs, are compared by what one transaction costs.
fn check_comparisons(run: &str) {
    let two = ["--only", "GET /buy", "--against", "GET /list"];
    let compare = ["transactions", "compare", run];
    let of_type = self::of;
    let found = json(&[&compare[..], &two[..], &["--json"]].concat());
    let of = &found["type"];
    assert_eq!(of["name"], "GET /buy \u{2212} GET /list");
    assert_eq!(
        (&of["a"]["transactions"], &of["b"]["transactions"]),
        (&BUY.into(), &LIST.into())
    );
    // Wall times are known whether or not the machine lets CPU time be sampled.
    assert!(of["wall"]["p"].is_number(), "{of:#}");
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("of one transaction: the mean of 40 of GET /buy (A) and of 40"),
        "{notes}"
    );
    let text = fulcrum(&[&compare[..], &two[..]].concat())
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("Wall time of A is"), "{text}");

    let runs = [&compare[..], &[run]].concat();
    let found = json(&[&runs[..], &["--json"]].concat());
    let buy = of_type(&found["types"], "GET /buy");
    assert_eq!(
        (&buy["cpu"]["ns"], &buy["cpu"]["significant"]),
        (&0.0.into(), &false.into())
    );
    let text = fulcrum(&runs).output().expect("it runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.contains("GET /checkout") && text.contains("noise"),
        "{text}"
    );
    let same = json(&[&runs[..], &["--only", "GET /buy", "--json"]].concat());
    assert_eq!(
        same["functions"],
        Value::Array(Vec::new()),
        "nothing differs"
    );
    check_bad(
        &compare,
        2,
        "compare with what? Name a second run, or two types",
    );
}

/// A type is searched as any profile.
fn check_search(run: &str) {
    let navigate = ["transactions", "navigate", run];
    let only = [
        "--only",
        "GET /buy",
        "--script",
        "find compute; select 0",
        "--json",
    ];
    let output = fulcrum(&[&navigate[..], &only[..]].concat()).output();
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    if !text.contains("compute") {
        // Where samples are not allowed, nothing is there to be found.
        assert_eq!(output.status.code(), Some(1), "{text}{notes}");
        return;
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).expect("an object a line"))
        .collect();
    assert_eq!(lines[0]["rows"][0]["path"][0], "compute", "{text}");
    let above = lines[1]["nearby"].as_array().expect("a list");
    assert!(
        above.iter().any(|it| it["path"][0] == "serve_back"),
        "{text}"
    );
    check_bad(&navigate, 2, "which type? Name it with --only");
}

/// Two shops that were recorded apart are one run when they are stitched.
#[test]
fn runs_that_were_recorded_apart_are_stitched() {
    let shop = recorded();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("whole").display().to_string();
    let once = ["transactions", "stitch", &shop.run, "-o", &output];
    let status = fulcrum(&once).output().expect("it runs").status;
    assert_eq!(status.code(), Some(2), "one run is nothing to stitch");
    let nothing = folder.path().display().to_string();
    check_bad(
        &["transactions", "stitch", &shop.run, &nothing, "-o", &output],
        3,
        &nothing,
    );
    assert!(!std::path::Path::new(&output).exists());
    let other = recorded();
    let both = [
        "transactions",
        "stitch",
        &shop.run,
        &other.run,
        "-o",
        &output,
    ];
    assert!(fulcrum(&both).status().expect("it runs").success());
    let at_once = json(&["transactions", "show", &shop.run, &other.run, "--json"]);
    let stitched = json(&["transactions", "show", &output, "--json"]);
    assert_eq!(at_once["types"], stitched["types"]);
    assert_eq!(of(&stitched["types"], "GET /buy")["count"], 2 * BUY);
    let runs = fulcrum_runs::RunFolder::open(output.as_ref()).expect("a run");
    assert_eq!(
        runs.read_manifest().expect("a manifest").kind,
        fulcrum_runs::RunKind::Transactions
    );
}

/// CPU time by type: `/buy` computes three times as much as `/list`. Where samples are not allowed, that is said.
fn check_cpu(shown: &Value) {
    let notes = shown["notes"].to_string();
    if notes.contains("There are no CPU samples") {
        return;
    }
    let cpu = |name: &str| {
        of(&shown["types"], name)["cpuNs"]
            .as_f64()
            .expect("a number")
    };
    let (buy, list) = (cpu("GET /buy"), cpu("GET /list"));
    assert!(buy > list, "{buy} {list}");
    let stages = of(&shown["types"], "GET /buy")["stages"]
        .as_array()
        .expect("a list");
    assert!(
        stages.iter().all(|it| it["process"] == "shop"),
        "{stages:?}"
    );
}

fn check_flows(shown: &Value) {
    let flows = shown["flows"].as_array().expect("a list");
    let to_back = flows
        .iter()
        .find(|it| it["kind"] == "message" && it["from"] == "ask_back" && it["to"] == "serve_back");
    let all = BUY + LIST + 2 * WAITS;
    assert_eq!(
        to_back.map(|it| &it["count"]),
        Some(&all.into()),
        "{flows:#?}"
    );
}

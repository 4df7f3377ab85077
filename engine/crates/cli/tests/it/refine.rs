//! `fulcrum refine`, with real Java programs.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::java::program;
use crate::common::{check_bad, fulcrum};
use fulcrum_test_support::libraries;
use serde_json::Value;

/// A hot method, a cheap one, one that throws, one that is too rare to matter, and a recursion whose gate shuts within it.
const MAIN: &str = "public class Main {
  static long n;
  static void cheap() { n++; }
  static int deep(int d) { return d == 0 ? 0 : 1 + deep(d - 1); }
  static void hot() { for (int i = 0; i < 800_000; i++) n = n * 31 + i; }
  static void rare() { n++; }
  static void thrower(int i) { if (i % 2 == 0) throw new IllegalStateException(); }
  static void unit(int i) {
    for (int k = 0; k < 200; k++) cheap();
    hot();
    try { thrower(i); } catch (IllegalStateException e) { n++; }
  }
  public static void main(String[] a) {
    rare();
    int sum = deep(3000);
    for (int i = 0; i < 600; i++) unit(i);
    System.out.println(new StringBuilder().append(sum).append(\" of \").append(a.length));
  }
}";

fn refine(folder: &Path, options: &[&str]) -> Value {
    libraries::all();
    let mut command = fulcrum(&["refine", "--json", "--quiet", "--recheck", "0"]);
    command.args(options).args(["--", "java", "Main", "x"]);
    let output = command.current_dir(folder).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn numbers(refined: &Value, key: &str) -> Vec<u64> {
    let rows = refined["iterations"].as_array().unwrap();
    rows.iter().map(|row| row[key].as_u64().unwrap()).collect()
}

#[test]
fn the_loop_keeps_the_hotspots_and_counts_every_call() {
    let folder = tempfile::tempdir().unwrap();
    program(MAIN, folder.path());
    // By the processor's time, so that it does not matter what else runs on this machine: the hot method needs a millisecond
    // or two, whatever else there is would have to need 90 in all.
    let rule = "inherent cpu >= 300us after 300";
    let options = [
        "--rule",
        rule,
        "--runs",
        "1",
        "--no-baseline",
        "--output",
        "loop",
    ];
    let refined = refine(folder.path(), &options);
    assert_eq!(
        (&refined["stable"], &refined["stopped"]),
        (&true.into(), &false.into())
    );
    assert_eq!(refined["hotspots"], serde_json::json!(["Main.hot()V"]));
    // The constructor is there and never called.
    assert_eq!(numbers(&refined, "methods"), [8, 1]);
    assert_eq!(numbers(&refined, "classes"), [1, 1]);
    let (cheap, deep, others) = (200 * 600, 3001, 2 + 3 * 600);
    assert_eq!(numbers(&refined, "fired"), [cheap + deep + others, 600]);
    // Metered: each method until it has run 300 times, and what it was in the middle of; the hot one always.
    let metered = numbers(&refined, "metered");
    assert!(
        metered[0] < 300 + deep + 2 + 600 + 2 * 600 && metered[1] == 600,
        "{metered:?}"
    );
    assert!(refined["iterations"][0]["overhead"].is_null());
    // What the program does is what it does alone.
    let run = folder.path().join("loop/iteration-1");
    assert_eq!(
        fs::read_to_string(run.join("stdout.txt")).unwrap(),
        "3000 of 1\n"
    );
    // Each iteration is a run like any other, and its trees are whole.
    let stats = crate::common::json(&["events", "stats", run.to_str().unwrap(), "--json"]);
    assert_eq!(stats["unbalanced"], 0);
    let filter = fs::read_to_string(refined["filter"].as_str().unwrap()).unwrap();
    assert!(
        filter.ends_with("includemethod Main hot ()V\nexcludemethod * *\n"),
        "{filter}"
    );
    let table: Value = serde_json::from_slice(&fs::read(run.join("refine.json")).unwrap()).unwrap();
    assert_eq!(table["rule"], rule);
    assert_eq!(table["hotspots"], refined["hotspots"]);
    assert_eq!(
        table["iterations"][0]["fired"],
        refined["iterations"][0]["fired"]
    );

    // Another loop goes on from there, beside runs without probes.
    let from = run.to_str().unwrap();
    let options = [
        "--rule",
        rule,
        "--from",
        from,
        "--runs",
        "2",
        "--unit",
        "Main.unit",
        "--output",
        "more",
    ];
    let refined = refine(folder.path(), &options);
    // The unit of work is measured beside the hotspot, and has become none by that; the second time confirms it.
    assert_eq!(numbers(&refined, "methods"), [2, 2]);
    assert_eq!(numbers(&refined, "units"), [600, 600]);
    let row = &refined["iterations"][0];
    assert!(row["cpuNs"].as_f64() > Some(100_000.0), "{row}");
    let (low, high) = (&row["overheadLow"], &row["overheadHigh"]);
    assert!(low.as_f64() < row["overhead"].as_f64() && row["overhead"].as_f64() < high.as_f64());
    let left: Vec<_> = fs::read_dir(folder.path().join("more/iteration-1"))
        .unwrap()
        .flatten()
        .collect();
    let folders = left.iter().filter(|it| it.path().is_dir()).count();
    assert_eq!(
        folders, 0,
        "repeated runs and runs without probes are not kept"
    );
}

#[test]
fn labels_are_a_first_filter() {
    let folder = tempfile::tempdir().unwrap();
    program(MAIN, folder.path());
    let labels = folder.path().join("labels.json");
    let text = r#"{"version":1,"profile":{"sources":[],"value":"time","unit":"ns"},
        "labels":[{"name":"slow","paths":[["Main.main","Main.unit","Main.hot"],["[truncated]"]]}]}"#;
    fs::write(&labels, text).unwrap();
    let options = [
        "--from-labels",
        labels.to_str().unwrap(),
        "--runs",
        "1",
        "--no-baseline",
        "--rule",
    ];
    let rule = "cumulative wall + 2 * contention >= 50us after 10";
    let refined = refine(
        folder.path(),
        &[&options[..], &[rule, "--output", "loop"]].concat(),
    );
    // All are hotspots; that they are the same again is what makes the set stable.
    assert_eq!(numbers(&refined, "methods"), [3, 3]);
    let hot = [
        "Main.hot()V",
        "Main.main([Ljava/lang/String;)V",
        "Main.unit(I)V",
    ];
    assert_eq!(refined["hotspots"], serde_json::json!(hot));
    assert_eq!(refined["stable"], true);
}

#[test]
fn a_program_that_keeps_running_is_refined_in_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let endless = MAIN.replace("i < 600; i++", "i >= 0; i++");
    program(
        &endless.replace("System.out", "if (sum < 0) System.out"),
        folder.path(),
    );
    let sessions = [
        "--keep-running",
        "2s",
        "--runs",
        "1",
        "--iterations",
        "3",
        "--output",
        "loop",
    ];
    let rule = [
        "--rule",
        // Nothing else comes near this, and five units of work are enough.
        "inherent cpu >= 500us after 5",
        "--unit",
        "Main.unit",
    ];
    let refined = refine(folder.path(), &[&sessions[..], &rule].concat());
    assert_eq!(refined["stable"], true, "{refined}");
    assert_eq!(refined["hotspots"], serde_json::json!(["Main.hot()V"]));
    // What had run before it began is not seen; later the hotspot and the unit of work are left.
    let methods = numbers(&refined, "methods");
    assert!(methods[0] >= 7 && methods[1..] == [2], "{methods:?}");
    let rows = refined["iterations"].as_array().unwrap();
    assert!(
        rows.iter()
            .all(|row| row["units"].as_u64() > Some(0) && row["overhead"].is_f64())
    );
}

/// Each unit of work makes an array of a megabyte, and has a thread wait for a monitor until it is seen to wait.
const METERED: &str = "public class Main {
  static byte[] kept;
  static int n;
  static final Object LOCK = new Object();
  static void allocates() { kept = new byte[1 << 20]; }
  static void waits() { synchronized (LOCK) { n++; } }
  static void plain() { n++; }
  static void unit() throws Exception {
    allocates();
    plain();
    Thread other = new Thread(\"other\") { public void run() { waits(); } };
    synchronized (LOCK) {
      other.start();
      while (other.getState() != Thread.State.BLOCKED) Thread.sleep(1);
      Thread.sleep(20);
    }
    other.join();
  }
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < 12; i++) unit();
    System.out.println(n);
  }
}";

#[test]
fn memory_and_contention_are_meters_too() {
    let folder = tempfile::tempdir().unwrap();
    program(METERED, folder.path());
    // All waiting is in one method, so any time of it tells that method from the others.
    for (n, (rule, hot)) in [
        ("allocation >= 512KiB after 10", &["Main.allocates()V"][..]),
        (
            "cumulative allocation >= 512KiB after 10",
            &[
                "Main.allocates()V",
                "Main.main([Ljava/lang/String;)V",
                "Main.unit()V",
            ],
        ),
        ("contention >= 1us after 10", &["Main.waits()V"]),
        (
            "cumulative contention >= 1us after 10",
            &["Main.waits()V", "Main$1.run()V"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let output = format!("loop-{n}");
        let options = [
            "--runs",
            "1",
            "--no-baseline",
            "--output",
            &output,
            "--rule",
            rule,
        ];
        let refined = refine(folder.path(), &options);
        assert_eq!(refined["hotspots"], serde_json::json!(hot), "{rule}");
        assert_eq!(refined["stable"], true, "{rule}");
        let last = hot.len() as u64;
        assert_eq!(numbers(&refined, "methods").last(), Some(&last), "{rule}");
        let text = fs::read_to_string(folder.path().join(&output).join("iteration-1/stdout.txt"));
        assert_eq!(text.unwrap(), "24\n", "{rule}");
    }
}

/// Works until its input ends; a unit of work makes an array of a megabyte.
const ENDLESS: &str = "public class Main {
  static byte[] kept;
  static void allocates() { kept = new byte[1 << 20]; }
  static void plain() { kept = null; }
  static void unit() throws Exception { allocates(); plain(); Thread.sleep(1); }
  public static void main(String[] a) throws Exception {
    System.out.println(\"ready\");
    while (System.in.available() == 0) unit();
    System.out.println(\"end\");
    System.exit(4);
  }
}";

#[test]
fn a_running_program_is_refined_and_goes_on() {
    libraries::all();
    let folder = tempfile::tempdir().unwrap();
    program(ENDLESS, folder.path());
    let mut java = Command::new("java");
    java.arg("Main").current_dir(folder.path());
    let mut child = java
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let pid = child.id().to_string();
    // One unit of work in a session is enough, whatever else the machine does.
    let mut command = fulcrum(&[
        "refine",
        "--json",
        "--quiet",
        "--recheck",
        "0",
        "--attach",
        &pid,
    ]);
    command.args(["--keep-running", "2s", "--runs", "1"]);
    command.args([
        "--rule",
        "allocation >= 64KiB after 5",
        "--unit",
        "Main.unit",
    ]);
    let refined = command.current_dir(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&refined.stderr);
    assert_eq!((refined.status.code(), &*errors), (Some(0), ""));
    let refined: Value = serde_json::from_slice(&refined.stdout).unwrap();
    assert_eq!(
        refined["hotspots"],
        serde_json::json!(["Main.allocates()V"])
    );
    assert_eq!(refined["stable"], true);
    // With the unit of work.
    assert_eq!(numbers(&refined, "methods").last(), Some(&2));
    // Runs are called after what is running, and the iteration.
    let runs = fs::read_dir(folder.path().join(".fulcrum/runs")).unwrap();
    let mut names: Vec<_> = runs.map(|it| it.unwrap().file_name()).collect();
    names.sort();
    let named = |(name, number): (&OsString, usize)| {
        name.to_string_lossy()
            .ends_with(&format!("Z-Main-refine-{number}"))
    };
    assert!(names.iter().zip(1..).all(named), "{names:?}");
    // It goes on as it was, and ends as it does alone.
    assert_eq!(child.try_wait().unwrap(), None);
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    line.clear();
    output.read_to_string(&mut line).unwrap();
    assert_eq!(
        (line.as_str(), child.wait().unwrap().code()),
        ("end\n", Some(4))
    );
}

#[test]
fn errors_say_what_to_do() {
    let java = ["--", "java", "Main"];
    let check = |options: &[&str], code: i32, expected: &str| {
        check_bad(&[&["refine"][..], options, &java].concat(), code, expected);
    };
    let output = fulcrum(&["refine", "--rule", "wall >= 5", "java"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors.contains("at the rule's end a time such as 50us"),
        "{errors}"
    );
    check(
        &["--unit", "main"],
        4,
        "write the unit of work as Class.method",
    );
    check(&["--filter", "/nowhere"], 3, "/nowhere");
    check(&["--from", "/nowhere"], 3, "/nowhere");
    check(&["--from-labels", "/nowhere"], 3, "/nowhere");
    libraries::all();
    let folder = tempfile::tempdir().unwrap();
    let mut command = fulcrum(&["refine", "--no-baseline", "--runs", "1", "--quiet"]);
    command.args([
        "--unit",
        "Main.nothing",
        "--output",
        "loop",
        "--",
        "java",
        "Main",
        "x",
    ]);
    program(MAIN, folder.path());
    let output = command.current_dir(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4));
    assert!(errors.contains("Main.nothing was never called"), "{errors}");
    let missing = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args(["refine", "--output", "other", "--", "true"])
        .current_dir(folder.path())
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&missing.stderr);
    assert!(
        errors.contains("nothing was measured: name java, a native program"),
        "{errors}"
    );
}

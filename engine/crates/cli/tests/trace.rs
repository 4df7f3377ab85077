//! `fulcrum trace` and `fulcrum events`, with real Java programs: what they do stays as it is, and what is told is true.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Once;

use common::{check_bad, fulcrum, json};
use serde_json::Value;

/// The agent is another package: `cargo test` of this one does not build it.
fn build_agent() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "fulcrum-jvm-agent"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR"));
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo").success());
    });
}

fn compile(source: &Path, into: &Path) {
    let javac = Command::new("javac")
        .args(["-g", "-d"])
        .args([into, source])
        .output();
    let output = javac.expect("javac is missing: to run these tests, install default-jdk-headless");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn program(text: &str, into: &Path) {
    let source = into.join("Main.java");
    fs::write(&source, text).unwrap();
    compile(&source, into);
}

/// Runs `java` in a folder of classes, alone and traced: the same output and status. Gives the run.
fn check_same(classes: &Path, options: &[&str], java: &[&str]) -> String {
    build_agent();
    let run = classes.join("run").to_str().unwrap().to_owned();
    let alone = Command::new("java")
        .args(java)
        .current_dir(classes)
        .output()
        .unwrap();
    let traced = fulcrum(&["trace", "--quiet", "--output", &run]);
    let traced = with(traced, options, java)
        .current_dir(classes)
        .output()
        .unwrap();
    let text = |it: &Output| {
        (
            String::from_utf8_lossy(&it.stdout).into_owned(),
            String::from_utf8_lossy(&it.stderr).into_owned(),
        )
    };
    assert_eq!(text(&traced), text(&alone));
    assert_eq!(traced.status.code(), alone.status.code());
    run
}

fn with(mut command: Command, options: &[&str], java: &[&str]) -> Command {
    command.args(options).args(["--", "java"]).args(java);
    command
}

fn method<'a>(stats: &'a Value, class: &str, name: &str) -> &'a Value {
    let methods = stats["methods"].as_array().unwrap();
    let found = methods
        .iter()
        .find(|it| it["class"] == class && it["method"] == name);
    found.unwrap_or_else(|| panic!("{class}.{name} in {methods:?}"))
}

#[test]
fn every_call_of_a_program_is_there_and_its_output_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jvm-core/tests/java/Torture.java");
    compile(&source, folder.path());
    let run = check_same(folder.path(), &[], &["-Xverify:all", "Torture"]);
    let stats = json(&["events", "stats", &run, "--json"]);
    assert_eq!(
        (&stats["unbalanced"], &stats["notes"]),
        (&0.into(), &Value::Array(Vec::new()))
    );
    // 2 fib(n + 1) - 1 for 15 in the main thread, and 10 to 13 in others.
    let calls = |class: &str, name: &str| method(&stats, class, name)["calls"].as_u64().unwrap();
    assert_eq!(calls("Torture", "recursive"), 1973 + 177 + 287 + 465 + 753);
    assert_eq!(calls("Torture", "even") + calls("Torture", "odd"), 101);
    assert_eq!(
        method(&stats, "Torture", "thrower")["thrown"],
        1 + 2 + 3 + 4
    );
    assert_eq!(method(&stats, "Torture", "synchronizedThrow")["thrown"], 1);
    // A constructor counts once `super(…)` has returned: of `null` it has not.
    let all = stats["methods"].as_array().unwrap().iter();
    let made = all.filter(|it| it["class"] == "Torture$Derived" && it["method"] == "<init>");
    assert_eq!(made.map(|it| it["calls"].as_u64().unwrap()).sum::<u64>(), 6);
    // It works most of its time, and no thread works longer than it lives.
    let main = method(&stats, "Torture", "main");
    let (wall, cpu) = (
        main["wallNs"].as_u64().unwrap(),
        main["cpuNs"].as_u64().unwrap(),
    );
    assert!(cpu > 0 && cpu < wall + wall / 10, "{cpu} of {wall}");
    for thread in ["main", "Thread-0", "Thread-3"] {
        let found = stats["threads"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["name"] == thread);
        assert!(found.is_some_and(|it| it["group"] == "main"), "{thread}");
    }
    // Own times add up to those of the outermost calls.
    let tree = json(&[
        "events", "tree", &run, "--json", "--thread", "main", "--limit", "0",
    ]);
    let rows = tree["threads"][0]["calls"].as_array().unwrap();
    let sum = |key: &str, depth: Option<u64>| -> u64 {
        let rows = rows
            .iter()
            .filter(|row| depth.is_none_or(|depth| row["depth"] == depth));
        rows.map(|row| row[key].as_u64().unwrap()).sum()
    };
    let (whole, own) = (sum("wallNs", Some(0)), sum("selfWallNs", None));
    assert!(own.abs_diff(whole) < whole / 20, "{own} of {whole}");
    let main = rows
        .iter()
        .find(|row| row["name"] == "Torture.main")
        .unwrap();
    assert_eq!(
        (&main["depth"], &main["ended"]),
        (&0.into(), &"returned".into())
    );
}

#[test]
fn contention_is_counted_exactly() {
    let folder = tempfile::tempdir().unwrap();
    program(
        "public class Main {\n\
           static class Counter { int n; synchronized void increment() { n++; } }\n\
           public static void main(String[] a) throws Exception {\n\
             final Counter counter = new Counter();\n\
             for (int i = 0; i < 7; i++) {\n\
               Thread other = new Thread(() -> counter.increment(), \"other-\" + i);\n\
               synchronized (counter) {\n\
                 other.start();\n\
                 while (other.getState() != Thread.State.BLOCKED) Thread.sleep(1);\n\
                 Thread.sleep(10);\n\
               }\n\
               other.join();\n\
             }\n\
             System.out.println(counter.n);\n\
             System.exit(3);\n\
           }\n\
         }",
        folder.path(),
    );
    let run = check_same(folder.path(), &[], &["Main"]);
    let stats = json(&["events", "stats", &run, "--json"]);
    let contention = stats["contention"].as_array().unwrap();
    let counter = contention
        .iter()
        .find(|it| it["class"] == "Main$Counter")
        .expect("the counter");
    assert_eq!(counter["count"], 7);
    assert!(counter["wallNs"].as_u64().unwrap() >= 7 * 10_000_000);
    // The wait is before the method is entered, not in it.
    let wall = method(&stats, "Main$Counter", "increment")["wallNs"]
        .as_u64()
        .unwrap();
    assert!(wall < 7 * 10_000_000, "{wall}");
    let list = fulcrum(&["events", "list", &run, "--json", "--thread", "other-3"])
        .output()
        .unwrap();
    let events: Vec<Value> = String::from_utf8_lossy(&list.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<_> = events
        .iter()
        .map(|it| it["event"].as_str().unwrap())
        .filter(|it| *it != "classLoad")
        .collect();
    let expect = [
        "threadStart",
        "enter",
        "contendedEnter",
        "contendedEntered",
        "enter",
        "exit",
        "exit",
        "threadEnd",
    ];
    assert_eq!(names, expect);
}

#[test]
fn a_filter_decides_what_is_observed_and_a_limit_ends_the_log_alone() {
    let folder = tempfile::tempdir().unwrap();
    program(
        "public class Main {\n\
           static int n;\n\
           static void wanted() { n++; }\n\
           static void unwanted() { n++; }\n\
           public static void main(String[] a) {\n\
             for (int i = 0; i < 400000; i++) { wanted(); unwanted(); }\n\
             System.out.println(n + new StringBuilder(\"x\").reverse().toString());\n\
           }\n\
         }",
        folder.path(),
    );
    let filter = folder.path().join("f.fulcrum-filter");
    fs::write(&filter, "observe_method_invocations\nincludemethod Main wanted\nincludemethod java.lang.StringBuilder reverse\n").unwrap();
    let options = ["--filter", filter.to_str().unwrap()];
    let run = check_same(folder.path(), &options, &["Main"]);
    let stats = json(&["events", "stats", &run, "--json"]);
    assert_eq!(stats["methods"].as_array().unwrap().len(), 2);
    assert_eq!(method(&stats, "Main", "wanted")["calls"], 400_000);
    assert_eq!(
        method(&stats, "java.lang.StringBuilder", "reverse")["calls"],
        1
    );
    fs::remove_dir_all(&run).unwrap();
    let run = check_same(
        folder.path(),
        &[&options[..], &["--limit", "1M"]].concat(),
        &["Main"],
    );
    let log = fs::read_dir(&run)
        .unwrap()
        .flatten()
        .find(|it| it.file_name().to_string_lossy().starts_with("events-"));
    assert!(log.unwrap().metadata().unwrap().len() <= 1 << 20);
    let stats = json(&["events", "stats", &run, "--json"]);
    let calls = method(&stats, "Main", "wanted")["calls"].as_u64().unwrap();
    assert!(calls > 10_000 && calls < 400_000, "{calls}");
    let note = stats["notes"][0].as_str().unwrap();
    assert!(note.starts_with("The log reached its size limit"), "{note}");
    fs::write(&filter, "observe_method_invocations\ninclude a b\n").unwrap();
    let program = ["trace", options[0], options[1], "--", "java", "Main"];
    check_bad(&program, 3, "line 2: \"include a b\" is not a directive");
    check_bad(
        &["events", "stats", folder.path().to_str().unwrap()],
        3,
        "holds no events-*.log",
    );
}

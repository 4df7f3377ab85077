//! `fulcrum trace` and `fulcrum events`, with real Java programs: what they do stays as it is, and what is told is true.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::common::java::{compile, end, program, ready, start};
use crate::common::{check_bad, fulcrum, json};
use fulcrum_test_support::libraries;
use fulcrum_test_support::wait::until;
use serde_json::Value;

/// Runs `java` in a folder of classes, alone and traced: the same output and status. Gives the run.
fn check_same(classes: &Path, options: &[&str], java: &[&str]) -> String {
    libraries::all();
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
    // Own time is what is left of a call's without those directly in it; the costs of probes leave none below zero.
    let tree = json(&[
        "events", "tree", &run, "--json", "--thread", "main", "--limit", "0",
    ]);
    let rows = tree["threads"][0]["calls"].as_array().unwrap();
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    for (at, row) in rows.iter().enumerate() {
        let depth = number(row, "depth");
        let below = rows[at + 1..]
            .iter()
            .take_while(|it| number(it, "depth") > depth);
        let inside = below
            .filter(|it| number(it, "depth") == depth + 1)
            .map(|it| number(it, "wallNs"));
        let own = number(row, "wallNs").saturating_sub(inside.sum());
        assert_eq!(number(row, "selfWallNs"), own, "{row}");
    }
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
    let events = |more: &[&str]| -> Vec<Value> {
        let list = fulcrum(&[&["events", "list", &run, "--json"], more].concat());
        let list = { list }.output().unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        list.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    // The time is that between the events.
    let all = events(&[]);
    let sum = |event: &str| -> u64 {
        let of = all
            .iter()
            .filter(|it| it["event"] == event && it["class"] == "Main$Counter");
        of.map(|it| it["timeNs"].as_u64().unwrap()).sum()
    };
    let waited = sum("contendedEntered") - sum("contendedEnter");
    assert_eq!(counter["wallNs"].as_u64(), Some(waited));
    // The wait is before the method is entered, not in it.
    let events = events(&["--thread", "other-3"]);
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
    fs::remove_dir_all(&run).unwrap();
    let nowhere = "observe_method_invocations\nincludemethod nowhere.* *\n";
    fs::write(&filter, nowhere).unwrap();
    let run = check_same(folder.path(), &options, &["Main"]);
    let stats = json(&["events", "stats", &run, "--json"]);
    let note = stats["notes"][0].as_str().unwrap();
    assert!(note.starts_with("No method was observed: "), "{note}");
    fs::write(&filter, "observe_method_invocations\ninclude a b\n").unwrap();
    let program = ["trace", options[0], options[1], "--", "java", "Main"];
    check_bad(&program, 3, "line 2: \"include a b\" is not a directive");
    check_bad(
        &["events", "stats", folder.path().to_str().unwrap()],
        3,
        "holds no events-*.log",
    );
}

/// A program that works until something comes on its standard input.
const ENDLESS: &str = "public class Main {\n\
   static int n;\n\
   static void step() { n++; other(); }\n\
   static void other() { n++; }\n\
   public static void main(String[] a) throws Exception {\n\
     System.out.println(\"ready\");\n\
     do { step(); Thread.sleep(1); } while (System.in.available() == 0);\n\
     System.out.println(\"end \" + (n > 0));\n\
     System.exit(4);\n\
   }\n\
 }";

/// A recording of a running program; it goes on until it is told to stop.
struct Attached {
    child: Child,
    run: String,
    log: PathBuf,
}

impl Attached {
    fn start(program: u32, filter: &Path, run: PathBuf) -> Attached {
        let pid = program.to_string();
        let mut trace = fulcrum(&["trace", "--quiet", "--attach", &pid, "--filter"]);
        trace.arg(filter).arg("--output").arg(&run);
        let child = trace.stderr(Stdio::null()).spawn().unwrap();
        let log = run.join(format!("events-{pid}.log"));
        let run = run.to_str().unwrap().to_owned();
        Attached { child, run, log }
    }

    /// Waits until the log holds calls, and stops the recording. (Not as Ctrl-C does: whoever runs
    /// the tests in the background ignores that, and so do they.)
    fn stop_after(mut self, calls: u64) -> String {
        let logged = || {
            let stats = fulcrum(&["events", "stats", &self.run, "--json"])
                .output()
                .unwrap();
            let stats: Value = serde_json::from_slice(&stats.stdout).unwrap_or_default();
            stats["methods"][0]["calls"].as_u64().unwrap_or(0)
        };
        until("calls in the log", || {
            assert_eq!(self.child.try_wait().unwrap(), None, "it ended by itself");
            (self.log.exists() && logged() >= calls).then_some(())
        });
        let id = self.child.id().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.run
    }
}

#[test]
fn a_running_program_is_attached_to_left_and_attached_to_again() {
    libraries::all();
    let folder = tempfile::tempdir().unwrap();
    program(ENDLESS, folder.path());
    let child = start(folder.path(), &[]);
    let log = folder.path().join("named/by the filter.log");
    let attach = |method: &str| {
        let filter = folder.path().join("f.fulcrum-filter");
        let output = log.display();
        let text =
            format!("observe_method_invocations\nincludemethod Main {method}\noutput {output}\n");
        fs::write(&filter, text).unwrap();
        Attached::start(child.id(), &filter, folder.path().join(method))
    };
    let names = |run: &str| {
        let stats = json(&["events", "stats", run, "--json"]);
        assert_eq!(stats["unbalanced"], 0);
        let methods = stats["methods"].as_array().unwrap();
        let names = methods
            .iter()
            .map(|it| it["method"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let run = attach("step").stop_after(10);
    assert_eq!(names(&run), ["step"]);
    // The filter's output is the same log.
    assert_eq!(names(log.to_str().unwrap()), ["step"]);
    // Nothing is left of the first one; two at once are refused.
    let second = attach("other");
    until("the second log", || second.log.exists().then_some(()));
    let refused = fulcrum(&["trace", "--attach", &child.id().to_string(), "--workspace"])
        .arg(folder.path())
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        why.contains("this program is being traced already"),
        "{why}"
    );
    assert_eq!(refused.status.code(), Some(4));
    assert_eq!(names(&second.stop_after(10)), ["other"]);
    // One that has a time ends by itself.
    let mut timed = fulcrum(&["trace", "--quiet", "--for", "1ms", "--attach"]);
    timed
        .arg(child.id().to_string())
        .arg("--output")
        .arg(folder.path().join("timed"));
    assert_eq!(timed.output().unwrap().status.code(), Some(0));
    assert_eq!(end(child), ("end true\n".into(), Some(4)));
}

/// `npm run bench -- campaigns` has ten times as many sessions.
#[test]
fn a_program_goes_on_though_sessions_begin_and_end_while_objects_are_collected() {
    crate::sessions::check(3);
}

/// As root one can attach to the program of another user, who cannot write wherever root can.
#[test]
fn a_program_of_another_user_is_traced_or_its_reason_is_told() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        // Nobody else may start a program as another user, or attach to one: the system's first, for example.
        let refusal = "process 1 (";
        return check_bad(
            &["trace", "--output", "/nowhere/run", "--attach", "1"],
            4,
            refusal,
        );
    }
    libraries::all();
    let closed = tempfile::tempdir().unwrap();
    let open = tempfile::tempdir().unwrap();
    for (folder, mode) in [(&closed, 0o700), (&open, 0o755)] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    }
    program(ENDLESS, open.path());
    let agent = open.path().join("agent.so");
    fs::copy(libraries::jvm_agent(), &agent).unwrap();
    let mut java = Command::new("setpriv");
    java.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "java",
        "Main",
    ])
    .current_dir(open.path());
    let child = ready(java);
    let attach = |run: PathBuf| {
        let pid = child.id().to_string();
        let mut trace = fulcrum(&["trace", "--for", "1s", "--attach", &pid, "--output"]);
        let done = trace.arg(&run).env("FULCRUM_JVM_AGENT", &agent).output();
        let done = done.unwrap();
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        (run, done.status.code(), errors)
    };
    let (_, code, errors) = attach(closed.path().join("run"));
    assert_eq!(code, Some(4), "{errors}");
    assert!(
        errors.contains("its user (65534) may not write into") && errors.contains("with --output"),
        "{errors}"
    );
    let (run, code, errors) = attach(open.path().join("run"));
    assert_eq!(code, Some(0), "{errors}");
    let stats = json(&["events", "stats", run.to_str().unwrap(), "--json"]);
    assert!(method(&stats, "Main", "step")["calls"].as_u64() > Some(0));
    // While it was recorded, its user could write here.
    let mode = fs::metadata(&run).unwrap().permissions().mode();
    assert_eq!(mode & 0o002, 0, "{mode:o}");
    assert_eq!(end(child), ("end true\n".into(), Some(4)));
}

#[test]
fn who_cannot_be_attached_to_is_told_why_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    program(ENDLESS, folder.path());
    let workspace = folder.path().to_str().unwrap();
    let attach = |pid: &str, why: &str| {
        check_bad(
            &["trace", "--workspace", workspace, "--attach", pid],
            4,
            why,
        )
    };
    attach("2000000000", "there is no process 2000000000");
    attach(
        &std::process::id().to_string(),
        "is not a Java virtual machine",
    );
    let closed = start(folder.path(), &["-XX:+DisableAttachMechanism"]);
    attach(
        &closed.id().to_string(),
        "was started with -XX:+DisableAttachMechanism",
    );
    assert_eq!(end(closed), ("end true\n".into(), Some(4)));
}

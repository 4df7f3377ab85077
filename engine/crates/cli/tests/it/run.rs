//! `fulcrum run`: the program keeps its output, its signals and its exit status; the answer goes to standard error.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};

use crate::common::{check_bad, fulcrum, json};
use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::wait::until;
use fulcrum_test_support::{engine_folder, libraries};
use tempfile::TempDir;

/// Works in one line, visits a progress point, and ends as its argument says: with a status, by a signal, on Ctrl-C, or as soon
/// as there is a file with its name and `.end`.
const PROGRAM: &str = r#"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fulcrum.h>
#include <string>
#include <unistd.h>
static volatile std::sig_atomic_t interrupted;
static volatile unsigned long result;
static void work() {
  unsigned long x = 1;
  for (long i = 0; i < 2000000; i++) x = x * 6364136223846793005u + 1;
  result = x;
  FULCRUM_PROGRESS_NAMED("work");
}
int main(int, char** argv) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::puts("ready");
  std::fflush(stdout);
  const int rounds = !std::strcmp(argv[1], "forever") ? 20000 : 100;
  const std::string end = std::string(argv[0]) + ".end";
  if (!std::strcmp(argv[1], "long"))
    for (long i = 0; i < 100000 && access(end.c_str(), F_OK) != 0; i++) work();
  else
    for (int i = 0; !interrupted && i < rounds; i++) work();
  std::fputs("its own error\n", stderr);
  std::puts("done");
  std::fflush(stdout);
  if (!std::strcmp(argv[1], "signal")) std::raise(SIGUSR1);
  return interrupted ? 7 : std::atoi(argv[1]);
}
"#;

struct Lab {
    folder: TempDir,
    program: String,
}

impl Lab {
    fn new() -> Lab {
        libraries::all();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let header = std::fs::read(engine_folder().join("include/fulcrum.h")).expect("a header");
        let line = "g++ -O1 -g -pthread -I. -o program program.cpp";
        let built = Recipe::new("ends")
            .file("fulcrum.h", header)
            .file("program.cpp", PROGRAM)
            .command(line.split(' '))
            .build();
        // A copy: the program looks for a file beside itself.
        let program = folder.path().join("program");
        std::fs::copy(built.join("program"), &program).expect("room");
        let program = program.to_str().expect("UTF-8").to_owned();
        Lab { folder, program }
    }

    /// In a process group of its own, as a shell starts a foreground job.
    fn start(&self, options: &[&str], argument: &str) -> Child {
        let mut command = fulcrum(&["run", "--workspace"]);
        command
            .arg(self.folder.path())
            .args(options)
            .args(["--", &self.program, argument]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command.spawn().expect("it starts")
    }

    fn run(&self, options: &[&str], argument: &str) -> (Output, String) {
        let output = self
            .start(options, argument)
            .wait_with_output()
            .expect("it ends");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, errors)
    }
}

#[test]
fn output_and_status_are_the_programs_and_the_table_follows() {
    let lab = Lab::new();
    let (output, errors) = lab.run(&[], "3");
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\ndone\n");
    let (own, ours) = errors
        .split_once("its own error\n")
        .expect("its error output");
    assert_eq!(own, "");
    assert!(
        ours.contains("the program ended with exit status 3; recorded in "),
        "{errors}"
    );
    let run = ours
        .trim_end()
        .rsplit("recorded in ")
        .next()
        .expect("the run folder");
    let shown = json(&["runs", "show", run, "--json"]);
    assert_eq!(
        (shown["exitCode"].as_i64(), shown["ended"].as_str()),
        (Some(3), Some("exited"))
    );
}

#[test]
fn a_signal_is_passed_on_as_a_shell_does() {
    let lab = Lab::new();
    let (output, errors) = lab.run(&["--quiet"], "signal");
    assert_eq!(output.status.code(), Some(128 + 10), "{errors}");
    assert!(
        errors.contains("the program was ended by signal 10"),
        "{errors}"
    );
}

#[test]
fn a_stopped_program_is_done_and_its_ranking_shown() {
    let lab = Lab::new();
    let (output, errors) = lab.run(&["--duration", "8s", "--fixed-speedup", "50%"], "forever");
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(
        errors.contains("the program was stopped; recorded in "),
        "{errors}"
    );
    assert!(
        errors.contains("work, throughput") || errors.contains("work · throughput"),
        "{errors}"
    );
    assert!(errors.contains("program.cpp:"), "{errors}");
}

/// One sentence says why there is nothing; guesses would contradict it.
#[test]
fn a_run_without_a_result_says_why_once() {
    let lab = Lab::new();
    for (line, answer) in [
        (["--fixed-line", "program.cpp:1"], "no code is there"),
        (["--progress", "elsewhere.c:1"], "has code from that file"),
    ] {
        let (output, errors) = lab.run(&line, "0");
        assert_eq!(output.status.code(), Some(4), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(answer), "{errors}");
        assert!(output.stdout.is_empty(), "the program has begun");
    }
    let (_, errors) = lab.run(&["--end-to-end", "--runs", "1"], "0");
    assert!(
        errors.contains("There was no experiment: the first run"),
        "{errors}"
    );
    assert!(!errors.contains("The recording holds"), "{errors}");
}

/// Sends a signal to one process, or with a minus sign to its group.
fn kill(signal: &str, whom: &str) {
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -s {signal} -- {whom}")])
        .status();
    assert!(sent.expect("sh").success());
}

/// Waits until the program runs, sends the signal, and gives the exit status, the program's output and the errors.
fn interrupted(mut child: Child, signal: &str, group: bool) -> (Option<i32>, String, String) {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("its first line");
    assert_eq!(line, "ready\n");
    let id = child.id();
    kill(
        signal,
        &if group {
            format!("-{id}")
        } else {
            id.to_string()
        },
    );
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    let ended = child.wait_with_output().expect("it ends");
    (
        ended.status.code(),
        rest,
        String::from_utf8_lossy(&ended.stderr).into_owned(),
    )
}

#[test]
fn ctrl_c_is_the_programs_own_and_the_result_is_still_written() {
    let lab = Lab::new();
    let (code, rest, errors) = interrupted(lab.start(&[], "forever"), "INT", true);
    assert_eq!((code, rest.as_str()), (Some(7), "done\n"), "{errors}");
    assert!(errors.contains("exit status 7; recorded in "), "{errors}");
}

#[test]
fn a_request_to_end_stops_the_program_and_keeps_the_result() {
    let lab = Lab::new();
    let (code, _, errors) = interrupted(lab.start(&[], "forever"), "TERM", false);
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        errors.contains("the program was stopped; recorded in "),
        "{errors}"
    );
}

#[test]
fn a_program_without_debug_information_says_what_to_do() {
    let lab = Lab::new();
    let stripped = lab.folder.path().join("stripped");
    let done = Command::new("objcopy")
        .args(["--strip-debug", &lab.program])
        .arg(&stripped)
        .status();
    assert!(done.expect("objcopy").success());
    let stripped = stripped.to_str().expect("UTF-8");
    let workspace = lab.folder.path().to_str().expect("UTF-8");
    check_bad(
        &["run", "-q", "-w", workspace, "--", stripped, "0"],
        4,
        "compile with -g",
    );
}

/// The engine dies as by a crash; the program goes on to its end, and what it recorded is there for everybody.
#[test]
fn a_killed_engine_leaves_the_program_running_and_the_run_readable() {
    let lab = Lab::new();
    let mut engine = lab.start(&["--stdio", "files"], "long");
    let runs = lab.folder.path().join(".fulcrum/runs");
    let run = until("a run", || std::fs::read_dir(&runs).ok()?.next()?.ok());
    let recorded = || {
        let files = std::fs::read_dir(run.path()).ok()?;
        let stream = files
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|it| it == "jsonl"))?;
        std::fs::read_to_string(stream).ok()
    };
    until("two experiments", || {
        recorded().filter(|text| text.matches("\"experiment\"").count() >= 2)
    });
    engine.kill().expect("SIGKILL");
    engine.wait().expect("it ends");

    let at_the_kill = recorded().expect("records");
    until("the last record", || {
        recorded().filter(|text| text.contains("\"reason\":\"engine-gone\""))
    });
    assert!(recorded().expect("records").starts_with(&at_the_kill));
    std::fs::write(format!("{}.end", lab.program), "").expect("a file");
    let output = run.path().join("stdout.txt");
    until("all output", || {
        std::fs::read_to_string(&output)
            .ok()
            .filter(|text| text == "ready\ndone\n")
    });

    let folder = run.path();
    let folder = folder.to_str().expect("UTF-8");
    assert_eq!(json(&["runs", "show", folder, "--json"])["ended"], "lost");
    let shown = fulcrum(&["causal", "show", folder])
        .output()
        .expect("it runs");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("work · throughput") || shown.contains("work - throughput"),
        "{shown}"
    );
}

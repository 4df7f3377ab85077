//! Unusual programs behave the same with and without the library: same output, same exit status, same signal.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};

use fulcrum_test_support::engine_folder;
use fulcrum_test_support::programs::Recipe;

use crate::support::{Engine, Lab, Settings};

/// Output, errors, exit code and signal.
type Behaviour = (String, String, Option<i32>, Option<i32>);

fn behaviour(mut command: Command) -> Behaviour {
    let output = command.stdin(Stdio::null()).process_group(0).output();
    let output = output.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status;
    (
        text(&output.stdout),
        text(&output.stderr),
        status.code(),
        status.signal(),
    )
}

/// Runs every part of the causal runtime's `harmless.cpp` with and without the library.
fn check(parts: &[&str]) {
    let source = engine_folder().join("crates/recorder/tests/programs/harmless.cpp");
    let include = engine_folder().join("include");
    let words =
        ["g++", "-O1", "-pthread", "-w", "-g", "-std=c++20", "-I"].map(std::ffi::OsStr::new);
    let rest = ["-o", "harmless", "-ldl"].map(std::ffi::OsStr::new);
    let paths = [include.as_os_str(), source.as_os_str()];
    let built = Recipe::new("harmless")
        .reads(&source)
        .reads(include.join("fulcrum.h"))
        .command(words.into_iter().chain(paths).chain(rest))
        .build();
    let lab = Lab::of(built.join("harmless"));
    let _engine = Engine::start(lab.session(), Settings::default());
    let mut different = Vec::new();
    for part in parts {
        let mut command = Command::new(&lab.program);
        command.arg(part);
        let alone = behaviour(command);
        let found = behaviour(lab.command(&[part]));
        if found != alone {
            different.push(format!("{part}:\n{found:#?}\nalone:\n{alone:#?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

#[test]
fn signals() {
    check(&[
        "every-signal",
        "alternate-stack",
        "queued",
        "masks",
        "waits",
        "own-timers",
        "raises",
        "dies-of-sigprof",
        "sigprof-ends-read",
        "not-interrupted",
        "interrupted-by-own",
        "whole-writes",
        "writes-cut-by-own",
    ]);
}

#[test]
fn faults() {
    check(&["faults", "aborts", "terminates", "terminated"]);
}

#[test]
fn processes() {
    check(&["forks", "programs", "inherited-signals"]);
    check(&[
        "become-execl",
        "become-execlp",
        "become-execle",
        "become-fexecve",
        "become-execveat",
        "become-raw",
    ]);
}

#[test]
fn descriptors_threads_and_the_rest() {
    check(&[
        "descriptors",
        "short-threads",
        "cancellation",
        "exceptions",
        "libraries",
        "limits",
        "full-queue",
        "clocks",
    ]);
}

#[test]
fn ways_out() {
    check(&[
        "leave-return",
        "leave-exit",
        "leave-_exit",
        "leave-_Exit",
        "leave-quick_exit",
        "leave-exit_group",
        "leave-child",
        "leave-main",
        "leave-last",
        "leave-raw-last",
        "leave-in-handler",
    ]);
}

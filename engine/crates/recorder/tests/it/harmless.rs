//! Awkward programs do under Fulcrum what they do alone: same output, same exit status, same signal.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Lab, run};
use fulcrum_recorder::{Exit, Options, Sampler};

/// Output, errors, and how the program ended.
type Behaviour = (String, String, Exit);

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

fn alone(lab: &Lab, part: &str) -> Behaviour {
    let folder = tempfile::tempdir().unwrap();
    let [out, err] = ["stdout.txt", "stderr.txt"].map(|name| folder.path().join(name));
    let status = Command::new(&lab.program)
        .arg(part)
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .process_group(0)
        .status()
        .unwrap();
    let exit = status
        .signal()
        .map_or_else(|| Exit::Code(status.code().unwrap()), Exit::Signal);
    (text(&out), text(&err), exit)
}

fn under_fulcrum(lab: &Lab, part: &str, sampler: Sampler) -> Behaviour {
    let options = Options {
        sampler,
        duration: None,
        ..lab.options(&[part], 0.0)
    };
    let recorded = run(&options).unwrap();
    let file = |name: &str| text(&recorded.run.join(name));
    (file("stdout.txt"), file("stderr.txt"), recorded.exit)
}

/// Runs every part of `harmless.cpp` alone, under perf's samples where they are allowed, and under the CPU timer's.
fn check(parts: &[&str]) {
    let lab = Lab::build("harmless.cpp", &["-g", "-std=c++20"]);
    let mut different = Vec::new();
    for part in parts {
        let expected = alone(&lab, part);
        assert!(
            !expected.0.is_empty() || expected.2 != Exit::Code(42),
            "{part} shows nothing by itself"
        );
        for sampler in [Sampler::Auto, Sampler::Timer] {
            let found = under_fulcrum(&lab, part, sampler);
            if found != expected {
                different.push(format!(
                    "{part} ({sampler:?}):\n{found:#?}\nalone:\n{expected:#?}"
                ));
            }
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
    ]);
}

#[test]
fn every_way_to_send_a_signal() {
    check(&["sends", "masked-waits", "pending", "signal-descriptor"]);
}

#[test]
fn interrupted_calls() {
    check(&[
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
fn descriptors() {
    check(&["descriptors"]);
}

#[test]
fn threads() {
    check(&["short-threads", "cancellation", "exceptions"]);
}

#[test]
fn the_rest() {
    check(&[
        "libraries",
        "limits",
        "full-queue",
        "clocks",
        "timer-slack",
        "scheduling",
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

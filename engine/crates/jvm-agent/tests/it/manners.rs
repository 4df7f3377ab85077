//! A program with the agent does what it does without it, and its log is usable however it ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{Program, balanced_calls, jdks, text};
use fulcrum_events::{End, What};
use fulcrum_test_support::wait::until;

const ALL: &str = "observe_method_invocations\nobserve_monitor_contention\nobserve_class_loading\n";

#[test]
fn output_and_status_are_the_programs_own() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Manners");
    for how in ["exit-in-handler", "uncaught", "overflow", "daemon", "halt"] {
        let alone = program.alone(jdk).args(["Manners", how]).output().unwrap();
        let traced = program.run_traced(jdk, ALL, &[how]);
        let told =
            |it: &std::process::Output| (text(&it.stdout), text(&it.stderr), it.status.code());
        assert_eq!(told(&traced), told(&alone), "{how}");
        let trace = program.trace();
        assert_eq!(trace.notes, Vec::<String>::new(), "{how}");
        assert_eq!(trace.end, End::Ended, "{how}");
    }
}

/// Starts a program that runs until it is stopped, and waits until it works.
fn start(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    (child, output)
}

fn signal(child: &Child, signal: &str) {
    let kill = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
}

#[test]
fn a_signal_ends_it_as_it_does_alone() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Manners");
    let end = |mut command: Command| {
        let (mut child, output) = start(command.args(["Manners", "wait"]));
        // Not an interrupt, which processes in the background ignore, and their children with them.
        signal(&child, "-TERM");
        let rest: Vec<_> = output.lines().map(Result::unwrap).collect();
        (rest, child.wait().unwrap().code())
    };
    let alone = end(program.alone(jdk));
    assert_eq!(alone, (vec!["interrupted".to_owned()], Some(143)));
    assert_eq!(end(program.traced(jdk, ALL, 1 << 30)), alone);
    assert_eq!(program.trace().end, End::Ended);
}

#[test]
fn a_killed_program_leaves_every_whole_chunk() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Manners");
    for events in [0, 1 << 12, 1 << 16] {
        let (mut child, _output) =
            start(program.traced(jdk, ALL, 1 << 30).args(["Manners", "work"]));
        until("events", || (program.written() > events).then_some(()));
        signal(&child, "-KILL");
        child.wait().unwrap();
        let trace = program.trace();
        assert_eq!((trace.end, &trace.notes), (End::Open, &Vec::new()));
        let main = trace.threads.iter().find(|it| it.name == "main").unwrap();
        let mut events = trace.thread_events(main.id);
        let (mut deep, mut calls) = (0_i64, 0);
        for event in events.by_ref() {
            match event.what {
                What::Enter { .. } => (deep, calls) = (deep + 1, calls + 1),
                What::Exit { .. } => deep -= 1,
                _ => {}
            }
            assert!((0..=40).contains(&deep));
        }
        assert_eq!(events.problems(), Vec::<String>::new());
        assert!(calls > 21, "{calls}");
    }
}

#[test]
fn a_full_log_ends_and_the_program_goes_on() {
    let jdk = &jdks()[0];
    let program = Program::new(jdk, "Manners");
    let (mut child, _output) = start(program.traced(jdk, ALL, 1 << 20).args(["Manners", "work"]));
    until("a full log", || {
        matches!(program.trace().end, End::Full { .. }).then_some(())
    });
    assert_eq!(child.try_wait().unwrap(), None);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let trace = program.trace();
    assert!(
        matches!(trace.end, End::Full { dropped: 1.., .. }),
        "{:?}",
        trace.end
    );
    let log = std::fs::read_dir(program.run())
        .unwrap()
        .flatten()
        .find(|it| it.path().extension().is_some_and(|it| it == "log"));
    assert!(log.unwrap().metadata().unwrap().len() <= 1 << 20);
}

/// What compilers of all times write: jumps, handlers, monitors, constructors, switches, recursion.
#[test]
fn torture_is_balanced_on_every_jdk() {
    for jdk in jdks() {
        let program = Program::at(jdk, Path::new("../jvm-core/tests/java/Torture.java"));
        let alone = program.alone(jdk).arg("Torture").output().unwrap();
        let traced = program.run_traced(jdk, ALL, &[]);
        assert_eq!(
            (text(&traced.stdout), text(&traced.stderr)),
            (text(&alone.stdout), text(&alone.stderr))
        );
        assert_eq!(traced.status.code(), alone.status.code());
        let calls = balanced_calls(&program.trace());
        assert_eq!(calls["Torture.recursive"], 1973 + 177 + 287 + 465 + 753);
    }
}

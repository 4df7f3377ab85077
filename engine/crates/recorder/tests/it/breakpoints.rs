//! Breakpoint progress points: a program counts its own visits to a line, and so do we, without a change of it.

use std::fs::{self, File};
use std::mem::offset_of;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::support::{Lab, recording, run, run_for, says};
use fulcrum_model::causal::Count;
use fulcrum_recorder::{Counting, Error, Exit, Options, Recorded, Remote, Stdio, record};
use fulcrum_wire::Process;

/// The `.proc` file of the only process, kept open: the runtime's last word is in it after the run has ended.
fn block(run: &Path) -> Option<File> {
    let entries = fs::read_dir(run).ok()?;
    let path = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "proc"))?;
    File::open(path).ok()
}

/// Records and gives the visits that the runtime counted, and those that the program says it made.
fn visits(lab: &Lab, line: &str, counting: Counting, rounds: &str) -> (Recorded, u64, u64) {
    let options = Options {
        progress: vec![line.into()],
        counting,
        stdio: Stdio::Files,
        ..lab.options(&[rounds], 300.0)
    };
    let mut process = None;
    let recorded = record(&options, &Remote::default(), &mut |progress| {
        process = process.take().or_else(|| block(&progress.run));
    })
    .expect("it is recorded");
    let mut word = [0; 8];
    process
        .expect("the process was seen")
        .read_exact_at(&mut word, offset_of!(Process, visits) as u64)
        .expect("its visits");
    let counted = u64::from_ne_bytes(word);
    assert_eq!(recorded.exit, Exit::Code(7), "{:?}", recorded.notes);
    let said = fs::read_to_string(recorded.run.join("stdout.txt")).expect("its output");
    let said = said.trim().parse().expect("a number");
    (recorded, counted, said)
}

fn note(recorded: &Recorded) -> &str {
    let about = |note: &&String| note.starts_with("Visits to ");
    recorded.notes.iter().find(about).expect("a note")
}

/// `None` where this machine does not allow the mechanism; the test then says so.
fn check(flags: &[&str], counting: Counting, words: &str, rounds: &str) {
    let lab = Lab::build("visits.c", flags);
    let (recorded, counted, said) = visits(&lab, LINE, counting, rounds);
    let note = note(&recorded);
    if note.contains("are not counted") && counting != Counting::Auto {
        eprintln!("{counting:?} is not allowed on this machine: {note}");
        return;
    }
    assert!(note.contains(words), "{flags:?} {counting:?}: {note}");
    assert_eq!(counted, said, "{flags:?} {counting:?}: {note}");
    let points: Vec<String> = recording(&recorded)
        .experiments
        .iter()
        .flat_map(|it| it.points.iter().map(|point| point.name.clone()))
        .collect();
    assert!(points.iter().all(|name| name == LINE));
}

const LINE: &str = "visits.c:12";
const JUMP: &str = "by a jump to a counter";

#[test]
fn a_jump_counts_every_visit_in_every_kind_of_build() {
    std::thread::scope(|scope| {
        for flags in [
            &["-g", "-O0"][..],
            &["-g", "-O2"],
            &["-g", "-O2", "-no-pie"],
            &["-g", "-O3", "-fcf-protection=none"],
        ] {
            scope.spawn(|| check(flags, Counting::Auto, JUMP, "2000000"));
        }
    });
}

#[test]
fn events_of_the_kernel_count_every_visit() {
    std::thread::scope(|scope| {
        scope.spawn(|| check(&["-g", "-O2"], Counting::Uprobe, "by a uprobe", "60000"));
        scope.spawn(|| {
            let words = "by a hardware breakpoint";
            check(&["-g", "-O2"], Counting::Hardware, words, "20000");
        });
    });
}

#[test]
fn exceptions_pass_a_displaced_call() {
    for flags in [&["-g", "-O2"][..], &["-g", "-O0"]] {
        let lab = Lab::build("thrown.cpp", flags);
        let (recorded, counted, said) = visits(&lab, "thrown.cpp:13", Counting::Auto, "100000");
        assert!(note(&recorded).contains(JUMP), "{}", note(&recorded));
        assert_eq!((counted, said), (100_000, 100_000), "{flags:?}");
    }
}

/// Where nothing can be put into the program, samples in the line still give a rate.
#[test]
fn samples_stand_for_visits_when_asked_to() {
    let lab = Lab::build("visits.c", &["-g", "-O2"]);
    let options = Options {
        progress: vec!["visits.c:11".into()],
        counting: Counting::Sampled,
        ..lab.options(&["100000000"], 0.0)
    };
    let recorded = run_for(options, 4);
    assert_eq!(recorded.exit, Exit::Stopped);
    let note = note(&recorded);
    assert!(note.contains("by the samples in the line"), "{note}");
    let recording = recording(&recorded);
    let visited = |it: &&fulcrum_model::causal::Experiment| matches!(it.points.first().map(|it| &it.count), Some(Count::Throughput { delta }) if *delta > 10);
    let visited = recording.experiments.iter().filter(visited).count();
    assert!(visited >= 2, "{:?}", recording.experiments);
}

#[test]
fn a_line_without_code_is_refused_before_the_run() {
    let lab = Lab::build("visits.c", &["-g", "-O0"]);
    let refusal = |line: &str| {
        let options = Options {
            progress: vec![line.into()],
            ..lab.options(&["1"], 4.0)
        };
        match run(&options) {
            Err(Error::CannotStart(why)) => why,
            other => panic!("{line}: {other:?}"),
        }
    };
    assert_eq!(
        refusal("visits.c:6"),
        "--progress visits.c:6: visits.c:6 has no code of its own; the nearest line with code is 10"
    );
    assert_eq!(
        refusal("visits.c:33"),
        "--progress visits.c:33: visits.c:33 has no code of its own; the nearest lines with code are 32 and 34"
    );
    assert!(refusal("visits.c").contains("--progress visits.c: "));
    // Our own runtime, which has no such file either, is not mentioned.
    assert_eq!(
        refusal("elsewhere.c:3"),
        "--progress elsewhere.c:3: neither the program nor a library that it is linked to has code from that file; \
         check its path, and that it was compiled with -g"
    );
    let written = fs::read_dir(lab.program.with_file_name(".fulcrum/runs"));
    let left = written.map_or(0, Iterator::count);
    assert_eq!(left, 0, "a run that did not begin leaves nothing");
}

/// A launcher does not have the line: what it starts may.
#[test]
fn a_file_of_no_program_is_told_at_the_end_when_a_launcher_was_given() {
    let lab = Lab::build("visits.c", &["-g", "-O0"]);
    let launch = |line: &str| {
        let program = lab.program.to_string_lossy().into_owned();
        let options = Options {
            program: "env".into(),
            progress: vec![line.into()],
            ..lab.options(&[&program, "1"], 4.0)
        };
        run(&options).expect("it runs")
    };
    let recorded = launch("elsewhere.c:3");
    assert_eq!(recorded.exit, Exit::Code(7));
    assert!(
        says(
            &recorded,
            "Visits to elsewhere.c:3 are not counted: neither the program nor"
        ),
        "{:?}",
        recorded.notes
    );
    let recorded = launch(LINE);
    assert!(!says(&recorded, "are not counted"), "{:?}", recorded.notes);
}

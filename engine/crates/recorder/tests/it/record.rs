//! Programs recorded for real: what the runtime does to them, and what it writes.

use std::collections::BTreeMap;

use crate::support::{Counters, Lab, PATIENCE, marked, recording, run, run_for, run_until, says};
use fulcrum_model::causal::{Count, Experiment, Recording};
use fulcrum_recorder::{Aim, Error, Exit, Options, Remote, Sampler, record};

const PERIOD_NS: f64 = 1.5e6;

fn lines(recording: &Recording) -> BTreeMap<u32, u64> {
    recording
        .samples
        .iter()
        .map(|(at, count)| (at.location.line, *count))
        .collect()
}

fn delta(experiment: &Experiment, point: &str) -> u64 {
    let visits = experiment
        .points
        .iter()
        .find(|it| it.name == point)
        .unwrap();
    match visits.count {
        Count::Throughput { delta } => delta,
        Count::Latency { departures, .. } => departures,
    }
}

/// A visit holds seven samples of one line for every three of the other. (How near the shares come to that is a campaign.)
#[test]
fn the_line_with_more_of_the_work_has_more_of_the_samples() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    for sampler in [Sampler::Auto, Sampler::Timer] {
        let options = Options {
            sampler,
            fixed_line: Some("shares.cpp:10".into()),
            ..lab.options(&[], 0.0)
        };
        let recorded = run_for(options, 3);
        assert_eq!(recorded.exit, Exit::Stopped);
        let recording = recording(&recorded);
        let samples = lines(&recording);
        // Now and then one falls in the loop around them.
        let elsewhere: u64 = samples.values().sum::<u64>() - samples[&10] - samples[&14];
        assert!(
            samples[&10] > samples[&14] && samples[&14] > elsewhere,
            "{samples:?}"
        );
        let of = &recording.experiments;
        assert!(of.iter().all(|it| it.selected.location.line == 10));
        assert!(of.iter().map(|it| delta(it, "round")).sum::<u64>() > 0);
    }
}

/// If a thread's first sample came after a whole period, these would have none.
#[test]
fn threads_that_live_for_less_than_a_period_have_samples_for_their_time() {
    const THREADS: u64 = 500;
    let lab = Lab::build("brief.c", &["-g", "-pthread"]);
    let arguments = [&*THREADS.to_string()];
    let recorded = run(&lab.options(&arguments, PATIENCE.as_secs_f64())).unwrap();
    let samples = lines(&recording(&recorded));
    let work = samples.get(&marked("brief.c", "work")).copied();
    let expected = THREADS * 600_000 / PERIOD_NS as u64;
    assert!(
        work.is_some_and(|it| it > expected / 2),
        "{expected} expected: {samples:?}"
    );
}

/// The delay that an experiment inserts is what its samples earned.
#[test]
fn samples_in_the_line_earn_delay_in_proportion_to_the_speedup() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let recorded = run_for(lab.options(&[], 0.0), 5);
    let text = std::fs::read_dir(&recorded.run)
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .unwrap();
    let records: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let experiments: Vec<_> = records
        .iter()
        .filter(|it| it["type"] == "experiment" || it["type"] == "placebo")
        .collect();
    assert!(experiments.len() >= 4, "{}", experiments.len());
    for experiment in experiments {
        let number = |key: &str| experiment[key].as_f64().unwrap();
        let delay = number("wall") - number("duration");
        let earned = number("selected_samples") * PERIOD_NS * number("speedup");
        // A sample may be on its way when the experiment ends.
        assert!((delay - earned).abs() <= 2.0 * PERIOD_NS, "{experiment}");
    }
    assert_eq!(records[0]["type"], "header");
    assert_eq!(
        records[0]["levels"],
        serde_json::json!([0.25, 0.5, 0.75, 1])
    );
    assert_eq!(records.last().unwrap()["type"], "end");
}

#[test]
fn a_fixed_line_without_samples_is_named() {
    let lab = Lab::build("pair.cpp", &["-g"]);
    let once = marked("pair.cpp", "once");
    let options = Options {
        // A line with code that runs once.
        fixed_line: Some(format!("pair.cpp:{once}")),
        ..lab.options(&[], 4.0)
    };
    let recorded = run(&options).unwrap();
    let named = |note: &String| note.contains(&format!("hardly a sample fell in pair.cpp:{once}"));
    assert!(recorded.notes.iter().any(named), "{:?}", recorded.notes);
}

#[test]
fn a_fixed_line_without_code_is_refused_before_the_run() {
    let lab = Lab::build("fails.c", &["-g", "-O0"]);
    let counter = lab.program.with_extension("runs");
    let refusal = |line: &str| {
        let options = Options {
            fixed_line: Some(line.into()),
            ..lab.options(&[counter.to_str().unwrap()], 4.0)
        };
        match run(&options) {
            Err(Error::CannotStart(why)) => why,
            other => panic!("{line}: {other:?}"),
        }
    };
    for (line, why) in [
        (
            "fails.c:1",
            "no code is there; the nearest line with code is 7",
        ),
        (
            "fails.c:8",
            "no code is there; the nearest lines with code are 7 and 9",
        ),
        (
            "elsewhere.c:3",
            "no code in scope is from that file; check its path, that it was compiled with -g, and --source-scope and \
             --binary-scope",
        ),
        (
            "somewhere",
            "it is neither FILE:LINE nor a target as a result names it; write FILE:LINE",
        ),
    ] {
        assert_eq!(refusal(line), format!("--fixed-line {line}: {why}"));
    }
    assert!(!counter.exists(), "the program has begun");
}

/// While the first thread's line is sped up fully, the second stands still at least as long as the first runs. It adds up
/// itself how long.
#[test]
fn other_threads_pause_while_the_line_runs() {
    let lab = Lab::build("pair.cpp", &["-g"]);
    let counters = Counters::new(&lab);
    let options = Options {
        fixed_line: Some(format!("pair.cpp:{}", marked("pair.cpp", "first"))),
        fixed_speedup: Some(1.0),
        ..lab.options(&[counters.path()], 0.0)
    };
    // A thread that waits for a processor when the program is ended has not yet paid for the last experiment.
    let earned = |recording: &Recording| -> f64 {
        let earned = |it: &Experiment| it.selected_samples as f64 * PERIOD_NS * it.speedup;
        let paid = recording.experiments.split_last();
        paid.map_or(0.0, |(_, paid)| paid.iter().map(earned).sum())
    };
    let enough = 100.0 * PERIOD_NS;
    let recording = run_until(options, |it| earned(it) > enough);
    assert!(earned(&recording) > enough, "{recording:?}");
    let (paused, pauses) = (counters.get(0) as f64, counters.get(1));
    assert!(
        paused > 0.98 * earned(&recording),
        "{pauses} pauses of {paused} ns together, {} ns earned",
        earned(&recording)
    );
}

/// In a placebo, the thread that runs the line pauses for what it has earned as all others do; while the line is sped up
/// it never does.
#[test]
fn in_a_placebo_the_thread_that_runs_the_line_pauses_too() {
    let lab = Lab::build("pair.cpp", &["-g"]);
    let measured = |no_placebo| {
        let counters = Counters::new(&lab);
        let options = Options {
            fixed_line: Some(format!("pair.cpp:{}", marked("pair.cpp", "second"))),
            fixed_speedup: Some(1.0),
            no_placebo,
            ..lab.options(&[counters.path()], 0.0)
        };
        let earned = |recording: &Recording| -> f64 {
            let placebos = recording.experiments.iter().filter(|it| it.placebo);
            placebos
                .map(|it| it.selected_samples as f64 * PERIOD_NS)
                .sum()
        };
        // Without placebos: until the line was sped up for as long.
        let enough = |it: &Recording| {
            let sped_up = it.experiments.iter().filter(|it| it.speedup > 0.0);
            let hits: u64 = sped_up.map(|it| it.selected_samples).sum();
            hits > 100 && (no_placebo || earned(it) > 100.0 * PERIOD_NS)
        };
        let recording = run_until(options, enough);
        assert!(enough(&recording), "{recording:?}");
        let others_paused = |it: &Experiment| it.speedup > 0.0 && it.pauses > Some(0);
        assert!(
            recording.experiments.iter().any(others_paused),
            "{:?}",
            recording.experiments
        );
        (counters.get(0) as f64, counters.get(1), earned(&recording))
    };
    let (paused, _, earned) = measured(false);
    assert!(paused > 0.98 * earned, "{paused} ns of {earned}");
    let (_, pauses, earned) = measured(true);
    assert_eq!(earned, 0.0);
    assert!(pauses < 25, "{pauses} pauses, with more than 100 hits");
}

#[test]
fn programs_built_for_coz_need_no_rebuilding() {
    let mut flags = vec![vec!["-g"]];
    if std::path::Path::new("/usr/include/coz.h").exists() {
        flags.push(vec!["-g", "-DDEBIAN"]);
    }
    for flags in flags {
        let lab = Lab::build("cozy.c", &flags);
        let recording = recording(&run_for(lab.options(&[], 0.0), 2));
        assert!(!recording.experiments.is_empty(), "{flags:?}");
        for experiment in &recording.experiments {
            let (done, ended) = (delta(experiment, "done"), delta(experiment, "request"));
            assert!(
                done > 0 && done.abs_diff(ended) <= 1,
                "{flags:?}: {experiment:?}"
            );
        }
    }
}

#[test]
fn awkward_programs_behave_as_they_do_alone() {
    let lab = Lab::build("awkward.cpp", &["-g"]);
    for (ending, exit) in [
        ("return", Exit::Code(42)),
        ("abort", Exit::Signal(libc::SIGABRT)),
        ("fault", Exit::Signal(libc::SIGSEGV)),
        ("terminate", Exit::Signal(libc::SIGTERM)),
        ("quick", Exit::Code(4)),
        ("now", Exit::Code(8)),
        ("execute", Exit::Code(9)),
    ] {
        let alone = std::process::Command::new(&lab.program)
            .arg(ending)
            .output()
            .unwrap();
        for sampler in [Sampler::Auto, Sampler::Timer] {
            let options = Options {
                sampler,
                duration: None,
                ..lab.options(&[ending], 0.0)
            };
            let recorded = run(&options).unwrap();
            let output = std::fs::read(recorded.run.join("stdout.txt")).unwrap();
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(shown(&output), shown(&alone.stdout), "{ending} {sampler:?}");
            assert_eq!(recorded.exit, exit, "{ending} {sampler:?}");
        }
    }
}

/// Whole records before the kill stay, and the engine adds the samples that only shared memory knew.
#[test]
fn a_killed_program_leaves_a_readable_run() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let cancel = Remote::default();
    let mut killed = false;
    let mut kill = |progress: &fulcrum_recorder::RunStatus| {
        // Once: it is gone when there is another report of it.
        if progress.experiments >= 2 && !std::mem::replace(&mut killed, true) {
            let program = lab.program.to_string_lossy().into_owned();
            let status = std::process::Command::new("pkill")
                .args(["-KILL", "-f", &program])
                .status();
            assert!(status.unwrap().success());
        }
    };
    let options = Options {
        duration: None,
        ..lab.options(&[], 0.0)
    };

    let recorded = record(&options, &cancel, &mut kill).unwrap();
    assert_eq!(recorded.exit, Exit::Signal(libc::SIGKILL));
    let recording = recording(&recorded);
    assert!(recording.experiments.len() >= 2);
    assert!(lines(&recording)[&10] > 0);
    assert!(recording.runtime_ns > 0);
}

#[test]
fn cancelling_stops_the_program_and_keeps_the_run() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let cancel = Remote::default();
    let options = Options {
        duration: None,
        ..lab.options(&[], 0.0)
    };
    let recorded = record(&options, &cancel, &mut |progress| {
        if progress.experiments >= 2 {
            cancel.cancel();
        }
    })
    .unwrap();
    assert_eq!(recorded.exit, Exit::Stopped);
    assert!(recording(&recorded).experiments.len() >= 2);
    let left: Vec<_> = std::fs::read_dir(&recorded.run)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert!(left.iter().any(|name| name == "sources"), "{left:?}");
    assert!(!left.iter().any(|name| name == "session.ctl"), "{left:?}");
}

#[test]
fn a_wrapper_is_passed_through() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let program = lab.program.to_string_lossy().into_owned();
    let options = Options {
        program: "env".into(),
        ..lab.options(&["A=1", "sh", "-c", &program], 0.0)
    };
    let recorded = run_for(options, 1);
    assert_eq!(recorded.notes, Vec::<String>::new());
    assert!(!recording(&recorded).experiments.is_empty());
}

#[test]
fn an_empty_result_says_why() {
    let cases: [(&str, &[&str], &[&str], &str); 3] = [
        ("idle.c", &[], &[], "No progress point was visited"),
        // Three rounds take milliseconds.
        ("shares.cpp", &["3"], &[], "too short for an experiment"),
        (
            "shares.cpp",
            &[],
            &["%/elsewhere/%"],
            "widen --source-scope",
        ),
    ];
    for (source, arguments, scope, why) in cases {
        let lab = Lab::build(source, &["-g"]);
        let source_scope = scope.iter().map(|it| (*it).to_owned()).collect();
        let recorded = run(&Options {
            aim: Aim {
                source_scope,
                ..Aim::default()
            },
            ..lab.options(arguments, 2.0)
        })
        .unwrap();
        assert!(recording(&recorded).experiments.is_empty());
        assert!(says(&recorded, why), "{:?}", recorded.notes);
    }
}

#[test]
fn a_program_that_cannot_be_profiled_is_refused_before_it_starts() {
    let lab = Lab::build("idle.c", &["-g"]);
    let bare = Lab::build("idle.c", &["-g0"]);
    let fixed = Lab::build("idle.c", &["-g", "-static"]);
    let text = lab.program.with_file_name("notes.txt");
    std::fs::write(&text, "not a program").unwrap();
    let folder = lab.program.parent().unwrap().to_path_buf();
    let cases = [
        (lab.program.with_file_name("missing"), "no such file"),
        (text, "not executable"),
        (folder.clone(), "folder"),
        (
            bare.program.clone(),
            "has no debug information: compile with -g",
        ),
        (fixed.program.clone(), "linked statically"),
        ("no-such-program-anywhere".into(), "not in PATH"),
    ];
    for (program, why) in cases {
        let options = Options {
            program: program.clone().into(),
            ..lab.options(&[], 1.0)
        };
        let Err(Error::CannotStart(sentence)) = run(&options) else {
            panic!("{program:?} was started")
        };
        assert!(sentence.contains(why), "{sentence}");
        assert!(
            !folder.join(".fulcrum/runs").exists(),
            "a run was left behind for {program:?}"
        );
    }
}

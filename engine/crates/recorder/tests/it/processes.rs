//! More than one process, and runs that are steered while they go.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::support::{Lab, PATIENCE, recording, run, samples, says};
use fulcrum_model::TargetKind;
use fulcrum_recorder::{
    Aim, EndToEnd, Error, Exit, Options, Recorded, Remote, RunStatus, TargetChoice, record,
};
use serde_json::Value;

fn calls() -> Lab {
    Lab::build("calls.cpp", &["-g", "-O2"])
}

/// Every record of every stream, with the stream's name.
fn records(run: &Path) -> Vec<(String, Value)> {
    let mut streams: Vec<_> = std::fs::read_dir(run)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    streams.sort_by_key(|it| it.file_stem().map(ToOwned::to_owned));
    let mut all = Vec::new();
    for stream in streams {
        let name = stream.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&stream).unwrap().lines() {
            all.push((name.clone(), serde_json::from_str(line).unwrap()));
        }
    }
    all
}

fn reasons(run: &Path) -> Vec<(String, String)> {
    let ends = records(run)
        .into_iter()
        .filter(|(_, it)| it["type"] == "end");
    ends.map(|(name, it)| (name, it["reason"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn forked_children_are_profiled_each_with_records_of_its_own() {
    let lab = calls();
    let options = Options {
        duration: None,
        ..lab.options(&["forks=2", "rounds=500"], 0.0)
    };
    let recorded = run(&options).unwrap();
    assert_eq!(recorded.exit, Exit::Code(7));
    let mut experiments = BTreeSet::new();
    for (stream, record) in records(&recorded.run) {
        if record["type"] == "experiment" || record["type"] == "placebo" {
            experiments.insert(stream);
        }
    }
    assert_eq!(experiments.len(), 2, "{experiments:?}");
    // Children that leave by `_exit` have written their last records too.
    for (stream, reason) in reasons(&recorded.run) {
        assert_eq!(reason, "exit", "{stream}");
    }
}

#[test]
fn children_that_are_too_short_for_records_are_told() {
    let lab = Lab::build("brief.c", &["-g", "-pthread"]);
    let recorded = run(&lab.options(&["50", "processes"], PATIENCE.as_secs_f64())).unwrap();
    assert_eq!(recorded.exit, Exit::Code(0));
    let told = "processes that the program forked ended within half a second and left no records";
    assert!(says(&recorded, told), "{:?}", recorded.notes);
}

/// For as long as it takes.
fn endless(lab: &Lab) -> Options {
    Options {
        duration: None,
        ..lab.options(&[], 0.0)
    }
}

fn steered(options: &Options, mut steer: impl FnMut(&Remote, &RunStatus)) -> Recorded {
    let remote = Remote::default();
    record(options, &remote, &mut |progress| steer(&remote, progress)).unwrap()
}

#[test]
fn another_target_from_the_next_experiment_on() {
    let lab = calls();
    let mut turned = false;
    let recorded = steered(&endless(&lab), |remote, progress| {
        if progress.experiments >= 7 || progress.elapsed > PATIENCE {
            remote.cancel();
        } else if progress.experiments >= 3 && !turned {
            turned = true;
            remote.retarget(Aim {
                target: TargetChoice::Inclusive,
                ..Aim::default()
            });
        }
    });
    let reasons: Vec<String> = reasons(&recorded.run).into_iter().map(|it| it.1).collect();
    assert_eq!(reasons, ["retargeted", "finished"]);
    let recording = recording(&recorded);
    let kinds: Vec<_> = recording
        .experiments
        .iter()
        .map(|it| it.selected.kind)
        .collect();
    let turn = kinds
        .iter()
        .position(|it| *it == TargetKind::Inclusive)
        .unwrap();
    assert!(
        turn >= 3 && kinds[..turn].iter().all(|it| *it == TargetKind::Line),
        "{kinds:?}"
    );
    assert!(
        kinds[turn..].iter().all(|it| *it == TargetKind::Inclusive),
        "{kinds:?}"
    );
    assert!(samples(&recording)["heavy"] > 0);
}

#[test]
fn a_paused_run_makes_no_experiments_until_it_goes_on() {
    let lab = calls();
    // What was recorded when something last was, and when.
    let (mut quiet, mut at_resume) = (None, None);
    let recorded = steered(&endless(&lab), |remote, progress| {
        let RunStatus {
            elapsed,
            experiments,
            ..
        } = *progress;
        match (quiet, at_resume) {
            _ if elapsed > PATIENCE => remote.cancel(),
            (None, _) if experiments >= 2 => {
                remote.pause();
                quiet = Some((experiments, elapsed));
            }
            // The one that was going on may end, and it may take a while until the program sees that it is paused.
            (Some((before, _)), None) if experiments > before => {
                quiet = Some((experiments, elapsed));
            }
            (Some((_, since)), None) if elapsed > since + Duration::from_secs(3) => {
                assert!(progress.paused);
                at_resume = Some(experiments);
                remote.resume();
            }
            (_, Some(then)) if experiments > then => remote.cancel(),
            _ => {}
        }
    });
    let after = at_resume.expect("three seconds without an experiment");
    assert!(recording(&recorded).experiments.len() as u64 > after);
}

#[test]
fn a_program_that_just_finishes_is_run_again_and_again() {
    let lab = calls();
    let options = Options {
        duration: None,
        end_to_end: Some(EndToEnd { runs: Some(9) }),
        no_placebo: true,
        ..lab.options(&["rounds=60"], 0.0)
    };
    let recorded = run(&options).unwrap();
    assert_eq!(recorded.exit, Exit::Code(7));
    let recording = recording(&recorded);
    // The first run only finds out what there is to speed up.
    assert_eq!(recording.experiments.len(), 8);
    for experiment in &recording.experiments {
        assert_eq!(crate::support::visits(experiment, "end-to-end"), 1);
        assert_eq!(crate::support::visits(experiment, "round"), 60);
    }
    // Whole runs of the busiest line are among them.
    assert!(
        recording
            .experiments
            .iter()
            .any(|it| it.selected_samples > 50)
    );
    let levels: BTreeSet<u64> = recording
        .experiments
        .iter()
        .map(|it| (it.speedup * 100.0) as u64)
        .collect();
    assert!(levels.contains(&0) && levels.len() >= 2, "{levels:?}");
}

/// The daemon with these words, without a time limit; experiments on the line that does its work alone.
fn daemon(lab: &Lab, words: &[&str]) -> Options {
    let line = crate::support::marked("daemon.c", "work");
    Options {
        duration: None,
        fixed_line: Some(format!("daemon.c:{line}")),
        ..lab.options(words, 0.0)
    }
}

/// What was started ends at once; what it leaves in the background is the program.
#[test]
fn a_daemon_is_profiled_to_its_end() {
    let lab = Lab::build("daemon.c", &["-g"]);
    let end = lab.program.with_extension("end");
    let options = daemon(&lab, &[end.to_str().unwrap(), "600"]);
    let mut seen = false;
    let recorded = steered(&options, |remote, progress| {
        seen |= progress.background && remote.is_in_background();
    });
    assert_eq!(recorded.exit, Exit::Code(0));
    assert!(seen, "nobody was told that it goes on");
    assert!(end.exists(), "the recording ended before the daemon");
    let experiments = recording(&recorded).experiments;
    assert!(!experiments.is_empty(), "{:?}", recorded.notes);
    assert!(
        crate::support::says(&recorded, "2 processes were profiled: daemon (2)."),
        "{:?}",
        recorded.notes
    );
}

#[test]
fn a_daemon_ends_when_the_recording_is_stopped() {
    let lab = Lab::build("daemon.c", &["-g"]);
    let end = lab.program.with_extension("end");
    let recorded = steered(
        &daemon(&lab, &[end.to_str().unwrap()]),
        |remote, progress| {
            if progress.experiments >= 1 || progress.elapsed > PATIENCE {
                remote.cancel();
            }
        },
    );
    assert_eq!(recorded.exit, Exit::Stopped);
    let experiments = recording(&recorded).experiments;
    assert!(!experiments.is_empty(), "{:?}", recorded.notes);
    // No process of this program is left, and so none of the files that live ones need.
    let left = std::fs::read_dir(&recorded.run).unwrap();
    let mut left = left.map(|it| it.unwrap().path());
    assert!(left.all(|it| it.extension().is_none_or(|it| it != "proc")));
    assert!(!end.exists());
}

/// `make` has no debug information; the programs that it starts have.
#[test]
fn the_tree_below_a_program_of_the_system_is_followed() {
    let lab = calls();
    let rules = lab.program.with_file_name("Makefile");
    let program = lab.program.display();
    std::fs::write(
        &rules,
        format!("all: a b\na b:\n\t{program} rounds=500 || test $$? = 7\nbare:\n\tsh -c true\n"),
    )
    .unwrap();
    let make = |words: &[&str]| {
        let words = [&["-f", rules.to_str().unwrap()], words].concat();
        let options = Options {
            program: "make".into(),
            duration: None,
            ..lab.options(&words, 0.0)
        };
        let recorded = run(&options).unwrap();
        assert_eq!(recorded.exit, Exit::Code(0), "{:?}", recorded.notes);
        recorded
    };
    let recorded = make(&["-j2"]);
    let programs: BTreeSet<String> = records(&recorded.run)
        .into_iter()
        .filter(|(_, it)| it["type"] == "experiment" || it["type"] == "placebo")
        .map(|(stream, _)| stream)
        .collect();
    assert_eq!(programs.len(), 2, "{:?}", recorded.notes);
    let who = recorded
        .notes
        .iter()
        .find(|it| it.contains("were profiled"));
    let who = who.unwrap_or_else(|| panic!("{:?}", recorded.notes));
    assert!(
        who.starts_with("2 processes were profiled: calls (2); without code in scope: ")
            && who.contains("make"),
        "{who}"
    );
    // What is not known to start others is not started in vain.
    let options = Options {
        program: "true".into(),
        ..lab.options(&[], 0.0)
    };
    match run(&options) {
        Err(Error::CannotStart(why)) => {
            assert!(
                why.contains("compile with -g") && why.contains("put `env` before the command"),
                "{why}"
            );
        }
        other => panic!("{other:?}"),
    }
    let recorded = make(&["bare"]);
    assert_eq!(recorded.notes.len(), 1, "{:?}", recorded.notes);
    assert!(
        recorded.notes[0].starts_with("Nothing was profiled: ")
            && recorded.notes[0].contains("make"),
        "{:?}",
        recorded.notes
    );
}

/// Two programs that have a source file in common, and so a progress point and lines of the same names.
#[test]
fn results_of_several_programs_are_kept_apart() {
    let lab = calls();
    let other = lab.program.with_file_name("others");
    std::fs::copy(&lab.program, &other).unwrap();
    let both = format!(
        "{} rounds=500; {} rounds=500",
        lab.program.display(),
        other.display()
    );
    let options = Options {
        program: "sh".into(),
        duration: None,
        ..lab.options(&["-c", &both], 0.0)
    };
    let recorded = run(&options).unwrap();
    let recording = recording(&recorded);
    let programs: Vec<_> = recording.programs().into_iter().flatten().collect();
    assert_eq!(
        programs,
        ["calls".into(), "others".into()],
        "{:?}",
        recorded.notes
    );
    for experiment in &recording.experiments {
        let program = experiment.program.as_deref().unwrap();
        let names: Vec<&str> = experiment.points.iter().map(|it| &*it.name).collect();
        assert_eq!(names, [format!("{program}: round")]);
    }
}

/// A usage message, a crash, an empty run: each would be repeated until the user's patience ends.
#[test]
fn a_program_that_only_fails_is_not_run_again_and_again() {
    let lab = Lab::build("fails.c", &["-g"]);
    for (how, runs, words) in [
        ("usage", 1, "The program failed at once (exit status 2)"),
        ("crash", 1, "Run 1 of the program ended by signal 11"),
        (
            "nothing",
            10,
            "In 10 runs no sample fell into code in scope",
        ),
        (
            "late",
            3,
            "3 of 3 runs failed (the last with exit status 2)",
        ),
    ] {
        let counter = lab.program.with_extension(how);
        let scope = match how {
            // A sample may fall into the few microseconds of `main`.
            "nothing" => vec!["%never.c".to_owned()],
            _ => Vec::new(),
        };
        let options = Options {
            aim: Aim {
                source_scope: scope,
                ..Aim::default()
            },
            duration: None,
            end_to_end: Some(EndToEnd {
                runs: Some(if how == "late" { 3 } else { 50 }),
            }),
            ..lab.options(&[counter.to_str().unwrap(), how], 0.0)
        };
        let recorded = run(&options).unwrap();
        let counted = std::fs::read_to_string(&counter).unwrap().lines().count();
        assert_eq!(counted, runs, "{how}: {:?}", recorded.notes);
        assert!(
            recorded.notes.iter().any(|it| it.starts_with(words)),
            "{how}: {:?}",
            recorded.notes
        );
        assert!(
            !crate::support::says(&recorded, "No progress point"),
            "{how}: {:?}",
            recorded.notes
        );
    }
}

#[test]
fn delays_stay_within_the_overhead_that_is_allowed() {
    let lab = calls();
    let options = Options {
        max_overhead: Some(0.05),
        ..endless(&lab)
    };
    // How many experiments fit depends on what else the machine does meanwhile.
    let recorded = steered(&options, |remote, progress| {
        let enough = progress.experiments >= 1 && progress.elapsed > Duration::from_secs(12);
        if enough || progress.elapsed > PATIENCE {
            remote.cancel();
        }
    });
    let all = records(&recorded.run);
    let (_, header) = &all[0];
    assert_eq!(header["budget"], 0.05);
    let (_, end) = all.last().unwrap();
    let time = |key: &str| end[key].as_f64().unwrap() / end["time"].as_f64().unwrap();
    let (share, rested) = (time("delay"), time("rested"));
    assert!(
        rested > 0.2,
        "samples cost too: {rested} of the run without"
    );
    assert!(share < 0.05, "{share}");
    let experiments = recording(&recorded).experiments;
    assert!(!experiments.is_empty());
    assert!(share > 0.0 || experiments.iter().all(|it| it.speedup == 0.0));
}

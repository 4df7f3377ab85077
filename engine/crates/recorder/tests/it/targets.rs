//! What may be sped up besides lines: functions, call sequences, blocked calls; and callers found without frame pointers.

use std::time::Duration;

use crate::support::{Counters, Lab, marked, recording, run, run_for, run_until, samples};
use fulcrum_model::TargetKind;
use fulcrum_model::causal::Recording;
use fulcrum_recorder::{Aim, Error, Options, TargetChoice};

fn aimed(lab: &Lab, words: &[&str], target: TargetChoice) -> Options {
    Options {
        aim: Aim {
            target,
            ..Aim::default()
        },
        ..lab.options(words, 0.0)
    }
}

/// Optimised, without frame pointers, as distributions build.
fn calls() -> Lab {
    Lab::build("calls.cpp", &["-g", "-O2", "-fomit-frame-pointer"])
}

#[test]
fn a_function_has_its_own_samples() {
    let lab = calls();
    let recorded = run_for(aimed(&lab, &[], TargetChoice::Function), 4);
    let recording = recording(&recorded);
    let counts = samples(&recording);
    let all: u64 = counts.values().sum();
    assert!(counts["leaf"] as f64 > 0.95 * all as f64, "{counts:?}");
    let selected: Vec<_> = recording
        .experiments
        .iter()
        .map(|it| &it.selected)
        .collect();
    assert!(selected.len() >= 3, "{selected:?}");
    for target in selected {
        assert_eq!(
            (target.kind, target.name.as_str()),
            (TargetKind::Function, "leaf")
        );
    }
}

#[test]
fn a_function_with_its_callees_has_theirs_too() {
    let lab = calls();
    let recorded = run_for(aimed(&lab, &[], TargetChoice::Inclusive), 4);
    let counts = samples(&recording(&recorded));
    let (heavy, light) = (counts["heavy"] as f64, counts["light"] as f64);
    assert!(heavy > light && light > 0.0, "{counts:?}");
    // The walk reaches main from the depth of three calls, every time.
    assert!(
        counts["main"] as f64 > 0.98 * counts["leaf"] as f64,
        "{counts:?}"
    );
    assert!(heavy + light > 0.98 * counts["leaf"] as f64, "{counts:?}");
}

#[test]
fn a_path_has_the_samples_below_its_calls_alone() {
    let lab = calls();
    let path = |text: &str| text.split(' ').map(str::to_owned).collect();
    let paths = vec![
        path("heavy leaf"),
        path("work light leaf"),
        path("light heavy"),
    ];
    let recorded = run_for(aimed(&lab, &[], TargetChoice::Path(paths)), 4);
    let recording = recording(&recorded);
    let counts = samples(&recording);
    let (heavy, light) = (
        counts["heavy > leaf"] as f64,
        counts["work > light > leaf"] as f64,
    );
    assert!(heavy > light && light > 0.0, "{counts:?}");
    assert!(!counts.contains_key("light > heavy"), "{counts:?}");
    assert!(
        recording
            .experiments
            .iter()
            .all(|it| it.selected.kind == TargetKind::Path)
    );

    let unknown = TargetChoice::Path(vec![path("main nowhere")]);
    let options = Options {
        duration: Some(Duration::from_secs(3)),
        ..aimed(&lab, &[], unknown)
    };
    // Before the program begins.
    match run(&options) {
        Err(Error::CannotStart(why)) => assert!(why.contains("no function nowhere"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// A round sleeps 4 ms, longer on a busy machine: a blocked call has as many samples as it waited periods.
#[test]
fn a_blocked_call_has_the_time_that_it_waited() {
    let lab = calls();
    let counters = Counters::new(&lab);
    let words = ["nap", &format!("file={}", counters.path())];
    let recorded = run_for(aimed(&lab, &words, TargetChoice::Blocked), 6);
    let recording = recording(&recorded);
    let (mut waited, mut visits) = (0, 0);
    for experiment in &recording.experiments {
        assert_eq!(experiment.selected.kind, TargetKind::Blocked);
        assert_eq!(experiment.selected.name, "nanosleep");
        assert_eq!(
            experiment.selected.location.line,
            marked("calls.cpp", "nap")
        );
        waited += experiment.selected_samples;
        visits += crate::support::visits(experiment, "round");
    }
    let period = recording.period_ns.unwrap() as f64;
    let per_visit = period * waited as f64 / visits as f64;
    assert!(per_visit > 3.9e6, "{per_visit} ns a visit");
    // The program's own clock, around all its sleeps. (How near they come is a campaign.)
    let slept = counters.get(0) as f64;
    let sampled = period * samples(&recording)["nanosleep"] as f64;
    assert!(
        (0.5..2.0).contains(&(sampled / slept)),
        "{sampled} of {slept} ns"
    );
}

/// Time in a library belongs to the line that called it (COZ §3.4.2), with no frame pointer to follow.
#[test]
fn time_in_a_library_belongs_to_the_call() {
    let lab = calls();
    let of = |recording: &Recording| -> u64 { recording.samples.iter().map(|it| it.1).sum() };
    let recording = run_until(lab.options(&["foreign"], 0.0), |it| of(it) > 100);
    let call = marked("calls.cpp", "foreign");
    let all = of(&recording);
    let at_call = recording
        .samples
        .iter()
        .filter(|(target, _)| target.location.line == call);
    let there: u64 = at_call.map(|(_, count)| count).sum();
    assert!(
        all > 100 && there as f64 > 0.9 * all as f64,
        "{there} of {all}: {:?}",
        recording.samples
    );
}

//! The opening of a run: a first verdict while it goes on, and every level afterwards.

use fulcrum_recorder::{FirstVerdict, Options, Recorded, Remote, record};
use fulcrum_runs::RunFolder;

use crate::support::{Lab, PATIENCE, marked, recording};

/// Speedup, placebo, effective milliseconds and visits of each experiment.
fn told(recorded: &Recorded) -> Vec<(f64, bool, i64, u64)> {
    let experiments = recording(recorded).experiments;
    let each = experiments.iter();
    each.map(|it| {
        let visits = it.points.iter().map(|it| it.count.visits()).sum();
        (it.speedup, it.placebo, it.duration_ns / 1_000_000, visits)
    })
    .collect()
}

/// Records until there is a first verdict and, after it, enough for the levels that were left out at first.
fn opened(lab: &Lab) -> (Option<FirstVerdict>, Recorded) {
    let remote = Remote::default();
    let options = Options {
        duration: None,
        ..lab.options(&["compute"], 0.0)
    };
    let (mut first, mut then) = (None, 0);
    let recorded = record(&options, &remote, &mut |progress| {
        if first.is_none() && progress.first.is_some() {
            (first, then) = (progress.first.clone(), progress.experiments);
        }
        let enough = first.is_some() && progress.experiments >= then + 8;
        if enough || progress.elapsed > PATIENCE {
            remote.cancel();
        }
    });
    (first, recorded.unwrap())
}

#[test]
fn a_run_says_soon_that_its_only_line_is_worth_something() {
    let lab = Lab::build("waits.cpp", &["-g"]);
    // On a machine that is very busy, ten looks may see nothing but noise.
    let mut runs = (0..3).map(|_| opened(&lab));
    let (first, recorded) = runs
        .find(|it| it.0.is_some())
        .unwrap_or_else(|| opened(&lab));
    let first = first.unwrap_or_else(|| panic!("a first verdict: {:?}", told(&recorded)));
    assert_eq!(first.target.location.line, marked("waits.cpp", "compute"));
    assert_eq!(first.point, "round");
    // All of the program's time is spent there.
    assert!((0.08..=1.0).contains(&first.at_least), "{first:?}");

    let kept = RunFolder::open(&recorded.run).unwrap().read_manifest();
    let kept = kept.unwrap().first_verdict.expect("it is kept");
    assert_eq!(kept.target, first.target.to_string());
    assert_eq!(
        (kept.progress_point, kept.at_least),
        (first.point, first.at_least)
    );
    assert!(kept.seconds > 0.0);

    let recording = recording(&recorded);
    let mut levels: Vec<u32> = recording
        .experiments
        .iter()
        .map(|it| (it.speedup * 100.0).round() as u32)
        .collect();
    levels.sort_unstable();
    levels.dedup();
    assert!(levels.contains(&25) && levels.contains(&75), "{levels:?}");
}

//! The opening of a run: a first verdict while it goes on, and every level afterwards.

use fulcrum_recorder::{FirstVerdict, Options, Recorded, Remote, record};
use fulcrum_runs::{RunFolder, load_causal};

use crate::support::{Lab, PATIENCE, marked};

/// Records until there is a first verdict and, after it, experiments at all of these levels, in hundredths. Whatever the first
/// verdict is worth is enough: how often it is right is a matter of statistics, which simulations test.
fn opened(lab: &Lab, levels: &[u32]) -> (Option<FirstVerdict>, Recorded) {
    let remote = Remote::default();
    let options = Options {
        duration: None,
        first_worth: Some(f64::NEG_INFINITY),
        ..lab.options(&["compute"], 0.0)
    };
    let mut first = None;
    let recorded = record(&options, &remote, &mut |progress| {
        first = first.take().or_else(|| progress.first.clone());
        let drawn = load_causal(&progress.run).map(|it| {
            let experiments = it.recording.experiments.into_iter();
            let drawn: Vec<u32> = experiments
                .map(|it| (it.speedup * 100.0).round() as u32)
                .collect();
            levels.iter().all(|level| drawn.contains(level))
        });
        if first.is_some() && drawn.unwrap_or(false) || progress.elapsed > PATIENCE {
            remote.cancel();
        }
    });
    (first, recorded.unwrap())
}

#[test]
fn a_run_begins_with_a_verdict_on_its_only_line_and_goes_on_with_every_level() {
    let lab = Lab::build("waits.cpp", &["-g"]);
    let (first, recorded) = opened(&lab, &[25, 50, 75, 100]);
    let first = first.expect("a first verdict");
    assert_eq!(first.target.location.line, marked("waits.cpp", "compute"));
    assert_eq!(first.point, "round");
    // Two thirds of all of the program's time: nothing is worth more.
    assert!(first.at_least <= 2.0 / 3.0, "{first:?}");

    let kept = RunFolder::open(&recorded.run).unwrap().read_manifest();
    let kept = kept.unwrap().first_verdict.expect("it is kept");
    assert_eq!(kept.target, first.target.to_string());
    assert_eq!(
        (kept.progress_point, kept.at_least),
        (first.point, first.at_least)
    );
    assert!(kept.seconds > 0.0);

    let experiments = load_causal(&recorded.run).unwrap().recording.experiments;
    let drawn = |level: f64| {
        experiments
            .iter()
            .any(|it| (it.speedup - level).abs() < 1e-6)
    };
    assert!(
        [0.25, 0.5, 0.75, 1.0].into_iter().all(drawn),
        "{experiments:?}"
    );
}

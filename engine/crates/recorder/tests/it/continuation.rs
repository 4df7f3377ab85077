//! Runs that continue earlier ones.

use std::path::{Path, PathBuf};

use crate::support::{Lab, recording, run, run_for};
use fulcrum_recorder::{Error, Options};

fn after(lab: &Lab, run: &Path) -> Options {
    Options {
        continues: Some(run.into()),
        ..lab.options(&[], 0.0)
    }
}

#[test]
fn experiments_of_both_runs_count_and_both_stay_readable() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let first = run_for(lab.options(&[], 0.0), 3);
    let alone = recording(&first);
    let second = run_for(after(&lab, &first.run), 3);
    let both = recording(&second);
    assert!(both.experiments.len() >= alone.experiments.len() + 3);
    assert_eq!(
        both.experiments[..alone.experiments.len()],
        alone.experiments
    );
    assert!(both.runtime_ns > alone.runtime_ns);
    assert!(
        both.notes
            .iter()
            .any(|note| note.contains("continues an earlier run")),
        "{:?}",
        both.notes
    );
    assert_eq!(recording(&first), alone);
    // A third one counts all three.
    let third = recording(&run_for(after(&lab, &second.run), 1));
    assert!(third.experiments.len() > both.experiments.len());
}

#[test]
fn other_builds_arguments_and_runs_are_refused_before_anything_is_started() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let first = run_for(lab.options(&[], 0.0), 1);
    let store = first.run.parent().unwrap().to_path_buf();
    let refused = |options: &Options| match run(options) {
        Err(Error::CannotStart(why)) => why,
        other => panic!("{other:?}"),
    };
    let other_arguments = Options {
        args: vec!["1".into()],
        ..after(&lab, &first.run)
    };
    assert!(refused(&other_arguments).contains("it had other arguments"));
    let unknown = after(&lab, &PathBuf::from("20260101T000000Z-nothing"));
    assert!(refused(&unknown).contains("not among the runs of this workspace"));
    let launched = Options {
        program: "env".into(),
        args: vec![lab.program.clone().into()],
        ..after(&lab, &first.run)
    };
    assert!(refused(&launched).contains("whether it profiled the same build is unknown"));
    // One byte behind everything that is loaded.
    let mut bytes = std::fs::read(&lab.program).unwrap();
    bytes.push(0);
    std::fs::write(&lab.program, bytes).unwrap();
    assert!(refused(&after(&lab, &first.run)).contains("was rebuilt"));
    assert_eq!(std::fs::read_dir(store).unwrap().count(), 1);
}

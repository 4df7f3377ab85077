//! The rules around the numbers: who is left out, what is said, how a curve is read.

use std::fs;
use std::path::Path;

use crate::notes;
use fulcrum_causal::{
    ALLOWANCE, Options, Prediction, analyse, known, next_weights, predict, program_speedup_at,
    wording,
};
use fulcrum_model::causal::{
    CausalProfile, Count, Experiment, Point, PointKind, Recording, Shape, Target, Visits,
};
use fulcrum_stats::{Interval, Random};

fn experiment(at: &str, speedup: f64, points: &[(&str, Count)]) -> Experiment {
    Experiment {
        speedup,
        duration_ns: 100_000_000,
        selected_samples: 10,
        points: points
            .iter()
            .map(|&(name, count)| Visits {
                name: name.into(),
                count,
                half: None,
            })
            .collect(),
        ..Experiment::on(at.parse().unwrap())
    }
}

fn visits(delta: u64) -> Count {
    Count::Throughput { delta }
}

/// One experiment a speedup on `at`; the counts are those of the progress point `p`.
fn line(at: &str, counts: &[(f64, u64)]) -> Vec<Experiment> {
    counts
        .iter()
        .map(|&(speedup, delta)| experiment(at, speedup, &[("p", visits(delta))]))
        .collect()
}

const FIVE: [(f64, u64); 5] = [(0.0, 50), (0.25, 50), (0.5, 50), (0.75, 50), (1.0, 50)];

fn recording(experiments: Vec<Experiment>) -> Recording {
    Recording {
        experiments,
        samples: vec![
            ("a.c:1".parse().unwrap(), 100),
            ("b.c:2".parse().unwrap(), 100),
        ],
        runtime_ns: 1_000_000_000,
        ..Recording::default()
    }
}

fn locations(profile: &CausalProfile) -> Vec<String> {
    profile
        .progress_points
        .iter()
        .flat_map(|p| &p.targets)
        .map(|t| t.id.to_string())
        .collect()
}

#[test]
fn lines_that_cannot_be_told_are_counted_in_notes() {
    let mut experiments = line("a.c:1", &FIVE);
    experiments.extend(line("b.c:2", &FIVE[1..]));
    experiments.extend(line("b.c:3", &FIVE[1..]));
    experiments.extend(line("c.c:1", &FIVE[..4]));
    experiments.extend(line(
        "d.c:1",
        &[(0.0, 4), (0.25, 50), (0.5, 50), (0.75, 50), (1.0, 50)],
    ));
    experiments.extend(line("e.c:1", &FIVE));
    let profile = analyse(&recording(experiments), &Options::default());
    assert_eq!(locations(&profile), ["a.c:1"]);
    assert_eq!(
        notes(&profile),
        [
            "2 lines have no experiment without virtual speedup to compare with; left out.",
            "1 line has fewer than 5 visits to the progress point without virtual speedup; left out.",
            "1 line has fewer than 5 different speedups with enough visits; left out.",
            "1 line has no samples, so the result cannot be corrected for phases; left out.",
        ]
    );
}

#[test]
fn a_recording_that_drew_from_few_levels_needs_half_of_them() {
    let counts = [(0.0, 50), (0.5, 60)];
    let cases: [(&[f64], Option<usize>, usize); 7] = [
        (&[], None, 0),
        (&[0.5], None, 1),
        (&[0.25, 0.5], None, 1),
        (&[0.25, 0.5, 0.75, 1.0], None, 0),
        (&[0.25, 0.5, 0.75, 1.0], Some(2), 1),
        (&[0.5], Some(5), 0),
        (&[0.2, 0.4, 0.5, 0.6, 0.8, 1.0], None, 0),
    ];
    for (levels, min_points, targets) in cases {
        let recording = Recording {
            levels: levels.into(),
            ..recording(line("a.c:1", &counts))
        };
        let profile = analyse(
            &recording,
            &Options {
                min_points,
                ..Options::default()
            },
        );
        assert_eq!(
            locations(&profile).len(),
            targets,
            "{levels:?} {min_points:?}"
        );
    }
}

/// None of the experiments at 25 % met the line, as happens to a line that runs in one phase of the program: what was measured is the
/// phase that they fell into.
#[test]
fn a_speedup_that_never_met_its_line_is_left_out() {
    let mut experiments = line("a.c:1", &FIVE);
    experiments[1].selected_samples = 0;
    experiments[1].points[0].count = visits(80);
    let mut recorded = recording(experiments);
    let speedups = |recording: &Recording| -> Vec<f64> {
        let profile = analyse(recording, &Options::default());
        let points = &profile.progress_points[0].targets[0].points;
        points.iter().map(|it| it.speedup).collect()
    };
    // A profile of coz, as its viewer shows it.
    assert_eq!(speedups(&recorded), [0.0, 0.25, 0.5, 0.75, 1.0]);
    recorded.levels = vec![0.25, 0.5, 0.75, 1.0];
    assert_eq!(speedups(&recorded), [0.0, 0.5, 0.75, 1.0]);
    for experiment in &mut recorded.experiments {
        experiment.selected_samples = 0;
    }
    let profile = analyse(
        &recorded,
        &Options {
            phase_correction: false,
            ..Options::default()
        },
    );
    let points = &profile.progress_points[0].targets[0].points;
    assert_eq!(points.len(), 5, "samples were not counted");
}

#[test]
fn an_empty_profile_says_why() {
    let timeless = || {
        let mut all = line("a.c:1", &FIVE);
        all.iter_mut().for_each(|it| it.duration_ns = -1);
        all
    };
    let rare = [(0.0, 1), (0.25, 1), (0.5, 1), (0.75, 1), (1.0, 1)];
    let cases = [
        (vec![], "The recording holds samples but no experiments: "),
        (
            vec![experiment("a.c:1", 0.0, &[])],
            "The program has no progress point: ",
        ),
        (
            line("a.c:1", &[(0.0, 0), (0.5, 0)]),
            "No progress point was visited during an experiment: ",
        ),
        (timeless(), "No experiment has a duration left, "),
        (
            line("a.c:1", &FIVE[1..]),
            "Every experiment sped something up, and there is none to compare with: ",
        ),
        (
            line("a.c:1", &FIVE[..1]),
            "No experiment sped anything up: ",
        ),
        (
            line("a.c:1", &FIVE[..2]),
            "No line has enough experiments yet: ",
        ),
        (line("a.c:1", &rare), "No line has enough experiments yet: "),
        (line("e.c:1", &FIVE), "No line has enough experiments yet: "), // no samples: eq. 8 cannot be applied
    ];
    for (experiments, start) in cases {
        let profile = analyse(&recording(experiments), &Options::default());
        assert!(locations(&profile).is_empty());
        let last = notes(&profile).pop().expect("a note");
        assert!(last.starts_with(start) && last.ends_with('.'), "{last}");
    }
    let nothing = analyse(&Recording::default(), &Options::default());
    let last = notes(&nothing).pop().expect("a note");
    assert!(
        last.starts_with("The recording holds no experiments: "),
        "{last}"
    );
}

#[test]
fn a_rare_progress_point_silences_no_other() {
    let with_rare = |rare: u64| {
        let each = FIVE.iter().map(|&(s, n)| {
            let n = n + (50.0 * s) as u64;
            experiment("a.c:1", s, &[("often", visits(n)), ("rare", visits(rare))])
        });
        recording(each.collect())
    };
    let alone = analyse(
        &recording(
            FIVE.iter()
                .map(|&(s, n)| experiment("a.c:1", s, &[("often", visits(n + (50.0 * s) as u64))]))
                .collect(),
        ),
        &Options::default(),
    );
    for (rare, what) in [
        (0, "was not visited during any experiment"),
        (
            1,
            "was visited 5 times in all experiments, too few on any line",
        ),
    ] {
        let profile = analyse(&with_rare(rare), &Options::default());
        assert_eq!(profile.progress_points[0], alone.progress_points[0]);
        assert!(profile.progress_points[1].targets.is_empty());
        let said = format!(
            "The progress point rare has no result: it {what}. The others are judged by their own visits."
        );
        assert_eq!(notes(&profile).last(), Some(&said));
        assert_eq!(known(&profile, 0.5), known(&alone, 0.5));
        assert_eq!(
            next_weights(&profile, Some(0.5)),
            next_weights(&alone, Some(0.5))
        );
    }
}

#[test]
fn whole_executions_count_though_each_is_one_visit() {
    let runs = [(0.0, 1), (0.0, 1), (0.5, 1), (0.5, 1)].map(|(s, n)| {
        let mut run = experiment("a.c:1", s, &[("end-to-end", visits(n)), ("p", visits(n))]);
        run.duration_ns -= (50_000_000.0 * s) as i64;
        run
    });
    let profile = analyse(
        &recording(runs.to_vec()),
        &Options {
            phase_correction: false,
            ..Options::default()
        },
    );
    let whole = &profile.progress_points[0];
    assert_eq!(
        (whole.name.as_str(), whole.targets.len()),
        ("end-to-end", 1)
    );
    assert!((whole.targets[0].points[1].program_speedup - 0.25).abs() < 1e-12);
    assert_eq!(whole.targets[0].flags, []);
    assert!(profile.progress_points[1].targets.is_empty());
}

/// Experiments that agree to the last visit leave only what no experiment shows. The baseline is what it is.
#[test]
fn no_prediction_is_claimed_to_be_better_than_the_allowance() {
    let levels = [0.0, 0.25, 0.5, 0.75, 1.0].map(|level| (level, 50_000 + (level * 8e4) as u64));
    let twice = [levels, levels].concat();
    let profile = analyse(&recording(line("a.c:1", &twice)), &Options::default());
    assert_eq!(locations(&profile), ["a.c:1"]);
    for point in &profile.progress_points[0].targets[0].points {
        let half = point.interval.expect("an interval").half_width();
        let least = if point.speedup > 0.0 { ALLOWANCE } else { 0.0 };
        assert!(
            (least..least + 0.002).contains(&half),
            "{}: {half}",
            point.speedup
        );
        let measured = point.measured.expect("an interval").half_width();
        assert!(measured < ALLOWANCE, "{}: {measured}", point.speedup);
    }
}

#[test]
fn without_samples_or_run_time_nothing_is_corrected_and_said() {
    let whole = recording(line(
        "a.c:1",
        &[(0.0, 50), (0.25, 50), (0.5, 60), (0.75, 60), (1.0, 100)],
    ));
    let plain = analyse(
        &whole,
        &Options {
            phase_correction: false,
            ..Options::default()
        },
    );
    let cases = [
        (
            Recording {
                runtime_ns: 0,
                ..whole.clone()
            },
            "does not say how long the program ran.",
        ),
        (
            Recording {
                samples: vec![],
                ..whole.clone()
            },
            "holds no samples of whole runs.",
        ),
    ];
    for (recording, end) in cases {
        let profile = analyse(&recording, &Options::default());
        assert_eq!(profile.progress_points, plain.progress_points);
        let note = wording::note(&profile.notes[0]);
        assert!(note.starts_with("The results are not corrected for phases: "));
        assert!(note.ends_with(end), "{note}");
    }
    // Eq. 8 by hand: t_obs = 0.5 s, s_obs = 50, s = 100, T = 1 s, so the factor is 1 here and 0.5 for twice the time.
    let last = |r: &Recording| {
        analyse(r, &Options::default()).progress_points[0].targets[0].points[4].program_speedup
    };
    assert!((last(&whole) - 0.5).abs() < 1e-12);
    assert!(
        (last(&Recording {
            runtime_ns: 2_000_000_000,
            ..whole
        }) - 0.25)
            .abs()
            < 1e-12
    );
}

/// The only experiment with a half of speedup saw the line during half of its time: 75 visits and 100 samples, where the
/// others have two samples a visit.
#[test]
fn a_speedup_that_missed_half_of_its_phase_counts_double() {
    let visits = [(0.0, 50), (0.25, 60), (0.5, 75), (0.75, 120), (1.0, 200)];
    let mut experiments = line("a.c:1", &visits);
    for (experiment, (_, visits)) in experiments.iter_mut().zip(visits) {
        experiment.selected_samples = if visits == 75 { 100 } else { 2 * visits };
    }
    let ours = Recording {
        period_ns: Some(1_000_000),
        ..recording(experiments)
    };
    let half_to_whole = |recording: &Recording| {
        let profile = analyse(recording, &Options::default());
        let points = &profile.progress_points[0].targets[0].points;
        points[2].program_speedup / points[4].program_speedup
    };
    // In its phase, it would have had 100 visits: 1 − 50/100 beside 1 − 50/200.
    let ratio = half_to_whole(&ours);
    assert!((ratio - 0.5 / 0.75).abs() < 0.02, "{ratio}");
    // coz counts samples by tens: as the paper has it.
    let theirs = Recording {
        period_ns: None,
        ..ours
    };
    assert!((half_to_whole(&theirs) - (1.0 / 3.0) / 0.75).abs() < 1e-9);
}

#[test]
fn a_shorter_latency_is_a_positive_program_speedup() {
    // W = L / λ: 4 requests in progress at 100 arrivals in 0.1 s are 4 ms; 2 are half.
    let request = |difference| Count::Latency {
        arrivals: 100,
        departures: 99,
        difference,
    };
    let experiments = FIVE.iter().map(|&(s, _)| {
        let in_progress = 4.0 - 2.0 * s;
        experiment(
            "a.c:1",
            s,
            &[("req", request(in_progress)), ("req", visits(99))],
        )
    });
    let profile = analyse(&recording(experiments.collect()), &Options::default());
    let kinds: Vec<_> = profile
        .progress_points
        .iter()
        .map(|p| (p.name.as_str(), p.kind))
        .collect();
    assert_eq!(
        kinds,
        [("req", PointKind::Throughput), ("req", PointKind::Latency)]
    );
    let latency = &profile.progress_points[1].targets[0];
    assert!(
        (latency.points[4].program_speedup - 0.5).abs() < 1e-12,
        "{latency:?}"
    );
    assert!((latency.slope - 0.5).abs() < 1e-12);
    assert_eq!(
        (latency.points[4].visits, latency.points[4].duration_ns),
        (99, 100_000_000)
    );
    assert_eq!(profile.progress_points[0].targets[0].slope, 0.0);
}

#[test]
fn targets_rank_by_slope_then_location() {
    let mut experiments = Vec::new();
    for (at, last) in [
        ("b.c:2", 50),
        ("a.c:10", 50),
        ("a.c:9", 50),
        ("a.c:1", 100),
        ("z.c:1", 30),
    ] {
        let mut counts = FIVE;
        counts[4].1 = last;
        experiments.extend(line(at, &counts));
    }
    let options = Options {
        phase_correction: false,
        ..Options::default()
    };
    let profile = analyse(&recording(experiments), &options);
    assert_eq!(
        locations(&profile),
        ["a.c:1", "a.c:9", "a.c:10", "b.c:2", "z.c:1"]
    );
    assert_eq!(profile.progress_points[0].targets[0].experiments, 5);
}

#[test]
fn a_curve_is_read_between_its_points() {
    let point = |speedup, program_speedup: f64| Point {
        speedup,
        program_speedup,
        interval: Some(Interval::around(program_speedup, 0.1)),
        measured: None,
        visits: 10,
        duration_ns: 1,
    };
    let mut target = Target {
        id: "a.c:1".parse().unwrap(),
        slope: 0.5,
        slope_interval: Some(Interval {
            low: 0.4,
            high: 0.6,
        }),
        contention: false,
        experiments: 3,
        minimum_effect: None,
        in_call: None,
        flags: Vec::new(),
        shape: Shape::Gain2,
        points: vec![point(0.0, 0.0), point(0.4, 0.2), point(0.8, 0.4)],
    };
    target.points[0].interval = Some(Interval::around(0.0, 0.0));
    for (speedup, value, low, high, extrapolated) in [
        (0.0, 0.0, 0.0, 0.0, false),
        (0.2, 0.1, 0.05, 0.15, false),
        (0.4, 0.2, 0.1, 0.3, false),
        (0.5, 0.25, 0.15, 0.35, false),
        (0.8, 0.4, 0.3, 0.5, false),
        (1.0, 0.5, 0.38, 0.62, true),
    ] {
        let Prediction {
            program_speedup,
            interval,
            extrapolated: beyond,
        } = predict(&target, speedup);
        let Interval { low: l, high: h } = interval.expect("every point has one");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(
            near(program_speedup, value) && near(l, low) && near(h, high),
            "{speedup}: {program_speedup} {l} {h}"
        );
        assert_eq!(
            (beyond, program_speedup_at(&target, speedup)),
            (extrapolated, program_speedup)
        );
    }
    target.points.clear();
    assert_eq!(program_speedup_at(&target, 0.5), 0.0);
}

/// Damage that the reader lets through must not reach the results as infinities, or panic.
#[test]
fn damaged_recordings_give_finite_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent");
    let mut random = Random::new(7);
    let mut targets = 0;
    for name in ["throughput.coz", "latency.coz", "phases.coz"] {
        let text = fs::read(folder.join(name)).unwrap();
        for _ in 0..150 {
            let mut bytes = text.clone();
            for _ in 0..20 {
                // Only digits become other digits or longer numbers, so that most mutants still read.
                let at = random.index(bytes.len());
                if bytes[at].is_ascii_digit() && bytes[at - 1] != b'.' {
                    bytes[at] = b'0' + random.below(10) as u8;
                    let more = random.below(4);
                    bytes.splice(
                        at..at,
                        std::iter::repeat_n(b'9', if more == 0 { 9 } else { 0 }),
                    );
                }
            }
            let Ok(recording) = fulcrum_causal_records::read(&bytes, name) else {
                continue;
            };
            let profile = analyse(
                &recording,
                &Options {
                    replicates: 40,
                    ..Options::default()
                },
            );
            for target in profile.progress_points.iter().flat_map(|p| &p.targets) {
                targets += 1;
                let Interval { low, high } = target.slope_interval.expect("always one");
                assert!(
                    low.is_finite()
                        && high.is_finite()
                        && low <= target.slope
                        && target.slope <= high,
                    "{target:?}"
                );
                for point in &target.points {
                    let Interval { low, high } = point.interval.expect("always one");
                    let value = point.program_speedup;
                    assert!(
                        low.is_finite() && high.is_finite() && low <= value && value <= high,
                        "{target:?}"
                    );
                }
            }
        }
    }
    assert!(targets > 500, "{targets}");
}

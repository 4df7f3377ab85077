//! What a profile says about its own numbers: flags, minimum effects, several streams, and what a run knows by now.

use crate::notes;
use fulcrum_causal::{ALLOWANCE, Options, analyse, known, next_weights, predict};
use fulcrum_model::causal::{
    CausalProfile, Count, Experiment, Flag, Point, PointKind, PointProfile, Recording, Shape,
    Stream, Target, Visits,
};
use fulcrum_model::{Interval, TargetId, TargetKind};

fn at(text: &str) -> TargetId {
    text.parse().unwrap()
}

/// Forty experiments on `a.c:1` whose visits follow `rate(speedup)`, give or take one in a hundred.
fn recording(rate: impl Fn(f64) -> f64) -> Recording {
    let deck = [0.0, 0.25, 0.0, 0.5, 0.0, 0.75, 0.0, 1.0];
    let experiments = (0..40).map(|n| {
        let speedup = deck[n % 8];
        let noise = [1.0, 0.99, 1.01, 1.0, 0.995][n % 5];
        Experiment {
            speedup,
            duration_ns: 1_000_000_000,
            selected_samples: 100,
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: (rate(speedup) * noise).round() as u64,
                },
                half: None,
            }],
            ..Experiment::on(at("a.c:1"))
        }
    });
    Recording {
        experiments: experiments.collect(),
        samples: vec![(at("a.c:1"), 4000)],
        runtime_ns: 40_000_000_000,
        levels: vec![0.25, 0.5, 0.75, 1.0],
        ..Recording::default()
    }
}

fn linear(speedup: f64) -> f64 {
    1000.0 / (1.0 - 0.2 * speedup)
}

fn flags(recording: &Recording) -> Vec<Flag> {
    analyse(recording, &Options::default()).progress_points[0].targets[0]
        .flags
        .clone()
}

#[test]
fn a_good_result_has_no_flags() {
    assert_eq!(flags(&recording(linear)), []);
}

/// Of few experiments on a busy machine, one may last several times as long as the others.
#[test]
fn a_line_keeps_its_result_whatever_one_more_experiment_says() {
    let mut few = recording(linear);
    few.experiments.truncate(7);
    let points = |of: &Recording| {
        let profile = analyse(of, &Options::default());
        profile.progress_points[0].targets[0].points.clone()
    };
    assert_eq!(points(&few).len(), 4);
    let mut slow = few.experiments[5].clone();
    assert_eq!(slow.speedup, 0.75);
    slow.duration_ns *= 8;
    few.experiments.push(slow);
    let points = points(&few);
    assert_eq!(points.len(), 4, "{points:?}");
    assert!(points[3].program_speedup < -1.0, "{points:?}");
}

#[test]
fn each_weakness_has_its_flag() {
    // Saturates: nothing more from 25 % on.
    assert_eq!(
        flags(&recording(|s| linear(s.min(0.25) * 2.0))),
        [Flag::RegimeChange]
    );
    // Jumps at the last level.
    assert_eq!(
        flags(&recording(|s| if s == 1.0 { 1250.0 } else { 1000.0 })),
        [Flag::RegimeChange]
    );
    assert_eq!(flags(&recording(|s| linear(s) / 500.0)), [Flag::FewVisits]);
    let mut folded = recording(linear);
    folded.shared.push(at("a.c:1"));
    assert_eq!(flags(&folded), [Flag::Shared]);
    for (queued, expected) in [(100_000_000, &[][..]), (400_000_000, &[Flag::RunQueue][..])] {
        let mut crowded = recording(linear);
        crowded
            .experiments
            .iter_mut()
            .for_each(|it| it.queued_ns = Some(queued));
        assert_eq!(flags(&crowded), expected, "{queued}");
    }
}

/// Mark, number and words must not contradict each other: the slope rises, and at half the time the program loses. And the other
/// way round.
#[test]
fn a_slope_that_the_curve_contradicts_establishes_nothing() {
    for (name, rates) in [
        ("gain", [1000.0, 985.0, 970.0, 1030.0, 1060.0]),
        ("harm", [1000.0, 1015.0, 1030.0, 970.0, 940.0]),
    ] {
        let recording = recording(|speedup| rates[(speedup * 4.0) as usize]);
        let profile = analyse(&recording, &Options::default());
        let target = &profile.progress_points[0].targets[0];
        let half = predict(target, 0.5).program_speedup;
        let slope = target.slope_interval.unwrap();
        assert!(!slope.contains(0.0) && half * target.slope < 0.0, "{name}");
        assert_eq!(
            (target.shape, target.contention),
            (Shape::Unknown, false),
            "{name}"
        );
        assert!(target.flags.contains(&Flag::Contradictory), "{name}");
    }
}

/// Two programs were linked with the same `a.c`; in one of them it is no bottleneck. Together they would show half of it.
#[test]
fn each_program_is_analysed_by_itself() {
    let of = |program: &str, mut recording: Recording| {
        let name = format!("{program}: p");
        for experiment in &mut recording.experiments {
            experiment.program = Some(program.into());
            experiment.points[0].name = name.clone();
        }
        recording.streams = vec![Stream {
            runtime_ns: recording.runtime_ns,
            samples: recording.samples.clone(),
            points: vec![name],
            target: None,
            program: Some(program.into()),
            ..Stream::default()
        }];
        recording
    };
    let alone = analyse(&recording(linear), &Options::default());
    let mut both = of("client", recording(linear));
    let server = of("server", recording(|_| 1000.0));
    both.experiments.extend(server.experiments);
    both.streams.extend(server.streams);
    both.runtime_ns += server.runtime_ns;
    both.notes.push("About the run.".into());
    let profile = analyse(&both, &Options::default());
    let points: Vec<(&str, f64)> = profile
        .progress_points
        .iter()
        .map(|it| (&*it.name, it.targets[0].slope))
        .collect();
    let [("client: p", client), ("server: p", server)] = points[..] else {
        panic!("{points:?}")
    };
    assert_eq!(client, alone.progress_points[0].targets[0].slope);
    assert!(server.abs() < 0.01, "{server}");
    assert_eq!(
        notes(&profile),
        [
            "About the run.",
            "Results of 2 programs are kept apart, each under progress points of its own: client, server."
        ]
    );
}

#[test]
fn a_latency_whose_requests_pile_up_is_flagged_and_said() {
    let latency = |departures: u64| {
        let mut recording = recording(linear);
        for (n, experiment) in recording.experiments.iter_mut().enumerate() {
            let piled = (100 - departures) as f64 * n as f64;
            experiment.points[0].count = Count::Latency {
                arrivals: 100,
                departures,
                difference: 4.0 + piled,
            };
        }
        analyse(&recording, &Options::default())
    };
    let stable = latency(100);
    assert_eq!(stable.progress_points[0].targets[0].flags, []);
    assert_eq!(stable.notes, []);
    let unstable = latency(80);
    assert!(
        unstable.progress_points[0].targets[0]
            .flags
            .contains(&Flag::Unstable)
    );
    assert_eq!(
        notes(&unstable),
        [
            "Little's law does not hold for p: 4000 requests arrived and 3200 departed during experiments, so its latencies \
          depend on how long the run was; record while the program keeps up with its load."
        ]
    );
}

#[test]
fn the_minimum_effect_is_that_of_the_interval() {
    let profile = analyse(&recording(linear), &Options::default());
    let target = &profile.progress_points[0].targets[0];
    let interval = target.slope_interval.unwrap();
    let expected = interval.half_width() * 2.801_585 / 1.959_964;
    assert!((target.minimum_effect.unwrap() - expected).abs() < 1e-9);
}

#[test]
fn eq_8_takes_the_streams_that_could_tell() {
    let whole = analyse(&recording(linear), &Options::default());
    let stream = |seconds: u64, samples: u64, points: &[&str], target: Option<TargetKind>| Stream {
        runtime_ns: seconds * 1_000_000_000,
        samples: if samples > 0 {
            vec![(at("a.c:1"), samples)]
        } else {
            vec![]
        },
        points: points.iter().map(|&it| it.into()).collect(),
        target,
        program: None,
        ..Stream::default()
    };
    let own = || stream(40, 4000, &["p"], Some(TargetKind::Line));
    let slope = |streams: Vec<Stream>| {
        let mut recording = recording(linear);
        recording.runtime_ns = streams.iter().map(|it| it.runtime_ns).sum();
        recording.streams = streams;
        analyse(&recording, &Options::default()).progress_points[0].targets[0].slope
    };
    let expected = whole.progress_points[0].targets[0].slope;
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}")
    };
    near(slope(vec![own()]), expected);
    // A shell that waited for the program.
    near(
        slope(vec![stream(41, 0, &[], Some(TargetKind::Line)), own()]),
        expected,
    );
    // Another part of the run, in which functions were sampled.
    near(
        slope(vec![
            own(),
            stream(40, 0, &["p"], Some(TargetKind::Function)),
        ]),
        expected,
    );
    // Another process that does the same work without this line: half of the run.
    near(
        slope(vec![own(), stream(40, 0, &["p"], Some(TargetKind::Line))]),
        expected / 2.0,
    );
    near(
        slope(vec![own(), stream(40, 0, &["p"], None)]),
        expected / 2.0,
    );
}

/// A target whose slope and only point are known to within `half` by its experiments.
fn target(line: u32, slope: f64, half: f64, experiments: u64) -> Target {
    let point = |speedup, program_speedup| Point {
        speedup,
        program_speedup,
        interval: Some(Interval::around(program_speedup, half.hypot(ALLOWANCE))),
        measured: Some(Interval::around(program_speedup, half)),
        visits: 100,
        duration_ns: 1,
    };
    Target {
        id: at(&format!("a.c:{line}")),
        slope,
        slope_interval: Some(Interval::around(slope, half)),
        contention: false,
        experiments,
        minimum_effect: None,
        in_call: None,
        flags: vec![],
        shape: Shape::Unknown,
        points: vec![point(0.0, 0.0), point(1.0, slope)],
    }
}

fn point(name: &str, targets: Vec<Target>) -> PointProfile {
    PointProfile {
        name: name.into(),
        kind: PointKind::Throughput,
        targets,
    }
}

fn profile(points: Vec<PointProfile>) -> CausalProfile {
    CausalProfile {
        progress_points: points,
        notes: vec![],
    }
}

#[test]
fn a_run_knows_enough_when_its_best_targets_are_narrow() {
    // At 64 experiments a plain ±1 % is an always-valid ±1.55 %.
    let narrow = |line, slope| target(line, slope, 0.01, 64);
    let wide = |line, slope, experiments| target(line, slope, 0.1, experiments);
    let best = vec![narrow(1, 0.3), narrow(2, 0.2), narrow(3, 0.1)];
    let with = |more: Target| {
        let mut all = best.clone();
        all.push(more);
        all
    };
    let cases = [
        (vec![], false, "nothing to judge"),
        (vec![point("p", vec![])], false, "nothing to judge"),
        (vec![point("p", best.clone())], true, "three narrow ones"),
        (
            vec![point("p", with(wide(4, 0.0, 64)))],
            true,
            "the fourth is not waited for",
        ),
        (
            vec![point("p", vec![wide(1, 0.3, 64), narrow(2, 0.2)])],
            false,
            "the best is wide",
        ),
        (
            vec![point("p", vec![wide(1, 0.9, 6), narrow(2, 0.2)])],
            true,
            "a lucky one with hardly any experiments",
        ),
        (
            vec![point("p", vec![wide(1, 0.9, 10), narrow(2, 0.2)])],
            false,
            "too few to say, too many to ignore",
        ),
        (
            vec![point("p", best.clone()), point("rare", vec![])],
            true,
            "a rare point silences nobody",
        ),
        (
            vec![point("p", best.clone()), point("q", vec![wide(1, 0.3, 64)])],
            false,
            "each by its own visits",
        ),
    ];
    for (points, done, why) in cases {
        assert_eq!(known(&profile(points), 0.02).done, done, "{why}");
    }
    let found = known(&profile(vec![point("p", best)]), 0.005);
    assert!(
        !found.done && (found.widest - 0.0155).abs() < 1e-4,
        "{found:?}"
    );
    assert!(
        (found.fraction - (0.005_f64 / 0.0155).powi(2)).abs() < 1e-3,
        "{found:?}"
    );
}

#[test]
fn settled_targets_keep_a_fifth_of_their_chance() {
    let weights = |points: Vec<PointProfile>, wanted: Option<f64>| -> Vec<(u32, f64)> {
        next_weights(&profile(points), wanted)
            .into_iter()
            .map(|(id, weight)| (id.location.line, weight))
            .collect()
    };
    let four = || {
        vec![
            target(1, 0.5, 0.05, 64),
            target(2, 0.4, 0.05, 64),
            target(3, 0.3, 0.05, 64),
            target(4, 0.0, 0.05, 64),
        ]
    };
    assert_eq!(
        weights(vec![point("p", four())], None),
        [(1, 1.0), (2, 1.0), (3, 1.0), (4, 0.2)]
    );
    // Three are always among the best three.
    assert_eq!(
        weights(vec![point("p", four()[..3].to_vec())], None),
        [(1, 1.0), (2, 1.0), (3, 1.0)]
    );
    // Known as well as was wanted.
    assert_eq!(
        weights(vec![point("p", four()[..2].to_vec())], Some(0.1)),
        [(1, 0.2), (2, 0.2)]
    );
    // Few experiments settle nothing.
    let mut early = four();
    early[3].experiments = 9;
    assert_eq!(weights(vec![point("p", early)], None)[3], (4, 1.0));
    // Another progress point thinks otherwise, or cannot say yet.
    let mut other = four();
    other[3].slope_interval = Some(Interval {
        low: 0.2,
        high: 0.6,
    });
    assert_eq!(
        weights(vec![point("p", four()), point("q", other)], None)[3],
        (4, 1.0)
    );
    assert_eq!(
        weights(
            vec![point("p", four()), point("q", four()[..3].to_vec())],
            None
        )[3],
        (4, 1.0)
    );
    assert_eq!(
        weights(vec![point("p", four()), point("rare", vec![])], None)[3],
        (4, 0.2)
    );
}

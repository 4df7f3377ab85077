//! What the intervals promise, on simulated recordings whose truth is known.
//!
//! The simulated program visits a point at a steady rate; every experiment's count scatters. All seeds are fixed, so the
//! tests are the same on every machine.

use fulcrum_causal::{Options, analyse};
use fulcrum_model::causal::{CausalProfile, Count, Experiment, Recording, Shape, Target, Visits};
use fulcrum_model::{Location, TargetId};
use fulcrum_stats::Random;

/// A program to record.
struct Program {
    /// Visits an experiment expects at baseline.
    visits: f64,
    /// Standard deviation of one experiment's rate, as a fraction.
    noise: f64,
    /// Program speedup when the line is free.
    gain: f64,
    /// Experiments at baseline, and at each of the levels.
    counts: (usize, usize),
    levels: &'static [f64],
    /// How often experiments of the line see a sample more often than the run does: the phase of eq. 8.
    phase: f64,
}

const FOUR: &[f64] = &[0.25, 0.5, 0.75, 1.0];
const TWENTY: &[f64] = &[
    0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85,
    0.9, 0.95, 1.0,
];

impl Program {
    fn record(&self, seed: u64) -> Recording {
        let mut random = Random::new(seed);
        let mut recording = Recording {
            levels: self.levels.to_vec(),
            ..Recording::default()
        };
        let selected = TargetId::line(Location {
            file: format!("/w/seed{seed}.cpp"),
            line: 12,
        });
        let arms = std::iter::once((0.0, self.counts.0))
            .chain(self.levels.iter().map(|&s| (s, self.counts.1)));
        for (speedup, n) in arms {
            for _ in 0..n {
                let duration = 1e9 * (0.8 + 0.4 * random.unit());
                // A program speedup g makes the period shorter by g, so the rate 1 / (1 - g) times as high.
                let rate = self.visits / (1.0 - self.gain * speedup)
                    * (1.0 + self.noise * random.normal());
                let delta = (rate * duration / 1e9 + random.unit()).max(0.0) as u64;
                let selected_samples =
                    (200.0 * duration / 1e9 * (1.0 + 0.1 * random.normal())) as u64;
                recording.experiments.push(Experiment {
                    speedup,
                    duration_ns: duration as i64,
                    selected_samples,
                    points: vec![Visits {
                        name: "iter".into(),
                        count: Count::Throughput { delta },
                        half: None,
                    }],
                    ..Experiment::on(selected.clone())
                });
            }
        }
        recording.runtime_ns = 100_000_000_000;
        recording.samples = vec![(selected, (200.0 * 100.0 * self.phase) as u64)];
        recording
    }

    fn target(&self, seed: u64) -> Target {
        let options = Options {
            allowance: 0.0,
            ..Options::default()
        };
        one(&analyse(&self.record(seed), &options))
    }
}

fn one(profile: &CausalProfile) -> Target {
    let [point] = profile.progress_points.as_slice() else {
        panic!("one point: {profile:?}")
    };
    let [target] = point.targets.as_slice() else {
        panic!("one target: {profile:?}")
    };
    target.clone()
}

const SEEDS: u64 = 200;

/// In which part of the seeds `holds` does.
fn part(program: &Program, holds: impl Fn(&Target) -> bool) -> f64 {
    (1..=SEEDS)
        .filter(|&seed| holds(&program.target(seed)))
        .count() as f64
        / SEEDS as f64
}

#[test]
fn intervals_hold_the_truth() {
    let base = Program {
        visits: 400.0,
        noise: 0.02,
        gain: 0.0,
        counts: (8, 8),
        levels: FOUR,
        phase: 1.0,
    };
    let cases = [
        (
            "quiet, eight an arm",
            Program {
                gain: 0.4,
                noise: 0.003,
                ..base
            },
        ),
        (
            "the sample",
            Program {
                gain: 0.045,
                ..base
            },
        ),
        ("no effect", Program { gain: 0.0, ..base }),
        ("harm", Program { gain: -0.3, ..base }),
        (
            "many",
            Program {
                gain: 0.1,
                counts: (40, 40),
                ..base
            },
        ),
        (
            "few, rare visits",
            Program {
                gain: 0.3,
                visits: 12.0,
                noise: 0.1,
                counts: (4, 3),
                ..base
            },
        ),
        (
            "two an arm",
            Program {
                gain: 0.3,
                counts: (4, 2),
                ..base
            },
        ),
        (
            "coz's twenty levels, one each",
            Program {
                gain: 0.2,
                counts: (10, 1),
                levels: TWENTY,
                ..base
            },
        ),
        (
            "half of the run",
            Program {
                gain: 0.4,
                phase: 0.5,
                ..base
            },
        ),
        (
            "singletons only",
            Program {
                gain: 0.2,
                counts: (1, 1),
                ..base
            },
        ),
    ];
    for (name, program) in cases {
        let truth = program.gain * program.phase;
        let slope = part(&program, |t| {
            t.slope_interval.is_some_and(|it| it.contains(truth))
        });
        let at_full = part(&program, |t| {
            let point = t.points.last().expect("the baseline at least");
            point
                .interval
                .is_some_and(|it| it.contains(truth * point.speedup))
        });
        println!("{name}: slope {slope}, last point {at_full}");
        assert!(
            slope >= 0.9,
            "{name}: the slope's interval holds {truth} in {slope} of the seeds"
        );
        assert!(
            at_full >= 0.9,
            "{name}: the last point's interval holds {truth} in {at_full} of the seeds"
        );
    }
}

#[test]
fn noise_is_not_called_an_effect() {
    let cases = [
        (
            "four levels",
            Program {
                visits: 400.0,
                noise: 0.02,
                gain: 0.0,
                counts: (8, 8),
                levels: FOUR,
                phase: 1.0,
            },
        ),
        (
            "coz's file",
            Program {
                visits: 9.0,
                noise: 0.3,
                gain: 0.0,
                counts: (30, 2),
                levels: TWENTY,
                phase: 1.0,
            },
        ),
        (
            "little",
            Program {
                visits: 30.0,
                noise: 0.1,
                gain: 0.0,
                counts: (2, 2),
                levels: FOUR,
                phase: 1.0,
            },
        ),
    ];
    for (name, program) in cases {
        let is = |shapes: &'static [Shape]| move |t: &Target| shapes.contains(&t.shape);
        let gains = part(
            &program,
            is(&[Shape::Gain1, Shape::Gain2, Shape::Gain3, Shape::Gain4]),
        );
        let harms = part(&program, is(&[Shape::Harm1, Shape::Harm2, Shape::Harm3]));
        println!("{name}: gains {gains}, harms {harms}");
        assert!(
            gains <= 0.05 && harms <= 0.05,
            "{name}: gains {gains}, harms {harms}"
        );
        let large = part(&program, is(&[Shape::Gain3, Shape::Gain4, Shape::Harm3]));
        assert!(large <= 0.01, "{name}: {large} look large");
    }
}

#[test]
fn a_minute_of_the_sample_tells_its_two_lines_apart() {
    let sample = Program {
        visits: 400.0,
        noise: 0.01,
        gain: 0.045,
        counts: (20, 10),
        levels: FOUR,
        phase: 1.0,
    };
    let gain = part(&sample, |t| t.shape == Shape::Gain1);
    let flat = part(
        &Program {
            gain: 0.0,
            ..sample
        },
        |t| t.shape == Shape::Flat,
    );
    assert!(gain >= 0.95, "{gain}");
    assert!(flat >= 0.9, "{flat}");
}

#[test]
fn single_experiments_are_not_certain() {
    // One experiment an arm and no scatter to learn from: counts scatter at least as Poisson counts do.
    let lucky = Program {
        visits: 9.0,
        noise: 0.0,
        gain: 0.5,
        counts: (1, 1),
        levels: FOUR,
        phase: 1.0,
    };
    for seed in 1..=20 {
        let target = lucky.target(seed);
        let interval = target.slope_interval.expect("always one");
        assert!(interval.width() > 0.4, "{target:?}");
        for point in &target.points[1..] {
            let interval = point.interval.expect("always one");
            assert!(interval.width() > 0.3, "{point:?}");
        }
        assert!(
            matches!(target.shape, Shape::Unknown | Shape::Gain1 | Shape::Gain2),
            "{target:?}"
        );
    }
}

#[test]
fn contention_is_a_slope_that_is_surely_and_noticeably_below_zero() {
    let base = Program {
        visits: 400.0,
        noise: 0.01,
        gain: -0.3,
        counts: (20, 10),
        levels: FOUR,
        phase: 1.0,
    };
    assert!(part(&base, |t| t.contention && t.shape == Shape::Harm3) >= 0.9);
    assert!(part(&Program { gain: 0.0, ..base }, |t| t.contention) <= 0.05);
    assert!(
        part(
            &Program {
                gain: -0.02,
                noise: 0.1,
                counts: (3, 2),
                ..base
            },
            |t| t.contention
        ) <= 0.2
    );
    // Certain, but too small to warn about.
    assert!(
        part(
            &Program {
                gain: -0.004,
                noise: 0.0,
                visits: 1e6,
                ..base
            },
            |t| t.contention
        ) == 0.0
    );
}

#[test]
fn the_same_recording_gives_the_same_profile() {
    let program = Program {
        visits: 40.0,
        noise: 0.1,
        gain: 0.2,
        counts: (3, 2),
        levels: FOUR,
        phase: 0.7,
    };
    let recording = program.record(3);
    let first = analyse(&recording, &Options::default());
    assert_eq!(first, analyse(&recording, &Options::default()));
    let interval = one(&first).slope_interval.expect("always one");
    assert!(interval.low < interval.high, "resampling did something");
}

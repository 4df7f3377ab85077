//! The first verdict: how often it is wrong, how soon it comes, and that results know nothing of it.

use fulcrum_causal::{FirstVerdict, Opening, Options, SPEEDUPS, analyse};
use fulcrum_model::causal::{
    CausalProfile, Count, Experiment, Flag, Point, PointKind, PointProfile, Recording, Shape,
    Target, Visits,
};
use fulcrum_model::{Interval, TargetId};
use fulcrum_runtime_core::draw::{Deck, Levels, Treatment};
use fulcrum_stats::Random;

const LEVELS: [u32; 4] = [2500, 5000, 7500, 10_000];
/// 50 and 100 %.
const OPENING: u32 = 0b1010;
/// No opening lasts longer: ten looks, and placebos between them.
const LONGEST: usize = 100;

/// A line of a simulated program.
#[derive(Clone, Copy)]
struct Line {
    /// Its part of the samples.
    share: f64,
    /// Program speedup by its own.
    gain: fn(f64) -> f64,
}

/// What an experiment's rate scatters by, as fractions.
#[derive(Clone, Copy)]
struct Noise {
    own: f64,
    /// In addition, with a speedup: samples make delays.
    sped_up: f64,
    /// First-order autoregressive, with a memory of twenty experiments.
    drift: f64,
}

const QUIET: Noise = Noise {
    own: 0.02,
    sped_up: 0.02,
    drift: 0.01,
};
const UNEVEN: Noise = Noise {
    own: 0.01,
    sped_up: 0.06,
    drift: 0.0,
};

fn line(index: usize) -> TargetId {
    format!("/w/a.c:{}", index + 1).parse().expect("a line")
}

fn steady(share: f64, gain: fn(f64) -> f64) -> Line {
    Line { share, gain }
}

struct Run<'a> {
    lines: &'a [Line],
    noise: Noise,
    random: Random,
    decks: Vec<Deck>,
    drift: f64,
    recording: Recording,
}

impl<'a> Run<'a> {
    fn new(lines: &'a [Line], noise: Noise, seed: u64) -> Run<'a> {
        Run {
            lines,
            noise,
            random: Random::new(seed),
            decks: vec![Deck::default(); lines.len()],
            drift: 0.0,
            recording: Recording {
                levels: vec![0.25, 0.5, 0.75, 1.0],
                ..Recording::default()
            },
        }
    }

    fn chosen(&mut self) -> usize {
        let mut at = self.random.unit() * self.lines.iter().map(|it| it.share).sum::<f64>();
        let passed = self.lines.iter().position(|line| {
            at -= line.share;
            at < 0.0
        });
        passed.unwrap_or(0)
    }

    /// One experiment, which draws from the levels in `mask`.
    fn experiment(&mut self, mask: u32) {
        let index = self.chosen();
        let levels = Levels::new(&LEVELS, u32::MAX).only(mask);
        let treatment = levels.draw(&mut self.decks[index], &mut self.random);
        let (ten_thousandths, placebo) = treatment.speedup();
        let speedup = f64::from(ten_thousandths) / 10_000.0;
        let sped_up = matches!(treatment, Treatment::Speedup(_));
        let gain = if sped_up {
            (self.lines[index].gain)(speedup)
        } else {
            0.0
        };
        let memory = 0.95_f64;
        let fresh = (1.0 - memory * memory).sqrt() * self.noise.drift;
        self.drift = memory * self.drift + fresh * self.random.normal();
        let own = if sped_up {
            self.noise.own.hypot(self.noise.sped_up)
        } else {
            self.noise.own
        };
        let noise = 1.0 + self.drift + own * self.random.normal();
        let duration = 2.5e8 + 1e8 * self.random.unit();
        let rate = 4e-6 * noise / (1.0 - gain);
        let delta = (rate * duration + self.random.unit()) as u64;
        self.recording.experiments.push(Experiment {
            speedup,
            placebo,
            duration_ns: duration as i64,
            selected_samples: (self.lines[index].share * duration / 1e6) as u64,
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput { delta },
                half: None,
            }],
            ..Experiment::on(line(index))
        });
    }

    /// From the beginning to the first verdict, or until there will be none. With it, how many experiments there were.
    fn open(&mut self) -> (Option<FirstVerdict>, usize) {
        let mut opening = Opening::new((0..self.lines.len()).map(line).collect());
        while !opening.is_over() && self.recording.experiments.len() < LONGEST {
            self.experiment(OPENING);
            if let Some(verdict) = opening.interim_analysis(&self.recording) {
                return (Some(verdict), self.recording.experiments.len());
            }
        }
        assert!(opening.is_over(), "ten looks come before that");
        (None, self.recording.experiments.len())
    }
}

#[test]
fn the_opening_draws_from_its_levels() {
    let drawn = LEVELS.iter().enumerate();
    let drawn = drawn.filter(|(index, _)| OPENING & 1 << index != 0);
    let drawn: Vec<f64> = drawn.map(|(_, it)| f64::from(*it) / 10_000.0).collect();
    assert_eq!(drawn, SPEEDUPS);
}

/// In how many of a thousand runs there is a verdict.
fn claimed(lines: &[Line], noise: Noise) -> u32 {
    let claims = |seed| u32::from(Run::new(lines, noise, seed).open().0.is_some());
    (1..=1000).map(claims).sum()
}

#[test]
fn what_is_not_worth_it_is_claimed_in_five_percent_of_runs_at_most() {
    // Of no worth at all, and of exactly as much as is worth no verdict yet.
    let nothing = [0.4, 0.3, 0.3].map(|share| steady(share, |_| 0.0));
    let nearly = [0.4, 0.3, 0.3].map(|share| steady(share, |_| 0.08));
    for noise in [QUIET, UNEVEN] {
        let claims = claimed(&nothing, noise);
        assert!(claims <= 5, "{claims} of 1000");
        let claims = claimed(&nearly, noise);
        // Two standard errors of 5 % of a thousand.
        assert!(claims <= 64, "{claims} of 1000");
        let alone = claimed(&nearly[..1], noise);
        assert!(alone <= 64, "{alone} of 1000");
    }
}

/// The verdict is about half the time. What the curve shows there must not deny it, however much the line is worth beyond.
#[test]
fn what_is_worth_it_at_full_speedup_alone_has_no_verdict() {
    let late = |speedup: f64| if speedup < 0.75 { -0.03 } else { 0.5 };
    assert_eq!(claimed(&[steady(1.0, late)], QUIET), 0);
}

#[test]
fn a_verdict_is_withdrawn_when_the_results_contradict_it() {
    let verdict = FirstVerdict {
        target: line(0),
        point: "p".into(),
        at_least: 0.08,
    };
    let point = |speedup, program_speedup| Point {
        speedup,
        program_speedup,
        interval: Some(Interval::around(program_speedup, 0.03)),
        measured: None,
        visits: 100,
        duration_ns: 1,
    };
    let result = |at_half: f64, shape, flags: &[Flag]| Target {
        id: line(0),
        slope: 2.0 * at_half,
        slope_interval: Some(Interval::around(2.0 * at_half, 0.05)),
        contention: false,
        experiments: 30,
        minimum_effect: None,
        in_call: None,
        flags: flags.to_vec(),
        shape,
        points: vec![point(0.0, 0.0), point(0.5, at_half)],
    };
    let of = |name: &str, target: Target| CausalProfile {
        progress_points: vec![PointProfile {
            name: name.into(),
            kind: PointKind::Throughput,
            targets: vec![target],
        }],
        notes: vec![],
    };
    let contradictory = [Flag::Contradictory];
    for (profile, stands, why) in [
        (CausalProfile::default(), true, "no results yet"),
        (of("p", result(0.1, Shape::Gain1, &[])), true, "a gain"),
        (of("p", result(0.1, Shape::Unknown, &[])), true, "too wide"),
        (
            of("p", result(0.05, Shape::Gain1, &[])),
            false,
            "a smaller number",
        ),
        (of("p", result(0.09, Shape::Flat, &[])), false, "no effect"),
        (of("p", result(-0.1, Shape::Harm1, &[])), false, "a harm"),
        (
            of("p", result(0.1, Shape::Unknown, &contradictory)),
            false,
            "the slope and the curve disagree",
        ),
        (
            of("q", result(-0.1, Shape::Harm1, &[])),
            true,
            "another progress point",
        ),
    ] {
        assert_eq!(verdict.agrees_with(&profile), stands, "{why}");
    }
}

#[test]
fn what_is_worth_it_is_found_soon() {
    let lines = [
        Line {
            share: 0.5,
            gain: |speedup| 0.3 * speedup,
        },
        Line {
            share: 0.3,
            gain: |speedup| 0.05 * speedup,
        },
        Line {
            share: 0.2,
            gain: |_| 0.0,
        },
    ];
    let mut after = Vec::new();
    let mut wrong = 0;
    for seed in 1..=300 {
        let (verdict, experiments) = Run::new(&lines, QUIET, seed).open();
        if let Some(verdict) = verdict {
            after.push(experiments);
            let truth = verdict.at_least <= 0.15 && verdict.target == line(0);
            wrong += u32::from(!truth);
            assert!(verdict.at_least >= 0.053 && verdict.point == "p");
        }
    }
    assert!(after.len() >= 285, "{} of 300", after.len());
    assert!(wrong <= 3, "{wrong}");
    after.sort_unstable();
    // Two and a half experiments a second: ten seconds.
    let median = after[after.len() / 2];
    assert!(median <= 25, "{median} experiments");
}

#[test]
fn what_is_worth_it_in_a_phase_alone_is_worth_less() {
    let lines = [Line {
        share: 1.0,
        gain: |speedup| 0.3 * speedup,
    }];
    let mut run = Run::new(&lines, QUIET, 7);
    let mut openings = [true, false].map(|whole| (whole, Opening::new(vec![line(0)])));
    let mut verdicts = [None, None];
    for _ in 0..40 {
        run.experiment(OPENING);
        for ((whole, opening), verdict) in openings.iter_mut().zip(&mut verdicts) {
            let mut recording = run.recording.clone();
            let experiments = recording.experiments.iter();
            let (time, samples) = experiments.fold((0, 0), |(time, samples), it| {
                (time + it.duration_ns as u64, samples + it.selected_samples)
            });
            // The rest of the run, without the line, lasted four times as long.
            recording.runtime_ns = if *whole { time } else { 5 * time };
            recording.samples = vec![(line(0), samples)];
            *verdict = verdict.take().or(opening.interim_analysis(&recording));
        }
    }
    let [whole, phase] = verdicts;
    assert!(whole.is_some_and(|it| it.at_least < 0.15));
    assert_eq!(phase, None, "0.3 of a fifth are not worth 8 %");
}

/// Of a line's points, how often their intervals hold the truth and by how much they are off on average.
fn results(with_opening: bool) -> ([u32; 4], [f64; 4]) {
    let lines = [
        Line {
            share: 0.6,
            gain: |speedup| 0.2 * speedup,
        },
        Line {
            share: 0.4,
            gain: |_| 0.0,
        },
    ];
    let options = Options {
        phase_correction: false,
        allowance: 0.0,
        replicates: 150,
        ..Options::default()
    };
    let (mut held, mut error) = ([0; 4], [0.0; 4]);
    for seed in 1..=80 {
        let mut run = Run::new(&lines, QUIET, seed);
        if with_opening {
            run.open();
        }
        while run.recording.experiments.len() < 100 {
            run.experiment(0);
        }
        let profile = analyse(&run.recording, &options);
        let mut targets = profile.progress_points[0].targets.iter();
        let target = targets.find(|it| it.id == line(0)).expect("the line");
        for (n, point) in target.points[1..].iter().enumerate() {
            let truth = (lines[0].gain)(point.speedup);
            let interval = point.interval.expect("an interval");
            held[n] += u32::from(interval.contains(truth));
            error[n] += (point.program_speedup - truth) / 80.0;
        }
    }
    (held, error)
}

#[test]
fn results_and_intervals_are_as_without_an_opening() {
    let (with, without) = (results(true), results(false));
    for n in 0..4 {
        // 88 % of 80 runs: two standard errors below 95 %.
        assert!(with.0[n] >= 70, "{with:?} {without:?}");
        assert!(with.1[n].abs() < 0.005, "{with:?} {without:?}");
    }
}

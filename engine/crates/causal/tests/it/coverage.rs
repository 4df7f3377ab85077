//! Do 95 % intervals hold the truth with few experiments and a machine whose speed drifts?
//!
//! One simulated run: three lines, chosen in proportion to their samples, levels dealt from a shuffled deck a line as the
//! runtime does. An experiment's rate scatters by 2 % by itself and by a drift (first-order autoregressive, 2 %).

use fulcrum_causal::{Options, analyse};
use fulcrum_model::TargetId;
use fulcrum_model::causal::{Count, Experiment, Recording, Visits};
use fulcrum_stats::{Interval, Random};

const LEVELS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
const GAINS: [f64; 3] = [0.45, 0.15, 0.0];
const NOISE: f64 = 0.02;
const DRIFT: f64 = 0.02;
const MEMORY: f64 = 0.95;

fn line(index: usize) -> TargetId {
    format!("/w/a.c:{}", index + 1).parse().expect("a line")
}

fn run(random: &mut Random, experiments_a_line: usize) -> Recording {
    let mut decks: [Vec<f64>; 3] = Default::default();
    let mut recording = Recording {
        levels: LEVELS.to_vec(),
        ..Recording::default()
    };
    let mut drift = DRIFT * random.normal();
    let mut samples = [0; 3];
    for n in 0..3 * experiments_a_line {
        let index = n % 3;
        let deck = &mut decks[index];
        if deck.is_empty() {
            deck.extend(LEVELS);
            deck.extend([0.0; LEVELS.len()]);
        }
        let speedup = deck.swap_remove(random.index(deck.len()));
        drift = MEMORY * drift + (1.0 - MEMORY * MEMORY).sqrt() * DRIFT * random.normal();
        let duration = 1e8 * (1.0 + random.unit());
        let rate = 4e-6 * (1.0 + drift + NOISE * random.normal()) / (1.0 - GAINS[index] * speedup);
        let selected_samples = 40 + random.below(20);
        samples[index] += 3 * selected_samples;
        recording.runtime_ns += duration as u64;
        recording.experiments.push(Experiment {
            speedup,
            duration_ns: duration as i64,
            selected_samples,
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: (rate * duration + random.unit()) as u64,
                },
                half: None,
            }],
            ..Experiment::on(line(index))
        });
    }
    recording.samples = (0..3).map(|n| (line(n), samples[n])).collect();
    recording
}

/// How many intervals there were, and how many of them held the truth.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub of_points: [u32; 2],
    pub of_slopes: [u32; 2],
}

/// Simulates that many runs.
pub(crate) fn simulate(experiments_a_line: usize, runs: u64) -> Held {
    let mut counted = Held::default();
    let count = |[held, all]: &mut [u32; 2], interval: Option<Interval>, truth: f64| {
        *held += u32::from(interval.is_some_and(|it| it.contains(truth)));
        *all += 1;
    };
    for seed in 1..=runs {
        let recording = run(&mut Random::new(seed), experiments_a_line);
        let options = Options {
            phase_correction: false,
            allowance: 0.0,
            min_points: Some(2),
            ..Options::default()
        };
        let profile = analyse(&recording, &options);
        for target in &profile.progress_points[0].targets {
            let gain = GAINS[target.location().line as usize - 1];
            count(&mut counted.of_slopes, target.slope_interval, gain);
            for point in &target.points[1..] {
                count(&mut counted.of_points, point.interval, gain * point.speedup);
            }
        }
    }
    counted
}

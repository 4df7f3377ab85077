//! Adaptive choice: the recorder tests settled lines less often, and the estimates stay what they were.

use crate::simulated::{Line, Noise, Recorder, line};
use fulcrum_causal::{FLOOR, Options, analyse, next_weights};
use fulcrum_model::causal::Recording;
use fulcrum_stats::{Random, Sample};

const NOISE: Noise = Noise {
    own: 0.02,
    drift: 0.0,
};
const RUNS: u64 = 80;

fn options() -> Options {
    Options {
        phase_correction: false,
        replicates: 80,
        min_points: Some(2),
        ..Options::default()
    }
}

/// A run of two minutes whose weights follow what was found, or not.
fn run(phases: &[Vec<Line>], adaptive: bool, wanted: Option<f64>, seed: u64) -> Recording {
    let lines = phases[0].len();
    let mut random = Random::new(seed);
    let mut recorder = Recorder::new(lines, NOISE, &mut random);
    let mut weights = vec![1.0; lines];
    let experiments = 600;
    for n in 0..experiments {
        let phase = &phases[n * phases.len() / experiments];
        recorder.experiment(phase, &weights, &mut random);
        if adaptive && n % 20 == 19 {
            let profile = analyse(&recorder.recording, &options());
            for (id, weight) in next_weights(&profile, wanted) {
                weights[id.location.line as usize - 1] = weight;
            }
        }
    }
    recorder.recording
}

/// The program speedup found for a line when it is free.
fn when_free(recording: &Recording, index: usize) -> f64 {
    let profile = analyse(recording, &options());
    let targets = &profile.progress_points[0].targets;
    let target = targets
        .iter()
        .find(|it| it.id == line(index))
        .expect("it was tested");
    target
        .points
        .last()
        .expect("the baseline at least")
        .program_speedup
}

fn without_weights(recording: &Recording) -> Recording {
    let mut recording = recording.clone();
    recording
        .experiments
        .iter_mut()
        .for_each(|it| it.weight = 1.0);
    recording
}

#[test]
fn a_line_that_runs_in_two_phases_is_estimated_as_without_adaption() {
    // The first line is worth much in the first half and little in the second. It is known well before that.
    let main = |gain| Line { share: 0.85, gain };
    let rare = Line {
        share: 0.15,
        gain: 0.1,
    };
    let phases = [vec![main(0.5), rare], vec![main(0.1), rare]];
    let (mut fixed, mut adaptive, mut unweighted) = (Vec::new(), Vec::new(), Vec::new());
    let mut lowest: f64 = 1.0;
    for seed in 1..=RUNS {
        fixed.push(when_free(&run(&phases, false, None, seed), 0));
        let recording = run(&phases, true, Some(0.04), seed + RUNS);
        lowest = recording
            .experiments
            .iter()
            .fold(lowest, |low, it| low.min(it.weight));
        adaptive.push(when_free(&recording, 0));
        unweighted.push(when_free(&without_weights(&recording), 0));
    }
    let [fixed, adaptive, unweighted] =
        [fixed, adaptive, unweighted].map(|it| Sample::of(&it).expect("many runs"));
    let (truth, truth_error) = (fixed.mean, fixed.standard_error());
    let (found, error) = (adaptive.mean, adaptive.standard_error());
    let naive = unweighted.mean;
    println!(
        "fixed {truth:.4} ± {truth_error:.4}, adaptive {found:.4} ± {error:.4}, unweighted {naive:.4}"
    );
    assert_eq!(lowest, FLOOR, "the line was tested less often");
    let allowed = 3.0 * error.hypot(truth_error);
    assert!(
        (found - truth).abs() <= allowed,
        "{found} instead of {truth}"
    );
    assert!(
        (naive - truth).abs() > 3.0 * allowed,
        "weights matter: {naive}"
    );
}

#[test]
fn adaption_favours_nobody() {
    // Six lines alike in samples; the three best are tested to the end.
    let gains = [0.3, 0.25, 0.2, 0.02, 0.0, -0.05];
    let lines: Vec<Line> = gains
        .iter()
        .map(|&gain| Line {
            share: 1.0 / 6.0,
            gain,
        })
        .collect();
    let phases = [lines];
    let mut found = vec![Vec::new(); gains.len()];
    let mut tested = vec![0; gains.len()];
    for seed in 1..=RUNS {
        let recording = run(&phases, true, None, seed);
        for experiment in &recording.experiments {
            tested[experiment.selected.location.line as usize - 1] += 1;
        }
        for (index, found) in found.iter_mut().enumerate() {
            found.push(when_free(&recording, index));
        }
    }
    assert!(
        tested[0] > tested[5] * 3 / 2,
        "the best are tested more often: {tested:?}"
    );
    for (gain, found) in gains.iter().zip(&found) {
        let sample = Sample::of(found).expect("many runs");
        let (found, error) = (sample.mean, sample.standard_error());
        println!("{gain}: {found:.4} ± {error:.4}");
        // A ratio of sums is off by the noise's variance over the experiments: under a tenth of a point here.
        assert!(
            (found - gain).abs() <= 3.0 * error + 0.001,
            "{found} ± {error} instead of {gain}"
        );
    }
}

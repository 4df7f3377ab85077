//! Placebo experiments: what pausing costs is taken out of the results, as far as speedups paid it.

use fulcrum_causal::{Options, analyse, wording};
use fulcrum_model::causal::{
    CausalProfile, Count, Experiment, Flag, Recording, Shape, Target, Visits,
};
use fulcrum_runtime_core::draw::{Deck, Levels, Treatment};
use fulcrum_stats::Random;

/// Relative scatter of an experiment's rate.
const NOISE: f64 = 0.01;
/// Samples of the target a nanosecond: each makes a pause in every thread that pauses.
const HITS: f64 = 0.6e-6;

/// A program with one line.
#[derive(Clone, Copy)]
struct Program {
    /// Program speedup when the line is free.
    gain: f64,
    /// How many threads pause for each sample of the line while it is sped up; in a placebo it is one more.
    others: f64,
    /// The part of a speedup's pauses that the program pays for; the rest falls into time that threads wait anyway.
    paid: f64,
    /// What a pause costs at a speedup.
    pause_ns: fn(f64) -> f64,
}

/// Two threads on a machine that wakes slowly.
const TWO_THREADS: Program = Program {
    gain: 0.0,
    others: 1.0,
    paid: 0.5,
    pause_ns: |speedup| 20_000.0 + 20_000.0 * speedup,
};

fn record(program: Program, experiments: usize, placebo: bool, seed: u64) -> Recording {
    let mut levels = Levels::new(&[2500, 5000, 7500, 10_000], u32::MAX);
    if !placebo {
        levels = levels.without_placebos();
    }
    let (mut deck, mut random) = (Deck::default(), Random::new(seed));
    let line = || "/w/a.c:1".parse().expect("a line");
    let mut recording = Recording {
        levels: vec![0.25, 0.5, 0.75, 1.0],
        ..Recording::default()
    };
    for _ in 0..experiments {
        let treatment = levels.draw(&mut deck, &mut random);
        let (ten_thousandths, is_placebo) = treatment.speedup();
        let speedup = f64::from(ten_thousandths) / 10_000.0;
        let pausing = match treatment {
            Treatment::Baseline => 0.0,
            Treatment::Speedup(_) => program.others,
            Treatment::Placebo(_) => program.others + 1.0,
        };
        let gain = if is_placebo {
            0.0
        } else {
            program.gain * speedup
        };
        let duration = 2e8 * (1.0 + random.unit());
        let pauses = HITS * pausing * duration;
        // The pauses take their part of the time, however long a visit takes.
        let paid = if is_placebo {
            pausing
        } else {
            pausing * program.paid
        };
        let period = 2.5e5 * (1.0 - gain) / (1.0 - HITS * paid * (program.pause_ns)(speedup));
        let rate = (1.0 + NOISE * random.normal()) / period;
        recording.experiments.push(Experiment {
            speedup,
            placebo: is_placebo,
            duration_ns: duration as i64,
            pauses: Some(pauses as u64),
            selected_samples: (HITS * duration) as u64,
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: (rate * duration + random.unit()) as u64,
                },
                half: None,
            }],
            ..Experiment::on(line())
        });
    }
    recording
}

fn profile(recording: &Recording) -> CausalProfile {
    let options = Options {
        phase_correction: false,
        allowance: 0.0,
        ..Options::default()
    };
    analyse(recording, &options)
}

fn target(profile: &CausalProfile) -> &Target {
    &profile.progress_points[0].targets[0]
}

/// Of so many runs, in how many the intervals at each speedup hold the truth, and the mean error there.
fn held(program: Program, placebo: bool) -> ([u32; 4], [f64; 4]) {
    let (mut held, mut error) = ([0; 4], [0.0; 4]);
    for seed in 0..100 {
        let profile = profile(&record(program, 64, placebo, seed));
        for (n, point) in target(&profile).points[1..].iter().enumerate() {
            let truth = program.gain * point.speedup;
            let interval = point.interval.expect("an interval");
            held[n] += u32::from(interval.contains(truth));
            error[n] += (point.program_speedup - truth) / 100.0;
        }
    }
    (held, error)
}

#[test]
fn what_pausing_costs_is_no_part_of_the_result() {
    let (with, error) = held(TWO_THREADS, true);
    assert!(with.iter().all(|it| *it >= 90), "{with:?}");
    assert!(error.iter().all(|it| it.abs() < 0.002), "{error:?}");
    // The same without placebos: the line seems to do harm.
    let (without, error) = held(TWO_THREADS, false);
    assert!(without[3] < 30, "{without:?}");
    assert!(error[3] < -0.01, "{error:?}");
}

/// A program may gain where its own thread pauses: nobody has to wake what is not waiting. That is no speedup's loss.
#[test]
fn what_placebos_gain_is_not_taken_from_the_result() {
    let gains = Program {
        gain: 0.2,
        paid: 0.0,
        pause_ns: |_| -20_000.0,
        ..TWO_THREADS
    };
    let (held, error) = held(gains, true);
    assert!(held.iter().all(|it| *it >= 90), "{held:?}");
    assert!(error.iter().all(|it| it.abs() < 0.002), "{error:?}");
}

/// Whether speedups pay for their pauses, nobody sees. The interval holds both.
#[test]
fn intervals_hold_whatever_part_of_the_pauses_is_paid_for() {
    for (paid, gain) in [(0.0, 0.6), (1.0, 0.0), (1.0, 0.6)] {
        let program = Program {
            paid,
            gain,
            ..TWO_THREADS
        };
        let (with, error) = held(program, true);
        assert!(with.iter().all(|it| *it >= 90), "{paid} {gain}: {with:?}");
        assert!(
            error.iter().all(|it| it.abs() < 0.015),
            "{paid} {gain}: {error:?}"
        );
    }
}

#[test]
fn a_gain_is_as_large_as_it_is() {
    let program = Program {
        gain: 0.3,
        ..TWO_THREADS
    };
    let (with, error) = held(program, true);
    assert!(with.iter().all(|it| *it >= 90), "{with:?}");
    assert!(error.iter().all(|it| it.abs() < 0.004), "{error:?}");
}

#[test]
fn a_single_thread_pauses_only_in_placebos_and_nothing_is_corrected() {
    let serial = Program {
        gain: 0.4,
        others: 0.0,
        ..TWO_THREADS
    };
    let recording = record(serial, 64, true, 7);
    let mut plain = recording.clone();
    plain.experiments.retain(|it| !it.placebo);
    let (found, without) = (profile(&recording), profile(&plain));
    let effects = |profile: &CausalProfile| -> Vec<f64> {
        let points = target(profile).points.iter();
        points.map(|it| it.program_speedup).collect()
    };
    assert_eq!(effects(&found), effects(&without));
}

#[test]
fn the_notes_say_what_pausing_costs() {
    let found = profile(&record(TWO_THREADS, 400, true, 3));
    let note = wording::note(&found.notes[0]);
    assert!(
        note.starts_with("Pausing itself costs time: ")
            && note.contains(" slower at a virtual speedup of 100 %."),
        "{note}"
    );
}

#[test]
fn where_pausing_costs_a_tenth_of_the_time_nothing_is_concluded() {
    let slow = Program {
        gain: -0.3,
        pause_ns: |_| 400_000.0,
        ..TWO_THREADS
    };
    let profile = profile(&record(slow, 400, true, 3));
    let found = target(&profile);
    assert_eq!((found.shape, found.contention), (Shape::Unknown, false));
    assert!(found.flags.contains(&Flag::CostlyPauses));
}

/// What the first placebos of a run say is little: the interval must hold what they leave open, and no more than pauses
/// may cost.
#[test]
fn few_placebos_widen_the_interval_and_do_not_move_the_result_far() {
    let mut recording = record(TWO_THREADS, 200, true, 5);
    let mut placebos = 0;
    recording.experiments.retain(|it| {
        placebos += u32::from(it.placebo);
        !it.placebo || placebos == 1
    });
    let mut without = recording.clone();
    without.experiments.retain(|it| !it.placebo);
    let (one, none) = (profile(&recording), profile(&without));
    let last = |profile: &CausalProfile| {
        let point = &target(profile).points[4];
        let interval = point.interval.expect("an interval");
        (point.program_speedup, interval.width())
    };
    let ((effect, width), (biased, narrow)) = (last(&one), last(&none));
    assert!(width > 1.5 * narrow && width < 0.15, "{width} {narrow}");
    assert!((effect - biased).abs() < 0.04, "{effect} {biased}");
}

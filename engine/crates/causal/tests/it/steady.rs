//! Experiments that measure the way to a steady state are told from those that measure the state.

use fulcrum_causal::{Options, analyse, next_warmups};
use fulcrum_model::causal::{Count, Experiment, Flag, Recording, Target, Visits};
use fulcrum_runtime_core::draw::{Deck, Levels};
use fulcrum_stats::Random;

/// A visit without speedup, nanoseconds.
const PERIOD: f64 = 2.5e5;
/// Scatter of the pace of each half.
const NOISE: f64 = 0.02;
/// Experiments last so long, nanoseconds.
const LENGTH: f64 = 3e8;

/// The program speedup at a moment, of a virtual speedup that has been in force for so many nanoseconds, after another one.
type Gain = fn(speedup: f64, after_ns: f64, before: f64) -> f64;

/// A line whose speedup helps while a queue of 150 ms drains; then the other stage is the bottleneck.
fn bounded_queue(speedup: f64, after_ns: f64, _: f64) -> f64 {
    let settled = settled(speedup);
    settled + (speedup - settled) * (-after_ns / 1.5e8).exp()
}

fn settled(speedup: f64) -> f64 {
    speedup.min(0.4)
}

/// From where on the program is slower, whatever is sped up.
fn phase(speedup: f64, after_ns: f64, _: f64) -> f64 {
    let later = if after_ns > 1e8 + LENGTH / 2.0 {
        0.2
    } else {
        0.0
    };
    1.0 - (1.0 - 0.3 * speedup) * (1.0 + later)
}

/// A producer whose speedup fills a queue at once. Without it, the consumer goes on at its own pace until the queue is empty.
fn full_queue(speedup: f64, after_ns: f64, before: f64) -> f64 {
    let drains = before > 0.0 && after_ns < 2.5e8;
    if speedup > 0.0 || drains { 0.2 } else { 0.0 }
}

fn steady(speedup: f64, _: f64, _: f64) -> f64 {
    0.3 * speedup
}

struct Recorder {
    gain: Gain,
    warmup_ns: u64,
    recording: Recording,
    deck: Deck,
    random: Random,
    before: f64,
}

impl Recorder {
    fn new(gain: Gain, seed: u64) -> Recorder {
        Recorder {
            gain,
            warmup_ns: 100_000_000,
            recording: Recording {
                levels: vec![0.25, 0.5, 0.75, 1.0],
                ..Recording::default()
            },
            deck: Deck::default(),
            random: Random::new(seed),
            before: 0.0,
        }
    }

    fn experiment(&mut self) {
        let levels = Levels::new(&[2500, 5000, 7500, 10_000], u32::MAX).without_placebos();
        let (speedup, _) = levels.draw(&mut self.deck, &mut self.random).speedup();
        let speedup = f64::from(speedup) / 10_000.0;
        let halves = [0.0, LENGTH / 2.0].map(|from| {
            let pace = 1.0 + NOISE * self.random.normal();
            let steps = 50;
            let step = LENGTH / 2.0 / f64::from(steps);
            let visits = |n: i32| {
                let at = self.warmup_ns as f64 + from + (f64::from(n) + 0.5) * step;
                let gain = (self.gain)(speedup, at, self.before);
                step / (PERIOD * (1.0 - gain))
            };
            (0..steps).map(visits).sum::<f64>() * pace
        });
        self.before = speedup;
        let [first, second] = halves.map(|it| it.round() as u64);
        self.recording.experiments.push(Experiment {
            speedup,
            duration_ns: LENGTH as i64,
            half_ns: Some((LENGTH / 2.0) as i64),
            warmup_ns: Some(self.warmup_ns),
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: first + second,
                },
                half: Some(first),
            }],
            ..Experiment::on("/w/a.c:1".parse().expect("a line"))
        });
    }

    /// As many experiments; after every eighth, warm-ups become as long as they should.
    fn adaptive(mut self, experiments: usize) -> Recorder {
        for n in 1..=experiments {
            self.experiment();
            if n % 8 == 0 {
                for (_, warmup) in next_warmups(&self.recording) {
                    self.warmup_ns = warmup.as_nanos() as u64;
                }
            }
        }
        self
    }

    /// As many experiments, whatever they say.
    fn stubborn(mut self, experiments: usize) -> Recorder {
        (0..experiments).for_each(|_| self.experiment());
        self
    }

    fn target(&self) -> Target {
        let options = Options {
            phase_correction: false,
            ..Options::default()
        };
        analyse(&self.recording, &options).progress_points[0].targets[0].clone()
    }
}

fn worst_error(target: &Target) -> f64 {
    let errors = target
        .points
        .iter()
        .map(|it| (it.program_speedup - settled(it.speedup)).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn warm_ups_last_until_queues_have_settled() {
    let short = Recorder::new(bounded_queue, 1).stubborn(120).target();
    assert!(worst_error(&short) > 0.05, "{:?}", short.points);
    assert!(short.flags.contains(&Flag::Unsettled));

    let recorder = Recorder::new(bounded_queue, 1).adaptive(120);
    assert!(recorder.warmup_ns >= 300_000_000, "{}", recorder.warmup_ns);
    let target = recorder.target();
    assert!(worst_error(&target) < 0.02, "{:?}", target.points);
    assert!(!target.flags.contains(&Flag::Unsettled));
}

#[test]
fn a_queue_that_a_speedup_filled_empties_before_the_next_baseline_counts() {
    let short = Recorder::new(full_queue, 1).stubborn(120).target();
    let gain = |target: &Target| target.points[2].program_speedup;
    assert!(gain(&short) < 0.16, "{:?}", short.points);
    assert!(short.flags.contains(&Flag::Unsettled));

    // Found after ten seconds, nearly always.
    let found = (0..100).filter(|seed| {
        let recorder = Recorder::new(full_queue, *seed).adaptive(24);
        recorder.warmup_ns >= 300_000_000
    });
    let found = found.count();
    assert!(found >= 90, "{found}");
    let recorder = Recorder::new(full_queue, 1).adaptive(120);
    let target = recorder.target();
    assert!((gain(&target) - 0.2).abs() < 0.02, "{:?}", target.points);
    assert!(!target.flags.contains(&Flag::Unsettled));
}

#[test]
fn experiments_from_before_count_until_there_are_new_ones_at_every_speedup() {
    let mut recorder = Recorder::new(bounded_queue, 1).stubborn(64);
    recorder.warmup_ns = 900_000_000;
    let mut counted = Vec::new();
    for new in 1..=16 {
        recorder.experiment();
        let target = recorder.target();
        // What still rests on the old ones has not settled.
        assert_eq!(
            target.flags.contains(&Flag::Unsettled),
            target.experiments == 64 + new
        );
        counted.push(target.experiments);
    }
    // A deck has each speedup once and four baselines.
    assert_eq!(counted[3], 64 + 4);
    assert_eq!(counted[15], 16);
    assert!(counted[7] == 8, "{counted:?}");
}

#[test]
fn a_warm_up_that_was_found_is_asked_for_as_long_as_the_run_goes_on() {
    let recorder = Recorder::new(bounded_queue, 1).adaptive(120);
    let [(target, warmup)] = &next_warmups(&recorder.recording)[..] else {
        panic!("one target");
    };
    assert_eq!(target.location.line, 1);
    assert_eq!(warmup.as_nanos(), u128::from(recorder.warmup_ns));
    let none = next_warmups(&Recorder::new(steady, 1).stubborn(40).recording);
    assert_eq!(none, []);
}

#[test]
fn a_phase_that_ends_is_no_queue() {
    let recorder = Recorder::new(phase, 1).adaptive(120);
    assert_eq!(recorder.warmup_ns, 100_000_000);
    assert!(!recorder.target().flags.contains(&Flag::Unsettled));
}

#[test]
fn noise_hardly_ever_looks_like_a_queue() {
    let longer = (0..200).filter(|seed| {
        let recorder = Recorder::new(steady, *seed).adaptive(80);
        recorder.warmup_ns > 100_000_000
    });
    assert!(longer.count() <= 6);
}

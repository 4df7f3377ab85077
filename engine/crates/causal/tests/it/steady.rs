//! Experiments that measure the way to a steady state are told from those that measure the state.

use fulcrum_causal::{Options, analyse, next_warmups};
use fulcrum_model::causal::{Count, Experiment, Flag, Recording, Target, Visits};
use fulcrum_runtime_core::draw::{Deck, Levels};
use fulcrum_stats::Random;

/// Scatter of the pace of each half without speedup; with all of it, it is twice that.
const NOISE: f64 = 0.02;
/// Experiments last so long, milliseconds of wall time.
const LENGTH: u32 = 300;
/// After each, nothing is sped up for as long.
const COOLOFF: u32 = 10;

/// What a program does in a millisecond in which its target is virtually faster by `speedup`.
trait Program {
    /// Visits, and effective milliseconds.
    fn run(&mut self, speedup: f64) -> [f64; 2];
}

/// A program whose every millisecond is the same.
struct Steady;

impl Steady {
    fn boxed(_: u64) -> Box<dyn Program> {
        Box::new(Steady)
    }
}

impl Program for Steady {
    fn run(&mut self, speedup: f64) -> [f64; 2] {
        [1.0, 1.0 - 0.3 * speedup]
    }
}

/// A program that at any moment becomes slower, or fast again.
struct Phases {
    slow: bool,
    random: Random,
}

impl Phases {
    fn boxed(seed: u64) -> Box<dyn Program> {
        Box::new(Phases {
            slow: false,
            random: Random::new(seed),
        })
    }
}

impl Program for Phases {
    fn run(&mut self, speedup: f64) -> [f64; 2] {
        self.slow ^= self.random.below(300) == 0;
        let time = if self.slow { 1.2 } else { 1.0 };
        [1.0, (1.0 - 0.3 * speedup) * time]
    }
}

/// Two stages with a queue of ten between them.
struct Queue {
    /// An item's time in the stage that is sped up, and in the other.
    ms: [f64; 2],
    /// Whether visits are at the stage that is sped up. It is the consumer then.
    consumer: bool,
    /// How many items the sped-up stage could process if the other one stopped.
    left: f64,
}

impl Queue {
    const PLACES: f64 = 10.0;

    /// A consumer whose speedup empties the queue. Near the other's pace, that takes half a second.
    fn slow_consumer(_: u64) -> Box<dyn Program> {
        Box::new(Queue {
            ms: [5.0, 3.0],
            consumer: true,
            left: Self::PLACES,
        })
    }

    /// A producer whose speedup fills the queue. Without it, the consumer goes on at its own pace until the queue is empty.
    fn slow_producer(_: u64) -> Box<dyn Program> {
        Box::new(Queue {
            ms: [5.0, 4.0],
            consumer: false,
            left: Self::PLACES,
        })
    }
}

impl Program for Queue {
    fn run(&mut self, speedup: f64) -> [f64; 2] {
        let [target, other] = self.ms;
        // The other stage pauses while this one works.
        let mut paces = [1.0 / target, (1.0 - speedup) / other];
        let left = self.left + paces[1] - paces[0];
        if left > Self::PLACES {
            paces[1] = paces[0];
        } else if left < 0.0 {
            paces = [1.0 / (other + speedup * target); 2];
        }
        self.left = left.clamp(0.0, Self::PLACES);
        let visits = if self.consumer { paces[0] } else { paces[1] };
        [visits, 1.0 - speedup * paces[0] * target]
    }
}

struct Recorder {
    program: Box<dyn Program>,
    warmup_ms: u32,
    recording: Recording,
    deck: Deck,
    random: Random,
    passed_ms: u32,
}

impl Recorder {
    fn new(program: Box<dyn Program>, seed: u64) -> Recorder {
        Recorder {
            program,
            warmup_ms: 100,
            recording: Recording {
                levels: vec![0.25, 0.5, 0.75, 1.0],
                ..Recording::default()
            },
            deck: Deck::default(),
            random: Random::new(seed),
            passed_ms: 0,
        }
    }

    fn run(&mut self, speedup: f64, ms: u32) -> [f64; 2] {
        self.passed_ms += ms;
        let steps = (0..ms).map(|_| self.program.run(speedup));
        steps.fold([0.0; 2], |[visits, time], it| {
            [visits + it[0], time + it[1]]
        })
    }

    fn experiment(&mut self) {
        let levels = Levels::new(&[2500, 5000, 7500, 10_000], u32::MAX).without_placebos();
        let (speedup, _) = levels.draw(&mut self.deck, &mut self.random).speedup();
        let speedup = f64::from(speedup) / 10_000.0;
        self.run(speedup, self.warmup_ms);
        let [first, second] = [(); 2].map(|()| {
            let [visits, ms] = self.run(speedup, LENGTH / 2);
            let pace = 1.0 + NOISE * (1.0 + speedup) * self.random.normal();
            [(visits * pace * 1000.0).round() as u64, (ms * 1e6) as u64]
        });
        self.run(0.0, COOLOFF);
        self.recording.experiments.push(Experiment {
            speedup,
            duration_ns: (first[1] + second[1]) as i64,
            half_ns: Some(first[1] as i64),
            warmup_ns: Some(u64::from(self.warmup_ms) * 1_000_000),
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: first[0] + second[0],
                },
                half: Some(first[0]),
            }],
            ..Experiment::on("/w/a.c:1".parse().expect("a line"))
        });
    }

    /// Experiments for so long. After each second, warm-ups become as long as they should.
    fn adaptive(mut self, seconds: u32) -> Recorder {
        for second in 1..=seconds {
            while self.passed_ms < second * 1000 {
                self.experiment();
            }
            for (_, warmup) in next_warmups(&self.recording) {
                self.warmup_ms = warmup.as_millis() as u32;
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

/// The largest error of a target that can make the program faster by `most`.
fn worst_error(target: &Target, most: f64) -> f64 {
    let errors = target
        .points
        .iter()
        .map(|it| (it.program_speedup - it.speedup.min(most)).abs());
    errors.fold(0.0, f64::max)
}

/// In how many of 100 runs warm-ups become longer.
fn found(program: fn(u64) -> Box<dyn Program>, seconds: u32) -> usize {
    let longer = (0..100).filter(|seed| {
        let recorder = Recorder::new(program(*seed), *seed).adaptive(seconds);
        recorder.warmup_ms >= 300
    });
    longer.count()
}

#[test]
fn warm_ups_last_until_queues_have_settled() {
    for (program, most) in [
        (Queue::slow_consumer as fn(u64) -> Box<dyn Program>, 0.4),
        (Queue::slow_producer, 0.2),
    ] {
        let short = Recorder::new(program(1), 1).stubborn(160).target();
        let error = worst_error(&short, most);
        assert!(error > 0.03, "{error}: {:?}", short.points);
        assert!(short.flags.contains(&Flag::Unsettled));

        let recorder = Recorder::new(program(1), 1).adaptive(60);
        assert!(recorder.warmup_ms >= 300, "{}", recorder.warmup_ms);
        let target = recorder.target();
        let error = worst_error(&target, most);
        assert!(error < 0.02, "{error}: {:?}", target.points);
        assert!(!target.flags.contains(&Flag::Unsettled));
    }
}

#[test]
fn a_queue_that_drains_through_whole_experiments_is_nearly_always_found_in_half_a_minute() {
    let found = found(Queue::slow_consumer, 30);
    assert!(found >= 80, "{found}");
}

#[test]
fn a_queue_that_a_speedup_leaves_behind_is_mostly_found_in_a_quarter_of_a_minute() {
    let found = found(Queue::slow_producer, 15);
    assert!(found >= 80, "{found}");
}

#[test]
fn experiments_from_before_count_until_there_are_new_ones_at_every_speedup() {
    let mut recorder = Recorder::new(Queue::slow_producer(1), 1).stubborn(64);
    recorder.warmup_ms = 900;
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
    let recorder = Recorder::new(Queue::slow_consumer(1), 1).adaptive(60);
    let [(target, warmup)] = &next_warmups(&recorder.recording)[..] else {
        panic!("one target");
    };
    assert_eq!(target.location.line, 1);
    assert_eq!(warmup.as_millis(), u128::from(recorder.warmup_ms));
    let none = next_warmups(&Recorder::new(Steady::boxed(1), 1).stubborn(40).recording);
    assert_eq!(none, []);
}

#[test]
fn neither_noise_nor_phases_look_like_a_queue_more_than_rarely() {
    for program in [Steady::boxed as fn(u64) -> Box<dyn Program>, Phases::boxed] {
        let found = found(program, 40);
        assert!(found <= 6, "{found}");
    }
}

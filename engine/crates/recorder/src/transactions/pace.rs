//! When to record, so that recording costs no more than the user allows.
//!
//! What recording costs depends on the program and on the host, so it is measured: the CPU time between two messages while
//! everything is recorded, against the same in pauses. Of a program that recording slows down by 20 %, a window of three seconds is
//! recorded in each minute or so; of one that it does not slow down, everything.
//!
//! While the machine is hardly busy, everything is recorded: it costs nobody anything, and a single request is not missed.

use std::time::Duration;

/// What the processes have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    /// Since some moment.
    pub time: Duration,
    /// CPU time of all processes, and of the recorder.
    pub cpu: Duration,
    /// How often they have sent something.
    pub messages: u64,
}

impl Work {
    fn since(self, before: Work) -> Work {
        Work {
            time: self.time.saturating_sub(before.time),
            cpu: self.cpu.saturating_sub(before.cpu),
            messages: self.messages.saturating_sub(before.messages),
        }
    }

    fn add(&mut self, more: Work) {
        self.time += more.time;
        self.cpu += more.cpu;
        self.messages += more.messages;
    }

    /// Makes it count for less, against what is yet to come.
    fn fade(&mut self) {
        const KEPT: f64 = 0.7;
        self.time = self.time.mul_f64(KEPT);
        self.cpu = self.cpu.mul_f64(KEPT);
        self.messages = (self.messages as f64 * KEPT) as u64;
    }

    /// The share of one processor that it took.
    fn load(self) -> f64 {
        self.cpu.as_secs_f64() / self.time.as_secs_f64().max(1e-9)
    }

    /// Whether even the shortest pause would have enough messages. A program with fewer does so much for each that recording them
    /// costs little, and pauses would only cut its long requests.
    fn is_frequent(self) -> bool {
        let in_pause = SHORTEST_PAUSE.as_secs_f64() / self.time.as_secs_f64().max(1e-9);
        self.messages as f64 * in_pause >= FEWEST_MESSAGES as f64
    }

    fn cpu_per_message(self) -> Option<f64> {
        (self.messages >= FEWEST_MESSAGES).then(|| self.cpu.as_secs_f64() / self.messages as f64)
    }
}

/// With fewer messages, a CPU time per message says nothing.
const FEWEST_MESSAGES: u64 = 200;
/// A program that takes less of a processor is recorded whole: even if that doubles what it takes, little is lost. It may be a small
/// part of what keeps the machine busy: clients that wait for it are the others.
const BUSY: f64 = 0.05;
/// What hooks cost in pauses, as a share of the program's CPU time (docs/benchmarks.md).
const PAUSED_COST: f64 = 0.02;
/// The least that recording may cost on average.
const LEAST: f64 = 0.0025;
/// How much busy time is recorded before the first pause.
const FIRST: Duration = Duration::from_secs(10);
/// How much busy time a window has at least.
const WINDOW: Duration = Duration::from_secs(3);
/// The most, where pauses only tell whether recording still costs as little as before.
const LONG_WINDOW: Duration = Duration::from_secs(60);
const SHORTEST_PAUSE: Duration = Duration::from_secs(3);
/// For so long a program must take less of a processor before a pause ends early.
const CALM: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(90);

/// Whether to record, from one moment to the next.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The share of the program's CPU time that recording may take on average.
    budget: f64,
    last: Work,
    /// Busy times: in windows and in pauses.
    recorded: Work,
    paused: Work,
    /// How much busy time the window or the pause has had.
    busy: Duration,
    /// How long it has not been busy.
    calm: Duration,
    is_paused: bool,
    pauses: u32,
}

impl Pace {
    /// Recording may slow the program down by so much, as a fraction.
    pub(crate) fn new(most: f64) -> Pace {
        Pace {
            budget: (most - PAUSED_COST).max(LEAST),
            last: Work::default(),
            recorded: Work::default(),
            paused: Work::default(),
            busy: Duration::ZERO,
            calm: Duration::ZERO,
            is_paused: false,
            pauses: 0,
        }
    }

    /// By how much recording slows the program down while it goes on, as a fraction. `None` if that is not known yet.
    pub(crate) fn cost(&self) -> Option<f64> {
        let [recorded, paused] = [self.recorded, self.paused].map(Work::cpu_per_message);
        Some((recorded? / paused? - 1.0).max(0.0))
    }

    /// The processes have come so far. Returns whether recording pauses from now on.
    pub(crate) fn pauses(&mut self, work: Work) -> bool {
        let since = work.since(self.last);
        self.last = work;
        let is_busy = since.load() >= BUSY;
        self.calm = if is_busy {
            Duration::ZERO
        } else {
            self.calm + since.time
        };
        if is_busy {
            self.busy += since.time;
            let side = if self.is_paused {
                &mut self.paused
            } else {
                &mut self.recorded
            };
            side.add(since);
        }
        let is_over = match self.is_paused {
            true => self.calm >= CALM || self.busy >= self.pause(),
            false => is_busy && self.recorded.is_frequent() && self.busy >= self.window(),
        };
        if is_over {
            self.is_paused = !self.is_paused;
            self.busy = Duration::ZERO;
            if self.is_paused {
                self.pauses += 1;
                self.paused.fade();
            } else {
                self.recorded.fade();
            }
        }
        self.is_paused
    }

    /// How often the time of a window must be paused for, on average.
    fn pauses_per_window(&self) -> f64 {
        (self.cost().unwrap_or(0.0) / self.budget - 1.0).max(0.0)
    }

    fn window(&self) -> Duration {
        if self.pauses == 0 {
            return FIRST;
        }
        let longest = LONG_WINDOW.as_secs_f64();
        let window = SHORTEST_PAUSE.as_secs_f64() / self.pauses_per_window();
        Duration::from_secs_f64(window.clamp(WINDOW.as_secs_f64(), longest))
    }

    fn pause(&self) -> Duration {
        let pause = WINDOW.mul_f64(self.pauses_per_window());
        pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program for so many seconds, which recording slows down by `cost`, and whose load is that of each second. Returns the
    /// seconds that were recorded.
    fn recorded(pace: &mut Pace, cost: f64, loads: &[f64]) -> Vec<bool> {
        let mut work = Work::default();
        let mut is_paused = false;
        let mut all = Vec::new();
        for load in loads {
            all.push(!is_paused);
            let each = 100e-6 * if is_paused { 1.0 } else { 1.0 + cost };
            work.time += Duration::from_secs(1);
            work.cpu += Duration::from_secs_f64(*load);
            work.messages += (load / each) as u64;
            is_paused = pace.pauses(work);
        }
        all
    }

    fn count(all: &[bool]) -> usize {
        all.iter().filter(|it| **it).count()
    }

    #[test]
    fn a_program_that_recording_slows_down_is_recorded_as_much_as_may_be() {
        for (cost, most) in [(0.22, 0.03), (0.1, 0.03), (0.5, 0.05), (0.22, 0.1)] {
            let mut pace = Pace::new(most);
            let all = recorded(&mut pace, cost, &[1.5; 2000]);
            assert_eq!(count(&all[..10]), 10, "the first seconds");
            let share = count(&all[10..]) as f64 / 1990.0;
            let costs = share * cost + PAUSED_COST;
            assert!(
                (0.8 * most..=1.02 * most).contains(&costs),
                "{cost} {most}: {costs}"
            );
            let found = pace.cost().unwrap();
            assert!((found - cost).abs() < 0.01, "{cost}: {found}");
        }
    }

    #[test]
    fn a_program_that_recording_does_not_slow_down_is_recorded() {
        let mut pace = Pace::new(0.03);
        let all = recorded(&mut pace, 0.005, &[1.0; 1000]);
        assert!(count(&all) > 940, "{}", count(&all));
        // Hardly more than allowed.
        let all = recorded(&mut Pace::new(0.03), 0.011, &[1.0; 1000]);
        assert!(count(&all) > 850, "{}", count(&all));
    }

    /// A server whose clients do most of the work.
    #[test]
    fn a_program_that_takes_little_of_a_busy_machine_is_paused_too() {
        let all = recorded(&mut Pace::new(0.03), 0.3, &[0.16; 1000]);
        assert!(count(&all[10..]) < 50, "{}", count(&all));
    }

    #[test]
    fn an_idle_machine_has_time_to_record() {
        let mut pace = Pace::new(0.03);
        assert_eq!(count(&recorded(&mut pace, 0.5, &[0.04; 500])), 500);
        // A pause ends with the load.
        let loads: Vec<f64> = (0..500)
            .map(|second| if second < 30 { 1.0 } else { 0.0 })
            .collect();
        let mut pace = Pace::new(0.03);
        let all = recorded(&mut pace, 0.5, &loads);
        assert!(count(&all[..30]) < 20);
        assert_eq!(count(&all[36..]), 464);
    }

    #[test]
    fn a_program_with_few_messages_is_recorded() {
        for in_a_second in [0, 20] {
            let mut pace = Pace::new(0.03);
            for second in 1..500 {
                let time = Duration::from_secs(second);
                let messages = in_a_second * second;
                let is_paused = pace.pauses(Work {
                    time,
                    cpu: time,
                    messages,
                });
                assert!(!is_paused, "{in_a_second} messages, after {second} s");
            }
        }
    }
}

//! Spreads the delay of a sample over the stretches of work that follow it.
//!
//! A sample in the selected line stands for a whole sampling period of it, and so its delay is as long as the line would have
//! become shorter in a period. COZ gives it to the other threads at once (§3.4). Where threads meet several times in a period, that
//! is wrong: the line has become shorter in each stretch between two meetings, by a little, and a thread that has to wait anyway
//! can bear a little without being late. It cannot bear the delay of many stretches in one.
//!
//! So the delay is held back, and given out at the calls that end these stretches: at each, as much as the speedup saves in the
//! time that its thread has run. A thread that makes no such calls gives all of it at once, as COZ does.

use core::cell::Cell;

/// Calls in a sampling period from which on they end short stretches. With fewer, the delay of a sample is given out at once.
const OFTEN: u32 = 3;
/// What counts as a stretch, nanoseconds: of calls that follow one another more closely, one counts.
const STRETCH_NS: u64 = 50_000;
/// The clock is read at this many calls after a sample, and then at one of as many.
const CLOCKED: u32 = 64;
/// Calls in a sampling period at which delay is given out, at most: what comes more often is too short to be paused for.
const MOST_RELEASES: u32 = 64;
/// The least delay that is given out, nanoseconds, while more is held back.
const LEAST_NS: u64 = 20_000;

/// The calls that may block or wake which a thread has made since its last sample, and how many stretches they have ended.
#[derive(Debug, Default)]
pub struct Calls {
    count: Cell<u32>,
    stretches: Cell<u32>,
    last_ns: Cell<u64>,
    /// Whether stretches were short before the last sample.
    were_short: Cell<bool>,
}

impl Calls {
    /// Counts a call. `now` reads the clock. Returns how many there are.
    #[inline(always)]
    pub fn add(&self, now: impl FnOnce() -> u64) -> u32 {
        let count = self.count.get().saturating_add(1);
        self.count.set(count);
        if self.stretches.get() < OFTEN && (count <= CLOCKED || count.is_multiple_of(CLOCKED)) {
            self.end_stretch(now());
        }
        count
    }

    #[inline]
    fn end_stretch(&self, now: u64) {
        if now.saturating_sub(self.last_ns.get()) >= STRETCH_NS {
            self.last_ns.set(now);
            self.stretches.set(self.stretches.get() + 1);
        }
    }

    /// A sample was taken: starts anew. Returns how many calls there were since the one before if they ended short stretches.
    pub fn sampled(&self) -> Option<u32> {
        let short = self.stretches.replace(0) >= OFTEN;
        self.were_short.set(short);
        let count = self.count.replace(0);
        short.then_some(count)
    }

    /// How many calls there were since the last sample.
    pub fn count(&self) -> u32 {
        self.count.get()
    }

    /// Whether the thread's stretches are short now, or were before its last sample.
    pub fn are_often(&self) -> bool {
        self.were_short.get() || self.stretches.get() >= OFTEN
    }

    /// Resets it, as in a thread that has made none.
    pub fn clear(&self) {
        self.count.set(0);
        self.stretches.set(0);
        self.were_short.set(false);
    }
}

/// What one thread holds back. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    held: u64,
    /// The delay of one sample.
    sample: u64,
    /// Up to when `ran` is counted.
    since: u64,
    /// How long the thread has run since it last gave out delay.
    ran: u64,
    /// The experiment that the delay belongs to.
    experiment: u32,
    /// Calls between two at which delay is given out.
    step: u32,
}

/// The experiment in which time passes.
#[derive(Clone, Copy, Debug)]
pub struct Speedup {
    /// Number of the experiment.
    pub experiment: u32,
    /// What it saves of the selected line, ten-thousandths.
    pub level: u32,
}

impl Speedup {
    fn of(self, ns: u64) -> u64 {
        (u128::from(ns) * u128::from(self.level) / u128::from(fulcrum_wire::FULL_SPEEDUP)) as u64
    }
}

impl Spread {
    /// Whether delay is held back.
    #[inline(always)]
    pub fn holds(&self) -> bool {
        self.held > 0
    }

    /// After how many calls delay is to be given out again.
    pub fn step(&self) -> u32 {
        if self.held > 0 { self.step } else { u32::MAX }
    }

    /// Samples have earned `earned`, of `sample` each. `calls` is what [`Calls::sampled`] returned. Returns what is to be given out
    /// now.
    pub fn sampled(
        &mut self,
        earned: u64,
        sample: u64,
        calls: Option<u32>,
        now: u64,
        speedup: Speedup,
    ) -> u64 {
        self.adopt(speedup.experiment);
        let Some(calls) = calls else {
            return core::mem::take(&mut self.held) + earned;
        };
        if self.held == 0 {
            self.since = now;
            self.ran = 0;
        }
        self.held += earned;
        self.sample = sample;
        self.step = (calls / MOST_RELEASES).max(1);
        self.release(now, speedup)
    }

    /// The thread is about to block or to wake another. Returns what is to be given out before.
    pub fn release(&mut self, now: u64, speedup: Speedup) -> u64 {
        self.adopt(speedup.experiment);
        if self.held == 0 {
            return 0;
        }
        self.ran += now.saturating_sub(self.since);
        self.since = now;
        // More than one sample's delay is given out faster, so that it does not pile up.
        let due = speedup.of(self.ran) * (self.held / self.sample.max(1)).max(1);
        if due < LEAST_NS && due < self.held {
            return 0;
        }
        self.ran = 0;
        let given = due.min(self.held);
        self.held -= given;
        given
    }

    /// The thread runs again, after it was blocked or paused.
    pub fn resume(&mut self, now: u64) {
        self.since = now;
    }

    /// What was held back for another experiment is dropped.
    fn adopt(&mut self, experiment: u32) {
        if self.experiment != experiment {
            *self = Spread {
                experiment,
                ..Spread::default()
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 1_500_000;
    const HALF: Speedup = Speedup {
        experiment: 1,
        level: 5_000,
    };
    const SAMPLE: u64 = PERIOD / 2;

    /// A thread whose samples fall in the line each period, and that makes a call after each of these stretches.
    /// What it gives out at each call.
    fn given_at_calls(stretches: impl Iterator<Item = u64>) -> std::vec::Vec<u64> {
        let mut spread = Spread::default();
        let calls = Calls::default();
        let (mut now, mut next) = (1_000_000, 1_000_000 + PERIOD);
        let mut given = std::vec::Vec::new();
        for stretch in stretches {
            let end = now + stretch;
            let mut sum = 0;
            while next <= end {
                sum += spread.sampled(SAMPLE, SAMPLE, calls.sampled(), next, HALF);
                next += PERIOD;
            }
            now = end;
            calls.add(|| now);
            sum += spread.release(now, HALF);
            given.push(sum);
        }
        given
    }

    #[test]
    fn each_stretch_gives_out_what_the_speedup_saves_in_it() {
        let given = given_at_calls(core::iter::repeat_n(250_000, 600));
        // The first sample comes after a period, in the middle of a stretch or at its end.
        let settled = &given[12..];
        assert!(settled.iter().all(|it| *it == 125_000), "{settled:?}");
    }

    #[test]
    fn a_thread_that_makes_few_calls_gives_out_the_delay_of_a_sample_at_once() {
        let given = given_at_calls(core::iter::repeat_n(2_000_000, 6));
        assert_eq!(given, [1, 1, 2, 1, 1, 2].map(|samples| samples * SAMPLE));
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_given_out_before_it_is_earned() {
        let lengths = [40_000, 700_000, 3_000, 250_000, 1_900_000, 11_000, 90_000];
        let count = 5_000;
        let given = given_at_calls(lengths.into_iter().cycle().take(count));
        let (mut time, mut sum) = (0, 0);
        for (stretch, amount) in lengths.into_iter().cycle().zip(&given) {
            time += stretch;
            sum += amount;
            assert!(sum <= time / PERIOD * SAMPLE);
        }
        let earned = time / PERIOD * SAMPLE;
        assert!(earned - sum <= 2 * SAMPLE, "{} held back", earned - sum);
    }

    #[test]
    fn calls_that_follow_one_another_closely_are_left_out() {
        let mut spread = Spread::default();
        assert_eq!(spread.sampled(SAMPLE, SAMPLE, Some(100_000), 0, HALF), 0);
        assert_eq!(spread.step(), 100_000 / MOST_RELEASES);
        assert_eq!(spread.release(2_000, HALF), 0);
        assert_eq!(spread.release(LEAST_NS, HALF), 0);
        assert_eq!(spread.release(2 * LEAST_NS, HALF), LEAST_NS);
    }

    #[test]
    fn time_in_which_the_thread_was_blocked_gives_out_nothing() {
        let mut spread = Spread::default();
        spread.sampled(SAMPLE, SAMPLE, Some(6), 0, HALF);
        spread.release(0, HALF);
        spread.resume(900_000);
        assert_eq!(spread.release(1_000_000, HALF), 50_000);
    }

    #[test]
    fn what_an_experiment_has_held_back_is_not_the_next_one_s() {
        let mut spread = Spread::default();
        spread.sampled(SAMPLE, SAMPLE, Some(6), 0, HALF);
        let next = Speedup {
            experiment: 2,
            ..HALF
        };
        assert_eq!(spread.release(1_000_000, next), 0);
        assert!(!spread.holds());
    }

    #[test]
    fn delay_does_not_pile_up() {
        let mut spread = Spread::default();
        // Ten samples at once, as when the others were hidden by a call: given out faster than the line could save it.
        let mut given = spread.sampled(10 * SAMPLE, SAMPLE, Some(6), 0, HALF);
        for call in 1..=12 {
            given += spread.release(call * 250_000, HALF);
        }
        assert!(given > 8 * SAMPLE, "{given}");
    }

    #[test]
    fn calls_in_quick_succession_end_one_stretch() {
        let calls = Calls::default();
        for now in [100_000, 101_000, 102_000, 1_100_000, 1_101_000, 1_102_000] {
            calls.add(|| now);
        }
        assert!(!calls.are_often());
        assert_eq!(calls.sampled(), None);
        for now in [2_000_000, 2_200_000, 2_400_000, 2_401_000] {
            calls.add(|| now);
        }
        assert!(calls.are_often());
        assert_eq!(calls.sampled(), Some(4));
        assert!(calls.are_often(), "for one more period");
        assert_eq!(calls.sampled(), None);
        assert!(!calls.are_often());
    }

    #[test]
    fn the_clock_is_read_rarely_where_calls_are_many() {
        let (calls, read) = (Calls::default(), Cell::new(0));
        for call in 0..100_000 {
            calls.add(|| {
                read.set(read.get() + 1);
                call * 15
            });
        }
        assert!(calls.are_often());
        assert!(read.get() < 400, "{}", read.get());
    }
}

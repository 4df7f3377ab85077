//! When a thread's first sample comes.
//!
//! A sample stands for a whole sampling period. If the first one came after a period, a thread that runs for less would have none, and
//! one that runs for 2.9 periods would have two. Programs that start a thread for each piece of work would seem to spend less time in
//! it than they do. So the first sample comes after a part of a period that differs from thread to thread: over many threads, the
//! number of samples is their time divided by the period.

use core::cell::Cell;

/// The first interval is at least this part of a period. Until the first sample has been read, others follow at the same interval, and
/// a virtual machine that is interrupted every ten microseconds does nothing else.
const LEAST_PART: u64 = 8;
/// 2⁶⁴ divided by the golden ratio: multiples of it, modulo 2⁶⁴, are spread evenly, and so are those of every second or third
/// number.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The beginning of a thread's sampling, until its samples follow at whole periods.
#[derive(Debug, Default)]
pub struct First {
    /// The interval before the first sample, nanoseconds; 0 once samples follow at whole periods.
    after_ns: Cell<u64>,
    /// What the next sample stands for already, nanoseconds.
    ahead_ns: Cell<u64>,
}

impl First {
    /// The thread of that id begins to be sampled every `period` nanoseconds.
    pub fn begin(&self, period: u64, thread: i32) {
        let part = u64::from(thread.cast_unsigned()).wrapping_mul(GOLDEN);
        let after = ((u128::from(period) * u128::from(part)) >> 64) as u64;
        let after = after.max(period / LEAST_PART);
        self.after_ns.set(after);
        self.ahead_ns.set(period - after);
    }

    /// Samples follow at whole periods.
    pub fn end(&self) {
        self.after_ns.set(0);
        self.ahead_ns.set(0);
    }

    /// The interval after which the first sample is to come, nanoseconds.
    pub fn after_ns(&self) -> u64 {
        self.after_ns.get()
    }

    /// Whether samples still come at the first interval.
    pub fn is_on(&self) -> bool {
        self.after_ns.get() != 0
    }

    /// Whether the next sample counts. As long as they come at the first interval, as many do as if they came at whole periods.
    #[inline]
    pub fn counts(&self, period: u64) -> bool {
        if !self.is_on() {
            return true;
        }
        let stands_for = self.ahead_ns.get() + self.after_ns.get();
        let counts = stands_for >= period;
        self.ahead_ns
            .set(stands_for - if counts { period } else { 0 });
        counts
    }

    /// By how much the first sample came too early for the period that it stands for, nanoseconds. Samples follow at whole periods.
    pub fn take_ahead(&self) -> u64 {
        self.after_ns.set(0);
        self.ahead_ns.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 1_500_000;

    /// The samples of a thread that runs for so many nanoseconds.
    fn samples(thread: i32, ran: u64) -> u64 {
        let first = First::default();
        first.begin(PERIOD, thread);
        let after = first.after_ns();
        if ran < after {
            return 0;
        }
        assert!(first.counts(PERIOD));
        first.end();
        1 + (ran - after) / PERIOD
    }

    #[test]
    fn short_threads_have_as_many_samples_as_their_time_has_periods() {
        for step in 1..6 {
            for ran in [400_000, 700_000, 1_500_000, 4_400_000, 9_000_000] {
                let threads = 1000;
                let taken: u64 = (0..threads)
                    .map(|index| samples(4711 + index * step, ran))
                    .sum();
                let expected = threads as f64 * ran as f64 / PERIOD as f64;
                let error = (taken as f64 - expected).abs();
                assert!(
                    error < 20.0,
                    "{taken} of {expected}, every {step} threads, {ran} ns"
                );
            }
        }
    }

    #[test]
    fn samples_that_go_on_at_the_first_interval_count_once_a_period() {
        for thread in 1..200 {
            let first = First::default();
            first.begin(PERIOD, thread);
            assert!(first.counts(PERIOD), "the first counts");
            let more = 1000 * PERIOD / first.after_ns();
            let counted = (0..more).filter(|_| first.counts(PERIOD)).count();
            assert!(
                (999..=1000).contains(&counted),
                "{counted} of thread {thread}"
            );
        }
    }

    #[test]
    fn a_timer_s_first_tick_stands_for_a_whole_period() {
        let first = First::default();
        first.begin(PERIOD, 77);
        let after = first.after_ns();
        assert_eq!(after + first.take_ahead(), PERIOD);
        assert_eq!(first.take_ahead(), 0);
        assert!(first.counts(PERIOD) && !first.is_on());
    }
}

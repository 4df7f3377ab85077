//! How a pause ends: how long before its end a thread stops sleeping and spins.
//!
//! The kernel wakes a sleeper late, most of all where a processor has to leave an idle state first. The ledger deducts that from
//! the next pause. But a thread that ends or wakes another first has no next pause, and whoever waited for it is late for good.
//! So a pause stops sleeping before its end by the lateness that all but one of twenty sleeps stay below on this machine. Where
//! threads wait in run queues, spinning would take a processor from them: there, pauses are slept to their end.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The length before the first sleep.
const FIRST_NS: u64 = 70_000;
/// Never less, so that one early sleep after many late ones does not matter.
const LEAST_NS: u64 = 10_000;
/// A thread that is later than this has waited for a processor, not for the clock.
const MOST_NS: u64 = 200_000;
/// What a punctual sleep subtracts.
const DOWN_NS: u64 = 500;
/// What a late sleep adds: when one of twenty is late, both balance.
const UP_NS: u64 = 19 * DOWN_NS;

/// The last part of pauses, in which threads spin. All threads share one; updates that two of them make at the same moment may
/// count once.
#[derive(Debug)]
pub struct Tail {
    length_ns: AtomicU64,
    crowded: AtomicBool,
}

impl Tail {
    /// Before any sleep.
    pub const fn new() -> Tail {
        Tail {
            length_ns: AtomicU64::new(FIRST_NS),
            crowded: AtomicBool::new(false),
        }
    }

    /// How long before its end a pause stops sleeping, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        if self.crowded.load(Ordering::Relaxed) {
            0
        } else {
            self.length_ns.load(Ordering::Relaxed)
        }
    }

    /// Reports a sleep that ended this much later than it should have.
    pub fn slept(&self, late_ns: u64) {
        if self.crowded.load(Ordering::Relaxed) {
            return;
        }
        let length = self.length_ns.load(Ordering::Relaxed);
        let next = if late_ns > length {
            length + UP_NS
        } else {
            length - DOWN_NS
        };
        let next = next.clamp(LEAST_NS, MOST_NS);
        self.length_ns.store(next, Ordering::Relaxed);
    }

    /// In `passed_ns`, all threads of the program together spent `queued_ns` in run queues.
    pub fn report_queueing(&self, queued_ns: u64, passed_ns: u64) {
        self.crowded.store(queued_ns > passed_ns, Ordering::Relaxed);
    }
}

impl Default for Tail {
    fn default() -> Self {
        Tail::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_NS, MOST_NS, Tail};
    use fulcrum_stats::Random;

    /// A tail after many sleeps that are late by `least` to `most`, microseconds.
    fn after(random: &mut Random, [least, most]: [u64; 2]) -> Tail {
        let tail = Tail::new();
        for _ in 0..5000 {
            tail.slept((least + random.below(most - least)) * 1000);
        }
        tail
    }

    #[test]
    fn one_of_twenty_sleeps_is_later_than_the_tail_is_long() {
        let mut random = Random::new(7);
        for range in [[20, 40], [50, 90], [100, 180]] {
            let tail = after(&mut random, range);
            let [least, most] = range.map(|it| it * 1000);
            let late = (0..20_000).filter(|_| {
                let slept = least + random.below(most - least);
                let is_late = slept > tail.length_ns();
                tail.slept(slept);
                is_late
            });
            let share = late.count() as f64 / 20_000.0;
            assert!((0.04..0.06).contains(&share), "{range:?}: {share}");
        }
    }

    #[test]
    fn it_stays_within_limits() {
        let mut random = Random::new(8);
        assert_eq!(after(&mut random, [0, 1]).length_ns(), LEAST_NS);
        assert_eq!(after(&mut random, [5000, 9000]).length_ns(), MOST_NS);
    }

    #[test]
    fn nobody_spins_while_threads_wait_in_run_queues() {
        let tail = Tail::new();
        let alone = tail.length_ns();
        tail.report_queueing(600, 500);
        assert_eq!(tail.length_ns(), 0);
        tail.slept(150_000);
        tail.report_queueing(100, 500);
        assert_eq!(tail.length_ns(), alone, "sleeps in between tell nothing");
    }
}

//! How a pause ends: how long before its end a thread stops sleeping and spins.
//!
//! The kernel wakes a sleeper late, most of all where a processor has to leave an idle state first. The ledger deducts that from
//! the next pause. But a thread that ends or wakes another first has no next pause, and whoever waited for it is late for good.
//! So a pause stops sleeping before its end by the lateness that all but one of twenty sleeps stay below on this machine. Where
//! threads wait in run queues, spinning would take a processor from them: there, pauses are slept to their end.
//!
//! Where nobody else needs the processor, a pause does not sleep at all. In virtual machines, a processor that goes to sleep every
//! millisecond slows the others: on one host, the threads that were not paused needed 0.3 to 5 % more time. And a kernel sees no
//! reason to give a processor of its own to each of two threads that sleep for most of the time. They then wait for each other in
//! one run queue while another processor is idle, which the faster program would not let them do: what tells whether processors are
//! free is first of all whether one is idle.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

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
/// Processors are free while run queues and other programs together take less than this part of a processor,
const FREE: u64 = 12;
/// and while more than this part of a processor is idle.
const IDLE: u64 = 4;
/// After so many experiments with free processors, pauses spin. After each time that it went wrong, twice as many.
const FIRST_PATIENCE: u32 = 2;
const LAST_PATIENCE: u32 = 1 << 10;

/// How busy the machine was during an experiment, nanoseconds; `None` for what is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// How long the experiment took.
    pub passed_ns: u64,
    /// How long the program's threads stood in run queues, all together.
    pub queued_ns: Option<u64>,
    /// How long other programs had processors, all together.
    pub others_ns: Option<u64>,
    /// How long processors would have been idle if pauses had not slept, all together.
    pub idle_ns: Option<u64>,
}

impl Demand {
    /// Whether pauses may take a processor.
    fn leaves_processors_free(&self) -> bool {
        let wanted = (self.queued_ns.zip(self.others_ns))
            .map(|(queued, others)| queued.saturating_add(others));
        wanted.is_some_and(|wanted| wanted < self.passed_ns / FREE)
            || self
                .idle_ns
                .is_some_and(|idle| idle > self.passed_ns / IDLE)
    }
}

/// The last part of pauses, in which threads spin. All threads share one; updates that two of them make at the same moment may
/// count once.
#[derive(Debug)]
pub struct Tail {
    length_ns: AtomicU64,
    crowded: AtomicBool,
    /// Experiments that must find free processors before pauses spin from their beginning; 0 while they do.
    until_free: AtomicU32,
    patience: AtomicU32,
}

impl Tail {
    /// Before any sleep.
    pub const fn new() -> Tail {
        Tail {
            length_ns: AtomicU64::new(FIRST_NS),
            crowded: AtomicBool::new(false),
            until_free: AtomicU32::new(FIRST_PATIENCE),
            patience: AtomicU32::new(FIRST_PATIENCE),
        }
    }

    /// How long before its end a pause stops sleeping, nanoseconds. `u64::MAX` when it does not sleep at all.
    pub fn length_ns(&self) -> u64 {
        if self.crowded.load(Ordering::Relaxed) {
            0
        } else if self.until_free.load(Ordering::Relaxed) == 0 {
            u64::MAX
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

    /// Reports an experiment. Only one thread may call this.
    pub fn report(&self, demand: Demand) {
        let free = demand.leaves_processors_free();
        let queued = demand
            .queued_ns
            .is_some_and(|queued| queued > demand.passed_ns);
        self.crowded.store(queued && !free, Ordering::Relaxed);
        let until_free = self.until_free.load(Ordering::Relaxed);
        let next = match (free, until_free) {
            (true, left) => left.saturating_sub(1),
            (false, 0) => {
                let patience = (2 * self.patience.load(Ordering::Relaxed)).min(LAST_PATIENCE);
                self.patience.store(patience, Ordering::Relaxed);
                patience
            }
            (false, _) => self.patience.load(Ordering::Relaxed),
        };
        self.until_free.store(next, Ordering::Relaxed);
    }
}

impl Default for Tail {
    fn default() -> Self {
        Tail::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Demand, LEAST_NS, MOST_NS, Tail};
    use fulcrum_stats::Random;

    /// An experiment of 1200 ns.
    fn demand(queued_ns: u64, others_ns: u64, idle_ns: u64) -> Demand {
        Demand {
            passed_ns: 1200,
            queued_ns: Some(queued_ns),
            others_ns: Some(others_ns),
            idle_ns: Some(idle_ns),
        }
    }

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
        tail.report(demand(1300, 0, 0));
        assert_eq!(tail.length_ns(), 0);
        tail.slept(150_000);
        tail.report(demand(200, 0, 0));
        assert_eq!(tail.length_ns(), alone, "sleeps in between tell nothing");
    }

    #[test]
    fn pauses_spin_from_their_beginning_where_nobody_else_needs_the_processor() {
        let tail = Tail::new();
        let sleeps = tail.length_ns();
        tail.report(demand(20, 30, 0));
        assert_eq!(tail.length_ns(), sleeps, "one experiment may be chance");
        tail.report(demand(20, 30, 0));
        assert_eq!(tail.length_ns(), u64::MAX);
        tail.report(demand(20, 90, 0));
        assert_eq!(
            tail.length_ns(),
            sleeps,
            "another program needs a processor"
        );
    }

    #[test]
    fn threads_that_wait_for_each_other_beside_an_idle_processor_do_not_need_the_pauses_one() {
        let tail = Tail::new();
        let sleeps = tail.length_ns();
        for _ in 0..2 {
            assert_eq!(tail.length_ns(), sleeps);
            tail.report(demand(1300, 400, 400));
        }
        assert_eq!(tail.length_ns(), u64::MAX);
        tail.report(demand(1300, 400, 300));
        assert_eq!(tail.length_ns(), 0, "too little is idle");
    }

    #[test]
    fn what_is_not_known_is_not_taken_for_free() {
        let tail = Tail::new();
        let sleeps = tail.length_ns();
        for _ in 0..10 {
            let known = demand(0, 0, 0);
            tail.report(Demand {
                queued_ns: None,
                idle_ns: None,
                ..known
            });
            tail.report(Demand {
                others_ns: None,
                idle_ns: None,
                ..known
            });
        }
        assert_eq!(tail.length_ns(), sleeps);
    }

    #[test]
    fn each_time_that_spinning_went_wrong_the_next_comes_later() {
        let tail = Tail::new();
        for patience in [2, 4, 8, 16] {
            let quiet = (0..).take_while(|_| {
                let sleeps = tail.length_ns() != u64::MAX;
                tail.report(demand(0, 0, 0));
                sleeps
            });
            assert_eq!(quiet.count(), patience);
            tail.report(demand(1000, 0, 0));
        }
    }
}

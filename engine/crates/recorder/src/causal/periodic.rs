//! Tasks that the recorder repeats while the program runs. The more a task costs, the less often it runs, so that it takes no
//! more than its share of a processor away from the program.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use crate::program::clock::thread_cpu_time;

/// A task that is repeated.
#[derive(Debug)]
pub(crate) struct PeriodicTask {
    /// The shortest and the longest time between two executions.
    interval: RangeInclusive<Duration>,
    /// The task may take one part in so many of a processor's time.
    parts: u32,
    last: Instant,
    wait: Duration,
}

impl PeriodicTask {
    /// A task that waits so long before the first and between later executions that it takes at most one part in `parts` of a
    /// processor's time.
    pub(crate) fn new(interval: RangeInclusive<Duration>, parts: u32) -> PeriodicTask {
        PeriodicTask {
            wait: *interval.start(),
            interval,
            parts,
            last: Instant::now(),
        }
    }

    /// Whether it is time for the next execution.
    pub(crate) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.wait
    }

    /// Does the work, and decides by its cost when to do it again.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let begun = thread_cpu_time();
        let result = work();
        self.wait_for(thread_cpu_time().saturating_sub(begun));
        result
    }

    fn wait_for(&mut self, cost: Duration) {
        self.last = Instant::now();
        let wait = cost.saturating_mul(self.parts);
        self.wait = wait.clamp(*self.interval.start(), *self.interval.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_costs_more_runs_less_often() {
        let milliseconds = Duration::from_millis;
        let mut task = PeriodicTask::new(milliseconds(50)..=milliseconds(9000), 200);
        assert_eq!(task.wait, milliseconds(50));
        for (cost_us, wait_ms) in [
            (100, 50),
            (250, 50),
            (1000, 200),
            (40_000, 8000),
            (50_000, 9000),
        ] {
            task.wait_for(Duration::from_micros(cost_us));
            assert_eq!(task.wait, milliseconds(wait_ms), "{cost_us}");
        }
    }

    #[test]
    fn a_wait_follows_an_execution() {
        let mut task = PeriodicTask::new(Duration::ZERO..=Duration::MAX, 1_000_000_000);
        let work = || std::hint::black_box((0..100_000_u64).sum::<u64>());
        assert_eq!(task.run(work), work());
        assert!(task.wait > Duration::ZERO, "{task:?}");
        assert!(!task.is_due());
    }
}

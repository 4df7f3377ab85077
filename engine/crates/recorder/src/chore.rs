//! Chores: what the recorder does again and again while the program runs. One that costs much is done more rarely, so that it
//! takes no more than its share of a processor: the program may want that.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// One chore.
#[derive(Debug)]
pub struct Chore {
    /// The time between two turns.
    between: RangeInclusive<Duration>,
    /// It may take one part in so many of a processor's time.
    parts: u32,
    done: Instant,
    wait: Duration,
}

impl Chore {
    /// A chore with so much time between two turns, and before the first, that it takes one part in `parts` of a processor's
    /// time.
    pub fn new(between: RangeInclusive<Duration>, parts: u32) -> Chore {
        Chore {
            wait: *between.start(),
            between,
            parts,
            done: Instant::now(),
        }
    }

    /// Whether it is time for the next turn.
    pub fn is_due(&self) -> bool {
        self.done.elapsed() >= self.wait
    }

    /// A turn: does the work.
    pub fn turn<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let begun = processor_time();
        let result = work();
        self.took(processor_time().saturating_sub(begun));
        result
    }

    fn took(&mut self, cost: Duration) {
        self.done = Instant::now();
        let wait = cost.saturating_mul(self.parts);
        self.wait = wait.clamp(*self.between.start(), *self.between.end());
    }
}

/// How long the calling thread has been on a processor.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_done_more_rarely() {
        let milliseconds = Duration::from_millis;
        let mut chore = Chore::new(milliseconds(50)..=milliseconds(9000), 200);
        assert_eq!(chore.wait, milliseconds(50));
        for (cost_us, wait_ms) in [
            (100, 50),
            (250, 50),
            (1000, 200),
            (40_000, 8000),
            (50_000, 9000),
        ] {
            chore.took(Duration::from_micros(cost_us));
            assert_eq!(chore.wait, milliseconds(wait_ms), "{cost_us}");
        }
    }

    #[test]
    fn a_turn_is_followed_by_a_wait() {
        let mut chore = Chore::new(Duration::ZERO..=Duration::MAX, 1_000_000_000);
        let work = || std::hint::black_box((0..100_000_u64).sum::<u64>());
        assert_eq!(chore.turn(work), work());
        assert!(chore.wait > Duration::ZERO, "{chore:?}");
        assert!(!chore.is_due());
    }
}

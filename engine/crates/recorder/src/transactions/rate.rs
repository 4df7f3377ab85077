//! How often samples are taken: often at first, and less often when there are plenty.
//!
//! The first thousand samples say much: a type's share then has a standard error of 1.6 points at most. Each further one says
//! less, but costs the same: an interrupt, the copy of a stack, and the search for its callers. So the longer a server runs, the less
//! often it is sampled.

/// So many samples are taken at a rate before it is halved.
const PLENTY: u64 = 1024;
/// The longest period, in first periods.
const LONGEST: u64 = 4;

/// The period between samples, now and before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    first_ns: u64,
    now_ns: u64,
    before_ns: u64,
    /// The moment from which samples come at the present rate, `CLOCK_MONOTONIC`.
    since_ns: u64,
    /// The number of samples at that moment.
    taken: u64,
}

impl Rate {
    /// A sample each `period_ns` of CPU time at first.
    pub(crate) fn new(period_ns: u64) -> Rate {
        Rate {
            first_ns: period_ns,
            now_ns: period_ns,
            before_ns: period_ns,
            since_ns: 0,
            taken: 0,
        }
    }

    /// The present period, nanoseconds.
    pub(crate) fn period_ns(&self) -> u64 {
        self.now_ns
    }

    /// The next period, nanoseconds, if `taken` samples are enough for the present one.
    pub(crate) fn next_ns(&self, taken: u64) -> Option<u64> {
        let plenty = taken.saturating_sub(self.taken) >= PLENTY;
        (plenty && self.now_ns < LONGEST * self.first_ns).then_some(2 * self.now_ns)
    }

    /// The period is another one from a moment on. All samples from before an earlier change were weighed.
    pub(crate) fn change(&mut self, period_ns: u64, at_ns: u64, taken: u64) {
        *self = Rate {
            first_ns: self.first_ns,
            now_ns: period_ns,
            before_ns: self.now_ns,
            since_ns: at_ns,
            taken,
        };
    }

    /// The CPU time that a sample stands for, nanoseconds.
    pub(crate) fn weight_ns(&self, time_ns: u64) -> u64 {
        if time_ns < self.since_ns {
            self.before_ns
        } else {
            self.now_ns
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, PLENTY, Rate};

    #[test]
    fn each_sample_stands_for_the_time_since_the_one_before() {
        let mut rate = Rate::new(2);
        let (mut time, mut taken, mut weighed) = (0, 0, 0);
        while taken < 10 * PLENTY {
            // The kernel takes samples for a while before they are read.
            let period = rate.now_ns;
            let read: Vec<u64> = (1..=100).map(|n| time + n * period).collect();
            time += 100 * period;
            taken += 100;
            weighed += read.iter().map(|it| rate.weight_ns(*it)).sum::<u64>();
            assert_eq!(weighed, time);
            if let Some(next) = rate.next_ns(taken) {
                rate.change(next, time + 1, taken);
                assert_eq!(rate.weight_ns(time), period, "one that was not yet read");
            }
        }
        assert_eq!(rate.now_ns, LONGEST * 2);
    }

    #[test]
    fn a_short_program_is_sampled_at_the_first_rate() {
        let rate = Rate::new(2);
        assert_eq!(rate.next_ns(PLENTY - 1), None);
        assert_eq!(rate.next_ns(PLENTY), Some(4));
    }
}

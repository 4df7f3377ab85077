//! Converts the log's ticks to nanoseconds.

/// A rate, from two moments that are known on both clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    start: u64,
    /// Nanoseconds a tick.
    rate: f64,
}

impl Clock {
    /// A clock from the log's start and its last known moment, each in ticks and nanoseconds. `None` if they contradict each other. If the log
    /// only has its start, ticks are nanoseconds.
    pub(crate) fn new(start: (u64, u64), last: (u64, u64)) -> Option<Clock> {
        let (ticks, ns) = (last.0.checked_sub(start.0)?, last.1.checked_sub(start.1)?);
        let rate = match ticks {
            0 => 1.0,
            ticks => ns as f64 / ticks as f64,
        };
        // 10 kHz to 1000 GHz.
        let plausible = (0.001..=100_000.0).contains(&rate);
        plausible.then_some(Clock {
            start: start.0,
            rate,
        })
    }

    /// A clock whose ticks are nanoseconds.
    pub(crate) fn nanoseconds(start: u64) -> Clock {
        Clock { start, rate: 1.0 }
    }

    /// Nanoseconds since the log's start. 0 for earlier moments.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.span(self.start, ticks).max(0) as u64
    }

    /// Nanoseconds from one moment to another.
    pub(crate) fn span(&self, from: u64, to: u64) -> i64 {
        let ticks = to.wrapping_sub(from).cast_signed();
        (ticks as f64 * self.rate).round() as i64
    }
}

/// The time on a thread's clock since its first reading.
pub(crate) fn since(first: &mut Option<u64>, now: Option<u64>) -> Option<u64> {
    now.map(|now| now.saturating_sub(*first.get_or_insert(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_time_of_a_thread_begins_with_its_first_event() {
        let mut first = None;
        assert_eq!(since(&mut first, Some(28_100_000)), Some(0));
        assert_eq!(since(&mut first, Some(28_700_000)), Some(600_000));
        // Without such a clock, nothing is known.
        assert_eq!(since(&mut None, None), None);
    }

    #[test]
    fn two_moments_make_a_clock() {
        let clock = Clock::new((1000, 5), (4000, 1005)).unwrap();
        assert_eq!(clock.ns(1000), 0);
        assert_eq!(clock.ns(4000), 1000);
        assert_eq!(clock.ns(999), 0);
        assert_eq!(clock.span(4000, 1000), -1000);
        let only = Clock::new((7, 7), (7, 7)).unwrap();
        assert_eq!(only.ns(17), 10);
        for bad in [(0, 1000), (2000, 4), (u64::MAX, 6), (1001, u64::MAX)] {
            assert_eq!(Clock::new((1000, 5), bad), None, "{bad:?}");
        }
    }
}

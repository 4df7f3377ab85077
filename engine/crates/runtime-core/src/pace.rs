//! How long experiments last (COZ §3.2): doubled for the rest of the run while visits are too few.

/// The experiments' length, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    length_ns: u64,
    longest_ns: u64,
    min_visits: u64,
}

/// How much longer than the shortest an experiment may get: a program whose visits stop must not end with an endless experiment.
const LONGEST: u64 = 32;
/// How often the counters are read between two visits.
const POLLS: u64 = 128;
/// The shortest time between two readings, nanoseconds.
const SHORTEST_POLL_NS: u64 = 500_000;

impl Pace {
    /// Starts at `shortest_ns`; an experiment should see `min_visits` visits to its busiest progress point.
    pub fn new(shortest_ns: u64, min_visits: u64) -> Pace {
        Pace {
            length_ns: shortest_ns,
            longest_ns: shortest_ns.saturating_mul(LONGEST),
            min_visits,
        }
    }

    /// Length of the next experiment, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// Ends an experiment whose busiest progress point had this many visits. The experiment counts either way: dropping those
    /// with few visits would favour the fast ones.
    pub fn ended(&mut self, busiest_visits: u64) {
        if busiest_visits < self.min_visits {
            self.length_ns = (self.length_ns * 2).min(self.longest_ns);
        }
    }

    /// Whether visits are so rare that an experiment should begin and end at one, so that their number is not off by one.
    /// With few visits, this rounding is the largest error.
    pub fn align(&self, busiest_visits: u64) -> bool {
        busiest_visits < 400
    }

    /// How often to check for the next visit, nanoseconds. The rarer visits are, the less it matters when exactly one was
    /// seen: an experiment of five visits is off by two thousandths at most.
    pub fn poll_ns(&self, busiest_visits: u64) -> u64 {
        (self.length_ns / busiest_visits.max(1) / POLLS).max(SHORTEST_POLL_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn too_few_visits_double_the_length_up_to_a_limit() {
        let mut pace = Pace::new(100, 5);
        pace.ended(5);
        assert_eq!(pace.length_ns(), 100);
        pace.ended(4);
        assert_eq!(pace.length_ns(), 200);
        pace.ended(1000);
        assert_eq!(pace.length_ns(), 200, "for the rest of the run");
        for _ in 0..20 {
            pace.ended(0);
        }
        assert_eq!(pace.length_ns(), 3200);
    }

    #[test]
    fn rare_visits_are_checked_for_rarely() {
        let pace = Pace::new(300_000_000, 5);
        for (visits, poll_ns) in [(0, 2_343_750), (1, 2_343_750), (3, 781_250), (30, 500_000)] {
            assert_eq!(pace.poll_ns(visits), poll_ns, "{visits}");
        }
    }
}

//! How much of the program's time profiling may cost, when the user limits it: between experiments the runtime rests and takes no
//! samples until the next experiment fits.

/// The share of a program's time that sampling costs while it is on, ten-thousandths. Measured: 1 to 5 % (see
/// docs/benchmarks.md); most in programs that switch threads all the time.
const SAMPLING: u64 = 500;
const WHOLE: u64 = 10_000;

/// How much of a process's time profiling may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    most: Option<u64>,
}

/// What a run has cost so far, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Since the run began.
    pub elapsed_ns: u64,
    /// Of that, without samples.
    pub rested_ns: u64,
    /// Delay inserted.
    pub delay_ns: u64,
}

impl Spent {
    fn cost_ns(self) -> u64 {
        let sampled = self.elapsed_ns.saturating_sub(self.rested_ns);
        self.delay_ns.saturating_add(share(sampled, SAMPLING))
    }
}

fn share(ns: u64, of: u64) -> u64 {
    (u128::from(ns) * u128::from(of) / u128::from(WHOLE)) as u64
}

impl Budget {
    /// `most`: ten-thousandths of the run's time, `None` without a limit.
    pub fn new(most: Option<u32>) -> Budget {
        Budget {
            most: most.map(u64::from),
        }
    }

    /// Whether the limit is reached.
    pub fn is_spent(&self, spent: Spent) -> bool {
        self.exceeds(spent, 0)
    }

    /// Whether an experiment of `length_ns` might exceed the limit now. It may cost all of its time: earlier experiments do
    /// not tell what the next one selects, and the program may end right after it.
    pub fn must_rest(&self, spent: Spent, length_ns: u64) -> bool {
        self.exceeds(spent, length_ns.saturating_add(share(length_ns, SAMPLING)))
    }

    fn exceeds(&self, spent: Spent, more_ns: u64) -> bool {
        self.most.is_some_and(|most| {
            spent.cost_ns().saturating_add(more_ns) > share(spent.elapsed_ns, most)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Spent};

    fn spent(elapsed_ns: u64, rested_ns: u64, delay_ns: u64) -> Spent {
        Spent {
            elapsed_ns,
            rested_ns,
            delay_ns,
        }
    }

    #[test]
    fn without_a_limit_there_is_no_rest() {
        let budget = Budget::new(None);
        assert!(!budget.must_rest(spent(0, 0, 0), 400));
        assert!(!budget.is_spent(spent(1000, 0, 1000)));
    }

    #[test]
    fn an_experiment_waits_until_all_that_it_may_cost_fits() {
        let budget = Budget::new(Some(300));
        // 400 of delay and 20 of sampling are 3 % of 14,000.
        assert!(budget.must_rest(spent(13_900, 13_900, 0), 400));
        assert!(!budget.must_rest(spent(14_000, 14_000, 0), 400));
        assert!(!budget.is_spent(spent(13_900, 13_900, 0)));
    }

    #[test]
    fn sampling_counts_too() {
        let budget = Budget::new(Some(300));
        assert!(budget.is_spent(spent(1000, 0, 0)), "5 % of 1000 is 50");
        assert!(!budget.is_spent(spent(1000, 500, 0)), "25");
    }

    #[test]
    fn what_was_spent_counts_against_the_next() {
        let budget = Budget::new(Some(1000));
        // 380 and 20 so far, 420 for the next.
        assert!(budget.must_rest(spent(8100, 7700, 380), 400));
        assert!(!budget.must_rest(spent(8200, 7800, 380), 400));
    }

    #[test]
    fn a_run_of_centuries_does_not_overflow() {
        let budget = Budget::new(Some(9_999));
        assert!(budget.must_rest(spent(u64::MAX, 0, u64::MAX), u64::MAX));
    }
}

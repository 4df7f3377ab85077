//! What profiling may take of the program's time, when the user limits it: between experiments the runtime rests, and
//! takes no samples either, until the next one fits.

/// What sampling takes of a program's time while it is on, ten-thousandths. Measured: 1 to 5 %, see docs/benchmarks.md;
/// programs that switch threads all the time pay most.
const SAMPLING: u64 = 500;
const WHOLE: u64 = 10_000;

/// Keeps the books of a process's profiling.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    most: Option<u64>,
    typical_ns: u64,
    costs_ns: u64,
    experiments: u64,
}

/// Where the run stands, nanoseconds.
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
    /// `most`: ten-thousandths of the run's time, `None` without a limit; `experiment_ns`: how long an experiment lasts.
    pub fn new(most: Option<u32>, experiment_ns: u64) -> Budget {
        Budget {
            most: most.map(u64::from),
            // Half of the experiments have no delays, and the others delay by a half on average.
            typical_ns: experiment_ns / 4,
            costs_ns: 0,
            experiments: 0,
        }
    }

    /// An experiment began and ended so.
    pub fn ended(&mut self, before: Spent, after: Spent) {
        let cost = after.cost_ns().saturating_sub(before.cost_ns());
        self.costs_ns = self.costs_ns.saturating_add(cost);
        self.experiments += 1;
    }

    /// Whether the limit is reached.
    pub fn is_spent(&self, spent: Spent) -> bool {
        self.exceeds(spent, 0)
    }

    /// Whether an experiment like those before would exceed the limit now.
    pub fn must_rest(&self, spent: Spent) -> bool {
        let next = self
            .costs_ns
            .checked_div(self.experiments)
            .unwrap_or(self.typical_ns);
        self.exceeds(spent, next)
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
        let budget = Budget::new(None, 400);
        assert!(!budget.must_rest(spent(0, 0, 0)));
        assert!(!budget.is_spent(spent(1000, 0, 1000)));
    }

    #[test]
    fn the_first_experiment_waits_until_its_likely_cost_fits() {
        let budget = Budget::new(Some(300), 400);
        assert!(budget.must_rest(spent(3000, 3000, 0)));
        assert!(!budget.must_rest(spent(3400, 3400, 0)));
        assert!(!budget.is_spent(spent(3000, 3000, 0)));
    }

    #[test]
    fn sampling_counts_too() {
        let budget = Budget::new(Some(300), 0);
        assert!(budget.is_spent(spent(1000, 0, 0)), "5 % of 1000 is 50");
        assert!(!budget.is_spent(spent(1000, 500, 0)), "25");
    }

    #[test]
    fn later_ones_wait_for_what_earlier_ones_cost() {
        let mut budget = Budget::new(Some(1000), 400);
        budget.ended(spent(1000, 1000, 0), spent(1400, 1000, 380));
        // 400 so far and 400 for the next.
        assert!(budget.must_rest(spent(7900, 7500, 380)));
        assert!(!budget.must_rest(spent(8000, 7600, 380)));
    }

    #[test]
    fn a_run_of_centuries_does_not_overflow() {
        let mut budget = Budget::new(Some(9_999), u64::MAX);
        budget.ended(spent(0, 0, 0), spent(u64::MAX, 0, u64::MAX));
        assert!(budget.must_rest(spent(u64::MAX, 0, u64::MAX)));
    }
}

//! Candidates of a greedy choice.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Candidates by value. What is taken only lowers values, so old ones are upper bounds, and only the best has to be
/// computed again. In comparisons a value may rise when negative costs are taken; the choice is then good, not best.
pub(crate) struct Queue {
    candidates: BinaryHeap<Candidate>,
    round: usize,
}

impl Queue {
    /// The candidates, by position.
    pub fn new(values: impl Iterator<Item = f64>) -> Self {
        let candidate = |(n, value)| Candidate {
            value,
            position: Reverse(n),
            round: 0,
        };
        Queue {
            candidates: values.enumerate().map(candidate).collect(),
            round: 0,
        }
    }

    /// The position of the best candidate, if it is worth at least `least`. It stays a candidate until [`drop`](Queue::drop).
    pub fn best(&mut self, least: f64, value: impl Fn(usize) -> f64) -> Option<usize> {
        self.round += 1;
        while let Some(mut best) = self.candidates.pop() {
            let Reverse(n) = best.position;
            if best.value >= least && best.round != self.round {
                best.value = value(n);
                best.round = self.round;
                self.candidates.push(best);
                continue;
            }
            self.candidates.push(best);
            return (best.value >= least).then_some(n);
        }
        None
    }

    /// Takes the best candidate out.
    pub fn drop(&mut self) {
        self.candidates.pop();
    }
}

/// A candidate with its value in some round.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    value: f64,
    position: Reverse<usize>,
    round: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let value = self.value.total_cmp(&other.value);
        value.then(self.position.cmp(&other.position))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

//! The candidates of a greedy choice.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A queue of candidates by value. Taking cost only lowers values, so old values are upper bounds, and only the best candidate's
/// value has to be computed again. In comparisons, values may rise when negative costs are taken; the choice is then good, but not
/// always the best.
pub(crate) struct Queue {
    candidates: BinaryHeap<Candidate>,
    round: usize,
}

impl Queue {
    /// The candidates are numbered by the position of their value.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
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

    /// The position of the best candidate, if its value is at least `least`. It stays in the queue until [`drop`](Queue::drop).
    pub(crate) fn best(&mut self, least: f64, value: impl Fn(usize) -> f64) -> Option<usize> {
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

    /// Removes the best candidate.
    pub(crate) fn drop(&mut self) {
        self.candidates.pop();
    }
}

/// A candidate with its value and the round in which it was computed.
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

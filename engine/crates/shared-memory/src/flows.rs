//! Counts of how often transactions passed from one context to another.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::ids::Synopsis;

/// The flow from one context to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The producer's context.
    pub from: Synopsis,
    /// The consumer's context.
    pub to: Synopsis,
    /// How often this happened.
    pub count: u64,
}

/// Adds up flows, for a limited number of pairs of contexts.
#[derive(Debug)]
pub(crate) struct Flows {
    counts: BTreeMap<(Synopsis, Synopsis), u64>,
    limit: usize,
    left_out: u64,
}

impl Flows {
    pub(crate) fn with_limit(pairs: usize) -> Self {
        Flows {
            counts: BTreeMap::new(),
            limit: pairs,
            left_out: 0,
        }
    }

    pub(crate) fn add(&mut self, from: Synopsis, to: Synopsis) {
        self.add_many((from, to), 1);
    }

    fn add_many(&mut self, pair: (Synopsis, Synopsis), count: u64) {
        if self.counts.len() >= self.limit && !self.counts.contains_key(&pair) {
            self.left_out += count;
            return;
        }
        *self.counts.entry(pair).or_default() += count;
    }

    pub(crate) fn add_all(&mut self, others: &Flows) {
        for (&pair, &count) in &others.counts {
            self.add_many(pair, count);
        }
    }

    /// All flows, the most frequent first.
    pub(crate) fn ranked(&self) -> Vec<Flow> {
        let flow = |(&(from, to), &count)| Flow { from, to, count };
        let mut ranked: Vec<Flow> = self.counts.iter().map(flow).collect();
        // The sort is stable: flows with equal counts stay ordered by context.
        ranked.sort_by_key(|it| Reverse(it.count));
        ranked
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

//! How transactions pass from one stage to another (Whodunit §2.4).

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The means by which a transaction flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlowKind {
    /// Shared memory (§3).
    Memory,
    /// An event (§4.1).
    Event,
    /// The queue of a stage (§4.2).
    Stage,
    /// A message (§5).
    Message,
}

impl FlowKind {
    /// The kind as one word.
    pub fn name(self) -> &'static str {
        match self {
            FlowKind::Memory => "memory",
            FlowKind::Event => "event",
            FlowKind::Stage => "stage",
            FlowKind::Message => "message",
        }
    }
}

/// All flows of one kind between two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow<P> {
    /// The means.
    pub kind: FlowKind,
    /// Where the transaction was produced.
    pub from: P,
    /// Where it was consumed.
    pub to: P,
    /// How often.
    pub count: u64,
}

/// A place where transactions are produced or consumed, in all processes of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The program.
    pub program: String,
    /// The innermost function, the handler or the stage.
    pub name: String,
}

/// Adds flows up.
#[derive(Clone, Debug)]
pub struct Flows<P> {
    counts: BTreeMap<(FlowKind, P, P), u64>,
    limit: usize,
    left_out: u64,
}

impl<P: Clone + Ord> Default for Flows<P> {
    fn default() -> Self {
        Flows::with_limit(1 << 16)
    }
}

impl<P: Clone + Ord> Flows<P> {
    /// No flows yet, and at most this many pairs of places.
    pub fn with_limit(pairs: usize) -> Self {
        Flows {
            counts: BTreeMap::new(),
            limit: pairs,
            left_out: 0,
        }
    }

    /// Adds `count` transactions that flowed.
    pub fn add(&mut self, kind: FlowKind, from: P, to: P, count: u64) {
        let key = (kind, from, to);
        if self.counts.len() >= self.limit && !self.counts.contains_key(&key) {
            self.left_out += count;
            return;
        }
        *self.counts.entry(key).or_default() += count;
    }

    /// Adds other flows, whose places are mapped.
    pub fn add_all<Q>(&mut self, others: &Flows<Q>, mut place: impl FnMut(&Q) -> P) {
        self.left_out += others.left_out;
        for ((kind, from, to), &count) in &others.counts {
            let (from, to) = (place(from), place(to));
            self.add(*kind, from, to, count);
        }
    }

    /// All flows, the most frequent first.
    pub fn ranked(&self) -> Vec<Flow<P>> {
        let flow = |((kind, from, to), &count): (&(FlowKind, P, P), &u64)| Flow {
            kind: *kind,
            from: from.clone(),
            to: to.clone(),
            count,
        };
        let mut ranked: Vec<Flow<P>> = self.counts.iter().map(flow).collect();
        // The sort is stable: flows with equal counts stay ordered by place.
        ranked.sort_by_key(|it| Reverse(it.count));
        ranked
    }

    /// Flows left out because of the limit.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(
        kind: FlowKind,
        from: &'static str,
        to: &'static str,
        count: u64,
    ) -> Flow<&'static str> {
        Flow {
            kind,
            from,
            to,
            count,
        }
    }

    #[test]
    fn flows_add_up_by_kind_and_direction_and_under_other_names() {
        let mut flows = Flows::default();
        for (kind, from, to) in [
            (FlowKind::Event, "a", "b"),
            (FlowKind::Event, "b", "a"),
            (FlowKind::Memory, "a", "b"),
            (FlowKind::Event, "a", "b"),
        ] {
            flows.add(kind, from, to, 1);
        }
        let expect = [
            flow(FlowKind::Event, "a", "b", 2),
            flow(FlowKind::Memory, "a", "b", 1),
            flow(FlowKind::Event, "b", "a", 1),
        ];
        assert_eq!(flows.ranked(), expect);
        let mut all = Flows::default();
        all.add_all(&flows, |_| "x");
        let expect = [
            flow(FlowKind::Event, "x", "x", 3),
            flow(FlowKind::Memory, "x", "x", 1),
        ];
        assert_eq!(all.ranked(), expect);
    }

    #[test]
    fn pairs_beyond_the_limit_are_counted_together() {
        let mut flows = Flows::with_limit(1);
        for to in ["b", "c", "b", "d"] {
            flows.add(FlowKind::Stage, "a", to, 10);
        }
        assert_eq!(flows.ranked(), [flow(FlowKind::Stage, "a", "b", 20)]);
        assert_eq!(flows.left_out(), 20);
    }
}

//! Metering calls as they happen, and deciding about their methods.
//!
//! A thread has its [`Calls`]; what they cost is added to the [`Table`] of all threads. What probes cost is subtracted at
//! every level, as readers of the log do it. Calls of methods whose metering is switched off cost their callers a
//! nanosecond or two, which stays in there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::rule::{CostScope, Meter, Rule};

/// A thread's meters at a moment, in the order of [`Meter::NAMES`]: nanoseconds, nanoseconds, bytes, nanoseconds. From
/// whatever moment they count, they never go back.
pub type Reading = [f64; 4];

/// What a pair of probes costs, nanoseconds: within the metered call's own time, and beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbeCost {
    /// What the call's own time contains.
    pub inside_ns: f64,
    /// What only its caller's time contains.
    pub outside_ns: f64,
}

/// By what the meters are multiplied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    inherent: Reading,
    cumulative: Reading,
}

impl Weights {
    /// Those of a rule.
    pub fn of(rule: &Rule) -> Weights {
        let mut weights = Weights {
            inherent: [0.0; 4],
            cumulative: [0.0; 4],
        };
        for term in &rule.terms {
            let of = match term.scope {
                CostScope::Inherent => &mut weights.inherent,
                CostScope::Cumulative => &mut weights.cumulative,
            };
            of[term.meter as usize] += term.weight;
        }
        weights
    }

    fn sum(weights: &Reading, reading: &Reading) -> f64 {
        weights.iter().zip(reading).map(|(a, b)| a * b).sum()
    }
}

/// What is known of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Measured executions.
    pub executions: u64,
    /// What they cost together, by the rule.
    pub cost: f64,
    /// Its metering is switched off.
    pub off: bool,
}

#[derive(Default)]
struct Slot {
    executions: AtomicU64,
    /// Thousandths.
    cost: AtomicU64,
    off: AtomicBool,
}

/// The methods of a process, by their numbers. Threads share it.
pub struct Table {
    rule: Rule,
    weights: Weights,
    /// What probes add to the sums of inherent terms: inside, outside.
    inherent: (f64, f64),
    /// The same of cumulative terms.
    cumulative: (f64, f64),
    counts_recursion: bool,
    slots: Box<[Slot]>,
}

impl Table {
    /// For methods with numbers below `capacity`.
    pub fn new(rule: Rule, probes: ProbeCost, capacity: usize) -> Table {
        let weights = Weights::of(&rule);
        // Probes take time, and neither memory nor monitors.
        let cost = |weights: &Reading| {
            let times = weights[Meter::Wall as usize] + weights[Meter::Cpu as usize];
            (times * probes.inside_ns, times * probes.outside_ns)
        };
        Table {
            inherent: cost(&weights.inherent),
            cumulative: cost(&weights.cumulative),
            counts_recursion: weights.cumulative.iter().any(|it| *it > 0.0),
            weights,
            rule,
            slots: (0..capacity).map(|_| Slot::default()).collect(),
        }
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Numbers of methods are below this.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// What is known of a method.
    pub fn sums(&self, method: u32) -> Sums {
        let Some(slot) = self.slots.get(method as usize) else {
            return Sums::default();
        };
        Sums {
            executions: slot.executions.load(Ordering::Relaxed),
            cost: slot.cost.load(Ordering::Relaxed) as f64 / 1000.0,
            off: slot.off.load(Ordering::Relaxed),
        }
    }

    /// Forgets a method's executions, and meters it again.
    pub fn reset(&self, method: u32) {
        if let Some(slot) = self.slots.get(method as usize) {
            slot.executions.store(0, Ordering::Relaxed);
            slot.cost.store(0, Ordering::Relaxed);
            slot.off.store(false, Ordering::Relaxed);
        }
    }

    /// Adds an execution. `true` once: when it is now known that the method is no hotspot.
    fn add(&self, method: u32, cost: f64) -> bool {
        let Some(slot) = self.slots.get(method as usize) else {
            return false;
        };
        let thousandths = (cost * 1000.0) as u64;
        let executions = slot.executions.fetch_add(1, Ordering::Relaxed) + 1;
        let sum = slot.cost.fetch_add(thousandths, Ordering::Relaxed) + thousandths;
        self.rule.is_no_hotspot(executions, sum as f64 / 1000.0)
            && !slot.off.swap(true, Ordering::Relaxed)
    }
}

#[derive(Clone, Copy)]
struct Frame {
    method: u32,
    inherent: f64,
    cumulative: f64,
    /// What metered calls directly inside cost, with their probes.
    inside: f64,
    /// Metered calls inside, at any depth.
    calls: u64,
}

/// The metered calls that a thread is in the middle of.
#[derive(Default)]
pub struct Calls {
    frames: Vec<Frame>,
    /// Calls that are too deep to be kept.
    deeper: u64,
    /// How many calls of each method there are; only for rules with cumulative terms.
    active: HashMap<u32, u32>,
}

/// Deeper recursion is not metered.
const DEEPEST: usize = 1 << 16;

impl Calls {
    /// Whether a call can begin without asking for memory.
    pub fn has_room(&self) -> bool {
        self.frames.len() < self.frames.capacity() && self.active.len() < self.active.capacity()
    }

    /// Makes room.
    pub fn make_room(&mut self) {
        self.frames.reserve(self.frames.len().max(256));
        self.active.reserve(self.active.len().max(256));
    }

    /// A call begins.
    #[inline]
    pub fn enter(&mut self, table: &Table, method: u32, reading: &Reading) {
        if self.frames.len() >= DEEPEST {
            self.deeper += 1;
            return;
        }
        if table.counts_recursion {
            *self.active.entry(method).or_default() += 1;
        }
        self.frames.push(Frame {
            method,
            inherent: Weights::sum(&table.weights.inherent, reading),
            cumulative: Weights::sum(&table.weights.cumulative, reading),
            inside: 0.0,
            calls: 0,
        });
    }

    /// A call is over. `true` when its method's metering is to be switched off now.
    #[inline]
    pub fn exit(&mut self, table: &Table, method: u32, reading: &Reading) -> bool {
        if self.deeper > 0 {
            self.deeper -= 1;
            return false;
        }
        // The gate's value at entry decides about the exit too: nearly always it is the top.
        while let Some(frame) = self.frames.pop() {
            let matches = frame.method == method;
            if !matches && !self.frames.iter().any(|frame| frame.method == method) {
                self.frames.push(frame);
                return false;
            }
            let off = self.close(table, frame, reading, matches);
            if matches {
                return off;
            }
        }
        false
    }

    fn close(&mut self, table: &Table, frame: Frame, reading: &Reading, counts: bool) -> bool {
        let inherent = Weights::sum(&table.weights.inherent, reading) - frame.inherent;
        let cumulative = Weights::sum(&table.weights.cumulative, reading) - frame.cumulative;
        if let Some(outer) = self.frames.last_mut() {
            outer.inside += inherent + table.inherent.1;
            outer.calls += frame.calls + 1;
        }
        let mut outermost = true;
        if table.counts_recursion
            && let Some(active) = self.active.get_mut(&frame.method)
        {
            *active -= 1;
            outermost = *active == 0;
        }
        let own = (inherent - frame.inside - table.inherent.0).max(0.0);
        let probes =
            table.cumulative.0 + frame.calls as f64 * (table.cumulative.0 + table.cumulative.1);
        let whole = match outermost {
            true => (cumulative - probes).max(0.0),
            false => 0.0,
        };
        counts && table.add(frame.method, own + whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rule: &str, probes: ProbeCost) -> Table {
        Table::new(Rule::parse(rule).unwrap(), probes, 10)
    }

    fn at(wall: f64) -> Reading {
        [wall, 0.0, 0.0, 0.0]
    }

    #[test]
    fn own_cost_is_without_what_is_called_and_without_probes() {
        let probes = ProbeCost {
            inside_ns: 5.0,
            outside_ns: 3.0,
        };
        for (rule, outer, inner) in [
            ("wall >= 1s after 9", 100.0 - 40.0 - 3.0 - 5.0, 40.0 - 5.0),
            (
                "cumulative wall >= 1s after 9",
                100.0 - 8.0 - 5.0,
                40.0 - 5.0,
            ),
        ] {
            let table = table(rule, probes);
            let mut calls = Calls::default();
            calls.enter(&table, 1, &at(1000.0));
            calls.enter(&table, 2, &at(1010.0));
            calls.exit(&table, 2, &at(1050.0));
            calls.exit(&table, 1, &at(1100.0));
            assert_eq!(
                (table.sums(1).cost, table.sums(2).cost),
                (outer, inner),
                "{rule}"
            );
        }
    }

    #[test]
    fn of_recursive_calls_only_the_outermost_has_a_cumulative_cost() {
        let table = table("cumulative wall >= 1s after 9", ProbeCost::default());
        let mut calls = Calls::default();
        for (n, method) in [1, 2, 1].into_iter().enumerate() {
            calls.enter(&table, method, &at(n as f64));
        }
        for (n, method) in [1, 2, 1].into_iter().enumerate() {
            calls.exit(&table, method, &at(10.0 + n as f64));
        }
        assert_eq!((table.sums(1).executions, table.sums(1).cost), (2, 12.0));
        assert_eq!(table.sums(2).cost, 10.0);
    }

    #[test]
    fn a_method_is_switched_off_once_and_only_when_it_is_known_to_be_cheap() {
        let table = table("wall >= 50ns after 3", ProbeCost::default());
        let mut calls = Calls::default();
        let mut now = 0.0;
        let mut run = |method: u32, time: f64| {
            calls.enter(&table, method, &at(now));
            now += time;
            calls.exit(&table, method, &at(now))
        };
        // Two slow executions, as before a method is compiled, and fast ones until the mean is low.
        let off: Vec<bool> = [100.0, 60.0, 30.0, 20.0, 20.0, 10.0, 10.0]
            .map(|time| run(1, time))
            .to_vec();
        assert_eq!(off, [false, false, false, false, true, false, false]);
        assert!((0..20).all(|_| !run(2, 50.0)));
        assert!(
            !run(11, 0.0),
            "numbers beyond the table are metered for ever"
        );
        assert!(table.sums(1).off && !table.sums(2).off);
        table.reset(1);
        assert_eq!(table.sums(1), Sums::default());
    }

    #[test]
    fn a_missing_end_spoils_nothing_but_its_own_call() {
        let table = table("wall >= 1s after 9", ProbeCost::default());
        let mut calls = Calls::default();
        calls.exit(&table, 3, &at(0.0));
        calls.enter(&table, 1, &at(0.0));
        calls.enter(&table, 2, &at(10.0));
        calls.exit(&table, 3, &at(20.0));
        calls.exit(&table, 1, &at(30.0));
        assert_eq!((table.sums(1).cost, table.sums(1).executions), (10.0, 1));
        assert_eq!((table.sums(2).executions, table.sums(3).executions), (0, 0));
        for depth in 0..DEEPEST + 5 {
            calls.enter(&table, 4, &at(depth as f64));
        }
        for _ in 0..DEEPEST + 5 {
            calls.exit(&table, 4, &at(1e6));
        }
        assert_eq!(table.sums(4).executions, DEEPEST as u64);
        assert!(calls.frames.is_empty());
    }

    #[test]
    fn meters_are_weighted() {
        let table = table(
            "inherent cpu + 0.5 * allocation >= 1us after 9",
            ProbeCost::default(),
        );
        let mut calls = Calls::default();
        calls.enter(&table, 1, &[0.0, 0.0, 0.0, 0.0]);
        calls.exit(&table, 1, &[900.0, 30.0, 100.0, 700.0]);
        assert_eq!(table.sums(1).cost, 30.0 + 50.0);
    }
}

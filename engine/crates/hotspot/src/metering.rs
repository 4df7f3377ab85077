//! Meters calls as they happen, and decides about their methods.
//!
//! Each thread has its [`Calls`]; their costs are added to the [`Table`] of all threads. The cost of probes is subtracted at every
//! level, as by readers of the log. Calls of methods whose metering is switched off cost their callers a nanosecond or two, which is not
//! subtracted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::rule::{CostScope, Meter, Rule};

/// A reading of a thread's meters, in the order of [`Meter::NAMES`]: nanoseconds, nanoseconds, bytes, nanoseconds. The origin is
/// arbitrary, but readings never decrease.
pub(crate) type Reading = [f64; 4];

/// The cost of a pair of probes, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbeCost {
    /// The part that is in the call's own time.
    pub inside_ns: f64,
    /// The part that is only in its caller's time.
    pub outside_ns: f64,
}

/// The factors of the meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    inherent: Reading,
    cumulative: Reading,
}

impl Weights {
    /// The weights of a rule.
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

/// The sums of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The number of measured executions.
    pub executions: u64,
    /// Their total cost by the rule.
    pub cost: f64,
    /// Whether its metering is switched off.
    pub off: bool,
}

#[derive(Default)]
struct Slot {
    executions: AtomicU64,
    /// In thousandths.
    cost: AtomicU64,
    off: AtomicBool,
}

/// The methods of a process by number. Shared by threads.
pub struct Table {
    rule: Rule,
    weights: Weights,
    /// The cost of probes in the sums of inherent terms: inside, outside.
    inherent: (f64, f64),
    /// The same in the sums of cumulative terms.
    cumulative: (f64, f64),
    counts_recursion: bool,
    slots: Box<[Slot]>,
}

impl Table {
    /// For methods with numbers below `capacity`.
    pub fn new(rule: Rule, probes: ProbeCost, capacity: usize) -> Table {
        let weights = Weights::of(&rule);
        // Probes cost time, but neither memory nor waiting for monitors.
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

    /// The upper bound of the numbers of methods.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The sums of a method.
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

    /// Resets a method's sums, and switches its metering on again.
    pub fn reset(&self, method: u32) {
        if let Some(slot) = self.slots.get(method as usize) {
            slot.executions.store(0, Ordering::Relaxed);
            slot.cost.store(0, Ordering::Relaxed);
            slot.off.store(false, Ordering::Relaxed);
        }
    }

    /// Adds an execution. Returns `true` once: when it becomes known that the method is not a hotspot.
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
    /// The cost of metered calls directly inside, with their probes.
    inside: f64,
    /// The number of metered calls inside, at any depth.
    calls: u64,
}

/// The open metered calls of a thread.
#[derive(Default)]
pub struct Calls {
    frames: Vec<Frame>,
    /// The number of open calls that are too deep to be metered.
    deeper: u64,
    /// The number of open calls of each method, for rules with cumulative terms only.
    active: HashMap<u32, u32>,
}

/// Deeper recursion is not metered.
const DEEPEST: usize = 1 << 16;

impl Calls {
    /// Whether a call can begin without allocating memory.
    pub fn has_room(&self) -> bool {
        self.frames.len() < self.frames.capacity() && self.active.len() < self.active.capacity()
    }

    /// Allocates memory for more calls.
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

    /// A call ends. Returns whether its method's metering should be switched off now.
    #[inline]
    pub fn exit(&mut self, table: &Table, method: u32, reading: &Reading) -> bool {
        if self.deeper > 0 {
            self.deeper -= 1;
            return false;
        }
        // The gate's value at entry also decides about the exit, so the call is nearly always at the top.
        while let Some(frame) = self.frames.pop() {
            let matches = frame.method == method;
            if !matches && !self.frames.iter().any(|frame| frame.method == method) {
                self.frames.push(frame);
                return false;
            }
            let cost = self.close(table, frame, reading);
            if matches {
                return table.add(method, cost);
            }
        }
        false
    }

    /// Closes a frame that was removed from the stack. Returns its cost by the rule.
    fn close(&mut self, table: &Table, frame: Frame, reading: &Reading) -> f64 {
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
        own + whole
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

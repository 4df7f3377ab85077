//! Metering: what calls cost by a rule. The gates of methods that are known not to be hotspots are shut (refine loop).

use fulcrum_hotspot::{Calls, ProbeCost, Rule, Table};
use fulcrum_wire::log::{PayloadBuffer, kind};

use crate::probe_costs::Costs;

/// The sums of all methods, and the clock's unit.
pub struct Metering {
    table: Table,
    /// A tick's length, nanoseconds.
    tick: f64,
}

/// A thread's meters.
#[derive(Default)]
pub struct Meters {
    calls: Calls,
    /// A time in ticks, and the thread's CPU time then, nanoseconds.
    cpu: (u64, u64),
    /// Bytes allocated.
    allocated: u64,
    /// Ticks of waiting for monitors that others own.
    contended: u64,
    /// When the current wait started.
    contends_since: Option<u64>,
}

impl Meters {
    /// The thread's CPU time at these ticks.
    pub fn set_cpu(&mut self, ticks: u64, cpu_ns: u64) {
        self.cpu = (ticks, cpu_ns);
    }

    /// The thread has allocated memory, bytes.
    pub fn allocates(&mut self, bytes: u64) {
        self.allocated += bytes;
    }

    /// The thread starts to wait for a monitor.
    pub fn contention_begins(&mut self, ticks: u64) {
        self.contends_since = Some(ticks);
    }

    /// The thread has entered the monitor.
    pub fn contention_ends(&mut self, ticks: u64) {
        let since = self.contends_since.take().unwrap_or(ticks);
        self.contended += ticks.saturating_sub(since);
    }

    /// Whether a call can begin without allocating.
    pub fn has_room(&self) -> bool {
        self.calls.has_room()
    }

    /// Makes room.
    pub fn make_room(&mut self) {
        self.calls.make_room();
    }

    /// A method was entered or left. `true` when its gate must be shut now.
    pub fn call(&mut self, metering: &Metering, kind: u8, method: u32, ticks: u64) -> bool {
        let ns = |ticks: u64| ticks as f64 * metering.tick;
        let reading = [
            ns(ticks),
            self.cpu.1 as f64 + ns(ticks.saturating_sub(self.cpu.0)),
            self.allocated as f64,
            ns(self.contended),
        ];
        match kind {
            kind::ENTER => {
                self.calls.enter(&metering.table, method, &reading);
                false
            }
            _ => self.calls.exit(&metering.table, method, &reading),
        }
    }
}

impl Metering {
    /// Meters for methods with numbers below `capacity`. `tick` is a tick's length, nanoseconds.
    pub fn new(rule: &Rule, costs: Costs, tick: f64, capacity: usize) -> Self {
        let probes = ProbeCost {
            inside_ns: costs.inside as f64 / 1000.0,
            outside_ns: costs.outside as f64 / 1000.0,
        };
        Metering {
            table: Table::new(rule.clone(), probes, capacity),
            tick,
        }
    }

    /// A method's sums, for the log. `passed` calls went through its shut gate.
    pub fn counts(&self, method: u32, passed: u64) -> PayloadBuffer {
        let sums = self.table.sums(method);
        PayloadBuffer::default()
            .number(u64::from(method))
            .number(sums.executions)
            .number(passed)
            .number((sums.cost * 1000.0) as u64)
            .number(u64::from(sums.off))
    }
}

/// Whether a method is the unit of work, `Class.method`, which has no gate.
pub fn is_unit(unit: Option<&str>, class: &str, method: &str) -> bool {
    let unit = unit.and_then(|it| it.rsplit_once('.'));
    unit.is_some_and(|(of, name)| name == method && of == class)
}

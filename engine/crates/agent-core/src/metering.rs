//! Metering: what calls cost by a rule, so that the gates of methods shut that are known not to be hotspots (refine loop).

use fulcrum_hotspot::{Calls, ProbeCost, Rule, Table};
use fulcrum_wire::log::{PayloadBuffer, kind};

use crate::probe_costs::Costs;

/// The sums of all methods, and the clock's unit.
pub struct Metering {
    table: Table,
    /// Nanoseconds.
    tick: f64,
}

/// A thread's meters.
#[derive(Default)]
pub struct Meters {
    calls: Calls,
    /// A moment on the clock, and the thread's CPU time then, nanoseconds.
    cpu: (u64, u64),
    /// Bytes.
    allocated: u64,
    /// Ticks of waiting for monitors that others own, and since when the thread does that.
    contended: u64,
    since: Option<u64>,
}

impl Meters {
    /// The thread was found to have so much CPU time.
    pub fn set_cpu(&mut self, ticks: u64, cpu_ns: u64) {
        self.cpu = (ticks, cpu_ns);
    }

    /// The thread got memory, bytes.
    pub fn allocates(&mut self, bytes: u64) {
        self.allocated += bytes;
    }

    /// The thread begins to wait for a monitor, or has got it.
    pub fn contends(&mut self, begins: bool, ticks: u64) {
        match begins {
            true => self.since = Some(ticks),
            false => {
                let since = self.since.take().unwrap_or(ticks);
                self.contended += ticks.saturating_sub(since);
            }
        }
    }

    /// Whether a call can begin without asking for memory.
    pub fn has_room(&self) -> bool {
        self.calls.has_room()
    }

    /// Makes room.
    pub fn make_room(&mut self) {
        self.calls.make_room();
    }

    /// A method was entered or left. `true` when its gate is to be shut now.
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
    /// For methods with numbers below `capacity`; a tick is so many nanoseconds.
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

    /// How a method stands, for the log; `passed` calls went through its shut gate.
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

//! Metering: what calls cost by a rule, and shutting the gates of methods that are known not to be hotspots (refine loop).

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use fulcrum_hotspot::{Calls, ProbeCost, Rule, Table};
use fulcrum_jvm_core::{Probes, Selected};
use fulcrum_wire::log::{PayloadBuffer, kind};

use crate::agent::{self, Agent};
use crate::costs::{self, Costs};
use crate::gates::{self, Gates};
use crate::jni::{Env, Object};
use crate::say::guarded;
use crate::{clock, thread};

/// What a session with a rule has.
pub struct Metering {
    table: Table,
    gates: &'static Gates,
    /// Nanoseconds.
    tick: f64,
    /// The numbers of methods with probes.
    probed: Mutex<Vec<u32>>,
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

    /// The thread got memory.
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
    fn new(rule: &Rule, costs: Costs, gates: &'static Gates, tick: f64, capacity: usize) -> Self {
        let probes = ProbeCost {
            inside_ns: costs.inside as f64 / 1000.0,
            outside_ns: costs.outside as f64 / 1000.0,
        };
        Metering {
            table: Table::new(rule.clone(), probes, capacity),
            gates,
            tick,
            probed: Mutex::default(),
        }
    }

    /// These methods have probes now.
    pub fn has_probes(&self, methods: impl Iterator<Item = u32>) {
        let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        probed.extend(methods);
    }
}

/// Makes gates, and measures what metering costs. `None` when the machine does not take the class that probes call.
pub fn prepare(agent: &Agent, env: Env, rule: &Rule) -> Option<Costs> {
    let gates = Gates::define(env)?;
    // The rehearsal meters one method, whose number is 0.
    agent.set_metering(Metering::new(rule, Costs::default(), gates, 1.0, 1));
    let begin = clock::now();
    let costs = costs::measure(env, gates.class);
    let end = clock::now();
    let ticks = end.ticks.saturating_sub(begin.ticks).max(1);
    let tick = (end.ns - begin.ns) as f64 / ticks as f64;
    gates.reset(env);
    agent.set_metering(Metering::new(rule, costs, gates, tick, gates::CAPACITY));
    agent.dictionary().rule(&rule.to_string());
    Some(costs)
}

/// The probes of a session, and whether a method has a gate: the unit of work is always measured.
pub fn probes(agent: &Agent) -> &'static Probes<'static> {
    match agent.rule {
        Some(_) => &gates::PROBES,
        None => &crate::probe_class::PROBES,
    }
}

/// Whether a method asks its gate.
pub fn is_gated(agent: &Agent, class: &str, method: &str, number: u32) -> bool {
    let unit = agent.unit.as_deref().and_then(|it| it.rsplit_once('.'));
    let is_unit = unit.is_some_and(|(of, name)| name == method && of == class.replace('/', "."));
    agent.rule.is_some() && !is_unit && (number as usize) < gates::CAPACITY
}

/// Notes which methods got probes.
pub fn probed(agent: &Agent, selected: &[Selected], refused: &[Selected]) {
    if let Some(metering) = agent.metering() {
        let got = selected.iter().filter(|one| !refused.contains(one));
        metering.has_probes(got.map(|one| one.number));
    }
}

/// Writes how all methods stand.
pub fn finish(agent: &Agent, env: Env) {
    let Some(metering) = agent.metering() else {
        return;
    };
    let passed = metering.gates.passed(env);
    let mut probed = metering
        .probed
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    probed.sort_unstable();
    probed.dedup();
    for method in probed {
        let passed = passed.get(method as usize).copied().unwrap_or(0);
        write(agent, metering, method, passed.max(0).cast_unsigned());
    }
}

fn write(agent: &Agent, metering: &Metering, method: u32, passed: u64) {
    let sums = metering.table.sums(method);
    let payload = PayloadBuffer::default()
        .number(u64::from(method))
        .number(sums.executions)
        .number(passed)
        .number((sums.cost * 1000.0) as u64)
        .number(u64::from(sums.off));
    agent.dictionary().counts(&payload);
}

fn probe(env: *mut c_void, kind: u8, method: i32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let Some(metering) = agent.metering() else {
            return;
        };
        let method = method.cast_unsigned();
        let mut shut = false;
        thread::with(|state| shut = state.metered(metering, kind, method));
        if shut && method != costs::METHOD.cast_unsigned() {
            metering.gates.shut(Env::from_raw(env), method);
            // What is known of it, should the program be killed.
            write(agent, metering, method, 0);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_enter(
    env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(env, kind::ENTER, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_exit(
    env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(env, kind::EXIT, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_thrown(
    env: *mut c_void,
    _class: Object,
    method: i32,
) {
    probe(env, kind::THROWN, method);
}

//! Methods with gates: what they call, and shutting the gates of methods that are known not to be hotspots (refine loop).

use fulcrum_agent_core::costs::{Costs, METHOD};
use fulcrum_agent_core::metering::{Metering as Core, is_unit};
use fulcrum_agent_core::say::guarded;
use fulcrum_hotspot::Rule;
use fulcrum_jvm_core::{Probes, Selected};
use fulcrum_wire::log::kind;

use crate::classes::costs;
use crate::classes::gates::{self, Gates};
use crate::classes::metering::Metering;
use crate::jni::{Env, Object};
use crate::session::agent::{self, Agent};
use crate::threads::thread;

/// Prepares gates, and measures what metering costs. `None` when the machine refuses the class that probes call.
pub(crate) fn prepare(agent: &Agent, env: Env, rule: &Rule) -> Option<Costs> {
    let gates = Gates::define(env)?;
    // The rehearsal meters one method, whose number is 0.
    let rehearsed = Core::new(rule, Costs::default(), 1.0, 1);
    agent.set_metering(Metering::new(rehearsed, gates));
    let (costs, tick) = costs::measure(env, gates.class);
    gates.reset(env);
    let core = Core::new(rule, costs, tick, gates::CAPACITY);
    agent.set_metering(Metering::new(core, gates));
    agent.dictionary().rule(&rule.to_string());
    Some(costs)
}

/// The probes of a session.
pub(crate) fn probes(agent: &Agent) -> &'static Probes<'static> {
    match agent.rule {
        Some(_) => &gates::PROBES,
        None => &crate::classes::probe_class::PROBES,
    }
}

/// Whether a method has a gate. The unit of work has none: it is always measured.
pub(crate) fn is_gated(agent: &Agent, class: &str, method: &str, number: u32) -> bool {
    let is_unit = is_unit(agent.unit.as_deref(), &class.replace('/', "."), method);
    agent.rule.is_some() && !is_unit && (number as usize) < gates::CAPACITY
}

/// Remembers which methods got probes.
pub(crate) fn probed(agent: &Agent, selected: &[Selected], refused: &[Selected]) {
    if let Some(metering) = agent.metering() {
        let got = selected.iter().filter(|one| !refused.contains(one));
        metering.add_probed(got.map(|one| one.number));
    }
}

/// Writes the sums of all methods.
pub(crate) fn finish(agent: &Agent, env: Env) {
    let Some(metering) = agent.metering() else {
        return;
    };
    let passed = metering.gates().passed(env);
    for method in metering.all_probed() {
        let passed = passed.get(method as usize).copied().unwrap_or(0);
        write(agent, metering, method, passed.max(0).cast_unsigned());
    }
}

fn write(agent: &Agent, metering: &Metering, method: u32, passed: u64) {
    let counts = metering.core().counts(method, passed);
    agent.dictionary().counts(&counts);
}

fn probe(env: Env, kind: u8, method: i32) {
    guarded(|| {
        let Some(agent) = agent::get() else { return };
        let Some(metering) = agent.metering() else {
            return;
        };
        let method = method.cast_unsigned();
        let mut shut = false;
        thread::with(|state| shut = state.metered(metering, kind, method));
        if shut && method != METHOD {
            metering.gates().shut(env, method);
            // Its sums so far, in case the program is killed.
            write(agent, metering, method, 0);
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_enter(env: Env, _class: Object, method: i32) {
    probe(env, kind::ENTER, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_exit(env: Env, _class: Object, method: i32) {
    probe(env, kind::EXIT, method);
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumGates_thrown(
    env: Env,
    _class: Object,
    method: i32,
) {
    probe(env, kind::THROWN, method);
}

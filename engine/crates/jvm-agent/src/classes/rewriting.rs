//! Puts probes into classes, as they are loaded or later.

use std::sync::atomic::Ordering;

use fulcrum_agent_core::say;
use fulcrum_jvm_core::{ClassFile, Selected, rewrite};

use crate::classes::{costs, metered};
use crate::jni::{Env, Object};
use crate::session::agent::Agent;

/// Classes that the virtual machine itself treats in a way that probes might disturb.
const NEVER: [&str; 5] = [
    "java/lang/Object",
    "java/lang/FulcrumProbe",
    "java/lang/FulcrumGates",
    "jdk/internal/vm/Continuation",
    "java/lang/VirtualThread",
];
const NATIVE_OR_ABSTRACT: u16 = 0x500;

/// Measures what probes cost, and puts them into classes that are loaded already. `false` when probes cannot be called.
pub(crate) fn prepare(agent: &Agent, env: Env, probes: Object) -> bool {
    let costs = match &agent.rule {
        None => Some(costs::measure(env, probes).0),
        Some(rule) => metered::prepare(agent, env, rule),
    };
    let Some(costs) = costs else { return false };
    agent
        .log
        .set_costs(costs.inside, costs.outside, costs.skipped);
    agent.ready.store(true, Ordering::Release);
    again(agent, env, "were loaded before and are not observed");
    true
}

/// Sends all classes that may have probes through the hook again. `otherwise` says what becomes of those for which that fails.
pub(crate) fn again(agent: &Agent, env: Env, otherwise: &str) {
    env.expect_references(30_000);
    let loaded = agent.jvmti.loaded_classes();
    let chosen = loaded.iter().copied().filter(|class| {
        let name = agent.jvmti.class_name(*class);
        !name.ends_with("[]") && agent.filter.may_select(&name) && agent.jvmti.is_modifiable(*class)
    });
    let chosen: Vec<Object> = chosen.collect();
    // A class that cannot be changed must not keep others from being changed, and the program must only stop for a few at a time.
    let mut failed = 0;
    for some in chosen.chunks(100) {
        if agent.jvmti.retransform(some) != 0 {
            failed += some
                .iter()
                .filter(|one| agent.jvmti.retransform(&[**one]) != 0)
                .count();
        }
    }
    if failed > 0 {
        say::say(&format!(
            "{failed} classes {otherwise}: the machine does not change them."
        ));
    }
    loaded.into_iter().for_each(|class| env.forget(class));
}

/// The class with probes, and how many methods have them. `None` when it stays as it is.
pub(crate) fn instrument(
    agent: &Agent,
    loader: i32,
    bytes: &[u8],
    name: Option<&str>,
) -> Option<(Vec<u8>, usize)> {
    // The hook sees every class; the name decides for most of them.
    if name.is_some_and(|name| !agent.filter.may_select(name)) || agent.log.is_closed() {
        return None;
    }
    let class = match ClassFile::parse(bytes) {
        Ok(class) => class,
        Err(error) => {
            say::say(&format!(
                "The class {} is not observed: it is malformed, {error}.",
                name.unwrap_or("?")
            ));
            return None;
        }
    };
    let class_name = class.name();
    if NEVER.contains(&&*class_name) {
        return None;
    }
    let selected = select(agent, loader, &class, &class_name);
    if selected.is_empty() {
        return None;
    }
    let rewritten = rewrite(&class, &selected, metered::probes(agent));
    for (of, why) in &rewritten.refused {
        let name = &class.methods[of.method].name;
        say::say(&format!(
            "{}.{name} is not observed: {why}.",
            class_name.replace('/', ".")
        ));
    }
    for of in &rewritten.plain_instead {
        let name = &class.methods[of.method].name;
        say::say(&format!(
            "{}.{name} is observed without its values: its code or its class has no room for them.",
            class_name.replace('/', ".")
        ));
    }
    let refused: Vec<Selected> = rewritten.refused.iter().map(|(one, _)| *one).collect();
    metered::probed(agent, &selected, &refused);
    let probed = selected.len() - refused.len();
    rewritten.bytes.map(|bytes| (bytes, probed))
}

/// The methods of a class that the filter selects, with their numbers.
fn select(agent: &Agent, loader: i32, class: &ClassFile<'_>, class_name: &str) -> Vec<Selected> {
    let chosen: Vec<usize> = (0..class.methods.len())
        .filter(|at| {
            let method = &class.methods[*at];
            method.access & NATIVE_OR_ABSTRACT == 0
                && agent
                    .filter
                    .selects(class_name, &method.name, &method.descriptor)
        })
        .collect();
    if chosen.is_empty() {
        return Vec::new();
    }
    let mut dictionary = agent.dictionary();
    let selected = chosen.into_iter().map(|at| {
        let number = dictionary.method(loader, class, at);
        let method = &class.methods[at];
        let filter = &agent.filter;
        Selected {
            method: at,
            number,
            gated: metered::is_gated(agent, class_name, &method.name, number),
            objects: filter.identifies(class_name, &method.name, &method.descriptor),
            values: filter
                .logs_values(class_name, &method.name, &method.descriptor)
                .then_some(filter.most_values),
        }
    });
    selected.collect()
}

//! Rewriting classes as they are loaded, and the numbers of methods and classes.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use fulcrum_agent_core::{clock, say};
use fulcrum_event_log::Stream;
use fulcrum_jvm_core::{ClassFile, Selected, rewrite};
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

use crate::agent::Agent;
use crate::jni::{Env, Object};
use crate::{costs, metering};

/// Everything that has a number, and the log's chunks that say so.
pub struct Dictionary {
    stream: Stream,
    classes: HashMap<String, u32>,
    /// By class loader, class, name and descriptor: a class that is loaded again or changed keeps its numbers.
    methods: HashMap<(i32, String), u32>,
}

/// Classes that the virtual machine itself treats in a way that probes might disturb.
const NEVER: [&str; 5] = [
    "java/lang/Object",
    "java/lang/FulcrumProbe",
    "java/lang/FulcrumGates",
    "jdk/internal/vm/Continuation",
    "java/lang/VirtualThread",
];
const NATIVE_OR_ABSTRACT: u16 = 0x500;

impl Dictionary {
    pub fn new(stream: Stream) -> Dictionary {
        Dictionary {
            stream,
            classes: HashMap::new(),
            methods: HashMap::new(),
        }
    }

    /// A class's number.
    pub fn class(&mut self, name: &str) -> u32 {
        if let Some(number) = self.classes.get(name) {
            return *number;
        }
        let number = self.classes.len() as u32 + 1;
        self.classes.insert(name.to_owned(), number);
        let payload = PayloadBuffer::default()
            .number(u64::from(number))
            .text(name);
        self.write(kind::DEFINE_CLASS, &payload);
        number
    }

    /// Tells the reader something.
    pub fn note(&mut self, text: &str) -> bool {
        self.write(kind::NOTE, &PayloadBuffer::default().text(text))
    }

    /// The rule that shuts gates.
    pub fn rule(&mut self, text: &str) -> bool {
        self.write(kind::RULE, &PayloadBuffer::default().text(text))
    }

    /// How a method with a gate stands.
    pub fn counts(&mut self, payload: &PayloadBuffer) -> bool {
        self.write(kind::COUNTS, payload)
    }

    fn method(&mut self, loader: i32, class: &ClassFile<'_>, at: usize) -> u32 {
        let method = &class.methods[at];
        let class_name = class.name().replace('/', ".");
        let key = (
            loader,
            format!("{class_name}.{}{}", method.name, method.descriptor),
        );
        if let Some(number) = self.methods.get(&key) {
            return *number;
        }
        let number = self.methods.len() as u32 + 1;
        self.methods.insert(key, number);
        let payload = PayloadBuffer::default()
            .number(u64::from(number))
            .text(&class_name)
            .text(&method.name);
        let payload = payload
            .text(&method.descriptor)
            .text(&class.source())
            .number(u64::from(method.line));
        self.write(kind::DEFINE_METHOD, &payload);
        number
    }

    fn write(&mut self, kind: u8, payload: &PayloadBuffer) -> bool {
        self.stream.write(
            kind,
            clock::now().ticks,
            None,
            0,
            Body::Payload(payload.as_bytes()),
        )
    }
}

/// Measures what probes cost, and gives them to classes that are loaded already. `false` when they cannot be called.
pub fn prepare(agent: &Agent, env: Env, probes: Object) -> bool {
    let costs = match &agent.rule {
        None => Some(costs::measure(env, probes).0),
        Some(rule) => metering::prepare(agent, env, rule),
    };
    let Some(costs) = costs else { return false };
    agent
        .log
        .set_costs(costs.inside, costs.outside, costs.skipped);
    agent.ready.store(true, Ordering::Release);
    again(agent, env, "were loaded before and are not observed");
    true
}

/// Sends all classes that may have probes through the hook again. `otherwise` says what they are when that fails.
pub fn again(agent: &Agent, env: Env, otherwise: &str) {
    env.expect_references(30_000);
    let loaded = agent.jvmti.loaded_classes();
    let chosen = loaded.iter().copied().filter(|class| {
        let name = agent.jvmti.class_name(*class);
        !name.ends_with("[]") && agent.filter.may_select(&name) && agent.jvmti.is_modifiable(*class)
    });
    let chosen: Vec<Object> = chosen.collect();
    // One that cannot be changed must not keep the others from it, and the program stands still no longer than for some.
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

/// A class with probes, and how many methods have them. `None` when it stays as it is.
pub fn instrument(
    agent: &Agent,
    loader: i32,
    bytes: &[u8],
    name: Option<&str>,
) -> Option<(Vec<u8>, usize)> {
    // The hook sees every class: most are decided by their name.
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
    let wanted: Vec<usize> = (0..class.methods.len())
        .filter(|at| {
            let method = &class.methods[*at];
            method.access & NATIVE_OR_ABSTRACT == 0
                && agent
                    .filter
                    .selects(&class_name, &method.name, &method.descriptor)
        })
        .collect();
    if wanted.is_empty() {
        return None;
    }
    let mut dictionary = agent.dictionary();
    let selected: Vec<_> = wanted
        .into_iter()
        .map(|at| {
            let number = dictionary.method(loader, &class, at);
            let method = &class.methods[at];
            let filter = &agent.filter;
            Selected {
                method: at,
                number,
                gated: metering::is_gated(agent, &class_name, &method.name, number),
                objects: filter.identifies(&class_name, &method.name, &method.descriptor),
            }
        })
        .collect();
    drop(dictionary);
    let rewritten = rewrite(&class, &selected, metering::probes(agent));
    for (of, why) in &rewritten.refused {
        let name = &class.methods[of.method].name;
        say::say(&format!(
            "{}.{name} is not observed: {why}.",
            class_name.replace('/', ".")
        ));
    }
    let refused: Vec<Selected> = rewritten.refused.iter().map(|(one, _)| *one).collect();
    metering::probed(agent, &selected, &refused);
    let probed = selected.len() - refused.len();
    rewritten.bytes.map(|bytes| (bytes, probed))
}

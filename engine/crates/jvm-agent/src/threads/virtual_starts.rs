//! Observes which thread starts which virtual thread.
//!
//! JVMTI reports a new virtual thread only from within it, and no native method starts one. All ways to start one lead
//! through one method of `java.lang.VirtualThread`, which runs in the thread that starts it. That method gets a probe of the
//! agent, in the class as the machine has loaded it. Asking for the class by name would initialise it, before the program has
//! set the number of its carriers.

use std::sync::atomic::{AtomicBool, Ordering};

use fulcrum_agent_core::say::{guarded, say};
use fulcrum_jvm_core::{ClassFile, ObjectProbes, Probes, Selected, rewrite};

use crate::classes::probe_class;
use crate::jni::{Env, Object};
use crate::jvmti::capability;
use crate::session::agent::{self, Agent};
use crate::threads::{parents, thread};

/// The class, as the machine names it to its hook.
const CLASS: &str = "java/lang/VirtualThread";
/// The method that starts a thread, since JDK 21.
const START: (&str, &str) = ("start", "(Ljdk/internal/vm/ThreadContainer;)V");
/// The probes that it calls: the one at its entry gets the thread.
const PROBES: Probes<'_> = Probes {
    class: probe_class::PROBES.class,
    enter: "starting",
    exit: "started",
    thrown: "failed",
    gate: None,
    objects: Some(ObjectProbes {
        class: probe_class::PROBES.class,
        entered: "starting",
        returns: "started",
        says: "started",
    }),
    values: None,
};

/// Whether the class is to have the probe.
static CHOSEN: AtomicBool = AtomicBool::new(false);

/// Puts the probe into the class, if the machine has the class and allows it.
pub(crate) fn observe(agent: &Agent) {
    if agent.can(capability::VIRTUAL_THREADS) && agent.can(capability::RETRANSFORM) {
        CHOSEN.store(true, Ordering::Release);
        if !again(agent) {
            say("Which thread started which virtual thread is not known.");
        }
    }
}

/// Removes the probe, and forgets all virtual threads that were started.
pub(crate) fn forget(agent: &Agent) {
    if CHOSEN.swap(false, Ordering::AcqRel) {
        again(agent);
    }
    parents::clear_virtual();
}

/// Sends the class through the hook. Machines with virtual threads have loaded it when they run.
fn again(agent: &Agent) -> bool {
    let loaded = agent.jvmti.loaded_classes().into_iter();
    let mut found = loaded.filter(|it| agent.jvmti.class_name(*it) == "java.lang.VirtualThread");
    let Some(class) = found.next() else {
        return false;
    };
    agent.jvmti.retransform(&[class]) == 0
}

/// Whether the hook must call [`instrument`] for a class.
pub(crate) fn is_chosen(name: Option<&str>) -> bool {
    name == Some(CLASS) && CHOSEN.load(Ordering::Acquire)
}

/// The class with the probe.
pub(crate) fn instrument(bytes: &[u8]) -> Option<Vec<u8>> {
    let class = ClassFile::parse(bytes).ok();
    let start = class
        .as_ref()
        .and_then(|it| Some((it, it.find(START.0, START.1)?)));
    let rewritten = start.and_then(|(class, method)| {
        let selected = Selected {
            method,
            number: 0,
            gated: false,
            objects: true,
            values: None,
        };
        rewrite(class, &[selected], &PROBES).bytes
    });
    if rewritten.is_none() {
        say(
            "Which thread started which virtual thread is not known: this virtual machine starts them in another way.",
        );
    }
    rewritten
}

/// A virtual thread is about to be started by the calling one.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_starting(
    env: Env,
    _class: Object,
    thread: Object,
    _container: Object,
    _method: i32,
) {
    guarded(|| {
        if agent::get().is_none() || thread.is_null() {
            return;
        }
        let Some(number) = parents::own_number(env, thread) else {
            return;
        };
        let parent = thread::number();
        parents::virtual_started(number, parent);
        thread::with(|state| state.starting = Some(number));
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_started(
    _env: Env,
    _class: Object,
    _method: i32,
) {
    guarded(|| thread::with(|state| state.starting = None));
}

/// The virtual thread could not be started.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_failed(
    _env: Env,
    _class: Object,
    _method: i32,
) {
    guarded(|| {
        let mut number = None;
        thread::with(|state| number = state.starting.take());
        if let Some(number) = number {
            parents::virtual_failed(number);
        }
    });
}

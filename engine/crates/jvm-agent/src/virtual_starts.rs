//! Seeing which thread starts which virtual one.
//!
//! JVMTI tells a virtual thread's beginning only within it, and no native method starts one. All ways to start one lead
//! through one method of `java.lang.VirtualThread`, which runs in the thread that starts it: that method gets a probe of
//! the agent's own, in the class as the machine has loaded it. Looking for the class by name would initialise it, and the
//! program may not have said yet how many threads are to carry its virtual ones.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use fulcrum_agent_core::say::{guarded, say};
use fulcrum_jvm_core::{ClassFile, ObjectProbes, Probes, Selected, rewrite};

use crate::agent::{self, Agent};
use crate::jni::{Env, Object};
use crate::jvmti::capability;
use crate::{parents, probe_class, thread};

/// The class, as the machine names it to its hook.
const CLASS: &str = "java/lang/VirtualThread";
/// The method that starts a thread, since JDK 21.
const START: (&str, &str) = ("start", "(Ljdk/internal/vm/ThreadContainer;)V");
/// What it calls: the probe at its entry is told the thread.
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

/// The class is to have the probe.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Puts the probe into the class, where the machine has it and lets us.
pub fn observe(agent: &Agent) {
    if agent.can(capability::VIRTUAL_THREADS) && agent.can(capability::RETRANSFORM) {
        WANTED.store(true, Ordering::Release);
        if !again(agent) {
            say("Which thread started which virtual thread is not known.");
        }
    }
}

/// Takes it out again, and forgets all.
pub fn forget(agent: &Agent) {
    if WANTED.swap(false, Ordering::AcqRel) {
        again(agent);
    }
    parents::clear_virtual();
}

/// Sends the class through the hook. Machines that have virtual threads have loaded it when they run.
fn again(agent: &Agent) -> bool {
    let loaded = agent.jvmti.loaded_classes().into_iter();
    let mut found = loaded.filter(|it| agent.jvmti.class_name(*it) == "java.lang.VirtualThread");
    let Some(class) = found.next() else {
        return false;
    };
    agent.jvmti.retransform(&[class]) == 0
}

/// Whether the hook is to ask [`instrument`] about a class.
pub fn is_wanted(name: Option<&str>) -> bool {
    name == Some(CLASS) && WANTED.load(Ordering::Acquire)
}

/// The class with the probe.
pub fn instrument(bytes: &[u8]) -> Option<Vec<u8>> {
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
    env: *mut c_void,
    _class: Object,
    thread: Object,
    _container: Object,
    _method: i32,
) {
    guarded(|| {
        if agent::get().is_none() || thread.is_null() {
            return;
        }
        let Some(number) = parents::own_number(Env::from_raw(env), thread) else {
            return;
        };
        let parent = thread::number();
        parents::virtual_started(number, parent);
        thread::with(|state| state.starting = Some(number));
    });
}

#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_started(
    _env: *mut c_void,
    _class: Object,
    _method: i32,
) {
    guarded(|| thread::with(|state| state.starting = None));
}

/// It was not started.
#[unsafe(no_mangle)]
unsafe extern "system" fn Java_java_lang_FulcrumProbe_failed(
    _env: *mut c_void,
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

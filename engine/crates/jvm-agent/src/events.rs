//! What the virtual machine tells us.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;

use fulcrum_wire::log::{PayloadBuffer, kind, thread_flag};

use crate::agent::{self, Agent};
use crate::jni::{Env, Object};
use crate::jvmti::{Callbacks, Jvmti, NO_CALLBACK, capability, event};
use crate::say::{guarded, say};
use crate::{classes, costs, objects, probe_class, thread};

/// The function for each event.
pub fn callbacks() -> Callbacks {
    let mut callbacks: Callbacks = [NO_CALLBACK; (event::LAST - event::FIRST) as usize];
    let mut set =
        |event: i32, function: *const c_void| callbacks[(event - event::FIRST) as usize] = function;
    set(event::VM_INIT, vm_init as *const c_void);
    set(event::VM_DEATH, vm_death as *const c_void);
    set(event::THREAD_START, thread_start as *const c_void);
    set(event::THREAD_END, thread_end as *const c_void);
    set(event::CLASS_FILE_LOAD, class_file_load as *const c_void);
    set(event::WAIT, wait as *const c_void);
    set(event::WAITED, waited as *const c_void);
    set(event::CONTENDED_ENTER, contended_enter as *const c_void);
    set(event::CONTENDED_ENTERED, contended_entered as *const c_void);
    set(event::GC_START, gc_start as *const c_void);
    set(event::GC_FINISH, gc_finish as *const c_void);
    set(event::FREE, free as *const c_void);
    set(event::SAMPLED_ALLOCATION, allocation as *const c_void);
    callbacks
}

/// The events that are to be turned on.
pub fn wanted(agent: &Agent) -> Vec<i32> {
    let mut wanted = vec![
        event::VM_INIT,
        event::VM_DEATH,
        event::THREAD_START,
        event::THREAD_END,
    ];
    if agent.filter.methods || agent.filter.classes {
        wanted.push(event::CLASS_FILE_LOAD);
    }
    if agent.can(capability::MONITORS) {
        wanted.extend([
            event::WAIT,
            event::WAITED,
            event::CONTENDED_ENTER,
            event::CONTENDED_ENTERED,
        ]);
    }
    if agent.can(capability::COLLECTIONS) {
        wanted.extend([event::GC_START, event::GC_FINISH]);
    }
    if agent.can(capability::SAMPLED_ALLOCATION) {
        wanted.extend([event::FREE, event::SAMPLED_ALLOCATION]);
    }
    wanted
}

/// Does something with the agent.
fn with_agent(what: impl FnOnce(&'static Agent)) {
    guarded(|| {
        if let Some(agent) = agent::get() {
            what(agent);
        }
    });
}

unsafe extern "system" fn vm_init(_jvmti: Jvmti, env: Env, _thread: Object) {
    with_agent(|agent| {
        let payload = PayloadBuffer::default().text(&agent.machine_name());
        agent.machine_event(kind::VM_START, &payload);
        thread::began(
            agent,
            agent.jvmti.thread(std::ptr::null_mut()),
            thread_flag::EARLIER,
        );
        if agent.filter.methods && !prepare(agent, env) {
            say(
                "No methods are observed: this virtual machine does not take the class that probes call.",
            );
        }
        if !agent.filter.allocation.is_empty() {
            if agent.can(capability::SAMPLED_ALLOCATION) {
                agent.jvmti.sample_allocations(0);
            } else {
                say("No allocation is observed: that needs JDK 11 or later.");
            }
        }
    });
}

/// Makes the probes callable, measures them, and gives them to classes that are loaded already.
fn prepare(agent: &Agent, env: Env) -> bool {
    let Some(class) = env.define_boot_class(probe_class::NAME, &probe_class::bytes()) else {
        return false;
    };
    // The first call of each finds its native method, while nothing has probes that would be called by that.
    for probe in [c"enter", c"exit", c"thrown"] {
        if env.call_static_int(class, probe, costs::METHOD).is_none() {
            return false;
        }
    }
    let (inside, outside) = costs::measure(env, class);
    agent.log.set_costs(inside, outside, 0);
    agent.ready.store(true, Ordering::Release);
    env.expect_references(30_000);
    let loaded = agent.jvmti.loaded_classes();
    let again: Vec<Object> = loaded
        .iter()
        .copied()
        .filter(|class| {
            let name = agent.jvmti.class_name(*class);
            !name.ends_with("[]")
                && agent.filter.may_select(&name)
                && agent.jvmti.is_modifiable(*class)
        })
        .collect();
    if !again.is_empty() {
        let error = agent.jvmti.retransform(&again);
        if error != 0 {
            say(&format!(
                "Classes that were loaded before the program began are not observed (JVMTI error {error})."
            ));
        }
    }
    loaded.into_iter().for_each(|class| env.forget(class));
    true
}

unsafe extern "system" fn vm_death(_jvmti: Jvmti, _env: Env) {
    with_agent(Agent::finish);
}

unsafe extern "system" fn thread_start(_jvmti: Jvmti, _env: Env, thread: Object) {
    with_agent(|agent| thread::began(agent, agent.jvmti.thread(thread), 0));
}

unsafe extern "system" fn thread_end(_jvmti: Jvmti, _env: Env, _thread: Object) {
    with_agent(|_| thread::ended());
}

#[allow(clippy::too_many_arguments, reason = "JVMTI says so")]
unsafe extern "system" fn class_file_load(
    _jvmti: Jvmti,
    env: Env,
    redefined: Object,
    loader: Object,
    name: *const c_char,
    _domain: Object,
    length: i32,
    bytes: *const u8,
    new_length: *mut i32,
    new_bytes: *mut *mut u8,
) {
    let _ = env;
    with_agent(|agent| {
        if !agent.is_ready() || bytes.is_null() || length <= 0 {
            return;
        }
        // SAFETY: the machine gives so many bytes, and a name or null, for the time of this call.
        let (bytes, name) = unsafe {
            let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
            (std::slice::from_raw_parts(bytes, length as usize), name)
        };
        let rewritten = match agent.filter.methods {
            true => {
                classes::instrument(agent, agent.jvmti.hash_code(loader), bytes, name.as_deref())
            }
            false => None,
        };
        let mut probed = 0;
        if let Some((rewritten, count)) = rewritten {
            let given = agent.jvmti.give(&rewritten);
            if !given.is_null() {
                probed = count;
                // SAFETY: the machine's own places for the answer.
                unsafe {
                    *new_bytes = given;
                    *new_length = rewritten.len() as i32;
                }
            }
        }
        if agent.filter.classes
            && redefined.is_null()
            && let Some(name) = name
        {
            let class = agent.dictionary().class(&name.replace('/', "."));
            let payload = PayloadBuffer::default()
                .number(u64::from(class))
                .number(probed as u64);
            thread::with(|state| state.event(kind::CLASS_LOAD, &payload));
        }
    });
}

/// An event about an object; `more` is behind its number and its class.
fn object_event(env: Env, object: Object, kind: u8, more: Option<u64>) {
    with_agent(|agent| {
        let number = objects::number(agent, object);
        let class = env.class_of(object);
        let name = agent.jvmti.class_name(class);
        env.forget(class);
        let class = agent.dictionary().class(&name);
        let payload = PayloadBuffer::default()
            .number(number)
            .number(u64::from(class));
        let payload = match more {
            Some(more) => payload.number(more),
            None => payload,
        };
        thread::with(|state| state.event(kind, &payload));
    });
}

unsafe extern "system" fn contended_enter(
    _jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
) {
    object_event(env, object, kind::CONTENDED_ENTER, None);
}

unsafe extern "system" fn contended_entered(
    _jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
) {
    object_event(env, object, kind::CONTENDED_ENTERED, None);
}

unsafe extern "system" fn wait(
    _jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
    timeout: i64,
) {
    object_event(
        env,
        object,
        kind::WAIT,
        Some(timeout.max(0).cast_unsigned()),
    );
}

unsafe extern "system" fn waited(
    _jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
    timed_out: u8,
) {
    object_event(env, object, kind::WAITED, Some(u64::from(timed_out != 0)));
}

unsafe extern "system" fn gc_start(_jvmti: Jvmti) {
    with_agent(|agent| agent.machine_event(kind::GC_START, &PayloadBuffer::default()));
}

unsafe extern "system" fn gc_finish(_jvmti: Jvmti) {
    with_agent(|agent| agent.machine_event(kind::GC_END, &PayloadBuffer::default()));
}

unsafe extern "system" fn allocation(
    _jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
    class: Object,
    size: i64,
) {
    with_agent(|agent| {
        if agent.filter.allocates(&agent.jvmti.class_name(class)) {
            object_event(env, object, kind::ALLOCATION, Some(size.cast_unsigned()));
        }
    });
}

unsafe extern "system" fn free(_jvmti: Jvmti, tag: i64) {
    with_agent(|agent| {
        let payload = PayloadBuffer::default().number(tag.cast_unsigned());
        agent.machine_event(kind::RELEASE, &payload);
    });
}

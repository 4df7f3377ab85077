//! The events that the virtual machine reports to the agent.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};

use fulcrum_filter::Filter;
use fulcrum_hotspot::Meter;
use fulcrum_wire::log::{PayloadBuffer, kind, thread_flag};

use crate::classes::{metered, probe_class, rewriting};
use crate::jni::{Env, Object};
use crate::jvmti::{Callbacks, Jvmti, NO_CALLBACK, capability, event, parameter};
use crate::objects::classes::Class;
use crate::objects::tags;
use crate::session::agent::{self, Agent};
use crate::threads::{parents, thread, virtual_starts};
use fulcrum_agent_core::say::{guarded, say};

/// The sampling interval of objects that are not observed one by one, bytes.
const SAMPLING_INTERVAL: u64 = 512 << 10;
/// The interval when memory decides about hotspots.
const METERING_INTERVAL: u64 = 64 << 10;

/// Whether the session's rule uses memory.
fn memory_decides(agent: &Agent) -> bool {
    let rule = agent.rule.as_ref();
    rule.is_some_and(|rule| rule.needs(Meter::Allocation))
}

fn sampling_interval(agent: &Agent) -> u64 {
    match memory_decides(agent) {
        true => METERING_INTERVAL,
        false => SAMPLING_INTERVAL,
    }
}

/// Defines the functions that the machine calls, and a list of them: each with its event, its parameters after the interface,
/// and what it does with the agent. They catch panics.
macro_rules! callbacks {
    ($list:ident: [$key:ty]; $($event:expr => $name:ident($($argument:ident: $type:ty),*) |$agent:pat_param| $body:expr;)*) => {
        $(unsafe extern "system" fn $name(_jvmti: Jvmti $(, $argument: $type)*) {
            with_agent(|$agent| $body);
        })*
        fn $list() -> impl Iterator<Item = ($key, *const c_void)> {
            [$(($event, $name as *const c_void)),*].into_iter()
        }
    };
}

fn with_agent(what: impl FnOnce(&'static Agent)) {
    guarded(|| {
        if let Some(agent) = agent::get() {
            what(agent);
        }
    });
}

callbacks! {
    standard: [i32];
    event::VM_INIT => vm_init(env: Env, _thread: Object) |agent| machine_runs(agent, env);
    event::VM_DEATH => vm_death(_env: Env) |agent| machine_ends(agent);
    event::THREAD_START => thread_start(_env: Env, thread: Object) |agent| thread::began(agent, thread, false, 0);
    event::THREAD_END => thread_end(_env: Env, _thread: Object) |_| thread::ended();
    event::VIRTUAL_THREAD_START => virtual_start(_env: Env, thread: Object) |agent| thread::virtual_began(agent, thread);
    event::VIRTUAL_THREAD_END => virtual_end(_env: Env, thread: Object) |agent| thread::virtual_ended(agent, thread);
    event::CONTENDED_ENTER => contended_enter(env: Env, _thread: Object, object: Object)
        |agent| about(agent, env, object, kind::CONTENDED_ENTER, &[]);
    event::CONTENDED_ENTERED => contended_entered(env: Env, _thread: Object, object: Object)
        |agent| about(agent, env, object, kind::CONTENDED_ENTERED, &[]);
    event::WAIT => wait(env: Env, _thread: Object, object: Object, timeout: i64)
        |agent| about(agent, env, object, kind::WAIT, &[timeout.max(0).cast_unsigned()]);
    event::WAITED => waited(env: Env, _thread: Object, object: Object, timed_out: u8)
        |agent| about(agent, env, object, kind::WAITED, &[u64::from(timed_out != 0)]);
    event::GC_START => gc_start() |agent| agent.machine_event(kind::GC_START, &PayloadBuffer::default());
    event::GC_FINISH => gc_finish() |agent| agent.machine_event(kind::GC_END, &PayloadBuffer::default());
    event::SAMPLED_ALLOCATION => allocation(_env: Env, _thread: Object, object: Object, class: Object, size: i64)
        |agent| allocated(agent, object, class, size.cast_unsigned());
    event::FREE => free(tag: i64) |agent| released(agent, tag);
}

callbacks! {
    of_hotspot: [&'static str];
    "com.sun.hotspot.events.VirtualThreadMount" => mount(_env: Env, thread: Object) |agent| thread::mounted(agent, thread);
    "com.sun.hotspot.events.VirtualThreadUnmount" => unmount(_env: Env, _thread: Object) |_| thread::unmounted();
    "com.sun.hotspot.events.ClassUnload" => class_unload(_env: Env, name: *const c_char) |agent| unloaded(agent, name);
}

/// The capabilities that a filter needs.
pub(crate) fn capabilities(filter: &Filter) -> Vec<u32> {
    let mut wanted = vec![capability::TAG, capability::VIRTUAL_THREADS];
    if filter.methods || filter.classes {
        wanted.extend([
            capability::ALL_CLASS_HOOK,
            capability::RETRANSFORM,
            capability::RETRANSFORM_ANY,
        ]);
    }
    if filter.contention {
        wanted.push(capability::MONITORS);
    }
    if filter.collections {
        wanted.push(capability::COLLECTIONS);
    }
    if filter.allocations {
        wanted.extend([capability::SAMPLED_ALLOCATION, capability::FREE]);
    }
    wanted
}

/// Capabilities that no session gives back, because their events stay on: see [`listen_to_releases`].
pub(crate) const KEPT: u128 = 1 << capability::TAG | 1 << capability::FREE;

/// The events of a session, besides [`event::FREE`].
fn wanted(agent: &Agent) -> Vec<i32> {
    let mut wanted = vec![
        event::VM_INIT,
        event::VM_DEATH,
        event::THREAD_START,
        event::THREAD_END,
    ];
    if agent.filter.methods || agent.filter.classes {
        wanted.push(event::CLASS_FILE_LOAD);
    }
    for (needed, events) in [
        (
            capability::VIRTUAL_THREADS,
            &[event::VIRTUAL_THREAD_START, event::VIRTUAL_THREAD_END][..],
        ),
        (
            capability::MONITORS,
            &[
                event::WAIT,
                event::WAITED,
                event::CONTENDED_ENTER,
                event::CONTENDED_ENTERED,
            ],
        ),
        (capability::SAMPLED_ALLOCATION, &[event::SAMPLED_ALLOCATION]),
        (
            capability::COLLECTIONS,
            &[event::GC_START, event::GC_FINISH],
        ),
    ] {
        if agent.can(needed) {
            wanted.extend(events);
        }
    }
    wanted
}

/// Turns on the events of the session.
pub(crate) fn turn_on(agent: &Agent) -> Result<(), String> {
    static CALLBACKS: OnceLock<bool> = OnceLock::new();
    if !CALLBACKS.get_or_init(|| set_callbacks(agent)) {
        return Err("this virtual machine refuses the agent's callbacks".into());
    }
    set_sampling(agent);
    if agent.can(capability::FREE) {
        listen_to_releases(agent);
    }
    wanted(agent)
        .into_iter()
        .for_each(|event| enable(agent, event));
    Ok(())
}

fn set_callbacks(agent: &Agent) -> bool {
    let mut callbacks: Callbacks = [NO_CALLBACK; (event::LAST - event::FIRST) as usize];
    let hook = (event::CLASS_FILE_LOAD, class_file_load as *const c_void);
    for (event, function) in standard().chain([hook]) {
        callbacks[(event - event::FIRST) as usize] = function;
    }
    // SAFETY: each function has its event's parameters.
    unsafe { agent.jvmti.set_callbacks(&callbacks) }
}

/// From the first session that needs it until the program ends, the machine reports that objects are released.
///
/// Whenever that event or the callbacks change, HotSpot first delivers pending release events. If another thread delivers
/// some at that moment, HotSpot waits for it. JDK 17 lets no safepoint begin meanwhile, and the other thread may be waiting
/// for one: a deadlock.
fn listen_to_releases(agent: &Agent) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| enable(agent, event::FREE));
}

/// Sets which allocations the machine reports.
fn set_sampling(agent: &Agent) {
    if agent.can(capability::SAMPLED_ALLOCATION) {
        let each = !agent.filter.allocation.is_empty();
        let interval = if each {
            0
        } else {
            sampling_interval(agent) as i32
        };
        if !agent.jvmti.sample_allocations(interval) {
            say("This virtual machine refuses the interval at which it reports allocations.");
        }
    }
}

fn enable(agent: &Agent, event: i32) {
    if !agent.jvmti.enable(event) {
        say(&format!(
            "This virtual machine does not report events of number {event}."
        ));
    }
}

/// Whether an event of HotSpot is needed, and has the parameters that our function for it expects.
fn extension_is_needed(agent: &Agent, id: &str, parameters: &[i32]) -> bool {
    if id.ends_with(".ClassUnload") {
        // In old machines, its parameter is a class whose name cannot be looked up any more.
        return agent.filter.classes
            && parameters == [parameter::ENVIRONMENT, parameter::CHARACTERS];
    }
    agent.can(capability::VIRTUAL_THREADS)
        && parameters == [parameter::ENVIRONMENT, parameter::THREAD]
}

/// The events of HotSpot that are needed, by their numbers, with our functions for them.
fn needed_extensions(agent: &Agent) -> impl Iterator<Item = (i32, *const c_void)> {
    let all = agent.jvmti.extensions().into_iter();
    all.filter_map(|extension| {
        let (id, function) = of_hotspot().find(|(id, _)| *id == extension.id)?;
        let is_needed = extension_is_needed(agent, id, &extension.parameters);
        is_needed.then_some((extension.index, function))
    })
}

fn turn_on_extensions(agent: &Agent) {
    for (index, function) in needed_extensions(agent) {
        // SAFETY: the function has the event's parameters, which were checked.
        unsafe { agent.jvmti.set_extension(index, function) };
        // Machines since JDK 21 require this too; older ones do not know it.
        agent.jvmti.enable(index);
    }
}

fn turn_off_extensions(agent: &Agent) {
    for (index, _) in needed_extensions(agent) {
        // SAFETY: no function.
        unsafe { agent.jvmti.set_extension(index, NO_CALLBACK) };
        agent.jvmti.disable(index);
    }
}

/// The machine has started: writes the first event, and puts probes into classes that are loaded already.
pub(crate) fn machine_runs(agent: &Agent, env: Env) {
    let payload = PayloadBuffer::default().text(&agent.jvmti.machine_name());
    agent.machine_event(kind::VM_START, &payload);
    turn_on_extensions(agent);
    let here = agent.jvmti.current_thread();
    thread::began(agent, here, false, thread_flag::EARLIER);
    let probes = probe_class::define(env);
    if probes.is_none_or(|class| !probe_class::observe_threads(env, class)) {
        say("Which thread started which is not known.");
    }
    if probes.is_some() {
        virtual_starts::observe(agent);
    }
    // Threads first use up the buffers that they have reserved, unreported; after a collection they must reserve new ones. A
    // method that runs while its class gets probes must not seem to need no memory.
    if agent.can(capability::SAMPLED_ALLOCATION) && memory_decides(agent) {
        agent.jvmti.collect();
    }
    if agent.filter.methods && probes.is_none_or(|class| !rewriting::prepare(agent, env, class)) {
        say("No methods are observed: this virtual machine refuses the class that probes call.");
    }
    if agent.can(capability::SAMPLED_ALLOCATION) && !agent.filter.allocation.is_empty() {
        agent.jvmti.collect();
    }
    agent.runs.store(true, Ordering::Release);
    if agent.filter.allocations && !agent.can(capability::SAMPLED_ALLOCATION) {
        say("No allocation is observed: that needs JDK 11 or later.");
    }
}

/// Writes the end of the log: the machine is about to end.
fn machine_ends(agent: &Agent) {
    if let Some(env) = agent.env() {
        metered::finish(agent, env);
    }
    agent.machine_event(kind::VM_END, &PayloadBuffer::default());
    agent.log.finish();
}

/// Turns off all events except [`event::FREE`], and removes all probes from the machine's classes.
pub(crate) fn turn_off(agent: &Agent, env: Env) {
    for event in wanted(agent) {
        if event != event::CLASS_FILE_LOAD {
            agent.jvmti.disable(event);
        }
    }
    turn_off_extensions(agent);
    if let Some(class) = probe_class::define(env) {
        probe_class::ignore_threads(env, class);
    }
    parents::clear(env);
    virtual_starts::forget(agent);
    if agent.filter.methods {
        // The hook does not change them from now on.
        rewriting::again(agent, env, "still have probes, which do nothing");
    }
    agent.jvmti.disable(event::CLASS_FILE_LOAD);
}

#[allow(clippy::too_many_arguments, reason = "JVMTI says so")]
unsafe extern "system" fn class_file_load(
    _jvmti: Jvmti,
    _env: Env,
    redefined: Object,
    loader: Object,
    name: *const c_char,
    _domain: Object,
    length: i32,
    bytes: *const u8,
    new_length: *mut i32,
    new_bytes: *mut *mut u8,
) {
    with_agent(|agent| {
        if bytes.is_null() || length <= 0 {
            return;
        }
        // SAFETY: the machine gives so many bytes, and a name or null, for the time of this call.
        let (bytes, name) = unsafe {
            let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
            (std::slice::from_raw_parts(bytes, length as usize), name)
        };
        let loader = || agent.jvmti.hash_code(loader);
        let rewritten = match agent.is_ready() {
            // Its methods are never observed otherwise.
            _ if virtual_starts::is_chosen(name.as_deref()) => {
                virtual_starts::instrument(bytes).map(|bytes| (bytes, 0))
            }
            true => rewriting::instrument(agent, loader(), bytes, name.as_deref()),
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
            && agent.runs.load(Ordering::Acquire)
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

fn unloaded(agent: &Agent, name: *const c_char) {
    if name.is_null() {
        return;
    }
    // SAFETY: a string of the machine's, for the time of this call.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let class = agent.dictionary().class(&name.replace('/', "."));
    // A thread of the machine itself reports it.
    agent.machine_event(
        kind::CLASS_UNLOAD,
        &PayloadBuffer::default().number(u64::from(class)),
    );
}

/// Writes an event about an object; `more` follows its number and its class.
fn about(agent: &Agent, env: Env, object: Object, kind: u8, more: &[u64]) {
    let class = tags::class_of(agent, env, object);
    write(agent, object, class, kind, more);
}

fn write(agent: &Agent, object: Object, class: Class, kind: u8, more: &[u64]) {
    let payload = PayloadBuffer::default()
        .number(tags::number(agent, object))
        .number(u64::from(class.number));
    let payload = more
        .iter()
        .fold(payload, |payload, number| payload.number(*number));
    thread::with(|state| state.event(kind, &payload));
}

/// An object was allocated: writes an event if all of its class are observed, or if it is the next sample of the others.
fn allocated(agent: &Agent, object: Object, class: Object, size: u64) {
    let interval = sampling_interval(agent);
    // Metering starts as soon as there may be probes.
    if agent.rule.is_some() && agent.metering().is_some() {
        // A sample stands for all bytes since the previous one.
        let bytes = match agent.filter.allocation.is_empty() {
            true => size.max(interval),
            false => size,
        };
        thread::with(|state| state.meters().allocates(bytes));
    }
    // Before the machine has started, threads have no names.
    if !agent.runs.load(Ordering::Acquire) {
        return;
    }
    let class = tags::class(agent, class);
    if class.observed {
        return write(agent, object, class, kind::ALLOCATION, &[size, 0]);
    }
    let mut is_sample = true;
    if !agent.filter.allocation.is_empty() {
        thread::with(|state| {
            state.unsampled += size;
            is_sample = state.unsampled >= interval;
            if is_sample {
                state.unsampled = 0;
            }
        });
    }
    if is_sample {
        write(agent, object, class, kind::ALLOCATION, &[size, interval]);
    }
}

fn released(agent: &Agent, tag: i64) {
    // An earlier session may have turned this on. Classes that were looked up have tags without any event about them.
    if agent.filter.allocations
        && tag > 0
        && let Some(number) = tags::of_tag(tag)
    {
        agent.machine_event(kind::RELEASE, &PayloadBuffer::default().number(number));
    }
}

//! The process's session: one log, from its first instrumented call to its end. A forked child has its own.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use fulcrum_agent_core::costs::{Costs, METHOD};
use fulcrum_agent_core::metering::{Metering, is_unit};
use fulcrum_agent_core::options::Options;
use fulcrum_agent_core::table::{Gate, Table};
use fulcrum_agent_core::{clock, say};
use fulcrum_event_log::{Log, ThreadWriter};
use fulcrum_filter::Filter;
use fulcrum_hotspot::Rule;
use fulcrum_preload::kept::Kept;
use fulcrum_preload::life::OwnWord;
use fulcrum_preload::quiet::Shared;
use fulcrum_wire::log::{Body, DICTIONARY, MACHINE, PayloadBuffer, kind};

use crate::memory;
use crate::modules::{Function, Modules};
use crate::values::{self, Plan};

/// Methods with larger numbers have no gate.
const CAPACITY: usize = 1 << 17;

/// A session of the process.
pub(crate) struct Agent {
    /// The session's number, from 1.
    pub(crate) session: u32,
    pub(crate) log: Arc<Log>,
    pub(crate) filter: Filter,
    /// When it started, ticks.
    pub(crate) began: u64,
    pid: u32,
    rule: Option<Rule>,
    finished: AtomicBool,
    unit: Option<String>,
    threads: AtomicU32,
    /// None without a rule.
    metering: Kept<Metering>,
    /// By method number, how many calls went through shut gates.
    passed: Box<[AtomicU64]>,
    /// By method number, where the values of methods are whose values are logged. Empty when no values are logged.
    values: Box<[AtomicPtr<values::Function>]>,
}

/// State that only one thread at a time changes.
pub(crate) struct Names {
    modules: Modules,
    dictionary: Option<ThreadWriter>,
    /// The stream of events of the process itself.
    machine: Option<ThreadWriter>,
    /// Whether methods have gates, by number less 1.
    gated: Vec<bool>,
    /// Methods' numbers, by file and place: a library that is opened again keeps its numbers.
    numbers: BTreeMap<(usize, u64), u32>,
    /// Where values are, for functions that were not called yet.
    plan: Plan,
    said_no_values: bool,
}

impl Names {
    /// A function's number.
    fn method(&mut self, agent: &Agent, function: &Function) -> u32 {
        if let Some(number) = self.numbers.get(&function.place) {
            return *number;
        }
        let Function {
            class,
            name,
            descriptor,
            place,
            linked,
        } = function;
        self.gated
            .push(agent.rule.is_some() && !is_unit(agent.unit.as_deref(), class, name));
        let number = self.gated.len() as u32;
        self.numbers.insert(*place, number);
        let payload = PayloadBuffer::default()
            .number(u64::from(number))
            .text(class)
            .text(name)
            .text(descriptor)
            .text("")
            .number(0);
        if let Some(stream) = &mut self.dictionary {
            write(stream, kind::DEFINE_METHOD, &payload);
        }
        if agent.filter.logs_values(class, name, descriptor) {
            let (path, address) = linked
                .as_ref()
                .map_or((Path::new(""), 0), |(path, at)| (path, *at));
            let values = self.plan.take(path, address);
            self.set_values(agent, number, values);
        }
        number
    }

    /// Logs a method's values from now on, if there is a plan for them.
    fn set_values(&mut self, agent: &Agent, method: u32, values: Option<values::Function>) {
        let place = agent.values.get(method as usize);
        match (values, place) {
            (Some(values), Some(place)) => {
                // As long as the process, as sessions.
                place.store(Box::into_raw(Box::new(values)), Ordering::Release);
            }
            _ if !std::mem::replace(&mut self.said_no_values, true) => {
                let text = "Some functions have no values: these are logged only of the traced program's own file, as far as it is \
                            built with -g.";
                if let Some(stream) = &mut self.dictionary {
                    write(stream, kind::NOTE, &PayloadBuffer::default().text(text));
                }
            }
            _ => {}
        }
    }
}

/// The functions that were called.
static TABLE: Kept<Table> = Kept::new();
static AGENT: Kept<Agent> = Kept::new();
/// The session's number, 0 when there is none, as in every forked child.
static SESSION: OwnWord = OwnWord::new(&NONE);
static NONE: AtomicU32 = AtomicU32::new(0);
static SESSIONS: AtomicU32 = AtomicU32::new(0);
/// Whether nothing is observed: nobody asked for it, it is over, or it failed.
static OFF: AtomicBool = AtomicBool::new(false);
pub(crate) static NAMES: Shared<Names> = Shared::new(Names {
    modules: Modules::new(),
    dictionary: None,
    machine: None,
    gated: Vec::new(),
    numbers: BTreeMap::new(),
    plan: Plan::new(),
    said_no_values: false,
});
/// What probes cost, and a tick's length in nanoseconds. Measured once; a forked child has its parent's.
static COSTS: Shared<Option<(Costs, f64)>> = Shared::new(None);

const FOLDER: &CStr = c"FULCRUM_TRACE";

/// The session's number, 0 when there is none.
#[inline(always)]
pub(crate) fn number() -> u32 {
    SESSION.word().load(Ordering::Relaxed)
}

/// What is known of a function. `None` when it has not been called before.
#[inline(always)]
pub(crate) fn gate(function: usize) -> Option<Gate> {
    TABLE.get()?.get(function)
}

/// Where a method's values are, if they are logged.
pub(crate) fn values(method: u32) -> Option<&'static values::Function> {
    get()?.values(method)
}

/// The session, if there is one.
pub(crate) fn get() -> Option<&'static Agent> {
    if number() == 0 {
        return None;
    }
    AGENT.get()
}

/// Whether there is no session, and there will be none.
#[inline]
pub(crate) fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

/// The run's folder. `None` when `fulcrum trace` did not start the process.
pub(crate) fn folder() -> Option<PathBuf> {
    // SAFETY: a lookup of a C string; what it gives is copied.
    let value = unsafe { libc::getenv(FOLDER.as_ptr()) };
    if value.is_null() {
        return None;
    }
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: libc's own string.
    let bytes = unsafe { CStr::from_ptr(value) }.to_bytes();
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// Measures what probes cost, and a tick's length in nanoseconds.
pub(crate) type Rehearse = fn(&'static Agent) -> (Costs, f64);

/// The session; starts one when there is none. The first one measures what probes cost. The caller must not hold the names' lock.
pub(crate) fn begin(rehearse: Rehearse) -> Option<&'static Agent> {
    if let Some(agent) = get() {
        return Some(agent);
    }
    let mut names = NAMES.lock();
    match get() {
        None if is_off() => return None,
        None => {}
        known => return known,
    }
    let begun = folder().map(|folder| start(&folder.to_string_lossy(), &mut names));
    match begun {
        Some(Ok(agent)) => {
            drop(names);
            measure(agent, rehearse);
            Some(agent)
        }
        Some(Err(why)) => {
            drop(names);
            OFF.store(true, Ordering::Relaxed);
            say::say(&why);
            None
        }
        None => {
            OFF.store(true, Ordering::Relaxed);
            None
        }
    }
}

fn start(folder: &str, names: &mut Names) -> Result<&'static Agent, String> {
    say::silence();
    say::through(note);
    let options = Options::read(folder)?;
    let pid = std::process::id();
    let log = create_log(&options, pid)?;
    if let Some(output) = &options.output {
        output.link(&options.log);
    }
    let mut dictionary = log.stream(DICTIONARY);
    if let Some(rule) = &options.rule {
        let text = PayloadBuffer::default().text(&rule.to_string());
        write(&mut dictionary, kind::RULE, &text);
    }
    names.dictionary = Some(dictionary);
    names.gated.clear();
    names.numbers.clear();
    names.plan = Plan::default();
    names.said_no_values = false;
    if !options.filter.values.is_empty() {
        names.plan = Plan::read(folder.as_ref());
    }
    let agent = Box::new(Agent::new(options, log, pid));
    let session = agent.session;
    if let Some(rule) = &agent.rule {
        let (costs, tick) = COSTS.lock().unwrap_or((Costs::default(), 1.0));
        agent.set_metering(Metering::new(rule, costs, tick, CAPACITY));
    }
    TABLE.set(Box::leak(Box::default()));
    let agent: &'static Agent = Box::leak(agent);
    AGENT.set(agent);
    if session == 1 {
        // Without such a page, the handler sees the fork.
        let _ = SESSION.prepare();
    }
    SESSION.word().store(session, Ordering::Release);
    let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let text = PayloadBuffer::default().text(&program.to_string_lossy());
    let mut machine = agent.log.stream(MACHINE);
    write(&mut machine, kind::VM_START, &text);
    names.machine = Some(machine);
    if !agent.filter.methods {
        say::say("No function is observed: the filter lacks observe_method_invocations.");
    }
    Ok(agent)
}

fn create_log(options: &Options, pid: u32) -> Result<Arc<Log>, String> {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let log = Log::create(
        &options.log,
        &fulcrum_event_log::Options {
            limit: options.limit,
            pid,
            unix_ns: since_1970.map_or(0, |it| it.as_nanos() as u64),
            cpu_clock: clock::cpu(),
            version: options.log_version(),
            now: clock::now,
        },
    );
    log.map_err(|error| format!("{} cannot be written: {error}", options.log.display()))
}

/// Measures what probes cost, in the first session of a process or of its parents.
fn measure(agent: &'static Agent, rehearse: Rehearse) {
    let known = *COSTS.lock();
    let (costs, _) = known.unwrap_or_else(|| {
        let measured = rehearse(agent);
        *COSTS.lock() = Some(measured);
        if let Some(rule) = &agent.rule {
            let (costs, tick) = measured;
            agent.set_metering(Metering::new(rule, costs, tick, CAPACITY));
        }
        measured
    });
    agent
        .log
        .set_costs(costs.inside, costs.outside, costs.skipped);
}

fn write(stream: &mut ThreadWriter, kind: u8, payload: &PayloadBuffer) -> bool {
    let ticks = clock::now().ticks;
    stream.write(kind, ticks, None, 0, Body::Payload(payload.as_bytes()))
}

/// Writes a note for the reader of the log. `false` when there is no log.
fn note(text: &str) -> bool {
    let Some(mut names) = NAMES.try_lock() else {
        return false;
    };
    let text = PayloadBuffer::default().text(text);
    let dictionary = names.dictionary.as_mut();
    dictionary.is_some_and(|stream| write(stream, kind::NOTE, &text))
}

impl Agent {
    fn new(options: Options, log: Arc<Log>, pid: u32) -> Agent {
        Agent {
            session: SESSIONS.fetch_add(1, Ordering::Relaxed) + 1,
            log,
            began: clock::now().ticks,
            pid,
            unit: options.unit,
            finished: AtomicBool::new(false),
            threads: AtomicU32::new(MACHINE + 1),
            metering: Kept::new(),
            passed: match options.rule {
                Some(_) => (0..CAPACITY).map(|_| AtomicU64::new(0)).collect(),
                None => Box::default(),
            },
            values: match options.filter.values.is_empty() {
                false => (0..CAPACITY).map(|_| AtomicPtr::default()).collect(),
                true => Box::default(),
            },
            filter: options.filter,
            rule: options.rule,
        }
    }

    /// A new number for a thread.
    pub(crate) fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// The meters; `None` without a rule.
    pub(crate) fn metering(&self) -> Option<&'static Metering> {
        self.metering.get()
    }

    fn set_metering(&self, metering: Metering) {
        self.metering.set(Box::leak(Box::new(metering)));
    }

    /// Counts a call that went through a shut gate. Threads that count the same method at the same moment may lose some.
    #[inline(always)]
    pub(crate) fn pass(&self, method: u32) {
        if let Some(count) = self.passed.get(method as usize) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// Where a method's values are, if they are logged.
    #[inline]
    pub(crate) fn values(&self, method: u32) -> Option<&'static values::Function> {
        let place = self.values.get(method as usize)?;
        // SAFETY: null, or a box that was leaked.
        unsafe { place.load(Ordering::Acquire).as_ref() }
    }

    /// The rule that shuts gates.
    pub(crate) fn rule(&self) -> Option<&Rule> {
        self.rule.as_ref()
    }
}

/// Looks up a function that has not been called before, and decides whether it is observed.
pub(crate) fn look_up(agent: &Agent, function: usize) -> Gate {
    let mut names = NAMES.lock();
    // Another thread may have been faster.
    if let Some(gate) = gate(function) {
        return gate;
    }
    let found = names.modules.function(function);
    let gate = match agent
        .filter
        .selects(&found.class, &found.name, &found.descriptor)
    {
        false => Gate::None,
        true => Gate::Open(names.method(agent, &found)),
    };
    set(&mut names, function, gate);
    gate
}

/// Sets what is known of a function. Whoever calls this holds the names' lock.
fn set(_names: &mut Names, function: usize, gate: Gate) {
    if let Some(table) = TABLE.get() {
        // SAFETY: the table is only changed by threads that hold the lock of `NAMES`, as `_names` shows.
        unsafe { table.set(function, gate) };
    }
}

/// Makes a function the one of the rehearsal.
pub(crate) fn rehearse_function(function: usize) {
    set(&mut NAMES.lock(), function, Gate::Open(METHOD));
}

/// The name of a function, for a thread that has none.
pub(crate) fn name_of(function: usize) -> String {
    NAMES.lock().modules.function(function).name
}

/// Shuts the gate of a method that is known not to be a hotspot.
pub(crate) fn shut(agent: &Agent, function: usize, method: u32) {
    let mut names = NAMES.lock();
    let has_gate = |number: u32| {
        let at = (number as usize).checked_sub(1)?;
        names.gated.get(at).copied()
    };
    if (method as usize) >= CAPACITY || has_gate(method) != Some(true) {
        return;
    }
    set(&mut names, function, Gate::Shut(method));
    // Its sums so far, in case the program is killed.
    counts(agent, &mut names, method, 0);
}

fn counts(agent: &Agent, names: &mut Names, method: u32, passed: u64) {
    if let (Some(metering), Some(stream)) = (agent.metering(), &mut names.dictionary) {
        write(stream, kind::COUNTS, &metering.counts(method, passed));
    }
}

/// Libraries were closed: forgets the functions at their addresses.
pub(crate) fn libraries_closed() {
    let mut names = NAMES.lock();
    let gone = names.modules.refresh();
    if let Some(table) = TABLE.get() {
        table.forget(|function| gone.iter().any(|range| range.contains(&function)));
    }
}

/// Stops observing: no more events are written, and probes find nothing.
pub(crate) fn turn_off() {
    OFF.store(true, Ordering::Relaxed);
    TABLE.clear();
}

/// Whether this is the session's process: a `vfork` child shares its memory.
pub(crate) fn is_own() -> bool {
    get().is_some_and(|agent| agent.pid == std::process::id())
}

/// Writes the end of the log, if this is the session's process: a `vfork` child shares its memory.
pub(crate) fn finish() {
    let Some(agent) = get() else { return };
    if agent.pid != std::process::id() || agent.finished.swap(true, Ordering::AcqRel) {
        return;
    }
    let mut names = NAMES.lock();
    if agent.rule.is_some() {
        for method in 1..=names.gated.len() as u32 {
            let passed = agent.passed.get(method as usize);
            let passed = passed.map_or(0, |it| it.load(Ordering::Relaxed));
            counts(agent, &mut names, method, passed);
        }
    }
    if let Some(machine) = &mut names.machine {
        write(machine, kind::VM_END, &PayloadBuffer::default());
    }
    agent.log.finish();
    turn_off();
}

/// What a forked child finds of its parent's [`Names`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamesAfterFork {
    /// The parent held the lock during the fork, so they are consistent.
    Whole,
    /// No handler has seen the fork: another thread may have been changing them.
    Unknown,
}

/// In a forked child: leaves the parent's session alone. The first event starts a new one.
pub(crate) fn forked(found: NamesAfterFork) {
    memory::forked();
    // SAFETY: in a forked child, no other thread has them.
    unsafe {
        NAMES.raw().free();
        COSTS.raw().free();
    }
    let mut names = NAMES.lock();
    if found == NamesAfterFork::Unknown {
        std::mem::forget(std::mem::take(&mut names.modules));
        std::mem::forget(std::mem::take(&mut names.gated));
        std::mem::forget(std::mem::take(&mut names.numbers));
        std::mem::forget(std::mem::take(&mut names.plan));
    }
    std::mem::forget((names.dictionary.take(), names.machine.take()));
    TABLE.clear();
    AGENT.clear();
    SESSION.word().store(0, Ordering::Release);
    OFF.store(false, Ordering::Relaxed);
}

/// Whether this is a forked child whose fork no handler has seen.
pub(crate) fn is_orphan() -> bool {
    number() == 0 && AGENT.get().is_some()
}

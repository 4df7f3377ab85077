//! What the whole process has: one log, from its first instrumented call to its end. A forked child has its own.

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

/// What the process has.
pub struct Agent {
    /// The session's number, from 1.
    pub session: u32,
    pub log: Arc<Log>,
    pub filter: Filter,
    /// When it began, ticks.
    pub began: u64,
    pid: u32,
    rule: Option<Rule>,
    finished: AtomicBool,
    unit: Option<String>,
    threads: AtomicU32,
    /// None without a rule.
    metering: Kept<Metering>,
    /// By methods' numbers, how many calls passed shut gates.
    passed: Box<[AtomicU64]>,
    /// By methods' numbers, those whose values are logged. Empty where there are none.
    values: Box<[AtomicPtr<values::Function>]>,
}

/// What one thread at a time changes.
pub struct Names {
    modules: Modules,
    dictionary: Option<ThreadWriter>,
    /// What the process does.
    machine: Option<ThreadWriter>,
    /// Whether methods have gates, by their numbers less 1.
    gated: Vec<bool>,
    /// By where they are: a library that is opened again keeps its numbers.
    numbers: BTreeMap<(usize, u64), u32>,
    /// Where values are.
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
            self.has_values(agent, number, values);
        }
        number
    }

    /// A method's values are logged, if there is a plan for them.
    fn has_values(&mut self, agent: &Agent, method: u32, values: Option<values::Function>) {
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
/// Nothing is observed: nobody asked for it, it is over, or it failed.
static OFF: AtomicBool = AtomicBool::new(false);
pub static NAMES: Shared<Names> = Shared::new(Names {
    modules: Modules::new(),
    dictionary: None,
    machine: None,
    gated: Vec::new(),
    numbers: BTreeMap::new(),
    plan: Plan::new(),
    said_no_values: false,
});
/// What probes cost, and a tick's nanoseconds, measured once: a forked child's are its parent's.
static COSTS: Shared<Option<(Costs, f64)>> = Shared::new(None);

const FOLDER: &CStr = c"FULCRUM_TRACE";

/// The session's number, 0 when there is none.
#[inline(always)]
pub fn number() -> u32 {
    SESSION.word().load(Ordering::Relaxed)
}

/// What is known of a function. `None` when it was not called before.
#[inline(always)]
pub fn gate(function: usize) -> Option<Gate> {
    TABLE.get()?.get(function)
}

/// Where a method's values are, when they are logged.
pub fn values(method: u32) -> Option<&'static values::Function> {
    get()?.values(method)
}

/// The session, if there is one.
pub fn get() -> Option<&'static Agent> {
    if number() == 0 {
        return None;
    }
    AGENT.get()
}

/// Whether there is none, and there will be none.
#[inline]
pub fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

/// Where the session's log is to be. `None` when the process was not started by us.
pub fn folder() -> Option<PathBuf> {
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

/// Measures what probes cost, and a tick's nanoseconds.
pub type Rehearse = fn(&'static Agent) -> (Costs, f64);

/// The session, which begins when there is none yet; the first one measures what probes cost. The table's lock must not be
/// held.
pub fn begin(rehearse: Rehearse) -> Option<&'static Agent> {
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
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let pid = std::process::id();
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
    let log =
        log.map_err(|error| format!("{} cannot be written: {error}", options.log.display()))?;
    if let Some(output) = options.output {
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
    let has_values = !options.filter.values.is_empty();
    if has_values {
        names.plan = Plan::read(folder.as_ref());
    }
    let session = SESSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    let agent = Box::new(Agent {
        session,
        log,
        filter: options.filter,
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
        values: match has_values {
            true => (0..CAPACITY).map(|_| AtomicPtr::default()).collect(),
            false => Box::default(),
        },
        rule: options.rule,
    });
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

/// Tells the reader of the log something; `false` when there is no log to tell it in.
fn note(text: &str) -> bool {
    let Some(mut names) = NAMES.try_lock() else {
        return false;
    };
    let text = PayloadBuffer::default().text(text);
    let dictionary = names.dictionary.as_mut();
    dictionary.is_some_and(|stream| write(stream, kind::NOTE, &text))
}

impl Agent {
    /// A number for a thread; none is used twice.
    pub fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// What the session has when it has a rule.
    pub fn metering(&self) -> Option<&'static Metering> {
        self.metering.get()
    }

    fn set_metering(&self, metering: Metering) {
        self.metering.set(Box::leak(Box::new(metering)));
    }

    /// A call went through a shut gate. Threads that count the same method at the same moment may lose some.
    #[inline(always)]
    pub fn pass(&self, method: u32) {
        if let Some(count) = self.passed.get(method as usize) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// Where a method's values are, when they are logged.
    #[inline]
    pub fn values(&self, method: u32) -> Option<&'static values::Function> {
        let place = self.values.get(method as usize)?;
        // SAFETY: null, or a box that was leaked.
        unsafe { place.load(Ordering::Acquire).as_ref() }
    }

    /// The rule that shuts gates.
    pub fn rule(&self) -> Option<&Rule> {
        self.rule.as_ref()
    }
}

/// Looks a function up that was not called before, and decides about it.
pub fn look_up(agent: &Agent, function: usize) -> Gate {
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
    set(function, gate);
    gate
}

/// The names' lock must be held.
fn set(function: usize, gate: Gate) {
    if let Some(table) = TABLE.get() {
        table.set(function, gate);
    }
}

/// Whether a function is the rehearsal's.
pub fn rehearse_function(function: usize) {
    let _names = NAMES.lock();
    set(function, Gate::Open(METHOD));
}

/// The name of a function, for a thread that has none.
pub fn name_of(function: usize) -> String {
    NAMES.lock().modules.function(function).name
}

/// It is known that a method is no hotspot.
pub fn shut(agent: &Agent, function: usize, method: u32) {
    let mut names = NAMES.lock();
    let has_gate = |number: u32| {
        let at = (number as usize).checked_sub(1)?;
        names.gated.get(at).copied()
    };
    if (method as usize) >= CAPACITY || has_gate(method) != Some(true) {
        return;
    }
    set(function, Gate::Shut(method));
    // What is known of it, should the program be killed.
    counts(agent, &mut names, method, 0);
}

fn counts(agent: &Agent, names: &mut Names, method: u32, passed: u64) {
    if let (Some(metering), Some(stream)) = (agent.metering(), &mut names.dictionary) {
        write(stream, kind::COUNTS, &metering.counts(method, passed));
    }
}

/// Libraries were closed: what comes to their addresses is something else.
pub fn libraries_closed() {
    let mut names = NAMES.lock();
    let gone = names.modules.refresh();
    if let Some(table) = TABLE.get() {
        table.forget(|function| gone.iter().any(|range| range.contains(&function)));
    }
}

/// No event is written any more; probes find nothing.
pub fn turn_off() {
    OFF.store(true, Ordering::Relaxed);
    TABLE.clear();
}

/// Whether this is the process that the session is of: a child made by `vfork` shares its memory.
pub fn is_own() -> bool {
    get().is_some_and(|agent| agent.pid == std::process::id())
}

/// Writes the end of the log, when this is the process that it is of: a child made by `vfork` shares its memory.
pub fn finish() {
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

/// In a forked child: what the parent had is left as it is, and the first event begins a new session. `whole` says that the
/// parent held the lock meanwhile, so that names are whole.
pub fn forked(whole: bool) {
    memory::forked();
    NAMES.raw().free();
    COSTS.raw().free();
    let mut names = NAMES.lock();
    if !whole {
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

/// Whether this is a forked child that no handler announced.
pub fn is_orphan() -> bool {
    number() == 0 && AGENT.get().is_some()
}

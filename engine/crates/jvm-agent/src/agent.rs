//! The agent itself: one session after another, each with its filter and its log. Most programs see one, from the virtual
//! machine's start to its end; a program that was attached to can be left and attached to again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use fulcrum_agent_core::options::Options;
use fulcrum_agent_core::{clock, say};
use fulcrum_event_log::{Log, Stream};
use fulcrum_filter::Filter;
use fulcrum_hotspot::Rule;
use fulcrum_preload::kept::Kept;
use fulcrum_wire::log::{Body, DICTIONARY, MACHINE, PayloadBuffer, kind};

use crate::classes::Dictionary;
use crate::jni::{Env, JavaVm, Object};
use crate::jvmti::{Jvmti, capability};
use crate::metering::{self, Metering};
use crate::{events, machine, objects};

/// What the whole process has once in a session.
pub struct Agent {
    /// The session's number, from 1.
    pub session: u32,
    pub jvmti: Jvmti,
    pub log: Arc<Log>,
    pub filter: Filter,
    /// What shuts gates; without it there are none.
    pub rule: Option<Rule>,
    /// A method without a gate, `Class.method`.
    pub unit: Option<String>,
    /// What the machine lets us do: bits of [`capability`].
    pub capabilities: u128,
    /// Probes may be put into classes.
    pub ready: AtomicBool,
    /// The machine has started, and threads have names.
    pub runs: AtomicBool,
    pub objects: objects::Classes,
    recorder: Option<u32>,
    dictionary: Mutex<Dictionary>,
    machine: Mutex<Stream>,
    threads: AtomicU32,
    /// None without a rule.
    metering: Kept<Metering>,
}

static AGENT: Kept<Agent> = Kept::new();
/// The number of the session, 0 when there is none: probes that fire do nothing then.
static SESSION: AtomicU32 = AtomicU32::new(0);
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// The agent, while there is a session.
pub fn get() -> Option<&'static Agent> {
    AGENT.get()
}

/// The number of the session, 0 when there is none.
#[inline]
pub fn session() -> u32 {
    SESSION.load(Ordering::Relaxed)
}

/// Tells the reader of the log something; `false` when there is no log to tell it in.
pub fn note(text: &str) -> bool {
    let Some(agent) = get() else { return false };
    // Who holds the lock may be who has something to say.
    match agent.dictionary.try_lock() {
        Ok(mut dictionary) => dictionary.note(text),
        Err(TryLockError::Poisoned(it)) => it.into_inner().note(text),
        Err(TryLockError::WouldBlock) => false,
    }
}

/// The machine starts with us: the session begins when it has.
///
/// # Safety
/// `vm` is the machine's own.
pub unsafe fn load(vm: *mut JavaVm, options: &str) -> Result<bool, String> {
    quietly();
    // SAFETY: the caller's promise.
    let jvmti = unsafe { machine::connect(vm) }?;
    begin(jvmti, Options::read(options)?).map(|_| true)
}

/// Does what a running machine's agent is asked to:
/// - `prepare` nothing: from now on the machine finds our native methods;
/// - `start=FOLDER` begins a session whose options are in that folder, as those of `-agentpath`;
/// - `stop` ends it: all classes are as they were.
///
/// `false` when another session goes on, which the new one's folder is told.
///
/// # Safety
/// `vm` is the machine's own.
pub unsafe fn command(vm: *mut JavaVm, command: &str) -> Result<bool, String> {
    quietly();
    // SAFETY: the caller's promise.
    let jvmti = unsafe { machine::connect(vm) }?;
    match command.split_once('=') {
        None if command == "prepare" => Ok(true),
        None if command == "stop" => {
            get().ok_or("this program is not being traced")?.stop()?;
            Ok(true)
        }
        Some(("start", folder)) => {
            if let Some(agent) = get() {
                if agent.has_recorder() {
                    say::say_in(folder.as_ref(), "this program is being traced already");
                    return Ok(false);
                }
                // It was killed, and could not end the session.
                agent.stop()?;
            }
            let agent = begin(jvmti, Options::read(folder)?)?;
            let env = agent.env().ok_or("the calling thread is not Java's")?;
            events::machine_runs(agent, env);
            Ok(true)
        }
        _ => Err(format!("{command:?} is not prepare, start=FOLDER or stop")),
    }
}

/// Nothing is printed, and what there is to say goes into the log.
fn quietly() {
    say::silence();
    say::through(note);
}

fn begin(jvmti: Jvmti, options: Options) -> Result<&'static Agent, String> {
    let filter = options.filter;
    let capabilities = jvmti.ask_for(&events::capabilities(&filter));
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let log = Log::create(
        &options.log,
        &fulcrum_event_log::Options {
            limit: options.limit,
            pid: std::process::id(),
            unix_ns: since_1970.map_or(0, |it| it.as_nanos() as u64),
            cpu_clock: clock::cpu(),
            now: clock::now,
        },
    );
    let log =
        log.map_err(|error| format!("{} cannot be written: {error}", options.log.display()))?;
    let session = SESSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    let agent = Box::new(Agent {
        session,
        jvmti,
        dictionary: Mutex::new(Dictionary::new(log.stream(DICTIONARY))),
        machine: Mutex::new(log.stream(MACHINE)),
        log,
        objects: objects::Classes::default(),
        filter,
        capabilities,
        recorder: options.recorder,
        ready: AtomicBool::new(false),
        runs: AtomicBool::new(false),
        threads: AtomicU32::new(MACHINE + 1),
        rule: options.rule,
        unit: options.unit,
        metering: Kept::new(),
    });
    let agent: &'static Agent = Box::leak(agent);
    AGENT.set(agent);
    SESSION.store(session, Ordering::Release);
    if let Some(output) = options.output {
        output.link(&options.log);
    }
    events::turn_on(agent)?;
    Ok(agent)
}

impl Agent {
    /// Whether the machine gave us this.
    pub fn can(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }

    /// A number for a thread; none is used twice.
    pub fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    pub fn dictionary(&self) -> MutexGuard<'_, Dictionary> {
        self.dictionary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// JNI for the calling thread. `None` when that is not Java's.
    pub fn env(&self) -> Option<Env> {
        machine::env()
    }

    /// Whether a thread is a virtual one.
    pub fn is_virtual(&self, thread: Object) -> bool {
        self.can(capability::VIRTUAL_THREADS)
            && self.env().is_some_and(|env| env.is_virtual(thread))
    }

    /// What the session has when it has a rule.
    pub fn metering(&self) -> Option<&'static Metering> {
        self.metering.get()
    }

    /// Meters from now on.
    pub fn set_metering(&self, metering: Metering) {
        self.metering.set(Box::leak(Box::new(metering)));
    }

    /// Writes an event of the machine itself, from whatever thread.
    pub fn machine_event(&self, kind: u8, payload: &PayloadBuffer) {
        let mut stream = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        // Within the lock, so that its times do not go back.
        let ticks = clock::now().ticks;
        stream.write(kind, ticks, None, 0, Body::Payload(payload.as_bytes()));
    }

    /// Probes may be put into classes.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Writes the end of the log; the machine is about to go.
    pub fn finish(&self) {
        if let Some(env) = self.env() {
            metering::finish(self, env);
        }
        self.machine_event(kind::VM_END, &PayloadBuffer::default());
        self.log.finish();
    }

    /// Whether the process that records this session is there.
    fn has_recorder(&self) -> bool {
        let process = |pid: u32| std::path::Path::new("/proc").join(pid.to_string());
        self.recorder.is_none_or(|pid| process(pid).exists())
    }

    /// Ends the session, and leaves the program as it was before.
    fn stop(&self) -> Result<(), String> {
        let env = self.env().ok_or("the calling thread is not Java's")?;
        self.ready.store(false, Ordering::Release);
        events::turn_off(self, env);
        metering::finish(self, env);
        // Methods that are running still have their probes: they find no session.
        SESSION.store(0, Ordering::Release);
        AGENT.clear();
        self.jvmti.give_back(self.capabilities & !events::KEPT);
        self.log.finish();
        Ok(())
    }
}

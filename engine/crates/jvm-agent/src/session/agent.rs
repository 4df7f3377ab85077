//! The agent: one session after another, each with its filter and its log. Most programs see one, from the virtual machine's
//! start to its end. A program that was attached to can be detached from and attached to again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use fulcrum_agent_core::clock;
use fulcrum_agent_core::options::Options;
use fulcrum_event_log::{Log, ThreadWriter};
use fulcrum_filter::Filter;
use fulcrum_hotspot::Rule;
use fulcrum_preload::kept::Kept;
use fulcrum_wire::log::{Body, DICTIONARY, MACHINE, PayloadBuffer};

use crate::classes::metering::Metering;
use crate::jni::{Env, Object};
use crate::jvmti::{Jvmti, capability};
use crate::objects::classes::Classes;
use crate::session::dictionary::Dictionary;
use crate::session::machine;

/// A session of the process.
pub(crate) struct Agent {
    /// The session's number, from 1.
    pub(crate) session: u32,
    pub(crate) jvmti: Jvmti,
    pub(crate) log: Arc<Log>,
    pub(crate) filter: Filter,
    /// The rule that shuts gates; without it there are none.
    pub(crate) rule: Option<Rule>,
    /// A method without a gate, `Class.method`.
    pub(crate) unit: Option<String>,
    /// What the machine allows: bits of [`capability`].
    pub(crate) capabilities: u128,
    /// Whether probes may be put into classes.
    pub(crate) ready: AtomicBool,
    /// Whether the machine has started, and threads have names.
    pub(crate) runs: AtomicBool,
    pub(crate) objects: Classes,
    recorder: Option<u32>,
    dictionary: Mutex<Dictionary>,
    machine: Mutex<ThreadWriter>,
    threads: AtomicU32,
    /// None without a rule.
    metering: Kept<Metering>,
}

static AGENT: Kept<Agent> = Kept::new();
/// The number of the session, 0 when there is none: probes that fire do nothing then.
static SESSION: AtomicU32 = AtomicU32::new(0);
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// The agent, while there is a session.
pub(crate) fn get() -> Option<&'static Agent> {
    AGENT.get()
}

/// The number of the session, 0 when there is none.
#[inline]
pub(crate) fn session() -> u32 {
    SESSION.load(Ordering::Relaxed)
}

/// Writes a note for the reader of the log. `false` when there is no log.
pub(crate) fn note(text: &str) -> bool {
    let Some(agent) = get() else { return false };
    // The thread that writes the note may hold the lock.
    match agent.dictionary.try_lock() {
        Ok(mut dictionary) => dictionary.note(text),
        Err(TryLockError::Poisoned(it)) => it.into_inner().note(text),
        Err(TryLockError::WouldBlock) => false,
    }
}

/// Starts a session, which [`get`] returns from now on. Nothing is turned on yet.
///
/// # Errors
/// When its log cannot be written: a sentence.
pub(crate) fn begin(
    jvmti: Jvmti,
    options: Options,
    wanted: &[u32],
) -> Result<&'static Agent, String> {
    let capabilities = jvmti.ask_for(wanted);
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let log = Log::create(
        &options.log,
        &fulcrum_event_log::Options {
            limit: options.limit,
            pid: std::process::id(),
            unix_ns: since_1970.map_or(0, |it| it.as_nanos() as u64),
            cpu_clock: clock::cpu(),
            version: options.log_version(),
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
        objects: Classes::default(),
        filter: options.filter,
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
    Ok(agent)
}

impl Agent {
    /// Whether the machine gave us this capability.
    pub(crate) fn can(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }

    /// A new number for a thread.
    pub(crate) fn next_thread(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn dictionary(&self) -> MutexGuard<'_, Dictionary> {
        self.dictionary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// JNI for the calling thread. `None` when it is not attached to the machine.
    pub(crate) fn env(&self) -> Option<Env> {
        machine::env()
    }

    /// Whether a thread is a virtual one.
    pub(crate) fn is_virtual(&self, thread: Object) -> bool {
        self.can(capability::VIRTUAL_THREADS)
            && self.env().is_some_and(|env| env.is_virtual(thread))
    }

    /// The metering state; `None` without a rule.
    pub(crate) fn metering(&self) -> Option<&'static Metering> {
        self.metering.get()
    }

    /// Starts metering.
    pub(crate) fn set_metering(&self, metering: Metering) {
        self.metering.set(Box::leak(Box::new(metering)));
    }

    /// Writes an event of the machine itself, from whatever thread.
    pub(crate) fn machine_event(&self, kind: u8, payload: &PayloadBuffer) {
        let mut stream = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that times in the stream never go back.
        let ticks = clock::now().ticks;
        stream.write(kind, ticks, None, 0, Body::Payload(payload.as_bytes()));
    }

    /// Probes may be put into classes.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Whether the process that records this session still exists.
    pub(crate) fn has_recorder(&self) -> bool {
        let process = |pid: u32| std::path::Path::new("/proc").join(pid.to_string());
        self.recorder.is_none_or(|pid| process(pid).exists())
    }

    /// Ends the session: finishes the log, and gives capabilities back except those in `kept`. Probes of methods that still
    /// run find no session.
    pub(crate) fn end(&self, kept: u128) {
        SESSION.store(0, Ordering::Release);
        AGENT.clear();
        self.jvmti.give_back(self.capabilities & !kept);
        self.log.finish();
    }
}

//! The agent itself: made when the virtual machine starts, at work until the process ends.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use fulcrum_event_log::{Log, Stream};
use fulcrum_jvm_core::filter::Filter;
use fulcrum_wire::log::{Body, DICTIONARY, MACHINE, PayloadBuffer, kind};

use crate::classes::Dictionary;
use crate::jni::JavaVm;
use crate::jvmti::{self, Jvmti, capability};
use crate::options::Options;
use crate::{clock, events, say};

/// What the whole process has once.
pub struct Agent {
    pub jvmti: Jvmti,
    pub log: Arc<Log>,
    pub filter: Filter,
    /// What the machine lets us do: bits of [`capability`].
    pub capabilities: u128,
    /// Probes may be called.
    pub ready: AtomicBool,
    dictionary: Mutex<Dictionary>,
    machine: Mutex<Stream>,
    threads: AtomicU32,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The agent, once it is there.
pub fn get() -> Option<&'static Agent> {
    AGENT.get()
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

/// Starts everything that can be started before the machine runs.
///
/// # Safety
/// `vm` is the machine's own.
pub unsafe fn start(vm: *mut JavaVm, options: &str) -> Result<(), String> {
    say::silence();
    let options = Options::read(options)?;
    // SAFETY: the caller's promise.
    let environment = unsafe { (*vm).interface(jvmti::VERSION) };
    let jvmti = Jvmti(
        environment
            .ok_or("this virtual machine has no tool interface (JVMTI 1.2)")?
            .cast(),
    );
    let filter = options.filter;
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
    if !filter.allocation.is_empty() {
        wanted.extend([capability::SAMPLED_ALLOCATION, capability::FREE]);
    }
    let capabilities = jvmti.ask_for(&wanted);
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
    let agent = Agent {
        jvmti,
        dictionary: Mutex::new(Dictionary::new(log.stream(DICTIONARY))),
        machine: Mutex::new(log.stream(MACHINE)),
        log,
        filter,
        capabilities,
        ready: AtomicBool::new(false),
        threads: AtomicU32::new(MACHINE + 1),
    };
    if AGENT.set(agent).is_err() {
        return Err("the agent was loaded twice: the first one goes on".into());
    }
    let agent = get().ok_or("unreachable")?;
    if !jvmti.set_callbacks(&events::callbacks()) {
        return Err("this virtual machine refuses the agent's callbacks".into());
    }
    for event in events::wanted(agent) {
        if !jvmti.enable(event) {
            say::say(&format!(
                "This virtual machine does not tell events of number {event}."
            ));
        }
    }
    Ok(())
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

    /// Writes an event of the machine itself, from whatever thread.
    pub fn machine_event(&self, kind: u8, payload: &PayloadBuffer) {
        let mut stream = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        // Within the lock, so that its times do not go back.
        let ticks = clock::now().ticks;
        stream.write(kind, ticks, None, 0, Body::Payload(payload.as_bytes()));
    }

    /// What machine this is.
    pub fn machine_name(&self) -> String {
        let property = |name: &CStr| self.jvmti.property(name);
        format!(
            "{} {}",
            property(c"java.vm.name"),
            property(c"java.vm.version")
        )
    }

    /// From now on probes may be called.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Writes the end of the log; the machine is about to go.
    pub fn finish(&self) {
        self.machine_event(kind::VM_END, &PayloadBuffer::default());
        self.log.finish();
    }
}

//! The tests' observer. Each thread has its own listener, which records effects or detects flow.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock};

use fulcrum_critical_sections::{
    Captured, Functions, Limits, Observer, Registers, Wish, begin, hook, lock_taken, unlocking,
};
use fulcrum_shared_memory::{CodeAddress, LockId, Synopsis, ThreadId};
use fulcrum_shared_memory::{Consumption, Effect, FlowDetector, Mode, Reaction};

/// What a thread's listener does with reports.
pub(crate) enum Listener {
    /// Refuses them: sections run natively.
    Nothing,
    /// Accepts reports while the thread holds a lock, and drops them.
    Wants,
    /// Accepts reports while the thread holds a lock, and keeps all effects.
    Notes(Vec<(CodeAddress, Effect)>),
    /// Detects flow.
    Flows(Flows),
}

/// A thread whose flow is detected.
pub(crate) struct Flows {
    pub detector: Arc<Mutex<FlowDetector>>,
    pub thread: ThreadId,
    /// The context in which it produces and consumes.
    pub context: Synopsis,
    pub consumed: Vec<Consumption>,
    /// Sections that were reported when they began.
    pub at_once: u32,
}

thread_local! {
    static LISTENER: RefCell<Listener> = const { RefCell::new(Listener::Nothing) };
}

/// The engine stops where this is called, so that the following code may use the observer's data.
#[inline(never)]
extern "C" fn natively_from_here() {
    std::hint::black_box(());
}

/// Sets the calling thread's listener, and returns the previous one.
pub(crate) fn listen(listener: Listener) -> Listener {
    natively_from_here();
    LISTENER.with(|it| it.replace(listener))
}

/// Takes the effects that the calling thread has recorded.
pub(crate) fn notes() -> Vec<(CodeAddress, Effect)> {
    natively_from_here();
    LISTENER.with_borrow_mut(|it| match it {
        Listener::Notes(notes) => std::mem::take(notes),
        _ => panic!("this thread notes nothing"),
    })
}

/// Works with the calling thread's flows.
pub(crate) fn with_flows<T>(what: impl FnOnce(&mut Flows) -> T) -> T {
    natively_from_here();
    LISTENER.with_borrow_mut(|it| match it {
        Listener::Flows(flows) => what(flows),
        _ => panic!("this thread finds no flows"),
    })
}

struct Tests;

impl Observer for Tests {
    fn entered(&self, lock: u64, site: u64, is_followed: bool) -> Wish {
        let mode = LISTENER.with_borrow_mut(|it| match it {
            Listener::Nothing => Mode::Native,
            Listener::Wants | Listener::Notes(_) => Mode::Watched,
            Listener::Flows(flows) => {
                flows.at_once += 1;
                let mut detector = flows.detector();
                if !is_followed {
                    detector.missed(flows.thread);
                }
                detector.enter(flows.thread, LockId(lock), CodeAddress(site))
            }
        });
        mode.into()
    }

    fn expected(&self, _: u64, _: u64) -> bool {
        LISTENER.with_borrow(|it| matches!(it, Listener::Flows(_)))
    }

    fn passed(&self, lock: u64, site: u64, effects: &[(CodeAddress, Effect)]) -> (Wish, Mode) {
        let wish = self.entered(lock, site, false);
        LISTENER.with_borrow_mut(|it| match it {
            Listener::Flows(flows) => flows.at_once -= 1,
            _ => unreachable!("only flows expect sections"),
        });
        (wish, self.left(lock, effects))
    }

    fn left(&self, lock: u64, effects: &[(CodeAddress, Effect)]) -> Mode {
        LISTENER.with_borrow_mut(|it| match it {
            Listener::Nothing | Listener::Wants => Mode::Native,
            Listener::Notes(notes) => {
                notes.extend_from_slice(effects);
                Mode::Native
            }
            Listener::Flows(flows) => flows.leave(lock, effects),
        })
    }

    fn effects(&self, _: &Registers, effects: &[(CodeAddress, Effect)]) -> Mode {
        LISTENER.with_borrow_mut(|it| match it {
            Listener::Nothing => Mode::Native,
            Listener::Wants => Mode::Watched,
            Listener::Notes(notes) => {
                notes.extend_from_slice(effects);
                Mode::Watched
            }
            Listener::Flows(flows) => flows.tell(effects),
        })
    }
}

impl Flows {
    fn detector(&self) -> MutexGuard<'_, FlowDetector> {
        self.detector.lock().expect("nobody panics with it")
    }

    fn leave(&mut self, lock: u64, effects: &[(CodeAddress, Effect)]) -> Mode {
        let context = self.context;
        let mut detector = self.detector.lock().expect("nobody panics with it");
        let reaction = detector.leave(self.thread, LockId(lock), effects, |_| context);
        drop(detector);
        self.react(reaction)
    }

    fn react(&mut self, reaction: Reaction) -> Mode {
        if let Reaction::Consumed(it, _) = reaction {
            self.consumed.push(it);
        }
        reaction.mode()
    }

    fn tell(&mut self, effects: &[(CodeAddress, Effect)]) -> Mode {
        let context = self.context;
        let mut detector = self.detector.lock().expect("nobody panics with it");
        let reaction = detector.effects(self.thread, effects, |_| context);
        drop(detector);
        self.react(reaction)
    }
}

/// Starts the engine, once for all tests of this process.
pub(crate) fn engine() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hooks = [
            test_lock as *const () as usize as u64,
            test_unlock as *const () as usize as u64,
            test_wait as *const () as usize as u64,
            collect as *const () as usize as u64,
        ];
        let wait = hooks[2];
        let functions = Functions {
            native: &hooks,
            later: &hooks[1..3],
            last: &[natively_from_here as *const () as usize as u64],
            own: wait..wait + 1,
        };
        let limits = Limits {
            section: 400_000,
            ..Limits::default()
        };
        begin(&Tests, limits, functions).expect("the engine begins");
    });
}

/// Lets one test at a time use the engine's counts.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: OnceLock<Mutex<()>> = OnceLock::new();
    let lock = ALONE.get_or_init(Mutex::default).lock();
    lock.unwrap_or_else(|broken| broken.into_inner())
}

/// Collects the return addresses of the calling thread. The engine calls this function natively.
pub(crate) extern "C" fn collect(frames: *mut *mut c_void, count: c_int) -> c_int {
    unsafe extern "C" {
        fn backtrace(frames: *mut *mut c_void, count: c_int) -> c_int;
    }
    // SAFETY: the caller's array has room for `count` addresses.
    unsafe { backtrace(frames, count) }
}

hook!(test_lock => lock);
hook!(test_unlock => unlock);
hook!(test_wait => wait);

/// Takes the lock at an address, a `pthread_mutex_t`. 0 is no lock.
unsafe extern "C-unwind" fn lock(
    mutex: usize,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    captured: &Captured,
) -> usize {
    if mutex != 0 {
        // SAFETY: the program's mutex.
        unsafe { libc::pthread_mutex_lock(mutex as *mut _) };
    }
    // SAFETY: no frame above has anything to drop.
    unsafe { lock_taken(captured, mutex as u64, 0) };
    0
}

unsafe extern "C-unwind" fn unlock(
    mutex: usize,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    _: &Captured,
) -> usize {
    unlocking(mutex as u64);
    if mutex != 0 {
        // SAFETY: the program's mutex, which it holds.
        unsafe { libc::pthread_mutex_unlock(mutex as *mut _) };
    }
    0
}

static WAITS: AtomicU32 = AtomicU32::new(0);

/// How often a thread has begun to wait for a condition, or will before it releases the mutex.
pub(crate) fn waits() -> u32 {
    natively_from_here();
    WAITS.load(Ordering::Relaxed)
}

/// `pthread_cond_wait`. What follows it is another section.
unsafe extern "C-unwind" fn wait(
    condition: usize,
    mutex: usize,
    _: usize,
    _: usize,
    _: usize,
    captured: &Captured,
) -> usize {
    unlocking(mutex as u64);
    WAITS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the program's condition, and its mutex, which it holds.
    unsafe { libc::pthread_cond_wait(condition as *mut _, mutex as *mut _) };
    // SAFETY: no frame above has anything to drop.
    unsafe { lock_taken(captured, mutex as u64, 0) };
    0
}

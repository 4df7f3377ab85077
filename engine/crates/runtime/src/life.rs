//! The runtime's life in a process: constructor, destructor, fork.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fulcrum_preload::life::{OwnWord, ThreadEnd, at_quick_exit};
use fulcrum_preload::sys;
use fulcrum_runtime_core::ledger::Ledger;
use fulcrum_wire::{part, state};

use crate::thread::Thread;
use crate::{breakpoints, control, exits, fork, profiler, rest, signals, thread};

/// Whether hooks do more than pass through, 0 or 1. Forked children that no handler announces find the runtime inactive too:
/// they have none of their parent's rings.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);
/// This process has a record stream.
static ATTACHED: AtomicBool = AtomicBool::new(false);
static SAMPLING: AtomicBool = AtomicBool::new(false);
static DELAYS: AtomicBool = AtomicBool::new(false);
static THREAD_END: ThreadEnd = ThreadEnd::new();

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(end);

/// Whether hooks do more than pass through.
#[inline]
pub fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// Whether samples are still wanted.
pub fn is_sampling() -> bool {
    SAMPLING.load(Ordering::Relaxed)
}

/// Whether threads pause for virtual speedups.
pub fn delays_on() -> bool {
    DELAYS.load(Ordering::Relaxed)
}

/// Nothing is paused or sampled from now on; the program goes on as if alone.
pub fn wind_down() {
    DELAYS.store(false, Ordering::Relaxed);
    SAMPLING.store(false, Ordering::Relaxed);
}

/// Hooks, samples and delays from now on.
pub fn activate() {
    rest::reset();
    DELAYS.store(true, Ordering::Relaxed);
    let wanted = control::session().part != part::HOOKS;
    SAMPLING.store(wanted, Ordering::Relaxed);
    ATTACHED.store(true, Ordering::Release);
    ACTIVE.word().store(1, Ordering::Release);
}

/// In a forked child: everything passes through. `false` when it did in the parent.
pub fn deactivate() -> bool {
    wind_down();
    ACTIVE.word().store(0, Ordering::Release);
    ATTACHED.swap(false, Ordering::AcqRel)
}

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    if control::attach().is_none()
        || ACTIVE.prepare().is_none()
        || thread::prepare().is_none()
        || signals::install().is_none()
    {
        return;
    }
    breakpoints::install();
    // SAFETY: threads end with their slots, which is all that `at_thread_end` sets; the handlers live as long as the process.
    unsafe {
        THREAD_END.prepare(end_of_thread);
        libc::pthread_atfork(None, None, Some(fork::in_child));
    }
    at_quick_exit(exits::at_quick_exit);
    activate();
    if let Some(main) = thread::allocate(Ledger::default(), None, null_mut(), 0) {
        main.blocks_signal.set(signals::was_blocked_at_start());
        main.set_stack(thread::main_stack());
        thread::adopt(main);
    }
    control::process()
        .state
        .store(state::RUNNING, Ordering::Release);
    if !profiler::spawn() {
        wind_down();
    }
}

extern "C" fn end() {
    if is_active() {
        let _errno = sys::KeepErrno::new();
        profiler::finish_at_exit();
    }
}

unsafe extern "C" fn end_of_thread(slot: *mut c_void) {
    thread::end(slot);
}

/// Has [`thread::end`] called when the calling thread ends, however it does.
pub fn at_thread_end(thread: &'static Thread) {
    THREAD_END.set(core::ptr::from_ref(thread).cast());
}

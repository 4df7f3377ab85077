//! The runtime's life in a process: constructor, destructor, fork.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use fulcrum_runtime_core::ledger::Ledger;
use fulcrum_wire::{part, state};

use crate::thread::Thread;
use crate::{breakpoints, control, exits, fork, profiler, rest, signals, sys, thread};

/// Lies in a page that the kernel clears in forked children, so that also those that no handler announces (`_Fork`,
/// `clone`) find the runtime inactive: they have none of their parent's rings.
static ACTIVE: AtomicPtr<AtomicBool> = AtomicPtr::new((&raw const INACTIVE).cast_mut());
static INACTIVE: AtomicBool = AtomicBool::new(false);
/// This process has a record stream.
static ATTACHED: AtomicBool = AtomicBool::new(false);
static SAMPLING: AtomicBool = AtomicBool::new(false);
static DELAYS: AtomicBool = AtomicBool::new(false);
static THREAD_END: AtomicU32 = AtomicU32::new(u32::MAX);

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// Whether hooks do more than pass through.
#[inline]
pub fn is_active() -> bool {
    active().load(Ordering::Acquire)
}

#[inline]
fn active() -> &'static AtomicBool {
    // SAFETY: a static, or a page that is never unmapped.
    unsafe { &*ACTIVE.load(Ordering::Relaxed) }
}

fn make_room_for_active() -> Option<()> {
    const WIPE_ON_FORK: usize = 18;
    let page = sys::map_anonymous(sys::PAGE)?;
    // SAFETY: advice on our own page; kernels that do not know it refuse.
    unsafe {
        let args = [page as usize, sys::PAGE, WIPE_ON_FORK, 0, 0, 0];
        sys::call(libc::SYS_madvise, args);
    }
    ACTIVE.store(page.cast(), Ordering::Release);
    Some(())
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
    active().store(true, Ordering::Release);
}

/// In a forked child: everything passes through. `false` when it did in the parent.
pub fn deactivate() -> bool {
    wind_down();
    active().store(false, Ordering::Release);
    ATTACHED.swap(false, Ordering::AcqRel)
}

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    if control::attach().is_none()
        || make_room_for_active().is_none()
        || thread::prepare().is_none()
        || signals::install().is_none()
    {
        return;
    }
    breakpoints::install();
    // SAFETY: plain libc calls; the callbacks have the right types and live as long as the process.
    unsafe {
        let mut key = 0;
        if libc::pthread_key_create(&mut key, Some(end_of_thread)) == 0 {
            THREAD_END.store(key, Ordering::Release);
        }
        libc::pthread_atfork(None, None, Some(fork::in_child));
    }
    exits::register_quick_exit();
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
    let key = THREAD_END.load(Ordering::Acquire);
    if key != u32::MAX {
        // SAFETY: our own key.
        unsafe { libc::pthread_setspecific(key, core::ptr::from_ref(thread).cast()) };
    }
}

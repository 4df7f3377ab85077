//! The sampling signal as the program believes it to be, and functions that change it without going through libc.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::{MaybeUninit, size_of};
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::{real, sys};

use crate::process::control;

/// libc's `struct sigaction`.
pub(crate) type Action = libc::sigaction;
/// The type of `sigaction`.
pub(crate) type SetAction = unsafe extern "C-unwind" fn(c_int, *const Action, *mut Action) -> c_int;

/// What the program believes to be installed for the sampling signal.
struct ProgramAction(UnsafeCell<MaybeUninit<Action>>);
// SAFETY: guarded by `LOCK`; the handler reads a copy.
unsafe impl Sync for ProgramAction {}
static PROGRAM_ACTION: ProgramAction = ProgramAction(UnsafeCell::new(MaybeUninit::zeroed()));
static LOCK: AtomicBool = AtomicBool::new(false);

/// Whether the program has a handler of its own for the sampling signal.
static HANDLED: AtomicBool = AtomicBool::new(false);

/// Whether the program has a handler of its own for the sampling signal.
pub(crate) fn is_handled() -> bool {
    HANDLED.load(Ordering::Relaxed)
}

pub(super) fn set_handled(handled: bool) {
    HANDLED.store(handled, Ordering::Relaxed);
}

/// libc's own.
pub(crate) fn real_sigaction() -> SetAction {
    real!(sigaction: fn(c_int, *const Action, *mut Action) -> c_int)
}

/// The sampling signal's number. Only while the runtime is active.
pub(crate) fn sampling_signal() -> c_int {
    control::session().signal
}

/// A set of the sampling signal alone.
pub(crate) fn only_sampling_signal() -> libc::sigset_t {
    // SAFETY: zeroed memory is a set, which is emptied before use.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, sampling_signal());
        set
    }
}

/// Changes whether the calling thread blocks the sampling signal, without libc. Returns whether it was blocked before.
pub(crate) fn mask_sampling_signal(how: c_int) -> bool {
    let set = only_sampling_signal();
    let mut before = MaybeUninit::<u64>::zeroed();
    let args = [
        how as usize,
        &raw const set as usize,
        before.as_mut_ptr() as usize,
        size_of::<u64>(),
        0,
        0,
    ];
    // SAFETY: the kernel reads and writes 8 bytes of each set.
    unsafe {
        sys::call(libc::SYS_rt_sigprocmask, args);
        before.assume_init() & 1 << (sampling_signal() - 1) != 0
    }
}

/// Accesses what the program believes to be installed, under the lock.
pub(crate) fn with_program_action<T>(then: impl FnOnce(&mut Action) -> T) -> T {
    // Our handler takes the lock too, as may the program's handlers.
    uninterrupted(|| {
        while LOCK.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        // SAFETY: the lock is held; zeroed memory is the default action.
        let result = then(unsafe { (*PROGRAM_ACTION.0.get()).assume_init_mut() });
        LOCK.store(false, Ordering::Release);
        result
    })
}

/// In a forked child, where nobody will release a lock that another thread held.
pub(crate) fn reset_lock() {
    LOCK.store(false, Ordering::Release);
}

/// Sets the calling thread's mask without going through our own hook.
///
/// # Safety
/// As `pthread_sigmask(3)`.
pub(crate) unsafe fn real_mask(
    how: c_int,
    set: *const libc::sigset_t,
    old: *mut libc::sigset_t,
) -> c_int {
    // SAFETY: passes the arguments on.
    unsafe {
        real!(pthread_sigmask: fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int)(
            how, set, old,
        )
    }
}

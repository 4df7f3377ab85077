//! The sampling signal as the program believes it to be, and what changes it past libc.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::{MaybeUninit, size_of};
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::{real, sys};

use crate::control;

/// libc's `struct sigaction`.
pub type Action = libc::sigaction;
/// The type of `sigaction`.
pub type SetAction = unsafe extern "C-unwind" fn(c_int, *const Action, *mut Action) -> c_int;

/// What the program believes to be installed for our signal.
struct Theirs(UnsafeCell<MaybeUninit<Action>>);
// SAFETY: guarded by `LOCK`; the handler reads a copy.
unsafe impl Sync for Theirs {}
static THEIRS: Theirs = Theirs(UnsafeCell::new(MaybeUninit::zeroed()));
static LOCK: AtomicBool = AtomicBool::new(false);

/// libc's own.
pub fn real_sigaction() -> SetAction {
    real!(sigaction: fn(c_int, *const Action, *mut Action) -> c_int)
}

/// The sampling signal. Only while the runtime is active.
pub fn ours() -> c_int {
    control::session().signal
}

/// Our signal alone.
pub fn ours_alone() -> libc::sigset_t {
    // SAFETY: zeroed memory is a set, which is emptied before use.
    unsafe {
        let mut set: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, ours());
        set
    }
}

/// Changes the calling thread's mask by our signal, past libc; returns whether it was blocked before.
pub fn mask_ours(how: c_int) -> bool {
    let set = ours_alone();
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
        before.assume_init() & 1 << (ours() - 1) != 0
    }
}

/// What the program believes to be installed, under the lock.
pub fn with_theirs<T>(then: impl FnOnce(&mut Action) -> T) -> T {
    // The handler takes the lock too.
    let blocked = mask_ours(libc::SIG_BLOCK);
    while LOCK.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    // SAFETY: the lock is held; zeroed memory is the default action.
    let result = then(unsafe { (*THEIRS.0.get()).assume_init_mut() });
    LOCK.store(false, Ordering::Release);
    if !blocked {
        mask_ours(libc::SIG_UNBLOCK);
    }
    result
}

//! A pending signal of our number. Where the program has blocked it, the kernel has not, since samples need it: what the
//! program sends itself meanwhile is held here until it is waited for or let through.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::theirs::{mask_ours, ours, with_theirs};
use fulcrum_preload::sys;

/// Whether there is one.
pub fn is_pending() -> bool {
    HELD.load(Ordering::SeqCst)
}

/// The program's own signal of our number has come to a thread that believes it to be blocked, and stays pending: kept
/// here, since it cannot be so in the kernel.
static HELD: AtomicBool = AtomicBool::new(false);
struct Held(UnsafeCell<MaybeUninit<libc::siginfo_t>>);
// SAFETY: guarded by `LOCK`.
unsafe impl Sync for Held {}
static HELD_INFO: Held = Held(UnsafeCell::new(MaybeUninit::zeroed()));
/// Threads that wait for signals, ours among them.
static WAITERS: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

/// Keeps the signal, and ends a wait for it if there is one.
pub fn hold(info: &libc::siginfo_t) {
    with_theirs(|_| {
        // A second one while the first is pending is lost, as in the kernel.
        if !HELD.load(Ordering::Relaxed) {
            // SAFETY: the lock is held.
            unsafe { (*HELD_INFO.0.get()).write(*info) };
            HELD.store(true, Ordering::SeqCst);
        }
    });
    let waiter = WAITERS
        .iter()
        .map(|waiter| waiter.load(Ordering::SeqCst))
        .find(|id| *id != 0);
    if let Some(waiter) = waiter {
        wake_waiter(waiter);
    }
}

/// Takes the signal that was held back, if there is one.
pub fn take(info: &mut libc::siginfo_t) -> bool {
    if !HELD.load(Ordering::SeqCst) {
        return false;
    }
    with_theirs(|_| {
        let held = HELD.swap(false, Ordering::SeqCst);
        if held {
            // SAFETY: the lock is held, and the flag says that it was written.
            *info = unsafe { (*HELD_INFO.0.get()).assume_init() };
        }
        held
    })
}

/// Runs a call that waits for our signal, among others, on the program's behalf: with the signal blocked, as the
/// program believes it to be, so that none is lost before the call takes it.
pub fn as_waiter(then: impl FnOnce() -> c_int) -> c_int {
    let id = sys::thread_id();
    mask_ours(libc::SIG_BLOCK);
    let free = WAITERS.iter().find(|waiter| {
        waiter
            .compare_exchange(0, id, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    });
    if HELD.load(Ordering::SeqCst) {
        // It came since the caller looked.
        wake_waiter(id);
    }
    let result = then();
    if let Some(waiter) = free {
        waiter.store(0, Ordering::SeqCst);
    }
    mask_ours(libc::SIG_UNBLOCK);
    result
}

/// Ends a thread's wait for our signal; if the thread is gone meanwhile, nothing happens.
fn wake_waiter(id: i32) {
    // SAFETY: takes no pointers.
    unsafe {
        let process = sys::process_id() as usize;
        let args = [process, id as usize, ours() as usize, 0, 0, 0];
        sys::call(libc::SYS_tgkill, args);
    }
}

/// Delivers a signal that was held back to the calling thread, which has just opened its mask.
pub fn deliver() {
    // SAFETY: zeroed is a valid siginfo; a thread may send itself any.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        if take(&mut info) {
            let process = sys::process_id() as usize;
            let args = [
                process,
                sys::thread_id() as usize,
                ours() as usize,
                &raw const info as usize,
                0,
                0,
            ];
            sys::call(libc::SYS_rt_tgsigqueueinfo, args);
        }
    }
}

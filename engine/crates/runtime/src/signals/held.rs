//! A pending signal of the sampling signal's number. When the program blocks it, the kernel does not, because samples need it.
//! What the program sends itself meanwhile is held here until the program waits for it or unblocks it.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::signals::program_view::{mask_sampling_signal, sampling_signal, with_program_action};
use fulcrum_preload::sys;

/// Whether a signal is held back.
pub(crate) fn is_pending() -> bool {
    HELD.load(Ordering::SeqCst)
}

/// Whether the program's own signal has reached a thread that believes to block it. It is pending here, because it cannot be
/// in the kernel.
static HELD: AtomicBool = AtomicBool::new(false);
struct Held(UnsafeCell<MaybeUninit<libc::siginfo_t>>);
// SAFETY: accessed only under the lock of `with_program_action`.
unsafe impl Sync for Held {}
static HELD_INFO: Held = Held(UnsafeCell::new(MaybeUninit::zeroed()));
/// Threads that wait for signals, the sampling signal among them; 0 for a free place.
static WAITERS: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

/// Keeps the signal, and ends a wait for it if there is one.
pub(crate) fn hold(info: &libc::siginfo_t) {
    with_program_action(|_| {
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
pub(crate) fn take(info: &mut libc::siginfo_t) -> bool {
    if !HELD.load(Ordering::SeqCst) {
        return false;
    }
    with_program_action(|_| {
        let held = HELD.swap(false, Ordering::SeqCst);
        if held {
            // SAFETY: the lock is held, and the flag says that it was written.
            *info = unsafe { (*HELD_INFO.0.get()).assume_init() };
        }
        held
    })
}

/// Runs a call that waits for the sampling signal, among others, on the program's behalf. The signal is blocked meanwhile, as
/// the program believes it to be, so that none is lost before the call takes it.
pub(crate) fn as_waiter(then: impl FnOnce() -> c_int) -> c_int {
    let id = sys::thread_id();
    mask_sampling_signal(libc::SIG_BLOCK);
    let free = WAITERS.iter().find(|waiter| {
        waiter
            .compare_exchange(0, id, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    });
    if HELD.load(Ordering::SeqCst) {
        // It has arrived since the caller looked.
        wake_waiter(id);
    }
    let result = then();
    if let Some(waiter) = free {
        waiter.store(0, Ordering::SeqCst);
    }
    mask_sampling_signal(libc::SIG_UNBLOCK);
    result
}

/// Ends a thread's wait for the sampling signal. Does nothing if the thread has ended.
fn wake_waiter(id: i32) {
    // SAFETY: takes no pointers.
    unsafe {
        let process = sys::process_id() as usize;
        let args = [process, id as usize, sampling_signal() as usize, 0, 0, 0];
        sys::call(libc::SYS_tgkill, args);
    }
}

/// Delivers a signal that was held back to the calling thread, which has just unblocked it.
pub(crate) fn deliver() {
    // SAFETY: zeroed is a valid siginfo; a thread may send itself any.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        if take(&mut info) {
            let process = sys::process_id() as usize;
            let args = [
                process,
                sys::thread_id() as usize,
                sampling_signal() as usize,
                &raw const info as usize,
                0,
                0,
            ];
            sys::call(libc::SYS_rt_tgsigqueueinfo, args);
        }
    }
}

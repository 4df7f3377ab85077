//! Critical sections as targets: samples count only while their thread holds the lock that the map names.
//!
//! Where all samples count, a lock costs one more relaxed load. Waiting for a condition releases the lock and takes it again
//! without a hook, but the thread has no samples meanwhile.

use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_wire::ANY_LOCK;

/// The lock's address, [`ANY_LOCK`], or 0 where all samples count.
static LOCK: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // How many times the calling thread holds it. Without destructor, so handlers of signals may read it.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// Counts only samples in critical sections of this lock from now on: an address, [`ANY_LOCK`], or 0 for all samples.
pub(crate) fn limit_to(lock: u64) {
    LOCK.store(lock, Ordering::Relaxed);
}

#[inline]
fn is_selected(lock: usize) -> bool {
    match LOCK.load(Ordering::Relaxed) {
        0 => false,
        ANY_LOCK => true,
        selected => selected == lock as u64,
    }
}

/// Counts one more or one less. A function of its own, because the compiler would otherwise look up the variable for every lock.
#[cold]
#[inline(never)]
fn change(by_one: fn(u32, u32) -> u32) {
    HELD.with(|held| held.set(by_one(held.get(), 1)));
}

/// A call that takes the lock at this address has returned `result`. Returns `result`.
#[inline]
pub(crate) fn locked(lock: usize, result: c_int) -> c_int {
    if is_selected(lock) && (result == 0 || result == libc::EOWNERDEAD) {
        change(u32::saturating_add);
    }
    result
}

/// A call that releases it has returned `result`. Returns `result`.
#[inline]
pub(crate) fn unlocked(lock: usize, result: c_int) -> c_int {
    if is_selected(lock) && result == 0 {
        change(u32::saturating_sub);
    }
    result
}

/// Whether samples of the calling thread count now.
#[inline]
pub(crate) fn sample_counts() -> bool {
    LOCK.load(Ordering::Relaxed) == 0 || HELD.with(Cell::get) > 0
}

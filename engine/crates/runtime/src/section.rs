//! Critical sections as targets: samples count only while their thread holds the lock that the map names.
//!
//! Where all samples count, a lock costs one relaxed load more. Waiting for a condition gives the lock back unseen, and takes
//! it again: a thread has no samples meanwhile.

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

/// From now on only samples in sections of this lock count: an address, [`ANY_LOCK`], or 0 for all samples.
pub fn limit_to(lock: u64) {
    LOCK.store(lock, Ordering::Relaxed);
}

#[inline]
fn is_wanted(lock: usize) -> bool {
    match LOCK.load(Ordering::Relaxed) {
        0 => false,
        ANY_LOCK => true,
        wanted => wanted == lock as u64,
    }
}

/// Counts one more or one less. Apart: the compiler would look the variable up for every lock, wanted or not.
#[cold]
#[inline(never)]
fn change(by_one: fn(u32, u32) -> u32) {
    HELD.with(|held| held.set(by_one(held.get(), 1)));
}

/// A call that takes the lock at this address has returned `result`. Gives that back.
#[inline]
pub fn took(lock: usize, result: c_int) -> c_int {
    if is_wanted(lock) && (result == 0 || result == libc::EOWNERDEAD) {
        change(u32::saturating_add);
    }
    result
}

/// A call that gives it back has returned `result`. Gives that back.
#[inline]
pub fn gave(lock: usize, result: c_int) -> c_int {
    if is_wanted(lock) && result == 0 {
        change(u32::saturating_sub);
    }
    result
}

/// Whether a sample of the calling thread counts now.
#[inline]
pub fn counts() -> bool {
    LOCK.load(Ordering::Relaxed) == 0 || HELD.with(Cell::get) > 0
}

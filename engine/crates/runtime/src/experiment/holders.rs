//! Who holds a lock that others wait for. A thread that has waited asks now and then, and the next other thread that releases
//! the lock answers. Two threads that ask at the same moment may take each other's answer, which costs a count.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PLACES: usize = 64;
/// The locks that threads ask about, each at the place that its address hashes to; 0 for none.
static LOCKS: [AtomicUsize; PLACES] = [const { AtomicUsize::new(0) }; PLACES];
/// Who asks: the target in the upper half, the thread in the lower.
static ASKERS: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

fn place(lock: usize) -> usize {
    ((lock as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// A thread has waited in this target for the lock at this address.
pub(crate) fn ask(lock: usize, target: u32, thread: u32) {
    let place = place(lock);
    let asker = u64::from(target) << 32 | u64::from(thread);
    ASKERS[place].store(asker, Ordering::Relaxed);
    LOCKS[place].store(lock, Ordering::Release);
}

/// Whether a thread asks about this lock.
#[inline]
pub(crate) fn is_asked(lock: usize) -> bool {
    LOCKS[place(lock)].load(Ordering::Relaxed) == lock
}

/// Called by a thread that releases this lock: the target in which another thread has asked who holds it.
pub(crate) fn answer(lock: usize, thread: u32) -> Option<u32> {
    let place = place(lock);
    let asker = ASKERS[place].load(Ordering::Relaxed);
    if asker as u32 == thread || LOCKS[place].swap(0, Ordering::Acquire) != lock {
        return None;
    }
    Some((asker >> 32) as u32)
}

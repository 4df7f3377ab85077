//! Who holds a lock that others wait for. A thread that has waited asks, now and then; the next other thread that gives the
//! lock back answers. Two that ask at the same moment may take each other's answer, which costs a count.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const PLACES: usize = 64;
/// The locks that are asked about, each at the place that its address gives; 0 where none is.
static LOCKS: [AtomicUsize; PLACES] = [const { AtomicUsize::new(0) }; PLACES];
/// Who asks: its target above, the thread below.
static ASKERS: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

fn place(lock: usize) -> usize {
    ((lock as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// A thread has waited in this target for the lock at this address.
pub fn ask(lock: usize, target: u32, thread: u32) {
    let place = place(lock);
    let asker = u64::from(target) << 32 | u64::from(thread);
    ASKERS[place].store(asker, Ordering::Relaxed);
    LOCKS[place].store(lock, Ordering::Release);
}

/// Whether somebody asks about this lock.
#[inline]
pub fn is_asked(lock: usize) -> bool {
    LOCKS[place(lock)].load(Ordering::Relaxed) == lock
}

/// A thread gives this lock back: the target in which another one has asked who holds it.
pub fn answer(lock: usize, thread: u32) -> Option<u32> {
    let place = place(lock);
    let asker = ASKERS[place].load(Ordering::Relaxed);
    if asker as u32 == thread || LOCKS[place].swap(0, Ordering::Acquire) != lock {
        return None;
    }
    Some((asker >> 32) as u32)
}

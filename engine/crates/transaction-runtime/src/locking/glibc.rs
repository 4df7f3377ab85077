//! Reads the state of glibc's locks: who holds them, and whether others wait. A test compares this with what a program
//! does.

use core::ffi::c_void;
use core::ptr;

/// A word of the program's object, which glibc may change at any time.
///
/// # Safety
/// The object has more than `at` words.
unsafe fn word(object: *const c_void, at: usize) -> u32 {
    // SAFETY: the caller promises that the word exists; glibc's objects are at least word-aligned.
    unsafe { ptr::read_volatile(object.cast::<u32>().add(at)) }
}

/// Set in the word of a robust or priority-inheriting mutex while others wait.
const WAITERS: u32 = 1 << 31;
/// The kinds of mutexes whose word is used by the kernel.
const ROBUST_OR_INHERITING: u32 = 16 | 32;
/// The kind whose word also holds a priority.
const PROTECTING: u32 = 64;

/// The kernel's number of the thread that holds a mutex, or 0 if it is free or unknown.
///
/// # Safety
/// The mutex is the program's.
pub(crate) unsafe fn mutex_owner(mutex: *const c_void) -> u32 {
    // SAFETY: a mutex has ten words.
    unsafe { word(mutex, 2) }
}

/// Whether the calling thread, whose number `own` returns, releases a mutex by unlocking it while others wait.
///
/// # Safety
/// The mutex is the program's.
#[inline]
pub(crate) unsafe fn mutex_passes_on(mutex: *const c_void, own: fn() -> u32) -> bool {
    const RECURSIVE: u32 = 1;
    const CHECKED: u32 = 2;
    // SAFETY: a mutex has ten words.
    let [lock, kind] = [0, 4].map(|at| unsafe { word(mutex, at) });
    let contended = if kind & ROBUST_OR_INHERITING != 0 {
        lock & WAITERS != 0
    } else if kind & PROTECTING != 0 {
        lock & 0x7_ffff == 2
    } else {
        lock == 2
    };
    if !contended {
        return false;
    }
    // SAFETY: a mutex has ten words.
    let [count, owner] = [1, 2].map(|at| unsafe { word(mutex, at) });
    match kind & 3 {
        RECURSIVE => owner == own() && count == 1,
        CHECKED => owner == own(),
        _ => true,
    }
}

/// The kernel's number of the thread that holds a read-write lock for writing, or 0 if there is none.
///
/// # Safety
/// The lock is the program's.
pub(crate) unsafe fn rwlock_writer(lock: *const c_void) -> u32 {
    // SAFETY: a read-write lock has fourteen words.
    unsafe { word(lock, 6) }
}

/// Whether the calling thread, whose number `own` returns, releases a read-write lock while others wait.
///
/// # Safety
/// The lock is the program's.
pub(crate) unsafe fn rwlock_passes_on(lock: *const c_void, own: fn() -> u32) -> bool {
    /// A writer holds the lock, or waits for all readers to leave.
    const WRITER: u32 = 2;
    /// Readers are counted in steps of this.
    const READER: u32 = 8;
    /// Not a writer, but a mark in the same word.
    const HANDOVER: u32 = 1 << 31;
    /// Other writers sleep until the current one has left.
    const SLEEPERS: u32 = 2;
    // SAFETY: a read-write lock has fourteen words.
    let [readers, writers, sleepers, writer] = [0, 1, 3, 6].map(|at| unsafe { word(lock, at) });
    let writers_wait = writers & !HANDOVER != 0 || sleepers & SLEEPERS != 0;
    if writer != 0 && writer == own() {
        readers >= READER || writers_wait
    } else {
        readers & WRITER != 0 || writers_wait
    }
}

/// Whether a thread waits for a condition.
///
/// # Safety
/// The condition is the program's.
pub(crate) unsafe fn condition_is_awaited(condition: *const c_void) -> bool {
    // SAFETY: a condition has twelve words. Waiters count in steps of eight.
    unsafe { word(condition, 9) >> 3 != 0 }
}

/// Whether a thread waits for a semaphore.
///
/// # Safety
/// The semaphore is the program's.
pub(crate) unsafe fn semaphore_is_awaited(semaphore: *const c_void) -> bool {
    // SAFETY: a semaphore has eight words; the second one counts waiters.
    unsafe { word(semaphore, 1) != 0 }
}

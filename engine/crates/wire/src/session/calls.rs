//! Time that targets spend in functions of libc that may wait, or for which the kernel works.
//!
//! The sample counters of a process (`<pid>-<n>.<generation>.counts`) are followed by [`CALL_SLOTS`] slots, one for each target
//! and function that were seen together. Both times are in sampling periods, so that they add up with samples.

use core::sync::atomic::AtomicU64;

/// The functions that are distinguished, by their index. The first stands for the kernel, working for a function that is not
/// listed or for a page fault.
pub const FUNCTIONS: [&str; 49] = [
    "kernel",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_barrier_wait",
    "pthread_join",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "pthread_tryjoin_np",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "mtx_lock",
    "mtx_timedlock",
    "cnd_wait",
    "cnd_timedwait",
    "thrd_join",
    "futex",
    "read",
    "write",
    "writev",
    "send",
    "sendto",
    "sendmsg",
    "recv",
    "recvfrom",
    "recvmsg",
    "accept",
    "accept4",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "epoll_pwait",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "thrd_sleep",
];

/// The index of the kernel in [`FUNCTIONS`].
pub const KERNEL: u8 = 0;

/// The index of a function; a name that is not in [`FUNCTIONS`] does not compile where this is evaluated at compile time.
pub const fn function(name: &str) -> u8 {
    let mut index = 0;
    while index < FUNCTIONS.len() {
        if is_same(FUNCTIONS[index].as_bytes(), name.as_bytes()) {
            return index as u8;
        }
        index += 1;
    }
    panic!("FUNCTIONS does not list it")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// How many pairs of target and function one map can count; others are not counted.
pub const CALL_SLOTS: usize = 1024;

/// What one target does in one function.
#[repr(C)]
#[derive(Debug, Default)]
pub struct CallSlot {
    /// [`call_key`]; 0 for a free slot.
    pub key: AtomicU64,
    /// Samples of the target while it was in the function: processor time.
    pub processor: AtomicU64,
    /// Sampling periods that passed while it was in the function (wall time), without our pauses.
    pub whole: AtomicU64,
}

/// The key of the slot of a target and a function.
pub const fn call_key(target: u32, function: u8) -> u64 {
    (target as u64) << 8 | (function as u64 + 1)
}

/// The low byte of the key of a slot that counts holders of locks.
const HOLDS: u64 = 0xff;
/// Bits of a target in such a key.
const TARGET_BITS: u32 = 28;

/// The key of the slot that counts, as [`CallSlot::processor`], how often the target `holder` released a lock for which the target
/// `waiter` had waited. `None` for targets beyond the first 2²⁸.
pub const fn holder_key(waiter: u32, holder: u32) -> Option<u64> {
    if waiter >> TARGET_BITS != 0 || holder >> TARGET_BITS != 0 {
        return None;
    }
    Some((waiter as u64) << (TARGET_BITS + 8) | (holder as u64) << 8 | HOLDS)
}

/// The waiter and the holder of a [`holder_key`]; `None` for another key.
pub fn holder_of(key: u64) -> Option<(u32, u32)> {
    let mask = (1 << TARGET_BITS) - 1;
    let holder = (key >> 8) as u32 & mask;
    (key & 0xff == HOLDS).then_some(((key >> (TARGET_BITS + 8)) as u32, holder))
}

/// The target and the index of the function that a [`CallSlot::key`] stands for; `None` for a free slot, and for one that no
/// runtime of this version has written.
pub fn called_by(key: u64) -> Option<(u32, &'static str)> {
    let function = (key & 0xff).checked_sub(1)?;
    let name = FUNCTIONS.get(function as usize)?;
    Some((u32::try_from(key >> 8).ok()?, name))
}

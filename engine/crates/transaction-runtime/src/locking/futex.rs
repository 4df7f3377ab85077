//! Futexes that the program uses directly, as Rust's library and many runtimes do.

use core::ffi::{c_int, c_long};

use fulcrum_preload::sys;
use fulcrum_wire::transactions::LockKind;

use super::locks::{released, waited};
use crate::hooks::frame::Frame;
use crate::threads::thread;

const FUTEX_WAITV: c_long = 449;
const FUTEX_WAKE: c_long = 454;
const FUTEX_WAIT: c_long = 455;
const FUTEX_REQUEUE: c_long = 456;

/// The futex system calls.
pub(crate) const NUMBERS: [c_long; 5] = [
    libc::SYS_futex,
    FUTEX_WAITV,
    FUTEX_WAKE,
    FUTEX_WAIT,
    FUTEX_REQUEUE,
];

/// What a futex operation does.
enum Effect {
    /// Waits on the word at its address.
    Waits,
    /// Wakes threads that wait there. The result is their number.
    Wakes,
    /// Something else.
    Other,
}

fn effect(number: c_long, operation: usize) -> Effect {
    const LOCK_PI2: c_int = 13;
    const FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    match number {
        FUTEX_WAIT | FUTEX_WAITV => Effect::Waits,
        FUTEX_WAKE | FUTEX_REQUEUE => Effect::Wakes,
        _ => match operation as c_int & !FLAGS {
            libc::FUTEX_WAIT
            | libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_LOCK_PI
            | LOCK_PI2
            | libc::FUTEX_WAIT_REQUEUE_PI => Effect::Waits,
            libc::FUTEX_WAKE
            | libc::FUTEX_WAKE_BITSET
            | libc::FUTEX_WAKE_OP
            | libc::FUTEX_REQUEUE
            | libc::FUTEX_CMP_REQUEUE
            | libc::FUTEX_CMP_REQUEUE_PI => Effect::Wakes,
            _ => Effect::Other,
        },
    }
}

/// The address of an operation. A wait on several futexes has a list of values, addresses and flags.
fn address(number: c_long, first: usize) -> u64 {
    if matches!(number, FUTEX_WAITV | FUTEX_REQUEUE) && first != 0 {
        let list: *const u64 = core::ptr::without_provenance(first);
        // SAFETY: the kernel has just read the first entry of the list.
        return unsafe { list.add(1).read_unaligned() };
    }
    first as u64
}

/// Runs a system call that is one of [`NUMBERS`].
pub(crate) fn calling(
    number: c_long,
    (first, operation): (usize, usize),
    frame: &Frame,
    real: impl FnOnce() -> c_long,
) -> c_long {
    let effect = effect(number, operation);
    if matches!(effect, Effect::Other) || !thread::is_recorded() {
        return real();
    }
    let began = sys::now();
    let result = real();
    // SAFETY: reads the calling thread's errno, which the call has set.
    let timed_out = result < 0 && unsafe { *libc::__errno_location() } == libc::ETIMEDOUT;
    let lock = || (address(number, first), LockKind::Futex);
    match effect {
        Effect::Waits if result >= 0 || timed_out => waited(lock(), began, 0, timed_out, frame),
        Effect::Wakes if result > 0 => released(lock(), began, frame),
        _ => {}
    }
    result
}

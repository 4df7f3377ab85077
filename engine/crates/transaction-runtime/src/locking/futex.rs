//! Futexes that the program uses itself, as Rust's library and many runtimes do.

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

/// The calls that are futexes'.
pub(crate) const NUMBERS: [c_long; 5] = [
    libc::SYS_futex,
    FUTEX_WAITV,
    FUTEX_WAKE,
    FUTEX_WAIT,
    FUTEX_REQUEUE,
];

/// What a call does.
enum Deed {
    /// It waits for the word at its address.
    Waits,
    /// It wakes those who wait there: as many as it returns.
    Wakes,
    /// Something else.
    Other,
}

fn deed(number: c_long, operation: usize) -> Deed {
    const LOCK_PI2: c_int = 13;
    const FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    match number {
        FUTEX_WAIT | FUTEX_WAITV => Deed::Waits,
        FUTEX_WAKE | FUTEX_REQUEUE => Deed::Wakes,
        _ => match operation as c_int & !FLAGS {
            libc::FUTEX_WAIT
            | libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_LOCK_PI
            | LOCK_PI2
            | libc::FUTEX_WAIT_REQUEUE_PI => Deed::Waits,
            libc::FUTEX_WAKE
            | libc::FUTEX_WAKE_BITSET
            | libc::FUTEX_WAKE_OP
            | libc::FUTEX_REQUEUE
            | libc::FUTEX_CMP_REQUEUE
            | libc::FUTEX_CMP_REQUEUE_PI => Deed::Wakes,
            _ => Deed::Other,
        },
    }
}

/// The address that a call is about. One that waits for several has a list of them: a value, an address, flags each.
fn address(number: c_long, first: usize) -> u64 {
    if matches!(number, FUTEX_WAITV | FUTEX_REQUEUE) && first != 0 {
        let list: *const u64 = core::ptr::without_provenance(first);
        // SAFETY: the kernel has just read the first entry of the list.
        return unsafe { list.add(1).read_unaligned() };
    }
    first as u64
}

/// Runs a call whose number is one of [`NUMBERS`].
pub(crate) fn calling(
    number: c_long,
    (first, operation): (usize, usize),
    frame: &Frame,
    real: impl FnOnce() -> c_long,
) -> c_long {
    let deed = deed(number, operation);
    if matches!(deed, Deed::Other) || !thread::is_logged() {
        return real();
    }
    let began = sys::now();
    let result = real();
    // SAFETY: the calling thread's errno, which the call has set.
    let timed_out = result < 0 && unsafe { *libc::__errno_location() } == libc::ETIMEDOUT;
    let lock = || (address(number, first), LockKind::Futex);
    match deed {
        Deed::Waits if result >= 0 || timed_out => waited(lock(), began, 0, timed_out, frame),
        Deed::Wakes if result > 0 => released(lock(), began, frame),
        _ => {}
    }
    result
}

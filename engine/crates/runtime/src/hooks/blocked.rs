//! The time that a thread spends blocked in a call, which experiments with a `blocked` target speed up, and the time that it
//! spends in a call at all, which shows what the result of a line with a call means.
//!
//! When off, this costs one relaxed load a call. When on, it reports the wall time of the real call and the place of the call.
//! Nothing is held across the real call, which may be cancelled or left by `longjmp`: then nothing is reported.

use core::arch::asm;

use fulcrum_preload::sys;
use fulcrum_unwind::Registers;

use crate::experiment::holders;
use crate::process::control;
use crate::process::thread::{self, Accounting};

/// The calls that are timed, in the order of [`fulcrum_wire::CALLS`], which names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Call {
    Read,
    Write,
    Receive,
    Accept,
    Poll,
    Select,
    Epoll,
    Sleep,
    Futex,
    Condition,
    Mutex,
    ReadWriteLock,
    Semaphore,
    Barrier,
    Join,
    Signal,
}

/// Where a thread is in our code. Its callers can be unwound from here while the timed call is on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Instruction pointer.
    pub(crate) ip: u64,
    /// Stack pointer.
    pub(crate) sp: u64,
    /// Frame pointer, whatever it holds.
    pub(crate) fp: u64,
}

impl Frame {
    /// As the unwinder wants them.
    pub(crate) fn registers(self) -> Registers {
        Registers {
            rip: self.ip,
            rsp: self.sp,
            rbp: self.fp,
        }
    }
}

/// Runs a call that may block but that no other thread of the program ends. Its time is sped up while it passes.
#[inline(always)]
pub(crate) fn around<R>(call: Call, real: impl FnOnce() -> R) -> R {
    if !control::times_calls() {
        let result = real();
        thread::resumes();
        return result;
    }
    let begin = sys::now();
    thread::block_begins(here().registers());
    let result = real();
    let duration = sys::now().saturating_sub(begin);
    thread::after_block(
        call as u32,
        duration,
        here().registers(),
        Accounting::WhileWaiting,
    );
    result
}

/// Runs a libc function, an index of [`fulcrum_wire::FUNCTIONS`]: samples and the time until it returns count for it.
#[inline(always)]
pub(crate) fn inside<R>(function: u8, real: impl FnOnce() -> R) -> R {
    inside_for(function, 0, real)
}

/// As [`inside`], for a function that waits for the lock at this address.
#[inline(always)]
pub(crate) fn inside_for<R>(function: u8, lock: usize, real: impl FnOnce() -> R) -> R {
    let Some(entry) = thread::enter_function(function, lock) else {
        return real();
    };
    let result = real();
    thread::leave_function(&entry, function, here().registers());
    result
}

/// The calling thread is about to release the lock at this address.
#[inline(always)]
pub(crate) fn before_unlock(lock: usize) {
    if control::records_calls() && holders::is_asked(lock) {
        thread::answer_waiter(lock, here().registers());
    }
}

/// Where the calling thread is.
#[inline(always)]
fn here() -> Frame {
    let (ip, sp, fp): (u64, u64, u64);
    // SAFETY: reads three registers.
    unsafe {
        asm!("lea {}, [rip]", "mov {}, rsp", "mov {}, rbp", out(reg) ip, out(reg) sp, out(reg) fp,
            options(nomem, nostack, preserves_flags));
    }
    Frame { ip, sp, fp }
}

/// Runs a call that may block. `woken` decides from the result whether another thread ended the wait, which is then credited
/// (COZ §3.4.1). Delays that arose meanwhile are not time that this call could have saved.
#[inline(always)]
pub(crate) fn wait<R>(call: Call, real: impl FnOnce() -> R, woken: impl FnOnce(&R) -> bool) -> R {
    if !control::times_calls() {
        let begin = thread::wait_begins();
        let result = real();
        if woken(&result) {
            thread::after_wake(begin);
        } else {
            thread::resumes();
        }
        return result;
    }
    let (begin, delay, wait) = (sys::now(), thread::delay_so_far(), thread::wait_begins());
    let result = real();
    let mut duration = sys::now().saturating_sub(begin);
    if woken(&result) {
        duration = duration.saturating_sub(thread::delay_so_far().saturating_sub(delay));
        thread::after_wake(wait);
    }
    thread::after_block(
        call as u32,
        duration,
        here().registers(),
        Accounting::AtTheEnd,
    );
    result
}

//! Time that a thread spends blocked in a call: what experiments with a `blocked` target speed up; and time in a call at all,
//! which tells what the result of a line means that is one.
//!
//! Off, it costs one relaxed load a call. On, the wall time of the real call is reported with the place it was called
//! from. Nothing is held across the real call, which may be cancelled or left by `longjmp`: then nothing is reported.

use core::arch::asm;

use fulcrum_preload::sys;
use fulcrum_unwind::Registers;

use crate::{control, holders, thread};

/// The calls that are timed: the order is that of [`fulcrum_wire::CALLS`], which names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
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

/// Where a thread is in our code: from here its callers can be unwound while the call that was timed is on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Instruction, stack and frame pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer, whatever it holds.
    pub fp: u64,
}

impl Frame {
    /// As the unwinder wants them.
    pub fn registers(self) -> Registers {
        Registers {
            rip: self.ip,
            rsp: self.sp,
            rbp: self.fp,
        }
    }
}

/// Runs a call that may block but that no other thread of the program ends: its time is sped up while it passes.
#[inline(always)]
pub fn around<R>(call: Call, real: impl FnOnce() -> R) -> R {
    if !control::times_calls() {
        return real();
    }
    let begin = sys::now();
    thread::block_begins(here().registers());
    let result = real();
    let duration = sys::now().saturating_sub(begin);
    thread::after_block(call as u32, duration, here().registers(), true);
    result
}

/// Runs what a function of libc does, an index of [`fulcrum_wire::FUNCTIONS`]: samples meanwhile are in it, and so is the
/// time that passes.
#[inline(always)]
pub fn inside<R>(function: u8, real: impl FnOnce() -> R) -> R {
    inside_for(function, 0, real)
}

/// The same of one that waits for the lock at this address.
#[inline(always)]
pub fn inside_for<R>(function: u8, lock: usize, real: impl FnOnce() -> R) -> R {
    let Some(entry) = thread::goes_into(function, lock) else {
        return real();
    };
    let result = real();
    thread::comes_out(&entry, function, here().registers());
    result
}

/// The calling thread gives the lock at this address back.
#[inline(always)]
pub fn gives_back(lock: usize) {
    if control::tells_calls() && holders::is_asked(lock) {
        thread::gives_back(lock, here().registers());
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

/// Runs a call that may block; `woken` says from its result whether another thread ended the wait, which is then
/// credited (COZ §3.4.1). What the others were paused for meanwhile is no time that this call could have saved.
#[inline(always)]
pub fn wait<R>(call: Call, real: impl FnOnce() -> R, woken: impl FnOnce(&R) -> bool) -> R {
    if !control::times_calls() {
        let result = real();
        if woken(&result) {
            thread::after_wake();
        }
        return result;
    }
    let (begin, delay) = (sys::now(), thread::delay_so_far());
    let result = real();
    let mut duration = sys::now().saturating_sub(begin);
    if woken(&result) {
        duration = duration.saturating_sub(thread::delay_so_far().saturating_sub(delay));
        thread::after_wake();
    }
    thread::after_block(call as u32, duration, here().registers(), false);
    result
}

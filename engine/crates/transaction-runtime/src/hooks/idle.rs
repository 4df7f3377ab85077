//! Calls that wait for more work. The thread's previous work has ended.

use core::ffi::{c_int, c_long};

use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::Record;
use libc::{fd_set, nfds_t, pollfd, siginfo_t, sigset_t, size_t, timespec, timeval};

use super::frame::{Frame, defines, hooks};
use crate::threads::thread;

/// Whether a call with this result has waited: it succeeded, or a signal interrupted it.
pub(crate) fn has_waited(result: c_long) -> bool {
    // SAFETY: reads the calling thread's errno, which the call has set.
    result >= 0 || unsafe { *libc::__errno_location() } == libc::EINTR
}

/// Whether a call may block, or only polls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocking {
    Allowed,
    Never,
}

impl Blocking {
    pub(crate) fn allowed_if(is_allowed: bool) -> Blocking {
        match is_allowed {
            true => Blocking::Allowed,
            false => Blocking::Never,
        }
    }
}

/// Runs a call that waits for anything.
pub(crate) fn idling(blocking: Blocking, frame: &Frame, real: impl FnOnce() -> c_int) -> c_int {
    if blocking == Blocking::Never || !thread::is_recorded() {
        return real();
    }
    thread::catches_up();
    let began_ns = sys::now();
    let result = real();
    if has_waited(result.into())
        && let Some(inside) = thread::enter()
    {
        inside.write(inside.path(frame), &Record::Idle { began_ns });
    }
    result
}

/// Whether a time limit lets a call block.
///
/// # Safety
/// It is null or the program's.
pub(crate) unsafe fn lets_wait(time: *const timespec) -> Blocking {
    // SAFETY: the caller promises null or a valid time.
    let time = unsafe { time.as_ref() };
    Blocking::allowed_if(time.is_none_or(|time| (time.tv_sec, time.tv_nsec) != (0, 0)))
}

/// Whether a time limit lets `select` block.
///
/// # Safety
/// It is null or the program's.
pub(crate) unsafe fn lets_select(time: *const timeval) -> Blocking {
    // SAFETY: the caller promises null or a valid time.
    let time = unsafe { time.as_ref() };
    Blocking::allowed_if(time.is_none_or(|time| (time.tv_sec, time.tv_usec) != (0, 0)))
}

defines!(poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments.
    idling(Blocking::allowed_if(timeout != 0), frame, || unsafe { next(fds, count, timeout) })
});
defines!(__poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    idling(Blocking::allowed_if(timeout != 0), frame, || unsafe { next(fds, count, timeout, room) })
});
defines!(ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    unsafe { idling(lets_wait(timeout), frame, || next(fds, count, timeout, mask)) }
});
defines!(__ppoll_chk(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t, room: size_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    unsafe { idling(lets_wait(timeout), frame, || next(fds, count, timeout, mask, room)) }
});
defines!(select(count: c_int, reads: *mut fd_set, writes: *mut fd_set, exceptions: *mut fd_set, timeout: *mut timeval) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    unsafe { idling(lets_select(timeout), frame, || next(count, reads, writes, exceptions, timeout)) }
});
defines!(pselect(count: c_int, reads: *mut fd_set, writes: *mut fd_set, exceptions: *mut fd_set, timeout: *const timespec, mask: *const sigset_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    unsafe { idling(lets_wait(timeout), frame, || next(count, reads, writes, exceptions, timeout, mask)) }
});
defines!(sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    idling(Blocking::Allowed, frame, || unsafe { next(set, signal) })
});
defines!(sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    idling(Blocking::Allowed, frame, || unsafe { next(set, info) })
});
defines!(sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, timeout: *const timespec) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    unsafe { idling(lets_wait(timeout), frame, || next(set, info, timeout)) }
});
defines!(sigsuspend(mask: *const sigset_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    idling(Blocking::Allowed, frame, || unsafe { next(mask) })
});
defines!(pause() -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments; a time limit is null or the program's.
    idling(Blocking::Allowed, frame, || unsafe { next() })
});

hooks! {
    poll => poll, "rcx";
    __poll => poll, "rcx";
    __poll_chk => __poll_chk, "r8";
    ppoll => ppoll, "r8";
    __ppoll_chk => __ppoll_chk, "r9";
    select => select, "r9";
    __select => select, "r9";
    pselect => pselect, "stack";
    sigwait => sigwait, "rdx";
    sigwaitinfo => sigwaitinfo, "rdx";
    sigtimedwait => sigtimedwait, "rcx";
    sigsuspend => sigsuspend, "rsi";
    __sigsuspend => sigsuspend, "rsi";
    pause => pause, "rdi";
}

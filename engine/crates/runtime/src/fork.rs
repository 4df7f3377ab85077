//! Forked children are profiled like their parent: same map, same session, a stream of records of their own.
//!
//! A child has one thread, none of its parent's rings or timers, and its parent's descriptors. Where we do not see the
//! fork itself (`forkpty`, code that makes the system call), the `pthread_atfork` handler leaves the child unprofiled.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::{real, sys};
use fulcrum_runtime_core::ledger::Ledger;
use fulcrum_wire::command;

use crate::allowed::{self, Use};
use crate::{
    activity, breakpoints, control, output, profiler, requests, rest, sampling, signals, thread,
};

/// Set in a child between the fork and its being profiled again.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The child's first steps: nothing of the parent's is used any more.
pub unsafe extern "C" fn in_child() {
    if !activity::deactivate() {
        return;
    }
    for thread in thread::all() {
        thread.sampling.abandon();
    }
    output::close();
    signals::restore();
    INTERRUPTED.store(true, Ordering::Release);
}

/// Profiles the child from here on. Not in the handler itself: other libraries' handlers, an allocator's among them,
/// must have run before a thread can be made.
fn begin_again() {
    if !INTERRUPTED.swap(false, Ordering::AcqRel) {
        return;
    }
    let _errno = sys::KeepErrno::new();
    let current = thread::current();
    thread::forget_others(current);
    profiler::reset();
    let finished = control::session().command.load(Ordering::Acquire) == command::FINISH;
    if finished
        || !allowed::may(Use::Child)
        || control::engine_is_late()
        || control::attach_forked().is_none()
        || signals::install().is_none()
    {
        thread::forget_current();
        return;
    }
    breakpoints::reopen_in_child();
    rest::reset();
    requests::forget();
    activity::activate(control::session().part);
    match current {
        Some(thread) => {
            thread.begin_again();
            sampling::start(&thread.sampling);
        }
        None => {
            if let Some(thread) = thread::allocate(Ledger::default(), None, null_mut(), 0) {
                thread::adopt(thread);
            }
        }
    }
    if !profiler::spawn() {
        activity::wind_down();
    }
}

macro_rules! forks {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's; the child is profiled too.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes the program's arguments on.
            let result = unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) };
            if result == 0 {
                begin_again();
            }
            result
        }
    };
}

forks!(fork());
// Returns in the child alone, which another fork has made.
forks!(daemon(stay: c_int, open: c_int));

/// `_Fork(3)`, which runs no handlers.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _Fork() -> c_int {
    // SAFETY: passes the call on; the child touches nothing but our own state.
    unsafe {
        let result = real!(_Fork: fn() -> c_int)();
        if result == 0 {
            in_child();
        }
        result
    }
}

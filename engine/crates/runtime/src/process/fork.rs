//! Forked children are profiled like their parents: same map, same session, their own stream of records.
//!
//! A child has one thread, its parent's descriptors, and none of its rings and timers. Where no hook sees the fork (`forkpty`,
//! code that makes the system call itself), the `pthread_atfork` handler leaves the child unprofiled.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::{real, sys};
use fulcrum_runtime_core::ledger::Ledger;
use fulcrum_wire::command;

use crate::experiment::{output, profiler, requests, rest};
use crate::process::{activity, control, thread};
use crate::sampling::{breakpoints, sampler};
use crate::signals::{handler, held, program_view};
use crate::sys::allowed::{self, Purpose};

/// Set in a child from the fork until it is profiled again.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// In the child, first of all: stops using anything of the parent.
pub(crate) unsafe extern "C" fn in_child() {
    if !activity::deactivate() {
        return;
    }
    for thread in thread::all() {
        thread.sampling.abandon();
    }
    output::close();
    program_view::reset_lock();
    held::discard();
    handler::restore();
    INTERRUPTED.store(true, Ordering::Release);
}

/// Profiles the child from here on. This is not done in the handler: a thread can only be created when the handlers of other
/// libraries, such as the allocator, have run.
fn profile_child() {
    if !INTERRUPTED.swap(false, Ordering::AcqRel) {
        return;
    }
    let _errno = sys::KeepErrno::new();
    let current = thread::current();
    thread::forget_others(current);
    profiler::reset();
    let finished = control::session().command.load(Ordering::Acquire) == command::FINISH;
    if finished
        || !allowed::may(Purpose::Child)
        || control::engine_is_late()
        || control::attach_forked().is_none()
        || handler::install().is_none()
    {
        thread::forget_current();
        return;
    }
    breakpoints::reopen_in_child();
    rest::reset();
    requests::reset();
    activity::activate(control::session().part);
    match current {
        Some(thread) => {
            thread.reset_in_child();
            sampler::start(&thread.sampling);
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
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes the program's arguments on.
            let result = unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) };
            if result == 0 {
                profile_child();
            }
            result
        }
    };
}

forks!(fork());
// Returns only in the child, which libc's own fork has made.
forks!(daemon(stay: c_int, open: c_int));

/// `_Fork(3)`, which runs no handlers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn _Fork() -> c_int {
    // SAFETY: passes the call on; the child touches nothing but our own state.
    unsafe {
        let result = real!(_Fork: fn() -> c_int)();
        if result == 0 {
            in_child();
        }
        result
    }
}

//! The agent's start in a process, forks, and the ways out of the process.

use std::ffi::c_void;

use fulcrum_preload::life::at_quick_exit;

use crate::quiet::quietly;
use crate::session::NamesAfterFork as Names;
use crate::thread::{locals, probe};
use crate::{hooks, probes, session, thread};

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(leave_by_exit);
fulcrum_preload::exit_hooks!(leave);

extern "C" fn begin() {
    if session::folder().is_none() {
        return session::turn_off();
    }
    quietly(probes::prepare);
    hooks::prepare();
    thread::prepare();
    // SAFETY: the handlers live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    at_quick_exit(leave_by_quick_exit);
}

unsafe extern "C" fn before_fork() {
    // SAFETY: the calling thread's own.
    unsafe { (*locals()).busy = usize::MAX };
    // SAFETY: taken here, and freed after the fork.
    unsafe { session::NAMES.raw() }.take();
}

unsafe extern "C" fn after_fork() {
    // SAFETY: `before_fork` took it in this thread.
    unsafe { session::NAMES.raw() }.free();
    // SAFETY: the calling thread's own.
    unsafe { (*locals()).busy = 0 };
}

unsafe extern "C" fn in_child() {
    quietly(|| session::forked(Names::Whole));
    // SAFETY: the calling thread's own.
    unsafe { (*locals()).busy = 0 };
}

/// Writes the end of the log: the process is about to end.
fn leave() {
    if session::number() == 0 {
        return;
    }
    quietly(|| {
        probe(|| {
            // SAFETY: the calling thread's own state, or null.
            let state = unsafe { (*locals()).state.as_ref() };
            if state.is_some_and(|state| state.shadow.depth() == 0) && session::is_own() {
                thread::end();
            }
            session::finish();
        });
    });
}

extern "C" fn leave_by_exit() {
    leave();
}

extern "C" fn leave_by_quick_exit(_: *mut c_void) {
    leave();
}

//! The agent's life in a process: its beginning, threads' ends, forks, and the ways out.

use std::ffi::c_void;

use fulcrum_preload::life::{ThreadEnd, at_quick_exit};

use crate::quiet::quietly;
use crate::thread::words;
use crate::{session, thread};

static THREAD_END: ThreadEnd = ThreadEnd::new();

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(leave_by_exit);
fulcrum_preload::exit_hooks!(leave);

extern "C" fn begin() {
    if session::folder().is_none() {
        return session::turn_off();
    }
    crate::hooks::prepare();
    // SAFETY: threads end with numbers; the handlers live as long as the process.
    unsafe {
        THREAD_END.prepare(end_of_thread);
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
    }
    at_quick_exit(leave_by_quick_exit);
}

/// Has the calling thread's state end with it.
pub fn at_thread_end() {
    set_rounds(1);
}

fn set_rounds(rounds: usize) {
    THREAD_END.set(std::ptr::without_provenance(rounds));
}

/// Other libraries' ends of threads may call instrumented functions: ours is to be the last.
unsafe extern "C" fn end_of_thread(rounds: *mut c_void) {
    const LAST: usize = 4;
    match rounds.addr() {
        LAST.. => quietly(|| probe(thread::end)),
        rounds => set_rounds(rounds + 1),
    }
}

/// Does something as probes do: what is called meanwhile is not observed.
fn probe(what: impl FnOnce()) {
    let words = words();
    // SAFETY: the calling thread's own.
    unsafe {
        let before = (*words).busy;
        (*words).busy = usize::MAX;
        what();
        (*words).busy = before;
    }
}

unsafe extern "C" fn before_fork() {
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = usize::MAX };
    session::NAMES.raw().take();
}

unsafe extern "C" fn after_fork() {
    session::NAMES.raw().free();
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = 0 };
}

unsafe extern "C" fn in_child() {
    quietly(|| session::forked(true));
    // SAFETY: the calling thread's own.
    unsafe { (*words()).busy = 0 };
}

/// The process is about to end.
fn leave() {
    if session::number() == 0 {
        return;
    }
    quietly(|| {
        probe(|| {
            // SAFETY: the calling thread's own state, or null.
            let state = unsafe { (*words()).state.as_ref() };
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

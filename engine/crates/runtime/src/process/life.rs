//! The runtime's start and end in a process: constructor and destructor.

use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use fulcrum_preload::life::at_quick_exit;
use fulcrum_preload::sys;
use fulcrum_runtime_core::ledger::Ledger;
use fulcrum_wire::state;

use crate::experiment::{points, profiler, rest};
use crate::process::{activity, control, exits, fork, thread};
use crate::sampling::breakpoints;
use crate::sampling::stack::Stack;
use crate::signals::handler;

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(end);

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    if control::attach().is_none()
        || activity::prepare().is_none()
        || thread::prepare().is_none()
        || handler::install().is_none()
    {
        return;
    }
    breakpoints::install(points::register);
    // SAFETY: the handler takes the slots that threads end with; the handlers live as long as the process.
    unsafe {
        thread::at_end(exits::end_of_thread);
        libc::pthread_atfork(None, None, Some(fork::in_child));
    }
    at_quick_exit(exits::at_quick_exit);
    rest::reset();
    activity::activate(control::session().part);
    if let Some(main) = thread::allocate(Ledger::default(), None, null_mut(), 0) {
        main.set_blocks_signal(handler::was_blocked_at_start());
        main.set_stack(Stack::of_main());
        thread::adopt(main);
    }
    control::process()
        .state
        .store(state::RUNNING, Ordering::Release);
    if !profiler::spawn() {
        activity::wind_down();
    }
}

extern "C" fn end() {
    if activity::is_active() {
        let _errno = sys::KeepErrno::new();
        profiler::finish_at_exit();
    }
}

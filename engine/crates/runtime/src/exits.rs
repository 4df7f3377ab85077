//! The ways out of a process that run no destructors, and the end of its last thread.

use core::ffi::c_void;

use crate::{activity, control, profiler, thread};
use fulcrum_preload::sys;

/// Whether this is the process that the runtime was started in: a child made by `vfork` shares its memory and must not
/// touch it.
pub fn is_own_process() -> bool {
    activity::is_active() && sys::process_id() == control::process().pid
}

/// The process is about to end without destructors: writes the last records.
pub fn leave() {
    if is_own_process() {
        profiler::finish_at_exit();
    }
}

/// The calling thread is about to end without destructors of its own.
pub fn leave_thread() {
    if is_own_process()
        && let Some(thread) = thread::current()
    {
        end(core::ptr::from_ref(thread).cast_mut().cast());
    }
}

/// The calling thread ends, however it does: what `thread::at_end` asks for.
pub unsafe extern "C" fn end_of_thread(slot: *mut c_void) {
    end(slot);
}

fn end(slot: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    if thread::end(slot) {
        profiler::finish_with_last_thread();
    }
}

fulcrum_preload::exit_hooks!(leave);

/// Has the last records written by `quick_exit(3)`, after the program's own handlers.
pub extern "C" fn at_quick_exit(_: *mut c_void) {
    leave();
}

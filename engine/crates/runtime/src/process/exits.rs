//! Ways out of a process that run no destructors, and the end of its last thread.

use core::ffi::c_void;

use crate::experiment::profiler;
use crate::process::{activity, control, thread};
use crate::signals::held;
use fulcrum_preload::sys;

/// Whether this is the process that the runtime was started in. A `vfork` child shares its memory and must not touch it.
pub(crate) fn is_own_process() -> bool {
    activity::is_active() && sys::process_id() == control::process().pid
}

/// Writes the last records: the process is about to end without running destructors.
pub(crate) fn leave() {
    if is_own_process() {
        profiler::finish_at_exit();
    }
}

/// The calling thread is about to end without running its destructors.
pub(crate) fn leave_thread() {
    if is_own_process()
        && let Some(thread) = thread::current()
    {
        // SAFETY: the calling thread's own slot.
        unsafe { end(core::ptr::from_ref(thread).cast_mut().cast()) };
    }
}

/// Called when a thread ends, however it does: the handler for `thread::at_end`.
pub(crate) unsafe extern "C" fn end_of_thread(slot: *mut c_void) {
    // SAFETY: `thread::at_end` promises the calling thread's slot.
    unsafe { end(slot) };
}

/// # Safety
/// `slot` is the calling thread's.
unsafe fn end(slot: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    if let Some(thread) = thread::active() {
        held::leave(thread);
    }
    // SAFETY: the caller's promise.
    if unsafe { thread::end(slot) } {
        profiler::finish_with_last_thread();
    }
}

fulcrum_preload::exit_hooks!(leave);

/// Has the last records written by `quick_exit(3)`, after the program's own handlers.
pub(crate) extern "C" fn at_quick_exit(_: *mut c_void) {
    leave();
}

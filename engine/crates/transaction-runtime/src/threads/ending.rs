//! The end of threads.

use core::ffi::c_void;

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use super::thread::{self, Thread};
use crate::active;
use crate::locking::sections;

/// The destructor of the thread's key, which runs last in a thread.
pub(crate) unsafe extern "C" fn end(slot: *mut c_void) {
    let _errno = sys::KeepErrno::new();
    // SAFETY: the key's value is the slot that `adopt` has set.
    let thread = unsafe { &*slot.cast::<Thread>() };
    if active::is_active() && !thread.is_vforked() && thread.is_at_end() {
        end_current();
    }
}

/// The calling thread is about to end.
pub(crate) fn end_current() {
    let Some(inside) = thread::enter() else {
        return;
    };
    inside.write(0, &Record::End);
    sections::end_thread(inside.thread());
    thread::leave(inside);
}

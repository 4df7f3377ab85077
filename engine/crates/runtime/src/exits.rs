//! The ways out of a process that run no destructors, and the end of its last thread.

use core::ffi::c_int;

use crate::real::real;
use crate::{control, life, profiler, sys, thread};

/// Whether this is the process that the runtime was started in: a child made by `vfork` shares its memory and must not
/// touch it.
pub fn is_own_process() -> bool {
    // SAFETY: takes no arguments.
    life::is_active()
        && unsafe { sys::call(libc::SYS_getpid, [0; 6]) } as u32 == control::process().pid
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
        thread::end(core::ptr::from_ref(thread).cast_mut().cast());
    }
}

macro_rules! exit {
    ($name:ident) => {
        /// As libc's, with the last records written first.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(status: c_int) -> ! {
            leave();
            // SAFETY: passes the program's argument on.
            unsafe { real!($name: fn(c_int) -> !)(status) }
        }
    };
}

exit!(_exit);
exit!(_Exit);

/// Has the last records written by `quick_exit(3)`, after the program's own handlers.
pub fn register_quick_exit() {
    unsafe extern "C" fn at_quick_exit(_: *mut core::ffi::c_void) {
        leave();
    }
    type Handler = unsafe extern "C" fn(*mut core::ffi::c_void);
    // SAFETY: the handler lives as long as the process.
    unsafe {
        real!(__cxa_at_quick_exit: fn(Handler, *mut core::ffi::c_void) -> c_int)(
            at_quick_exit,
            core::ptr::null_mut(),
        );
    }
}

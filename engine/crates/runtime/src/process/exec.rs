//! `exec`: the process becomes another program, which starts its own turn in the session.

use core::ffi::{c_char, c_int};

use core::ptr::null_mut;

use crate::experiment::rest;
use crate::process::exits;
use crate::process::thread::{self, Thread};
use crate::signals::handler::{self, install_handler};
use crate::signals::held;
use crate::signals::program_view::{
    Action, mask_sampling_signal, real_sigaction, sampling_signal, with_program_action,
};
use fulcrum_preload::sys;

fulcrum_preload::exec_hooks!(without_samples);

/// Runs `exec` in a thread that is about to become another program. No sample may arrive in between, because it would kill the
/// new program. Pending samples are removed, and the new program inherits the mask and action that this one believes in. When
/// `exec` returns, it has failed, and sampling goes on.
pub(crate) fn without_samples<T>(exec: impl FnOnce() -> T) -> T {
    // A `vfork` child shares its parent's memory, but has neither its timers nor its samples.
    if !exits::is_own_process() {
        return exec();
    }
    rest::without_samples(|| without_signals(exec))
}

fn without_signals<T>(exec: impl FnOnce() -> T) -> T {
    let errno = sys::KeepErrno::new();
    let current = thread::current();
    let believed = current.is_some_and(Thread::blocks_signal);
    let ignored = with_program_action(|action| action.sa_sigaction == libc::SIG_IGN);
    mask_sampling_signal(libc::SIG_BLOCK);
    if let Some(thread) = current {
        held::drain(thread, handler::is_sample);
    }
    if ignored {
        // SAFETY: zeroed is a valid sigaction.
        unsafe {
            let mut action: Action = core::mem::zeroed();
            action.sa_sigaction = libc::SIG_IGN;
            real_sigaction()(sampling_signal(), &action, null_mut());
        }
    }
    if let Some(thread) = current {
        held::leave_to_kernel(thread);
    }
    if !believed {
        mask_sampling_signal(libc::SIG_UNBLOCK);
    }
    drop(errno);
    let result = exec();
    let _errno = sys::KeepErrno::new();
    with_program_action(|action| {
        // SAFETY: what the program installed itself.
        unsafe { install_handler(action, null_mut()) };
    });
    mask_sampling_signal(libc::SIG_UNBLOCK);
    result
}

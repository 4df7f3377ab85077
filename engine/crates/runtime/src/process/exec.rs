//! `exec`: the process becomes another program, which starts its own turn in the session.

use core::ffi::{c_char, c_int};

use core::ptr::null_mut;

use crate::experiment::rest;
use crate::process::{exits, thread};
use crate::signals::handler::install_handler;
use crate::signals::program_view::{
    Action, mask_sampling_signal, only_sampling_signal, real_sigaction, sampling_signal,
    with_program_action,
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
    let believed = thread::current().is_some_and(|thread| thread.blocks_signal());
    let ignored = with_program_action(|action| action.sa_sigaction == libc::SIG_IGN);
    // SAFETY: our own signal set and a zero time-out.
    unsafe {
        let set = only_sampling_signal();
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        mask_sampling_signal(libc::SIG_BLOCK);
        let size = size_of::<u64>();
        let args = [
            &raw const set as usize,
            0,
            &raw const now as usize,
            size,
            0,
            0,
        ];
        while sys::call(libc::SYS_rt_sigtimedwait, args) == sampling_signal() as isize {}
        if ignored {
            let mut action: Action = core::mem::zeroed();
            action.sa_sigaction = libc::SIG_IGN;
            real_sigaction()(sampling_signal(), &action, null_mut());
        }
    }
    if !believed {
        mask_sampling_signal(libc::SIG_UNBLOCK);
    }
    drop(errno);
    let result = exec();
    let _errno = sys::KeepErrno::new();
    with_program_action(|action| {
        // SAFETY: as at the start.
        unsafe { install_handler(action, null_mut()) };
    });
    mask_sampling_signal(libc::SIG_UNBLOCK);
    result
}

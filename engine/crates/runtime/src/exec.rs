//! `exec`: the process becomes another program, which starts a turn of its own in the session.

use core::ffi::{c_char, c_int};

use core::ptr::null_mut;

use crate::signals::install_ours;
use crate::theirs::{Action, mask_ours, ours, ours_alone, real_sigaction, with_theirs};
use crate::{exits, rest, thread};
use fulcrum_preload::sys;

fulcrum_preload::exec_hooks!(without_samples);

/// Runs `exec` in a thread that is about to become another program: no sample may arrive in between, since the new
/// program would die of it. Whatever is pending is taken away, and the new program inherits what this one believes.
/// When `exec` returns, it has failed, and sampling goes on.
pub fn without_samples<T>(exec: impl FnOnce() -> T) -> T {
    // A child made by `vfork` has its parent's memory, but neither its timers nor its samples.
    if !exits::is_own_process() {
        return exec();
    }
    rest::without_samples(|| without_signals(exec))
}

fn without_signals<T>(exec: impl FnOnce() -> T) -> T {
    let errno = sys::KeepErrno::new();
    let believed = thread::current().is_some_and(|thread| thread.blocks_signal.get());
    let ignored = with_theirs(|theirs| theirs.sa_sigaction == libc::SIG_IGN);
    // SAFETY: our own signal set and a zero time-out.
    unsafe {
        let set = ours_alone();
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        mask_ours(libc::SIG_BLOCK);
        let size = size_of::<u64>();
        let args = [
            &raw const set as usize,
            0,
            &raw const now as usize,
            size,
            0,
            0,
        ];
        while sys::call(libc::SYS_rt_sigtimedwait, args) == ours() as isize {}
        if ignored {
            let mut action: Action = core::mem::zeroed();
            action.sa_sigaction = libc::SIG_IGN;
            real_sigaction()(ours(), &action, null_mut());
        }
    }
    if !believed {
        mask_ours(libc::SIG_UNBLOCK);
    }
    drop(errno);
    let result = exec();
    let _errno = sys::KeepErrno::new();
    with_theirs(|theirs| {
        // SAFETY: as at the start.
        unsafe { install_ours(theirs, null_mut()) };
    });
    mask_ours(libc::SIG_UNBLOCK);
    result
}

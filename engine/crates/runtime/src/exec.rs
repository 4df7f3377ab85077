//! `exec`: the process becomes another program, which starts a turn of its own in the session.

use core::arch::naked_asm;
use core::ffi::{c_char, c_int};

use core::ptr::null_mut;

use crate::signals::{
    Action, install_ours, mask_ours, ours, ours_alone, real_sigaction, with_theirs,
};
use crate::{exits, rest, thread};
use fulcrum_preload::{real, sys};

type Strings = *const *const c_char;

macro_rules! exec {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's, with sampling silenced first.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes the program's arguments on.
            without_samples(|| unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) })
        }
    };
}

exec!(execve(path: *const c_char, arguments: Strings, environment: Strings));
exec!(execv(path: *const c_char, arguments: Strings));
exec!(execvp(file: *const c_char, arguments: Strings));
exec!(execvpe(file: *const c_char, arguments: Strings, environment: Strings));
exec!(fexecve(fd: c_int, arguments: Strings, environment: Strings));
exec!(execveat(folder: c_int, path: *const c_char, arguments: Strings, environment: Strings, flags: c_int));

/// Defines a variadic `exec`: pushes the arguments that came in registers below those that came on the stack, where the
/// return address was, so that they lie in a row as an argument list, without allocation.
macro_rules! variadic {
    ($name:ident, $with_list:ident) => {
        /// As libc's, with sampling silenced first.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            naked_asm!(
                "pop rax",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "mov rsi, rsp",
                "push rax",
                "call {with_list}",
                "pop rcx",
                "add rsp, 40",
                "push rcx",
                "ret",
                with_list = sym $with_list,
            )
        }
    };
}

variadic!(execl, execl_list);
variadic!(execlp, execlp_list);
variadic!(execle, execle_list);

unsafe extern "C-unwind" fn execl_list(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the program's arguments, as a list that ends in null.
    unsafe { execv(path, arguments) }
}

unsafe extern "C-unwind" fn execlp_list(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: likewise.
    unsafe { execvp(file, arguments) }
}

unsafe extern "C-unwind" fn execle_list(path: *const c_char, arguments: Strings) -> c_int {
    let mut end = arguments;
    // SAFETY: the list ends in null, and the environment follows it.
    unsafe {
        while !(*end).is_null() {
            end = end.add(1);
        }
        let environment = end.add(1).cast::<Strings>().read();
        execve(path, arguments, environment)
    }
}

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

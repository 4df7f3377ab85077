//! `exec`: the process becomes another program, which starts a turn of its own in the session.

use core::arch::naked_asm;
use core::ffi::{c_char, c_int};

use crate::real::real;
use crate::signals;

type Strings = *const *const c_char;

macro_rules! exec {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's, with sampling silenced first.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes the program's arguments on.
            signals::without_samples(|| unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) })
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

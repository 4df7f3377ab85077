//! `exec`: the process becomes another program, which starts a turn of its own in the session.

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

//! Hooks for all functions that execute a program.

use core::ffi::c_char;

/// Arguments or an environment: a list that ends with null.
pub type Strings = *const *const c_char;

/// Defines hooks for the `exec` functions. Each calls `$around`, a function `fn(impl FnOnce() -> c_int) -> c_int`, with a
/// closure that calls the hidden function. `c_char` and `c_int` must be in scope.
#[macro_export]
macro_rules! exec_hooks {
    ($around:path) => {
        $crate::exec_hooks!(@ $around, execve(path: *const c_char, arguments: $crate::exec::Strings, environment: $crate::exec::Strings));
        $crate::exec_hooks!(@ $around, execv(path: *const c_char, arguments: $crate::exec::Strings));
        $crate::exec_hooks!(@ $around, execvp(file: *const c_char, arguments: $crate::exec::Strings));
        $crate::exec_hooks!(@ $around, execvpe(file: *const c_char, arguments: $crate::exec::Strings, environment: $crate::exec::Strings));
        $crate::exec_hooks!(@ $around, fexecve(fd: c_int, arguments: $crate::exec::Strings, environment: $crate::exec::Strings));
        $crate::exec_hooks!(@ $around, execveat(folder: c_int, path: *const c_char, arguments: $crate::exec::Strings, environment: $crate::exec::Strings, flags: c_int));
        $crate::exec_hooks!(@ list execl, execl_list);
        $crate::exec_hooks!(@ list execlp, execlp_list);
        $crate::exec_hooks!(@ list execle, execle_list);

        unsafe extern "C-unwind" fn execl_list(path: *const c_char, arguments: $crate::exec::Strings) -> c_int {
            // SAFETY: the program's arguments, as a list that ends in null.
            unsafe { execv(path, arguments) }
        }

        unsafe extern "C-unwind" fn execlp_list(file: *const c_char, arguments: $crate::exec::Strings) -> c_int {
            // SAFETY: likewise.
            unsafe { execvp(file, arguments) }
        }

        unsafe extern "C-unwind" fn execle_list(path: *const c_char, arguments: $crate::exec::Strings) -> c_int {
            let mut end = arguments;
            // SAFETY: the list ends in null, and the environment follows it.
            unsafe {
                while !(*end).is_null() {
                    end = end.add(1);
                }
                let environment = end.add(1).cast::<$crate::exec::Strings>().read();
                execve(path, arguments, environment)
            }
        }
    };
    (@ $around:path, $name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's, inside of `$around`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes the program's arguments on.
            $around(|| unsafe { $crate::real!($name: fn($($type),*) -> c_int)($($argument),*) })
        }
    };
    // Variadic: pushes the arguments that came in registers below those that came on the stack, where the return address was,
    // so that they lie in a row as an argument list, without allocation.
    (@ list $name:ident, $with_list:ident) => {
        /// As libc's, inside of `$around`.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            ::core::arch::naked_asm!(
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

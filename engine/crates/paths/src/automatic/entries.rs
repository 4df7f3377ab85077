//! The names at which stacks begin. They say which thread it is, but not why it costs so much.

/// The program's entry functions.
const MAIN: [&str; 4] = ["main", "main.main", "<module>", "<main>"];

/// Functions of the system, a language's library or a virtual machine that call a program's or thread's entry function.
const STARTS: [&str; 23] = [
    "(anonymous namespace)::execute_native_thread_routine",
    "(root)",
    "BaseThreadInitThunk",
    "RtlUserThreadStart",
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_main@@GLIBC_2.34",
    "__scrt_common_main_seh",
    "_pthread_start",
    "_start",
    "clone",
    "clone3",
    "execute_native_thread_routine",
    "java.lang.Thread.run",
    "java.lang.Thread.runWith",
    "ret_from_fork",
    "runtime.goexit",
    "runtime.main",
    "start_thread",
    "thread_start",
];

/// Prefixes of such names, which template arguments or versions follow.
const BEGINNINGS: [&str; 10] = [
    "[lib",
    "__rust_begin_short_backtrace",
    "core::ops::function::FnOnce::call_once",
    "std::__invoke",
    "std::panic",
    "std::rt::lang_start",
    "std::sys::",
    "std::thread::",
    "<alloc::boxed::Box<",
    "<core::panic::unwind_safe::AssertUnwindSafe<",
];

/// Whether a frame is the program's entry function. A path may begin with it, but it does not tell several paths apart.
pub(crate) fn is_main(name: &str) -> bool {
    MAIN.contains(&name)
}

/// Whether a frame is above the program's own code.
pub(crate) fn is_start(name: &str) -> bool {
    STARTS.contains(&name) || BEGINNINGS.iter().any(|it| name.starts_with(it))
}

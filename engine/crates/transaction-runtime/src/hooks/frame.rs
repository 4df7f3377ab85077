//! The caller of a hook: its registers, which a Rust function cannot see.

use fulcrum_critical_sections::{Captured, caller};
use fulcrum_unwind::Registers;

/// How a hook was called.
pub(crate) trait Called {
    /// The caller's registers after the call. `rip` is the return address.
    fn caller(&self) -> Registers;
}

/// What a hook's entry pushes: the caller's frame base, next to the return address.
#[repr(C)]
pub(crate) struct Frame {
    rbp: u64,
    return_address: u64,
}

impl Called for Frame {
    #[inline]
    fn caller(&self) -> Registers {
        // SAFETY: the hook that has pushed this frame is still running, so its return address is there.
        let caller = unsafe { caller(&raw const self.return_address) };
        Registers {
            rip: caller.ip,
            rsp: caller.stack,
            rbp: self.rbp,
        }
    }
}

/// All registers that a call preserves. Captured for functions that take locks, which may not return
/// ([`crate::locking::sections`]).
impl Called for Captured {
    #[inline]
    fn caller(&self) -> Registers {
        let caller = Captured::caller(self);
        Registers {
            rip: caller.ip,
            rsp: caller.stack,
            rbp: self.frame_base(),
        }
    }
}

/// `hooks!(name => function, "register")` exports `name`, which calls `function` with the program's arguments, followed by
/// `&Frame` in the given register, which is that of the next argument. Use `"stack"` for functions of six arguments and
/// `"seven"` for those of seven. `all "register"` passes `&Captured` instead. `lock STATIC STATIC` and `unlock STATIC` are for
/// mutexes, with a fast path ([`fulcrum_critical_sections::lock_hook`]). Use this once in a module; its `hooks` returns the
/// addresses of the exported functions.
macro_rules! hooks {
    ($($name:ident => $function:ident, $register:tt $($all:literal)? $($address:ident)*;)*) => {
        /// The functions that the program calls, in a module apart from those of the same names.
        mod exported {
            $($crate::hooks::frame::hooks!(@ $name, $function, $register $($all)? $($address)*);)*
        }
        /// The addresses of the exported functions.
        pub(crate) fn hooks() -> impl Iterator<Item = u64> {
            let all = [$(exported::$name as *const ()),*];
            all.into_iter().map(|it| it.addr() as u64)
        }
    };
    (@ $name:ident, $function:ident, all $register:literal) => {
        fulcrum_critical_sections::hook!($name => super::$function, $register);
    };
    (@ $name:ident, $function:ident, lock $attempt:ident $real:ident) => {
        fulcrum_critical_sections::lock_hook!($name => super::$function, super::$attempt, super::$real, crate::windows::NUMBER);
    };
    (@ $name:ident, $function:ident, unlock $real:ident) => {
        fulcrum_critical_sections::unlock_hook!($name => super::$function, super::$real, crate::windows::NUMBER);
    };
    (@ $name:ident, $function:ident, "stack") => {
        /// Like libc's, but logged.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_rel_offset rbp, 0",
                "mov rax, rsp",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                "call {function}",
                "add rsp, 16",
                ".cfi_adjust_cfa_offset -16",
                "pop rbp",
                ".cfi_adjust_cfa_offset -8",
                ".cfi_restore rbp",
                "ret",
                ".cfi_endproc",
                function = sym super::$function,
            )
        }
    };
    (@ $name:ident, $function:ident, "seven") => {
        /// Like libc's, but logged.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_rel_offset rbp, 0",
                "mov rax, rsp",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                // The seventh argument is above the frame.
                "push qword ptr [rax + 16]",
                ".cfi_adjust_cfa_offset 8",
                "call {function}",
                "add rsp, 16",
                ".cfi_adjust_cfa_offset -16",
                "pop rbp",
                ".cfi_adjust_cfa_offset -8",
                ".cfi_restore rbp",
                "ret",
                ".cfi_endproc",
                function = sym super::$function,
            )
        }
    };
    (@ $name:ident, $function:ident, $register:literal) => {
        /// Like libc's, but logged.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_rel_offset rbp, 0",
                concat!("mov ", $register, ", rsp"),
                "call {function}",
                "pop rbp",
                ".cfi_adjust_cfa_offset -8",
                ".cfi_restore rbp",
                "ret",
                ".cfi_endproc",
                function = sym super::$function,
            )
        }
    };
}

/// Defines a function of the program's arguments and a `Frame` or `Captured`. In its body, the name between the bars is the
/// hidden function.
macro_rules! defines {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $frame:ident, |$next:ident| $body:expr) => {
        $crate::hooks::frame::defines!($name($($argument: $type),*) -> $result, $frame: Frame, |$next| $body);
    };
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $frame:ident: $called:ident, |$next:ident| $body:expr) => {
        #[allow(clippy::too_many_arguments, reason = "they are libc's")]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type,)* $frame: &$called) -> $result {
            let $next = real!($name: fn($($type),*) -> $result);
            $body
        }
    };
}
pub(crate) use {defines, hooks};

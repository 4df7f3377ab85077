//! Where a hook was called: its caller's registers, which Rust does not tell a function.

use fulcrum_critical_sections::{Captured, caller};
use fulcrum_unwind::Registers;

/// How a hook was called.
pub(crate) trait Called {
    /// The caller's registers behind the call. `rip` is the return address.
    fn caller(&self) -> Registers;
}

/// What a hook's entry leaves on the stack: the caller's frame base, and below it in memory nothing of ours that matters.
#[repr(C)]
pub(crate) struct Frame {
    rbp: u64,
    return_address: u64,
}

impl Called for Frame {
    #[inline]
    fn caller(&self) -> Registers {
        // SAFETY: the hook that has left this is running.
        let caller = unsafe { caller(&raw const self.return_address) };
        Registers {
            rip: caller.ip,
            rsp: caller.stack,
            rbp: self.rbp,
        }
    }
}

/// All registers that a call keeps: those of functions that take locks, which may not return ([`crate::locking::sections`]).
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

/// `hooks!(name => function, "register")`: exports `name`, which calls `function` with the program's arguments and, behind them,
/// `&Frame` in that register: the one of the argument behind the last. `"stack"` for functions of six arguments, `"seven"` for
/// those of seven; with `all "register"`, it is `&Captured`. `lock STATIC` and `unlock STATIC` are those of mutexes, with short
/// ways ([`fulcrum_critical_sections::lock_hook`]). Once a module, whose `hooks` are the exported functions.
macro_rules! hooks {
    ($($name:ident => $function:ident, $register:tt $($all:literal)? $($address:ident)?;)*) => {
        /// What the program calls: beside the functions of the same names.
        mod exported {
            $($crate::frame::hooks!(@ $name, $function, $register $($all)? $($address)?);)*
        }
        /// The addresses of what the program calls.
        pub(crate) fn hooks() -> impl Iterator<Item = u64> {
            let all = [$(exported::$name as *const ()),*];
            all.into_iter().map(|it| it.addr() as u64)
        }
    };
    (@ $name:ident, $function:ident, all $register:literal) => {
        fulcrum_critical_sections::hook!($name => super::$function, $register);
    };
    (@ $name:ident, $function:ident, lock $attempt:ident) => {
        fulcrum_critical_sections::lock_hook!($name => super::$function, super::$attempt);
    };
    (@ $name:ident, $function:ident, unlock $real:ident) => {
        fulcrum_critical_sections::unlock_hook!($name => super::$function, super::$real);
    };
    (@ $name:ident, $function:ident, "stack") => {
        /// As libc's, logged.
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
        /// As libc's, logged.
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
                // The seventh argument lies above the frame.
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
        /// As libc's, logged.
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

/// Defines a function of the program's arguments and a frame, or `Captured`; in its body the hidden function of that name is at hand, as what
/// stands between the bars.
macro_rules! defines {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $frame:ident, |$next:ident| $body:expr) => {
        $crate::frame::defines!($name($($argument: $type),*) -> $result, $frame: Frame, |$next| $body);
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

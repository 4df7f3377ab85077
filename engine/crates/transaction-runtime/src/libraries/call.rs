//! Calls of functions whose names we share. A hook saves all registers. Its rule may change arguments or answer the call;
//! otherwise the hook jumps to the function that the call is meant for. So a function that is not the expected one sees the
//! registers and the stack exactly as its caller left them.

use core::arch::naked_asm;

use fulcrum_critical_sections::caller;
use fulcrum_preload::sys::KeepErrno;

use super::registers::{keep_arguments, restore_arguments};
use super::resolve::{Behind, Hidden, behind};

/// What a hook does before the library's function that it hides. Returns where the call continues.
pub(crate) type Rule = fn(&mut Call, Behind) -> usize;

/// A hook with the name of a library's function.
#[repr(C)]
pub(crate) struct Hook {
    hidden: Hidden,
    rule: Rule,
}

impl Hook {
    /// Runs a rule before the library's function.
    pub(crate) const fn new(hidden: Hidden, rule: Rule) -> Hook {
        Hook { hidden, rule }
    }
}

/// A call, as laid out by [`entered`]: integer arguments, `rax`, `r10`, vector registers, an unused word, the return
/// address, and arguments on the stack.
pub(crate) struct Call(*mut u64);

const IN_REGISTERS: usize = 6;
const RAX: usize = 6;
const RETURN_ADDRESS: usize = 25;

impl Call {
    fn word(at: usize) -> usize {
        match at.checked_sub(IN_REGISTERS) {
            None => at,
            Some(on_stack) => RETURN_ADDRESS + 1 + on_stack,
        }
    }

    /// An argument. A rule only asks for arguments that its function has.
    pub(crate) fn argument(&self, at: usize) -> u64 {
        // SAFETY: `entered` has laid out the words; those on the stack belong to the called function.
        unsafe { self.0.add(Call::word(at)).read() }
    }

    /// Changes an argument.
    pub(crate) fn set_argument(&mut self, at: usize, value: u64) {
        // SAFETY: as in `argument`.
        unsafe { self.0.add(Call::word(at)).write(value) };
    }

    /// The call site in the program.
    pub(crate) fn site(&self) -> u64 {
        // SAFETY: `entered` has laid out the words, and the return address of its call is there.
        unsafe { caller(self.0.add(RETURN_ADDRESS)).ip }
    }

    /// Makes the call return this value. It does not continue.
    pub(crate) fn answer(&mut self, value: u64) -> usize {
        // SAFETY: `entered` has laid out the words.
        unsafe { self.0.add(RAX).write(value) };
        answered as *const () as usize
    }
}

/// `exports! { LIBRARY; name => rule; … }` exports functions with these names. Use this once in a module; its `hooks`
/// returns the addresses of the exported functions.
macro_rules! exports {
    ($library:expr; $($name:ident => $rule:expr;)*) => {
        /// The functions that the program calls.
        mod exported {
            use super::*;
            $(
                /// Like the library's.
                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                pub(crate) unsafe extern "C-unwind" fn $name() {
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "lea r11, [rip + {hook}]",
                        "jmp {entered}",
                        ".cfi_endproc",
                        hook = sym hidden::$name,
                        entered = sym $crate::libraries::call::entered,
                    )
                }
            )*
        }
        /// The functions that ours hide.
        #[allow(non_upper_case_globals, reason = "they are named as what they hide")]
        mod hidden {
            use super::*;
            $(
                pub(crate) static $name: $crate::libraries::call::Hook = $crate::libraries::call::Hook::new(
                    $crate::libraries::resolve::Hidden::new(
                        fulcrum_preload::real::c_name(concat!(stringify!($name), "\0")),
                        &$library,
                    ),
                    $rule,
                );
            )*
        }
        /// The addresses of the exported functions.
        pub(crate) fn hooks() -> impl Iterator<Item = u64> {
            let all = [$(exported::$name as *const ()),*];
            all.into_iter().map(|it| it.addr() as u64)
        }
    };
}
pub(super) use exports;

/// A call of the function whose hook is in `r11`.
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn entered() {
    naked_asm!(
        ".cfi_startproc",
        "cmp qword ptr [r11], 0",
        "je 2f",
        "jmp qword ptr [r11]",
        "2:",
        "sub rsp, 200",
        ".cfi_adjust_cfa_offset 200",
        keep_arguments!(),
        "mov [rsp + 48], rax",
        "mov [rsp + 56], r10",
        "mov rdi, r11",
        "mov rsi, rsp",
        "call {ruled}",
        "mov r11, rax",
        restore_arguments!(),
        "mov rax, [rsp + 48]",
        "mov r10, [rsp + 56]",
        "add rsp, 200",
        ".cfi_adjust_cfa_offset -200",
        "jmp r11",
        ".cfi_endproc",
        ruled = sym ruled,
    )
}

/// Where an answered call continues: `rax` holds its result.
#[unsafe(naked)]
unsafe extern "C" fn answered() {
    naked_asm!("ret")
}

unsafe extern "C-unwind" fn ruled(hook: &'static Hook, call: *mut u64) -> usize {
    let mut call = Call(call);
    let errno = KeepErrno::new();
    let behind = behind(&hook.hidden, || call.site());
    drop(errno);
    match behind.is_library {
        true => (hook.rule)(&mut call, behind),
        false => behind.address,
    }
}

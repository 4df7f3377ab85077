//! Calls of functions whose names are ours too: all registers are kept, the rule of the function may change arguments or
//! answer the call itself, and then it goes on to the function that it was meant for, by a jump. So a function that is not
//! the one we take it for sees the registers and the stack that its caller has made.

use core::arch::naked_asm;

use fulcrum_critical_sections::caller;
use fulcrum_preload::sys::KeepErrno;

use super::registers::{keep_arguments, restore_arguments};
use super::resolve::{Behind, Hidden, behind};

/// What a function of ours does before the library's, which it hides. Returns where the call goes on.
pub(crate) type Rule = fn(&mut Call, Behind) -> usize;

/// A function of ours that has a library's name.
#[repr(C)]
pub(crate) struct Hook {
    hidden: Hidden,
    rule: Rule,
}

impl Hook {
    /// Before the library's function, a rule.
    pub(crate) const fn new(hidden: Hidden, rule: Rule) -> Hook {
        Hook { hidden, rule }
    }
}

/// A call, as [`entered`] has laid it out: words of integer arguments, `rax`, `r10`, vector registers, one that is not used, the return
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

    /// An argument. Rules ask for arguments that their functions have.
    pub(crate) fn argument(&self, at: usize) -> u64 {
        // SAFETY: laid out by `entered`; what lies on the stack belongs to the function that is called.
        unsafe { self.0.add(Call::word(at)).read() }
    }

    /// Passes another value on.
    pub(crate) fn set_argument(&mut self, at: usize, value: u64) {
        // SAFETY: likewise.
        unsafe { self.0.add(Call::word(at)).write(value) };
    }

    /// Where in the program the call comes from.
    pub(crate) fn site(&self) -> u64 {
        // SAFETY: laid out by `entered`, which was called.
        unsafe { caller(self.0.add(RETURN_ADDRESS)).ip }
    }

    /// The call returns this, and goes on nowhere.
    pub(crate) fn answer(&mut self, value: u64) -> usize {
        // SAFETY: laid out by `entered`.
        unsafe { self.0.add(RAX).write(value) };
        answered as *const () as usize
    }
}

/// `exports! { LIBRARY; name => rule; … }`: exports functions of these names. Once a module, whose `hooks` are the exported functions.
macro_rules! exports {
    ($library:expr; $($name:ident => $rule:expr;)*) => {
        /// What the program calls.
        mod exported {
            use super::*;
            $(
                /// As the library's.
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
        /// What stands behind.
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
        /// The addresses of what the program calls.
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

/// Where a call goes on that was answered: `rax` has what it returns.
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

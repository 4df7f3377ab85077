//! The registers of a thread that called one of our functions in place of libc's.

use crate::memory::tls::Registers;
use crate::translation::emit::{RAX, RBX, RSP};
use crate::translation::gate;

/// The registers that a call preserves, as they were at its start. [`hook!`](crate::hook) captures them.
#[derive(Debug)]
#[repr(C)]
pub struct Captured {
    rbp: u64,
    rbx: u64,
    r12: u64,
    r13: u64,
    r14: u64,
    r15: u64,
    return_address: u64,
}

/// The caller of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The hook's return address.
    pub ip: u64,
    /// The stack pointer after the return.
    pub stack: u64,
}

/// The caller, in the program, of a function whose return address is at `place`. Sees through calls made by the engine
/// itself.
///
/// # Safety
/// `place` holds the return address of a running function, on the calling thread's stack.
#[inline]
pub unsafe fn caller(place: *const u64) -> Caller {
    let ours = [
        gate::native_returned as unsafe extern "C" fn(),
        gate::native_done,
    ];
    // SAFETY: the caller promises that `place` holds a return address.
    let ip = unsafe { place.read() };
    let stack = place.wrapping_add(1).addr() as u64;
    if !ours.map(gate::return_address).contains(&ip) {
        return Caller { ip, stack };
    }
    // SAFETY: above our own return address, the engine has pushed a word for alignment and the real return address.
    let ip = unsafe { place.add(2).read() };
    let stack = place.wrapping_add(3).addr() as u64;
    Caller { ip, stack }
}

impl Captured {
    /// The return address in the program: the lock site of a function that takes a lock.
    pub fn site(&self) -> u64 {
        self.caller().ip
    }

    /// The caller in the program. Sees through calls made by the engine itself.
    pub fn caller(&self) -> Caller {
        // SAFETY: the hook's caller has pushed its return address there, and the hook is still running.
        unsafe { caller(&raw const self.return_address) }
    }

    /// The caller's frame base, or whatever else it keeps in `rbp`.
    pub fn frame_base(&self) -> u64 {
        self.rbp
    }

    /// All registers as they are when the call returns `result`, and the return address. Registers that were not captured
    /// are 0, because a call may change them.
    pub(crate) fn registers(&self, result: u64) -> (Registers, u64) {
        /// The reserved bit, which is always set, and the interrupt flag, which programs have set.
        const FLAGS: u64 = 0x202;
        let caller = self.caller();
        let mut registers = Registers {
            general: [0; 16],
            flags: FLAGS,
        };
        let general = &mut registers.general;
        general[usize::from(RAX)] = result;
        general[usize::from(RBX)] = self.rbx;
        general[usize::from(RSP)] = caller.stack;
        general[5] = self.rbp;
        general[12..].copy_from_slice(&[self.r12, self.r13, self.r14, self.r15]);
        (registers, caller.ip)
    }
}

/// The instructions that push the registers that a call preserves, in the order of [`Captured`], with their call frame
/// information.
#[doc(hidden)]
#[macro_export]
macro_rules! push_preserved {
    () => {
        concat!(
            "push r15\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset r15, 0\n",
            "push r14\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset r14, 0\n",
            "push r13\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset r13, 0\n",
            "push r12\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset r12, 0\n",
            "push rbx\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset rbx, 0\n",
            "push rbp\n",
            ".cfi_adjust_cfa_offset 8\n",
            ".cfi_rel_offset rbp, 0\n",
        )
    };
}

/// The instructions that pop what [`push_preserved!`](crate::push_preserved) pushes.
#[doc(hidden)]
#[macro_export]
macro_rules! pop_preserved {
    () => {
        concat!(
            "pop rbp\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore rbp\n",
            "pop rbx\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore rbx\n",
            "pop r12\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore r12\n",
            "pop r13\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore r13\n",
            "pop r14\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore r14\n",
            "pop r15\n",
            ".cfi_adjust_cfa_offset -8\n",
            ".cfi_restore r15\n",
        )
    };
}

/// Defines a function that hides one of libc's. It captures the caller's registers and calls another function with up to
/// five arguments of the program. [`&Captured`](Captured) is the sixth argument, or in the given register.
///
/// ```text
/// fulcrum_critical_sections::hook!(pthread_mutex_lock => lock);
///
/// unsafe extern "C-unwind" fn lock(mutex: usize, _: usize, _: usize, _: usize, _: usize, captured: &Captured) -> usize {
///     let result = real_lock(mutex);
///     // Does not return when the section is watched.
///     unsafe { fulcrum_critical_sections::lock_taken(captured, mutex as u64, result as u64) };
///     result
/// }
/// ```
#[macro_export]
macro_rules! hook {
    ($name:ident => $function:path) => {
        $crate::hook!($name => $function, "r9");
    };
    ($name:ident => $function:path, $register:literal) => {
        /// Captures the caller's registers.
        ///
        /// # Safety
        ///
        /// The contract is that of the hidden function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> usize {
            core::arch::naked_asm!(
                ".cfi_startproc",
                $crate::push_preserved!(),
                concat!("mov ", $register, ", rsp"),
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {function}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                $crate::pop_preserved!(),
                "ret",
                ".cfi_endproc",
                function = sym $function,
            )
        }
    };
}

//! The registers of a thread that called one of our functions in the place of libc's.

use crate::memory::tls::Registers;
use crate::translation::emit::{RAX, RBX, RSP};
use crate::translation::gate;

/// What a call must leave as it was, when it began. [`hook!`](crate::hook) captures it.
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
    /// Where the hook returns to.
    pub ip: u64,
    /// The stack pointer then.
    pub stack: u64,
}

/// The caller in the program of a function whose return address is at `place`, also when the engine itself has called it.
///
/// # Safety
/// There is the return address of a function that is running, on the calling thread's stack.
#[inline]
pub unsafe fn caller(place: *const u64) -> Caller {
    let ours = [
        gate::native_returned as unsafe extern "C" fn(),
        gate::native_done,
    ];
    // SAFETY: the caller's promise.
    let ip = unsafe { place.read() };
    let stack = place.wrapping_add(1).addr() as u64;
    if !ours.map(gate::return_address).contains(&ip) {
        return Caller { ip, stack };
    }
    // SAFETY: above our own return address are a word for alignment and the real one.
    let ip = unsafe { place.add(2).read() };
    let stack = place.wrapping_add(3).addr() as u64;
    Caller { ip, stack }
}

impl Captured {
    /// Where the call returns to in the program: the lock site of a function that takes a lock.
    pub fn site(&self) -> u64 {
        self.caller().ip
    }

    /// The caller in the program, also when the engine itself has called the hook.
    pub fn caller(&self) -> Caller {
        // SAFETY: a hook's caller has pushed it.
        unsafe { caller(&raw const self.return_address) }
    }

    /// The caller's frame base, or whatever it has in `rbp`.
    pub fn frame_base(&self) -> u64 {
        self.rbp
    }

    /// All registers as they are when the call returns `result`, and where to. Others than the captured ones are 0: a call
    /// may change them.
    pub(crate) fn registers(&self, result: u64) -> (Registers, u64) {
        /// Reserved, always set, and interrupts, which programs have enabled.
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

/// The instructions that push the registers that a call preserves, in the order of [`Captured`], and say so to unwinders.
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

/// The instructions that pop what [`push_preserved!`](crate::push_preserved) has pushed.
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

/// Defines a function that hides one of libc's: it captures the caller's registers and calls another one with up to five
/// arguments of the program and, as its sixth or in the named register, [`&Captured`](Captured).
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
        /// As the function that it hides.
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

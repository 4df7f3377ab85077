//! The gates between translated code and the engine. They save all registers in the thread's words. The engine works on its
//! own stack, so small stacks and red zones do not matter.

use core::arch::naked_asm;
use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU64, Ordering};

use super::emit::{Emitter, RAX, RBX, RDI, RDX, RSP};
use crate::memory::tls;

/// How vector registers are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// `xsavec`, which omits registers in their initial state.
    Compact(u32),
    /// `xsave`.
    Full(u32),
    /// `fxsave`, on processors without wide registers.
    Legacy,
}

/// Bytes for vector registers. All existing ones take less than half of it.
pub(crate) const VECTOR_ROOM: usize = 8192;

/// SSE, AVX and the three parts of AVX-512.
const KEPT: u64 = 0b1110_0110;

impl Vectors {
    /// The best method of this processor.
    pub(crate) fn here() -> Vectors {
        const HAS_XSAVE: u32 = 1 << 27;
        const HAS_XSAVEC: u32 = 1 << 1;
        if __cpuid(1).ecx & HAS_XSAVE == 0 {
            return Vectors::Legacy;
        }
        // SAFETY: CPUID says that the system has enabled `xsave`.
        let enabled = unsafe { enabled() };
        let kept = (enabled & KEPT) as u32;
        match __cpuid_count(13, 1).eax & HAS_XSAVEC {
            0 => Vectors::Full(kept),
            _ => Vectors::Compact(kept),
        }
    }

    fn save(self, emitter: &mut Emitter) {
        match self {
            // xsavec [rbx]
            Vectors::Compact(_) => self.masked(&[0x0f, 0xc7, 0x23], emitter),
            // xsave [rbx]
            Vectors::Full(_) => self.masked(&[0x0f, 0xae, 0x23], emitter),
            // fxsave64 [rbx]
            Vectors::Legacy => emitter.bytes(&[0x48, 0x0f, 0xae, 0x03]),
        }
    }

    fn restore(self, emitter: &mut Emitter) {
        match self {
            // xrstor [rbx]
            Vectors::Compact(_) | Vectors::Full(_) => {
                self.masked(&[0x0f, 0xae, 0x2b], emitter);
            }
            // fxrstor64 [rbx]
            Vectors::Legacy => emitter.bytes(&[0x48, 0x0f, 0xae, 0x0b]),
        }
    }

    fn masked(self, instruction: &[u8], emitter: &mut Emitter) {
        let (Vectors::Compact(mask) | Vectors::Full(mask)) = self else {
            return;
        };
        emitter.constant(RAX, u64::from(mask));
        emitter.constant(RDX, 0);
        emitter.bytes(instruction);
    }
}

#[target_feature(enable = "xsave")]
fn enabled() -> u64 {
    // SAFETY: the function requires `xsave`, and register 0 always exists.
    unsafe { _xgetbv(0) }
}

/// The addresses of the gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gates {
    /// From a unit's exit, with flags and vector registers that the program needs.
    pub(crate) exit: u64,
    /// From an exit that calls a native function: neither flags nor vector registers hold values for it.
    pub(crate) call: u64,
    /// From a native function that has returned. Vector registers hold no values then.
    pub(crate) returned: u64,
    /// Into the engine and then onwards, with the registers in the thread's words.
    pub(crate) enter: u64,
}

/// A function of the engine that sets the thread's target, where it continues.
pub(crate) type Dispatch = unsafe extern "C" fn(words: *mut tls::Words);

/// Emits the gates, which run at any address.
pub(crate) fn emit(
    emitter: &mut Emitter,
    vectors: Vectors,
    dispatch: Dispatch,
    exits: [u32; 2],
) -> Gates {
    let dispatch = dispatch as usize as u64;
    let exit = emitter.here();
    keep_general(emitter);
    keep_flags(emitter);
    emitter.load(RBX, tls::VECTORS);
    vectors.save(emitter);
    call(emitter, dispatch);
    emitter.load(RBX, tls::VECTORS);
    vectors.restore(emitter);
    restore_flags(emitter);
    go_on(emitter);

    let call_gate = emitter.here();
    keep_general(emitter);
    call(emitter, dispatch);
    go_on(emitter);

    let [returned_exit, enter_exit] = exits;
    let returned = emitter.here();
    emitter.store_constant(tls::EXIT, returned_exit as i32);
    keep_general(emitter);
    call(emitter, dispatch);
    go_on(emitter);

    let enter = emitter.here();
    emitter.store_constant(tls::EXIT, enter_exit as i32);
    emitter.load(RSP, tls::STACK);
    call(emitter, dispatch);
    go_on(emitter);
    Gates {
        exit,
        call: call_gate,
        returned,
        enter,
    }
}

/// Saves the general registers and switches to the engine's stack.
fn keep_general(emitter: &mut Emitter) {
    for register in 0..16 {
        emitter.store(tls::register(register), register);
    }
    emitter.load(RSP, tls::STACK);
}

/// Saves the flags and clears the direction flag, as functions expect.
fn keep_flags(emitter: &mut Emitter) {
    // pushfq; cld
    emitter.bytes(&[0x9c]);
    emitter.pop_to(tls::FLAGS);
    emitter.bytes(&[0xfc]);
}

fn restore_flags(emitter: &mut Emitter) {
    emitter.push_from(tls::FLAGS);
    // popfq
    emitter.bytes(&[0x9d]);
}

/// Calls a function with the address of the thread's words.
fn call(emitter: &mut Emitter, function: u64) {
    emitter.load(RDI, tls::SELF);
    emitter.constant(RAX, function);
    // call rax
    emitter.bytes(&[0xff, 0xd0]);
}

fn go_on(emitter: &mut Emitter) {
    for register in 0..16 {
        emitter.load(register, tls::register(register));
    }
    emitter.jump_to(tls::TARGET);
}

/// The address of the gate for returns, for [`native_returned`], which has no other way to find it.
static RETURNED: AtomicU64 = AtomicU64::new(0);

/// Sets where [`native_returned`] continues.
pub(crate) fn set_returned(gate: u64) {
    RETURNED.store(gate, Ordering::Relaxed);
}

/// The bytes that a native call pushes below its real return address: a word for alignment, and the address of
/// [`native_returned`].
pub(crate) const BELOW_RETURN: u64 = 16;

/// Native functions return here: `[rsp]` is the word for alignment, and above it is the real return address. Unwinders find
/// both through this function's call frame information, so exceptions and cancellation pass through.
///
/// The pushed address is that of the second instruction, because unwinders look up the byte before it.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn native_returned() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa rsp, 16",
        ".cfi_offset rip, -8",
        "nop",
        "lea rsp, [rsp + 16]",
        ".cfi_def_cfa rsp, 0",
        "jmp qword ptr [rip + {gate}]",
        ".cfi_endproc",
        gate = sym RETURNED,
    )
}

/// The same for a thread that the engine has finished with. It jumps instead of returning, to keep the processor's return
/// prediction balanced: the function that returns here was jumped to, not called.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn native_done() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa rsp, 16",
        ".cfi_offset rip, -8",
        "nop",
        "lea rsp, [rsp + 16]",
        ".cfi_def_cfa rsp, 0",
        "jmp qword ptr [rsp - 8]",
        ".cfi_endproc",
    )
}

/// Leaves the caller for good, through the gate into the engine.
///
/// # Safety
/// The argument is a gate, and the thread's words are filled in.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn through(_gate: u64) -> ! {
    naked_asm!("jmp rdi")
}

/// The address that a native function returns to.
pub(crate) fn return_address(of: unsafe extern "C" fn()) -> u64 {
    of as usize as u64 + 1
}

//! Thread-local words for translated code, at fixed offsets from the thread pointer, so that no register is needed to reach
//! them.

use core::arch::{asm, global_asm};
use core::mem::offset_of;

/// The number of values that translated code can record before it reports them.
pub(crate) const SLOTS: usize = 128;

/// All general registers, by their numbers in instructions (`rax` 0, `rsp` 4), and the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Registers {
    /// `rax` is 0, `rcx` 1, `rdx` 2, `rbx` 3, `rsp` 4, `rbp` 5, `rsi` 6, `rdi` 7; then `r8` to `r15`.
    pub general: [u64; 16],
    /// `rflags`.
    pub flags: u64,
}

/// The words of a thread. Only the thread itself accesses them.
#[repr(C)]
pub(crate) struct Words {
    /// Where the thread continues after a gate, or where an indirect branch leads.
    pub(crate) target: u64,
    /// The exit by which the thread left translated code.
    pub(crate) exit: u64,
    /// The values of borrowed registers.
    pub(crate) spills: [u64; 2],
    /// The top of the engine's own stack.
    pub(crate) stack: u64,
    /// Where vector registers are saved, aligned to 64 bytes.
    pub(crate) vectors: u64,
    /// The thread's state, a [`crate::thread::Thread`], or 0 before its first section.
    pub(crate) thread: u64,
    /// The address of these words.
    pub(crate) itself: u64,
    /// The thread's table of resting sites ([`crate::policy::Rest`]) while it holds no lock known to the observer and runs
    /// natively, else 0.
    pub(crate) rests: u64,
    /// The program's registers while the engine works.
    pub(crate) registers: Registers,
    /// The values that translated code has recorded.
    pub(crate) slots: [u64; SLOTS],
}

/// An offset in [`Words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) usize);

pub(crate) const TARGET: Word = Word(offset_of!(Words, target));
pub(crate) const EXIT: Word = Word(offset_of!(Words, exit));
pub(crate) const STACK: Word = Word(offset_of!(Words, stack));
pub(crate) const VECTORS: Word = Word(offset_of!(Words, vectors));
pub(crate) const SELF: Word = Word(offset_of!(Words, itself));
pub(crate) const FLAGS: Word = Word(offset_of!(Words, registers) + offset_of!(Registers, flags));

/// The offset of [`Words::rests`].
pub(crate) const RESTS: usize = offset_of!(Words, rests);
/// The offset of [`Words::thread`].
pub(crate) const THREAD: usize = offset_of!(Words, thread);

/// The word for a borrowed register.
pub(crate) const fn spill(number: usize) -> Word {
    Word(offset_of!(Words, spills) + 8 * number)
}

/// The word for a general register.
pub(crate) const fn register(number: u8) -> Word {
    Word(offset_of!(Words, registers) + 8 * number as usize)
}

/// The word for a recorded value.
pub(crate) const fn slot(number: usize) -> Word {
    Word(offset_of!(Words, slots) + 8 * number)
}

global_asm!(
    ".pushsection .tbss.fulcrum_critical_sections,\"awT\",@nobits",
    ".balign 16",
    ".globl fulcrum_critical_sections_words",
    ".hidden fulcrum_critical_sections_words",
    ".type fulcrum_critical_sections_words,@object",
    ".size fulcrum_critical_sections_words,{size}",
    "fulcrum_critical_sections_words:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Words>(),
);

/// The offset of the words from the thread pointer. It is the same in every thread, because the library is loaded at
/// program start.
pub(crate) fn offset() -> i64 {
    let offset: i64;
    // SAFETY: reads the offset from the GOT, as the initial-exec model of x86-64 Linux defines it.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + fulcrum_critical_sections_words@gottpoff]",
            out(reg) offset,
            options(nostack, readonly, pure, preserves_flags),
        );
    }
    offset
}

/// The calling thread's words. Only that thread may use them.
#[inline(always)]
pub(crate) fn words() -> *mut Words {
    let words: *mut Words;
    // SAFETY: computes the address as the initial-exec model of x86-64 Linux defines it.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + fulcrum_critical_sections_words@gottpoff]",
            "add {0}, qword ptr fs:[0]",
            out(reg) words,
            options(nostack, readonly, pure),
        );
    }
    words
}

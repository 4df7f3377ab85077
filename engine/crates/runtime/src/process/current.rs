//! The calling thread's slot, in a word at a fixed distance from the thread pointer ("initial-exec").
//!
//! A `thread_local!` in a library calls the dynamic loader at every use, which took longer than the rest of a hook that has
//! nothing to do. Stable Rust cannot declare such a word, so assembly does. There is always room for it, because this library
//! is loaded with the program, never later.

use core::arch::{asm, global_asm};

// Hidden: the word is no symbol of the library.
global_asm!(
    ".pushsection .tbss.fulcrum_current,\"awT\",@nobits",
    ".balign 8",
    ".globl fulcrum_current",
    ".hidden fulcrum_current",
    ".type fulcrum_current, @object",
    ".size fulcrum_current, 8",
    "fulcrum_current:",
    ".zero 8",
    ".popsection",
);

/// What [`set`] was last given in this thread; null before that. Readable until the thread is gone.
#[inline(always)]
pub(crate) fn get() -> *const () {
    let slot: *const ();
    // SAFETY: reads an aligned word of the calling thread's own, which the loader has zeroed.
    unsafe {
        asm!(
            "mov {slot}, qword ptr [rip + fulcrum_current@GOTTPOFF]",
            "mov {slot}, qword ptr fs:[{slot}]",
            slot = out(reg) slot,
            options(nostack, preserves_flags, readonly),
        );
    }
    slot
}

/// Sets the calling thread's slot; null for none.
pub(crate) fn set(slot: *const ()) {
    // SAFETY: writes an aligned word of the calling thread's own.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + fulcrum_current@GOTTPOFF]",
            "mov qword ptr fs:[{at}], {slot}",
            at = out(reg) _,
            slot = in(reg) slot,
            options(nostack, preserves_flags),
        );
    }
}

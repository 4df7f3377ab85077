//! The calling thread's slot, in a word at a fixed distance from the thread pointer ("initial-exec").
//!
//! `thread_local!` in a library has the dynamic loader called at every use, which took more time than the rest of a hook that
//! has nothing to do. Stable Rust declares no such word, so assembly does. There is always room for it, because this
//! library is loaded with the program, never later.

use core::arch::{asm, global_asm};

use crate::thread::Thread;

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

/// What [`set`] was last given in this thread; null in a thread that has set nothing. Readable until the thread is gone.
#[inline(always)]
pub fn get() -> *const Thread {
    let slot: *const Thread;
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

/// Says which slot is the calling thread's; null when it has none.
pub fn set(slot: *const Thread) {
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

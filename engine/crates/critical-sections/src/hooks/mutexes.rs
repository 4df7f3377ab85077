//! Mutex hooks with a fast path for sites without flow, where most sections of most programs begin and end.
//!
//! The fast path reads one word of the thread, its entry for the lock site, and one mark that tells whether anything flows
//! under the lock. Everything else is decided where [`hook!`](crate::hook) leads.

use core::mem::offset_of;

use crate::memory::tls;
use crate::policy::{self, Rest};

/// What the macros refer to.
#[doc(hidden)]
pub mod parts {
    pub use super::{BUSY, GENERATION_AT, LEFT_AT, RESTS, THREAD};
    pub use crate::policy::{
        FLOWING, FLOWING_FACTOR, FLOWING_SHIFT, GENERATION, KEY_SHIFT, LOCK_FACTOR, PLACES_MASK,
        REST_SHIFT,
    };
}

/// The result of a function that takes a mutex only if it is free.
pub const BUSY: i32 = libc::EBUSY;
/// The offset of the word that tells which sites rest, among a thread's words.
pub const RESTS: usize = tls::RESTS;
/// The offset of the word that is 0 before a thread's first section.
pub const THREAD: usize = tls::THREAD;
/// The offset of an entry's count of sections.
pub const LEFT_AT: usize = offset_of!(Rest, left);
/// The offset of an entry's generation.
pub const GENERATION_AT: usize = offset_of!(Rest, generation);

const _: () = assert!(offset_of!(Rest, key) == 0);
const _: () = assert!(size_of::<Rest>() == 1 << policy::REST_SHIFT);

/// Like [`hook!`](crate::hook), for a function that takes the mutex that is its only argument. Where the lock site rests,
/// the hook calls `$attempt` instead: a static that holds the address of a function that takes a mutex if it is free and
/// otherwise returns `EBUSY`. If the mutex is busy, or the site does not rest, the hook calls the function. While the word to
/// which `$pauses` points is odd, sections do not begin, and the hook jumps to the function whose address is in `$real`.
#[macro_export]
macro_rules! lock_hook {
    ($name:ident => $function:path, $attempt:path, $real:path, $pauses:path) => {
        /// Takes a mutex.
        ///
        /// # Safety
        ///
        /// The contract is that of the hidden function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> usize {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov rax, qword ptr [rip + {pauses}]",
                "test byte ptr [rax], 1",
                "jnz 5f",
                "mov rax, qword ptr [rip + fulcrum_critical_sections_words@gottpoff]",
                "mov r8, qword ptr fs:[rax + {rests}]",
                "test r8, r8",
                "jz 4f",
                // The site, and whether anything flows under the lock.
                "mov rdx, qword ptr [rsp]",
                "imul ecx, edi, {flowing_factor}",
                "shr ecx, {flowing_shift}",
                "lea r9, [rip + {flowing}]",
                "cmp byte ptr [r9 + rcx], 0",
                "jne 3f",
                "mov rcx, rdx",
                "shr rcx, {key_shift}",
                "xor ecx, edx",
                "and ecx, {places_mask}",
                "shl ecx, {rest_shift}",
                "add rcx, r8",
                "cmp qword ptr [rcx], rdx",
                "jne 3f",
                "2:",
                "mov eax, dword ptr [rip + {generation}]",
                "cmp dword ptr [rcx + {generation_at}], eax",
                "jne 4f",
                "dec dword ptr [rcx + {left_at}]",
                "js 4f",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "call qword ptr [rip + {attempt}]",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "cmp eax, {busy}",
                "je 4f",
                "ret",
                // The entry for this lock at this site.
                "3:",
                "movabs r9, {lock_factor}",
                "imul r9, rdi",
                "xor r9, rdx",
                "mov rcx, r9",
                "shr rcx, {key_shift}",
                "xor ecx, r9d",
                "and ecx, {places_mask}",
                "shl ecx, {rest_shift}",
                "add rcx, r8",
                "cmp qword ptr [rcx], r9",
                "je 2b",
                "4:",
                $crate::push_preserved!(),
                "mov rsi, rsp",
                "sub rsp, 8",
                ".cfi_adjust_cfa_offset 8",
                "call {function}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                $crate::pop_preserved!(),
                "ret",
                "5:",
                "jmp qword ptr [rip + {real}]",
                ".cfi_endproc",
                pauses = sym $pauses,
                real = sym $real,
                rests = const $crate::parts::RESTS,
                flowing = sym $crate::parts::FLOWING,
                flowing_factor = const $crate::parts::FLOWING_FACTOR,
                flowing_shift = const $crate::parts::FLOWING_SHIFT,
                key_shift = const $crate::parts::KEY_SHIFT,
                places_mask = const $crate::parts::PLACES_MASK,
                rest_shift = const $crate::parts::REST_SHIFT,
                lock_factor = const $crate::parts::LOCK_FACTOR,
                generation = sym $crate::parts::GENERATION,
                generation_at = const $crate::parts::GENERATION_AT,
                left_at = const $crate::parts::LEFT_AT,
                attempt = sym $attempt,
                busy = const $crate::parts::BUSY,
                function = sym $function,
            )
        }
    };
}

/// Like `hook!`, for a function that releases the mutex that is its only argument. The function gets `&Frame` of its caller
/// in the second argument's register. While the thread holds no lock known to the observer and nobody waits for the mutex
/// (its first word is then 1), the hook jumps to the function whose address is in `$real`. While the word to which `$pauses`
/// points is odd, it does so even if somebody waits, and also before the thread's first section.
#[macro_export]
macro_rules! unlock_hook {
    ($name:ident => $function:path, $real:path, $pauses:path) => {
        /// Releases a mutex.
        ///
        /// # Safety
        ///
        /// The contract is that of the hidden function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> usize {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov rax, qword ptr [rip + fulcrum_critical_sections_words@gottpoff]",
                "cmp qword ptr fs:[rax + {rests}], 0",
                "je 3f",
                "cmp dword ptr [rdi], 1",
                "jne 4f",
                "5:",
                "jmp qword ptr [rip + {real}]",
                "3:",
                "cmp qword ptr fs:[rax + {thread}], 0",
                "jne 2f",
                "4:",
                "mov rax, qword ptr [rip + {pauses}]",
                "test byte ptr [rax], 1",
                "jnz 5b",
                "2:",
                "push rbp",
                ".cfi_adjust_cfa_offset 8",
                ".cfi_rel_offset rbp, 0",
                "mov rsi, rsp",
                "call {function}",
                "pop rbp",
                ".cfi_adjust_cfa_offset -8",
                ".cfi_restore rbp",
                "ret",
                ".cfi_endproc",
                rests = const $crate::parts::RESTS,
                thread = const $crate::parts::THREAD,
                pauses = sym $pauses,
                real = sym $real,
                function = sym $function,
            )
        }
    };
}

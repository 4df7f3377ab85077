//! The functions that libraries call in place of handlers. Each of the program's handlers gets one when it is first
//! registered. A stub reports the call to [`dispatch`](super::dispatch) and calls the handler with the same registers.
//!
//! All stubs exist from the start, so no memory needs to be both writable and executable.

use core::arch::naked_asm;

use super::dispatch::{begin, end};
use super::handlers::{COUNT, StubId, number};
use super::kind::Kind;
use super::registers::{keep_arguments, restore_arguments};

const SIZE: usize = 16;

/// The address that the library is given.
pub(crate) fn address(stub: StubId) -> usize {
    first() + stub.0 as usize * SIZE
}

/// The stub at this address.
fn at(address: usize) -> Option<StubId> {
    let offset = address.checked_sub(first())?;
    let is_one = offset < COUNT * SIZE && offset.is_multiple_of(SIZE);
    is_one.then_some(StubId((offset / SIZE) as u32))
}

/// The program's function behind an address.
pub(crate) fn original(address: usize) -> usize {
    at(address).map_or(address, StubId::function)
}

/// The stub for a function. Stubs of several colours may stand for the same function. Returns `None` if there are too many.
pub(crate) fn stub(function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    number(original(function), kind, colour)
}

/// The address of the first stub.
fn first() -> usize {
    (table as *const () as usize).next_multiple_of(SIZE)
}

/// All stubs, one after the other, starting at a multiple of their size.
#[unsafe(naked)]
unsafe extern "C-unwind" fn table() {
    naked_asm!(
        ".cfi_startproc",
        ".balign {size}, 0xcc",
        ".rept {count}",
        "lea rax, [rip]",
        "jmp {called}",
        ".balign {size}, 0xcc",
        ".endr",
        ".cfi_endproc",
        count = const COUNT,
        size = const SIZE,
        called = sym called,
    )
}

/// The library calls the stub that contains the address in `rax`. The handler may be any function with up to six integer
/// and eight vector arguments, as library handlers are.
#[unsafe(naked)]
unsafe extern "C-unwind" fn called() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 192",
        keep_arguments!(),
        "lea rdi, [rip + {table} + {size} - 1]",
        "and rdi, -{size}",
        "sub rax, rdi",
        "mov edi, eax",
        "shr edi, {shift}",
        "mov rsi, rsp",
        "call {begin}",
        "mov [rsp + 48], rdx",
        "mov r11, rax",
        restore_arguments!(),
        "call r11",
        "cmp qword ptr [rsp + 48], 0",
        "je 2f",
        "mov [rsp], rdx",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "mov rdi, [rsp + 48]",
        "mov rsi, rax",
        "call {end}",
        "mov rdx, [rsp]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "2:",
        "leave",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
        table = sym table,
        size = const SIZE,
        shift = const SIZE.ilog2(),
        begin = sym begin,
        end = sym end,
    )
}

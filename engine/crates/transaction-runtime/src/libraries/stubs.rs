//! What libraries call in the place of handlers: a function for each handler of the program, made when it is first registered.
//! It tells who is called ([`dispatch`](super::dispatch)), and calls the handler with the registers that it was called with.
//!
//! They are there from the beginning, so no memory has to be writable and executable.

use core::arch::naked_asm;

use super::dispatch::{begin, end};
use super::handlers::{COUNT, StubId, number};
use super::kind::Kind;
use super::registers::{keep_arguments, restore_arguments};

const SIZE: usize = 16;

/// What the library is given.
pub(crate) fn address(stub: StubId) -> usize {
    first() + stub.0 as usize * SIZE
}

/// Which one it is that has this address.
fn at(address: usize) -> Option<StubId> {
    let offset = address.checked_sub(first())?;
    let is_one = offset < COUNT * SIZE && offset.is_multiple_of(SIZE);
    is_one.then_some(StubId((offset / SIZE) as u32))
}

/// The function that the program means by an address.
pub(crate) fn original(address: usize) -> usize {
    at(address).map_or(address, StubId::function)
}

/// What stands for a function; those of several colours stand for the same. `None`: there are too many.
pub(crate) fn stub(function: usize, kind: Kind, colour: u8) -> Option<StubId> {
    number(original(function), kind, colour)
}

/// Where the first one is.
fn first() -> usize {
    (table as *const () as usize).next_multiple_of(SIZE)
}

/// All of them, one behind another, from the first multiple of their size on.
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

/// The library calls the one in which the address in `rax` is. The handler may be any function of up to six integer arguments and eight
/// others, which is what libraries call.
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

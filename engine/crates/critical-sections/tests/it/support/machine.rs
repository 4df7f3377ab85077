//! Runs code with given registers and memory, natively or out of line, to compare everything that it leaves.

use std::arch::global_asm;
use std::fs::File;
use std::io::Write as _;
use std::mem::offset_of;
use std::os::fd::AsRawFd as _;

use super::observer::{test_lock, test_unlock};

/// Registers and memory before a run, and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Machine {
    /// By register number. `rsp` is not used.
    pub general: [u64; 16],
    /// `ah` as for `sahf`, and 1 in the second byte if `OF` is set.
    pub flags: [u8; 8],
    pub vectors: [[u64; 4]; 16],
    pub memory: [u64; MEMORY],
}

/// Words of memory.
pub(crate) const MEMORY: usize = 96;

// Loads all registers, calls the code, and stores them all. Calls the functions `begin` and `end` before and after.
global_asm!(
    ".globl critical_sections_test_run",
    "critical_sections_test_run:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 56",
    "mov [rsp], rsi",
    "mov [rsp + 8], rdx",
    "mov [rsp + 16], rcx",
    "mov rax, rdi",
    "xor edi, edi",
    "call rax",
    "mov rax, [rsp + 8]",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "vmovdqu ymm\\n, [rax + {vectors} + 32 * \\n]",
    ".endr",
    "mov rbx, [rax + 8 * 3]",
    "mov rbp, [rax + 8 * 5]",
    "mov rsi, [rax + 8 * 6]",
    "mov rdi, [rax + 8 * 7]",
    ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
    "mov r\\n, [rax + 8 * \\n]",
    ".endr",
    "mov rdx, rax",
    "mov cl, [rdx + {flags} + 1]",
    "add cl, 0x7f",
    "mov ah, [rdx + {flags}]",
    "sahf",
    "mov rcx, [rdx + 8 * 1]",
    "mov rax, [rdx]",
    "mov rdx, [rdx + 8 * 2]",
    "call [rsp]",
    "mov [rsp + 24], rax",
    "mov rax, [rsp + 8]",
    "mov [rax + 8 * 1], rcx",
    "mov [rax + 8 * 2], rdx",
    "mov rdx, rax",
    "lahf",
    "seto al",
    "mov [rdx + {flags}], ah",
    "mov [rdx + {flags} + 1], al",
    "mov rax, [rsp + 24]",
    "mov [rdx], rax",
    "mov [rdx + 8 * 3], rbx",
    "mov [rdx + 8 * 5], rbp",
    "mov [rdx + 8 * 6], rsi",
    "mov [rdx + 8 * 7], rdi",
    ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
    "mov [rdx + 8 * \\n], r\\n",
    ".endr",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "vmovdqu [rdx + {vectors} + 32 * \\n], ymm\\n",
    ".endr",
    "xor edi, edi",
    "call [rsp + 16]",
    "add rsp, 56",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    vectors = const offset_of!(Machine, vectors),
    flags = const offset_of!(Machine, flags),
);

unsafe extern "C" {
    fn critical_sections_test_run(begin: usize, code: usize, machine: *mut Machine, end: usize);
}

extern "C" fn nothing() {}

impl Machine {
    /// Runs the function at `code` natively in this thread.
    ///
    /// # Safety
    /// The function can run with these registers.
    pub(crate) unsafe fn run_natively(&mut self, code: usize) {
        let nothing = nothing as *const () as usize;
        // SAFETY: the caller promises a function that can run with these registers.
        unsafe { critical_sections_test_run(nothing, code, self, nothing) };
    }

    /// Runs it out of line, if this thread's listener is interested.
    ///
    /// # Safety
    /// As for [`Self::run_natively`].
    pub(crate) unsafe fn run_watched(&mut self, code: usize) {
        let (begin, end) = (
            test_lock as *const () as usize,
            test_unlock as *const () as usize,
        );
        // SAFETY: the caller promises a function that can run with these registers.
        unsafe { critical_sections_test_run(begin, code, self, end) };
    }
}

/// Maps code from a file, for the life of the process.
pub(crate) fn mapped(code: &[u8]) -> usize {
    let mut file: File = tempfile::tempfile().expect("room");
    file.write_all(code).expect("room");
    // SAFETY: a fresh mapping of a file that nobody changes.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            code.len(),
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(start, libc::MAP_FAILED);
    start.addr()
}

//! `dlsym`, by which programs find the function that creates a virtual machine, and virtual machines find native methods.
//! All other calls go on to the loader unchanged, including the return address, by which the loader knows its caller.

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_preload::sys::KeepErrno;

use super::{machine, natives};
use crate::active;

/// The addresses of the exported functions.
pub(crate) fn hooks() -> impl Iterator<Item = u64> {
    [(dlsym as *const ()).addr() as u64].into_iter()
}

/// The result of a call: an answer, or, if that is 0, the loader's own function to continue with.
#[repr(C)]
pub(crate) struct Asked {
    answer: usize,
    loaders: usize,
}

type Find = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// `dlsym(3)`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {asked}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "test rax, rax",
        "jne 2f",
        "jmp rdx",
        "2:",
        "ret",
        ".cfi_endproc",
        asked = sym asked,
    )
}

unsafe extern "C" fn asked(handle: *mut c_void, name: *const c_char) -> Asked {
    let loaders = loaders();
    Asked {
        // SAFETY: the arguments are the program's own.
        answer: unsafe { answer(handle, name, loaders) }.unwrap_or(0),
        loaders,
    }
}

/// The loader's own function. Aborts if there is none; no program could have called it then.
fn loaders() -> usize {
    static ADDRESS: AtomicUsize = AtomicUsize::new(0);
    let known = ADDRESS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let _errno = KeepErrno::new();
    let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5"];
    let found = versions.into_iter().find_map(|version| {
        // SAFETY: both names are C strings, and `dlvsym` has no other precondition.
        let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
        (!found.is_null()).then_some(found.addr())
    });
    // SAFETY: `abort` has no precondition.
    let found = found.unwrap_or_else(|| unsafe { libc::abort() });
    ADDRESS.store(found, Ordering::Relaxed);
    found
}

/// # Safety
/// The arguments are those of a call of `dlsym`, and `loaders` is the loader's function.
unsafe fn answer(handle: *mut c_void, name: *const c_char, loaders: usize) -> Option<usize> {
    // SAFETY: the name is a C string, so it has at least one byte.
    if name.is_null() || unsafe { name.read() } != b'J'.cast_signed() || !active::is_active() {
        return None;
    }
    // SAFETY: the name is a C string.
    let name = unsafe { CStr::from_ptr(name) };
    if name == machine::CREATE {
        // A caller that asks for the next definition means that of a library behind its own.
        if handle == libc::RTLD_NEXT {
            return None;
        }
        // SAFETY: calls the loader's function with the caller's arguments.
        let found = unsafe {
            let find = core::mem::transmute::<usize, Find>(loaders);
            find(handle, name.as_ptr())
        };
        return (!found.is_null()).then(|| machine::hide(found.addr()));
    }
    natives::address(name.to_bytes())
}

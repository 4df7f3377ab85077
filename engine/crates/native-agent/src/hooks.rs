//! Hooks for closing libraries, and for jumps.

use std::ffi::{c_int, c_void};

use fulcrum_preload::real;
use fulcrum_preload::real::Real;

use crate::quiet::quietly;
use crate::{probes, session};

/// `dlclose(3)`: the addresses of the library's functions may become those of others.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn dlclose(library: *mut c_void) -> c_int {
    // SAFETY: passes the program's argument on.
    let result = unsafe { real!(dlclose: fn(*mut c_void) -> c_int)(library) };
    if session::number() != 0 {
        quietly(session::libraries_closed);
    }
    result
}

/// The hidden functions that jump.
static JUMPS: [Real; 4] = [
    Real::new(c"longjmp"),
    Real::new(c"_longjmp"),
    Real::new(c"siglongjmp"),
    Real::new(c"__longjmp_chk"),
];

/// Looks up the hidden functions. A signal handler may be the first to jump, and must not wait for the loader.
pub(crate) fn prepare() {
    for jump in &JUMPS {
        jump.address();
    }
}

macro_rules! jumps {
    ($($name:ident $at:literal),*) => {$(
        /// As libc's; ends the calls that the program jumps out of.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(to: *const usize, value: c_int) -> ! {
            let real: unsafe extern "C-unwind" fn(*const usize, c_int) -> ! = JUMPS[$at].get();
            // SAFETY: passes the program's arguments on; the buffer is one that `setjmp` has filled.
            unsafe {
                probes::jump(stack_pointer(to));
                real(to, value)
            }
        }
    )*};
}

jumps!(longjmp 0, _longjmp 1, siglongjmp 2, __longjmp_chk 3);

/// The stack pointer that a jump leads to. glibc stores it rotated and XORed with a value of the thread.
///
/// # Safety
/// `setjmp` has filled the buffer.
unsafe fn stack_pointer(buffer: *const usize) -> usize {
    const STACK_POINTER: usize = 6;
    let guard: usize;
    // SAFETY: the caller's buffer; on x86-64, glibc's word is there in every thread.
    unsafe {
        std::arch::asm!("mov {}, fs:0x30", out(reg) guard, options(nostack, readonly, preserves_flags));
        buffer.add(STACK_POINTER).read().rotate_right(17) ^ guard
    }
}

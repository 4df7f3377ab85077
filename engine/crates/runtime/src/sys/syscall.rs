//! `syscall(2)`: Rust's std, C++20's atomic waits and many runtimes use it for futexes and other calls that matter to us.
//!
//! Every other number is passed on by a jump, with the program's registers and stack as they are.

use core::arch::naked_asm;
use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_preload::real::Real;

use crate::hooks::blocked::{self, Call};
use crate::hooks::signal;
use crate::process::{descriptors, exec, exits, thread};
use crate::sys::seccomp;

const NUMBERS: usize = 512;
/// System calls that are not just passed on.
static WATCHED: [bool; NUMBERS] = {
    let mut watched = [false; NUMBERS];
    let numbers = [
        libc::SYS_futex,
        FUTEX_WAITV,
        FUTEX_WAKE,
        FUTEX_WAIT,
        FUTEX_REQUEUE,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_close,
        libc::SYS_close_range,
        libc::SYS_prctl,
        libc::SYS_seccomp,
    ];
    let mut index = 0;
    while index < numbers.len() {
        watched[numbers[index] as usize] = true;
        index += 1;
    }
    watched
};
const FUTEX_WAITV: c_long = 449;
const FUTEX_WAKE: c_long = 454;
const FUTEX_WAIT: c_long = 455;
const FUTEX_REQUEUE: c_long = 456;

/// libc's `syscall`; 0 until the first call has looked it up.
static NEXT: AtomicUsize = AtomicUsize::new(0);
type SystemCall =
    unsafe extern "C-unwind" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;

fn next() -> SystemCall {
    static REAL: Real = Real::new(c"syscall");
    NEXT.store(REAL.address(), Ordering::Relaxed);
    REAL.get()
}

/// `syscall(2)`. Seven integer arguments are passed alike whether a function is variadic or not.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn syscall() -> c_long {
    naked_asm!(
        "cmp rdi, {numbers}",
        "jae 2f",
        "lea rax, [rip + {watched}]",
        "cmp byte ptr [rax + rdi], 0",
        "jne 3f",
        "2:",
        "mov rax, [rip + {next}]",
        "test rax, rax",
        "jz 3f",
        "jmp rax",
        "3:",
        "jmp {slowly}",
        numbers = const NUMBERS,
        watched = sym WATCHED,
        next = sym NEXT,
        slowly = sym watched,
    )
}

#[allow(clippy::too_many_arguments, reason = "they are libc's")]
unsafe extern "C-unwind" fn watched(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // SAFETY: passes the program's arguments on.
    let real = || unsafe { next()(number, a, b, c, d, e, f) };
    match number {
        libc::SYS_futex => futex(b as c_int & !(FLAGS), real),
        FUTEX_WAIT => waits(real, |result| *result == 0),
        FUTEX_WAITV => waits(real, |result| *result >= 0),
        FUTEX_WAKE | FUTEX_REQUEUE => {
            thread::before();
            real()
        }
        libc::SYS_kill
        | libc::SYS_tkill
        | libc::SYS_tgkill
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_rt_tgsigqueueinfo => {
            // SAFETY: the call's arguments.
            if unsafe { signal::sent_by_number(number, a, b, c, d) } {
                return 0;
            }
            real()
        }
        libc::SYS_exit_group => {
            exits::leave();
            real()
        }
        libc::SYS_exit => {
            exits::leave_thread();
            real()
        }
        libc::SYS_execve | libc::SYS_execveat => exec::without_samples(real),
        // SAFETY: as the program's own calls.
        libc::SYS_close => c_long::from(unsafe { descriptors::close(a as c_int) }),
        libc::SYS_close_range => {
            // SAFETY: likewise.
            c_long::from(unsafe { descriptors::close_range(a as u32, b as u32, c as c_int) })
        }
        libc::SYS_prctl => {
            seccomp::before_prctl(a, b, c);
            real()
        }
        libc::SYS_seccomp => {
            seccomp::before_seccomp(a, c);
            real()
        }
        _ => real(),
    }
}

const FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;

fn waits(real: impl FnOnce() -> c_long, woken: fn(&c_long) -> bool) -> c_long {
    thread::before();
    blocked::inside(const { fulcrum_wire::function("futex") }, || {
        blocked::wait(Call::Futex, real, woken)
    })
}

/// Only a result of 0 says that another thread ended the wait. Otherwise the word had changed, a signal arrived, or time was up.
fn futex(operation: c_int, real: impl FnOnce() -> c_long) -> c_long {
    const LOCK_PI2: c_int = 13;
    match operation {
        libc::FUTEX_WAIT
        | libc::FUTEX_WAIT_BITSET
        | libc::FUTEX_LOCK_PI
        | LOCK_PI2
        | libc::FUTEX_WAIT_REQUEUE_PI => waits(real, |result| *result == 0),
        libc::FUTEX_WAKE
        | libc::FUTEX_WAKE_BITSET
        | libc::FUTEX_WAKE_OP
        | libc::FUTEX_REQUEUE
        | libc::FUTEX_CMP_REQUEUE
        | libc::FUTEX_CMP_REQUEUE_PI
        | libc::FUTEX_UNLOCK_PI => {
            thread::before();
            real()
        }
        _ => real(),
    }
}

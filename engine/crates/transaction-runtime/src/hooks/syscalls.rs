//! `syscall(2)`, by which some programs and many runtimes make calls that libc also has functions for, and use futexes.
//!
//! All other system calls are passed on by a jump, with the program's registers and stack unchanged.

use core::arch::naked_asm;
use core::ffi::{c_int, c_long, c_uint};
use core::ptr::{without_provenance, without_provenance_mut};
use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_preload::descriptors::{close_between, is_ours};
use fulcrum_preload::real::Real;
use fulcrum_wire::transactions::Via;

use super::frame::Frame;
use super::idle::Blocking;
use super::stream_calls::{
    Buffers, Transfer, moving, moving_parts, receiving, receiving_message, sending, several,
};
use super::{descriptor_calls, epoll, idle};
use crate::locking::futex;
use crate::messages::descriptors;
use crate::process::{exec, exits};
use crate::threads::{ending, thread};
use crate::{active, libraries};

const NUMBERS: usize = 512;
/// System calls that are recorded or changed.
static WATCHED: [bool; NUMBERS] = {
    let mut watched = [false; NUMBERS];
    let numbers = [
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_recvfrom,
        libc::SYS_recvmsg,
        libc::SYS_recvmmsg,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_sendfile,
        libc::SYS_splice,
        libc::SYS_tee,
        libc::SYS_vmsplice,
        libc::SYS_close,
        libc::SYS_close_range,
        libc::SYS_dup,
        libc::SYS_dup2,
        libc::SYS_dup3,
        libc::SYS_fcntl,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_pipe,
        libc::SYS_pipe2,
        libc::SYS_connect,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_io_uring_enter,
        libc::SYS_epoll_ctl,
        libc::SYS_epoll_wait,
        libc::SYS_epoll_pwait,
        libc::SYS_epoll_pwait2,
        libc::SYS_poll,
        libc::SYS_ppoll,
        libc::SYS_select,
        libc::SYS_pselect6,
        libc::SYS_rt_sigtimedwait,
        libc::SYS_rt_sigsuspend,
        libc::SYS_pause,
    ];
    let mut index = 0;
    while index < numbers.len() {
        watched[numbers[index] as usize] = true;
        index += 1;
    }
    let mut index = 0;
    while index < futex::NUMBERS.len() {
        watched[futex::NUMBERS[index] as usize] = true;
        index += 1;
    }
    watched
};

/// libc's `syscall`, once the first call has looked it up.
static NEXT: AtomicUsize = AtomicUsize::new(0);
type SystemCall =
    unsafe extern "C-unwind" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;

fn next() -> SystemCall {
    static REAL: Real = Real::new(c"syscall");
    NEXT.store(REAL.address(), Ordering::Relaxed);
    REAL.get()
}

/// `syscall(2)`. Seven integer arguments are passed in the same way whether or not a function is variadic.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn syscall() -> c_long {
    naked_asm!(
        ".cfi_startproc",
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
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rax, rsp",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "push qword ptr [rax + 16]",
        ".cfi_adjust_cfa_offset 8",
        "call {slowly}",
        "add rsp, 16",
        ".cfi_adjust_cfa_offset -16",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
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
    frame: &Frame,
) -> c_long {
    // SAFETY: passes on the program's arguments.
    let real = || unsafe { next()(number, a, b, c, d, e, f) };
    if !active::is_active() {
        return real();
    }
    let arguments = [a, b, c, d, e, f];
    let moves = bytes(number, arguments, frame, || real() as isize);
    if let Some(result) = moves {
        return result as c_long;
    }
    if let Some(result) = descriptor(number, arguments, frame, || real() as c_int) {
        return c_long::from(result);
    }
    let other = |count: usize| {
        let c = if counts_events(number) { count } else { c };
        // SAFETY: passes on the program's arguments, with a smaller count of events.
        unsafe { next()(number, a, b, c, d, e, f) as c_int }
    };
    if let Some(result) = waiting(number, arguments, frame, other) {
        return c_long::from(result);
    }
    if futex::NUMBERS.contains(&number) {
        return futex::calling(number, (a, b), frame, real);
    }
    match number {
        libc::SYS_exit_group => exits::leave(),
        libc::SYS_exit if thread::is_logged() => ending::end_current(),
        libc::SYS_execve | libc::SYS_execveat => return exec::executed(real),
        libc::SYS_io_uring_enter => {
            let count = real();
            libraries::submitted(count);
            return count;
        }
        _ => {}
    }
    real()
}

/// System calls that send and receive.
#[inline]
fn bytes(
    number: c_long,
    [a, b, c, d, _, _]: [usize; 6],
    frame: &Frame,
    real: impl FnOnce() -> isize,
) -> Option<isize> {
    let fd = a as c_int;
    let message = without_provenance_mut(b);
    // SAFETY: the messages are the program's.
    Some(unsafe {
        match number {
            libc::SYS_read => receiving(fd, Buffers::one(without_provenance(b), c, 0), frame, real),
            libc::SYS_recvfrom => {
                let buffers = Buffers::one(without_provenance(b), c, d as c_int);
                receiving(fd, buffers, frame, real)
            }
            libc::SYS_readv => {
                receiving(fd, Buffers::parts(without_provenance(b), c, 0), frame, real)
            }
            libc::SYS_recvmsg => receiving_message((fd, message), c as c_int, frame, real),
            libc::SYS_recvmmsg => {
                let messages = (fd, without_provenance_mut(b));
                several(messages, Some(d as c_int), frame, || real() as c_int) as isize
            }
            libc::SYS_sendmmsg => {
                let messages = (fd, without_provenance_mut(b));
                several(messages, None, frame, || real() as c_int) as isize
            }
            libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => {
                sending(fd, frame, real)
            }
            libc::SYS_sendfile => moving((b as c_int, Transfer::Move), fd, frame, real),
            libc::SYS_splice => moving((fd, Transfer::Move), c as c_int, frame, real),
            libc::SYS_tee => moving((fd, Transfer::Copy), b as c_int, frame, real),
            libc::SYS_vmsplice => {
                let buffers = Buffers::parts(without_provenance(b), c, 0);
                moving_parts(fd, buffers, frame, real)
            }
            _ => return None,
        }
    })
}

/// System calls that create, copy and close descriptors.
fn descriptor(
    number: c_long,
    [a, b, c, d, _, _]: [usize; 6],
    frame: &Frame,
    real: impl FnOnce() -> c_int,
) -> Option<c_int> {
    let fd = a as c_int;
    let copies = matches!(
        number,
        libc::SYS_dup | libc::SYS_dup2 | libc::SYS_dup3 | libc::SYS_fcntl
    );
    if copies && is_ours(fd) {
        return Some(fulcrum_preload::descriptors::bad_descriptor());
    }
    // SAFETY: like the program's own calls.
    Some(unsafe {
        match number {
            libc::SYS_close => descriptor_calls::close(fd),
            libc::SYS_close_range if a <= b => {
                if c & libc::CLOSE_RANGE_CLOEXEC as usize == 0 && thread::is_logged() {
                    descriptors::closed_between(a as c_uint, b as c_uint);
                }
                close_between(a as c_uint, b as c_uint, c as c_int)
            }
            libc::SYS_dup => descriptor_calls::copied(fd, real()),
            libc::SYS_dup2 | libc::SYS_dup3 => {
                descriptor_calls::replaces(b as c_int);
                descriptor_calls::copied(fd, real())
            }
            libc::SYS_fcntl if descriptor_calls::is_copy(b as c_int) => {
                descriptor_calls::copied(fd, real())
            }
            libc::SYS_socket => descriptor_calls::came(real(), Via::Made),
            libc::SYS_pipe | libc::SYS_pipe2 => {
                descriptor_calls::made_pipe(real(), without_provenance(a))
            }
            libc::SYS_socketpair => descriptor_calls::made_pair(real(), without_provenance(d)),
            libc::SYS_connect => {
                descriptor_calls::connecting(fd, (without_provenance(b), c as u32), real)
            }
            libc::SYS_accept | libc::SYS_accept4 => descriptor_calls::accepting(fd, frame, real),
            _ => return None,
        }
    })
}

/// Whether the third argument is the number of requested events.
fn counts_events(number: c_long) -> bool {
    matches!(
        number,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2
    )
}

/// System calls that wait for more work. `real` is passed the number of events to ask for.
fn waiting(
    number: c_long,
    [a, b, c, d, e, _]: [usize; 6],
    frame: &Frame,
    real: impl FnOnce(usize) -> c_int,
) -> Option<c_int> {
    let epoll = a as c_int;
    let events_wanted = (epoll, without_provenance(b), c as c_int);
    let events = |count: c_int| real(count as usize);
    // SAFETY: time limits and events are the program's.
    Some(unsafe {
        match number {
            libc::SYS_epoll_ctl => {
                let what = (epoll, b as c_int, c as c_int);
                epoll::controlling(what, without_provenance(d), || events(0))
            }
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
                let blocking = Blocking::allowed_if(d as c_int != 0);
                epoll::waiting(events_wanted, blocking, frame, events)
            }
            libc::SYS_epoll_pwait2 => {
                let blocking = idle::lets_wait(without_provenance(d));
                epoll::waiting(events_wanted, blocking, frame, events)
            }
            _ => {
                let blocking = match number {
                    libc::SYS_poll => Blocking::allowed_if(c as c_int != 0),
                    libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => {
                        idle::lets_wait(without_provenance(c))
                    }
                    libc::SYS_select => idle::lets_select(without_provenance(e)),
                    libc::SYS_pselect6 => idle::lets_wait(without_provenance(e)),
                    libc::SYS_pause | libc::SYS_rt_sigsuspend => Blocking::Allowed,
                    _ => return None,
                };
                idle::idling(blocking, frame, || events(0))
            }
        }
    })
}

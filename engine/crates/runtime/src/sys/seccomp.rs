//! Programs that restrict their own system calls (seccomp). A filter is evaluated before it is in force. If it forbids what we
//! cannot work without, the recording ends first.

use core::mem::size_of;
use core::sync::atomic::Ordering;

use fulcrum_preload::{real, sys};
use fulcrum_runtime_core::seccomp::{Instruction, LONGEST};
use fulcrum_wire::flag;
use libc::c_int;

use crate::experiment::profiler;
use crate::process::{activity, control, exits, thread};
use crate::sys::allowed::{self, Purpose, forbid, may};

/// A program is about to install a filter: `struct sock_fprog` at this address.
fn before_filter(program: usize) {
    if !exits::is_own_process() {
        return;
    }
    let mut head = [0_u8; 16];
    if !read(program, &mut head) {
        // The kernel cannot read it either.
        return;
    }
    let length = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let at = u64::from_le_bytes(head[8..].try_into().unwrap_or_default()) as usize;
    let bytes = length * size_of::<Instruction>();
    // The kernel refuses filters of other lengths.
    if !(1..=LONGEST).contains(&length) {
        return;
    }
    let Some(copy) = sys::map_anonymous(bytes) else {
        return;
    };
    // SAFETY: fresh memory of that length; zeroed memory is instructions.
    let readable = read(at, unsafe { core::slice::from_raw_parts_mut(copy, bytes) });
    if readable {
        // SAFETY: likewise, page-aligned.
        let filter = unsafe { core::slice::from_raw_parts(copy.cast::<Instruction>(), length) };
        apply(filter);
    }
    // SAFETY: our own mapping, used no more.
    unsafe { sys::call(libc::SYS_munmap, [copy as usize, bytes, 0, 0, 0, 0]) };
}

/// Stops doing what a filter forbids.
fn apply(filter: &[Instruction]) {
    allowed::apply(filter);
    if !may(Purpose::Everything) {
        seal();
    } else if !may(Purpose::Timer) {
        thread::all().for_each(|it| it.sampling.stop_timer());
    }
}

/// Ends the recording: the program could be killed for whatever we do from now on.
fn seal() {
    let _errno = sys::KeepErrno::new();
    forbid(Purpose::Everything);
    control::process()
        .flags
        .fetch_or(flag::SEALED, Ordering::Relaxed);
    profiler::finish_early();
    thread::all().for_each(|it| it.sampling.silence());
    activity::deactivate();
}

/// Reads memory of the program, which may not be mapped.
fn read(address: usize, into: &mut [u8]) -> bool {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut _,
        iov_len: into.len(),
    };
    // SAFETY: the kernel checks the remote address and fills `into` at most.
    let length = unsafe {
        let pid = sys::process_id() as usize;
        let (local, remote) = (&raw const local as usize, &raw const remote as usize);
        sys::call(libc::SYS_process_vm_readv, [pid, local, 1, remote, 1, 0])
    };
    length == into.len() as isize
}

/// `seccomp(2)` is about to be called.
pub(crate) fn before_seccomp(operation: usize, program: usize) {
    const STRICT: usize = 0;
    const FILTER: usize = 1;
    match operation {
        STRICT if exits::is_own_process() => seal(),
        FILTER => before_filter(program),
        _ => {}
    }
}

/// `prctl(2)` is about to be called.
pub(crate) fn before_prctl(option: usize, mode: usize, program: usize) {
    if option as c_int != libc::PR_SET_SECCOMP {
        return;
    }
    match mode as u32 {
        libc::SECCOMP_MODE_STRICT if exits::is_own_process() => seal(),
        libc::SECCOMP_MODE_FILTER => before_filter(program),
        _ => {}
    }
}

/// `prctl(2)`: variadic in C, whose further arguments are in the same registers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> c_int {
    before_prctl(option as usize, a, b);
    // SAFETY: passes the program's arguments on.
    unsafe { real!(prctl: fn(c_int, usize, usize, usize, usize) -> c_int)(option, a, b, c, d) }
}

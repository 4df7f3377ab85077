//! Our file descriptors live high up, where programs do not expect their own, and survive programs that close
//! everything they find.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::real::real;
use crate::{life, sys};

const HIGHEST: usize = 65_536;
static OURS: [AtomicU64; HIGHEST / 64] = [const { AtomicU64::new(0) }; HIGHEST / 64];

/// Where our descriptors begin: in the upper quarter of what the process may open, 4096 at most.
fn lowest() -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 1024,
        rlim_max: 1024,
    };
    // SAFETY: writes to `limit`.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (limit.rlim_cur.min(4096) as usize / 4) * 3
}

/// Moves a fresh descriptor out of the program's way, if there is room, and guards it.
pub fn protect(fd: i32) -> i32 {
    // SAFETY: duplicates and closes a descriptor that we own.
    let fd = unsafe {
        let command = libc::F_DUPFD_CLOEXEC as usize;
        let moved = sys::call(libc::SYS_fcntl, [fd as usize, command, lowest(), 0, 0, 0]);
        if moved >= 0 {
            sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
            moved as i32
        } else {
            fd
        }
    };
    if let Some(word) = OURS.get(fd as usize / 64) {
        word.fetch_or(1 << (fd % 64), Ordering::Relaxed);
    }
    fd
}

/// Closes one of our descriptors.
pub fn close(fd: i32) {
    if let Some(word) = OURS.get(fd as usize / 64) {
        word.fetch_and(!(1 << (fd % 64)), Ordering::Relaxed);
    }
    // SAFETY: the descriptor is ours.
    unsafe { sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

fn is_ours(fd: c_int) -> bool {
    usize::try_from(fd)
        .ok()
        .and_then(|fd| OURS.get(fd / 64))
        .is_some_and(|word| word.load(Ordering::Relaxed) & (1 << (fd % 64)) != 0)
}

fn bad_descriptor() -> c_int {
    // SAFETY: the calling thread's errno.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

/// Closes `first..=last` but for our descriptors.
///
/// # Safety
/// As `close_range(2)`.
unsafe fn close_between(first: u32, last: u32, flags: c_int) -> c_int {
    let raw = |first: u32, last: u32| {
        // SAFETY: passes the program's arguments on.
        unsafe {
            let args = [first as usize, last as usize, flags as usize, 0, 0, 0];
            sys::call(libc::SYS_close_range, args)
        }
    };
    let mut begin = first;
    let mut result = 0;
    for fd in first..=last.min(HIGHEST as u32 - 1) {
        if is_ours(fd as c_int) {
            if begin < fd {
                result = raw(begin, fd - 1);
            }
            begin = fd + 1;
        }
    }
    if begin <= last {
        result = raw(begin, last);
    }
    if result < 0 {
        // SAFETY: the calling thread's errno.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    0
}

/// `close_range(2)`, which passes over our descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close_range(first: u32, last: u32, flags: c_int) -> c_int {
    if !life::is_active() || first > last {
        // SAFETY: passes the program's arguments on.
        return unsafe { real!(close_range: fn(u32, u32, c_int) -> c_int)(first, last, flags) };
    }
    // SAFETY: as the program's own call.
    unsafe { close_between(first, last, flags) }
}

/// `closefrom(3)`, which passes over our descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn closefrom(first: c_int) {
    if life::is_active() {
        // SAFETY: as the program's own call.
        unsafe { close_between(first.max(0) as u32, u32::MAX, 0) };
    } else {
        // SAFETY: passes the program's arguments on.
        unsafe { real!(closefrom: fn(c_int) -> ())(first) }
    }
}

/// `close(2)`: to the program, our descriptors are not open.
#[unsafe(export_name = "close")]
pub unsafe extern "C-unwind" fn close_hook(fd: c_int) -> c_int {
    if life::is_active() && is_ours(fd) {
        return bad_descriptor();
    }
    // SAFETY: passes the program's arguments on.
    unsafe { real!(close: fn(c_int) -> c_int)(fd) }
}

/// Defines a hook for a call that asks about a descriptor: ours are not open.
macro_rules! asks {
    ($name:ident(fd: c_int $(, $argument:ident: $type:ty)*)) => {
        /// As libc's; our descriptors are not open to the program.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(fd: c_int $(, $argument: $type)*) -> c_int {
            if life::is_active() && is_ours(fd) {
                return bad_descriptor();
            }
            // SAFETY: passes the program's arguments on.
            unsafe { real!($name: fn(c_int $(, $type)*) -> c_int)(fd $(, $argument)*) }
        }
    };
}

asks!(fstat(fd: c_int, status: *mut libc::stat));
asks!(fstat64(fd: c_int, status: *mut libc::stat64));
asks!(dup(fd: c_int));
asks!(dup2(fd: c_int, to: c_int));
asks!(dup3(fd: c_int, to: c_int, flags: c_int));
// Variadic in C: on x86-64 the third argument is in the same register either way.
asks!(fcntl(fd: c_int, command: c_int, argument: usize));
asks!(fcntl64(fd: c_int, command: c_int, argument: usize));

//! Our file descriptors have high numbers, where programs do not expect their own. With [`descriptor_hooks!`], they survive
//! programs that close everything, and look closed to the program.
//!
//! [`descriptor_hooks!`]: crate::descriptor_hooks

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{own, sys};

const HIGHEST: usize = 65_536;
static OURS: [AtomicU64; HIGHEST / 64] = [const { AtomicU64::new(0) }; HIGHEST / 64];

/// Where our descriptors begin: in the upper quarter of what the process may open, of 4096 at most.
fn lowest() -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 1024,
        rlim_max: 1024,
    };
    // SAFETY: writes to `limit`.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    (limit.rlim_cur.min(4096) as usize / 4) * 3
}

/// Moves a new descriptor, which nobody else knows yet, to a high number, if there is room.
pub fn out_of_the_way(fd: c_int) -> c_int {
    // SAFETY: duplicates and closes a descriptor that we own.
    unsafe {
        let command = libc::F_DUPFD_CLOEXEC as usize;
        let moved = sys::call(libc::SYS_fcntl, [fd as usize, command, lowest(), 0, 0, 0]);
        if moved < 0 {
            return fd;
        }
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        moved as c_int
    }
}

/// Moves a new descriptor to a high number, if there is room, and guards it.
pub fn protect(fd: c_int) -> c_int {
    let fd = out_of_the_way(fd);
    if let Some(word) = OURS.get(fd as usize / 64) {
        word.fetch_or(1 << (fd % 64), Ordering::Relaxed);
    }
    fd
}

/// Closes one of our descriptors.
pub fn close(fd: c_int) {
    if let Some(word) = OURS.get(fd as usize / 64) {
        word.fetch_and(!(1 << (fd % 64)), Ordering::Relaxed);
    }
    // SAFETY: the descriptor is ours.
    unsafe { sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// Runs `work` in a short-lived thread without the program's descriptors, and waits for it: files that it opens take no number
/// that the program expects for its own. What it leaves open is closed with the thread. Where no such thread can be created,
/// `work` runs here. All signals must be blocked.
pub fn apart<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    let mut job = Job {
        work: Some(work),
        result: None,
    };
    if MAY_BE_APART.load(Ordering::Relaxed)
        && let Some(stack) = sys::map_anonymous(APART_STACK)
    {
        // SAFETY: this thread is suspended until the other has ended, so that the job and the stack outlive it, and it may
        // use this thread's own variables.
        unsafe {
            let top = stack.add(APART_STACK).cast();
            // libc's own `clone`: a sanitizer that hides it would take this thread for a forked child.
            let clone = own!(clone: fn(extern "C" fn(*mut c_void) -> c_int, *mut c_void, c_int, *mut c_void) -> c_int);
            clone(job.begin(), top, APART, (&raw mut job).cast());
            sys::call(libc::SYS_munmap, [stack as usize, APART_STACK, 0, 0, 0, 0]);
        }
    }
    job.run();
    job.result
}

static MAY_BE_APART: AtomicBool = AtomicBool::new(true);

/// From now on, [`apart`] runs its work in the calling thread: the kernel would kill the process for creating another.
pub fn forbid_apart() {
    MAY_BE_APART.store(false, Ordering::Relaxed);
}

const APART_STACK: usize = 128 * 1024;

/// A thread of this process, which is waited for. It starts with the program's table of descriptors. A copy would for a moment
/// keep open what the program closes.
const APART: c_int = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_VFORK;

struct Job<F, T> {
    work: Option<F>,
    result: Option<T>,
}

impl<T, F: FnOnce() -> Option<T>> Job<F, T> {
    fn begin(&self) -> extern "C" fn(*mut c_void) -> c_int {
        Self::run_apart
    }

    extern "C" fn run_apart(job: *mut c_void) -> c_int {
        let without = libc::CLOSE_RANGE_UNSHARE as usize;
        // SAFETY: gives this thread its own table, without descriptors (kernels before 5.9: with copies of the program's).
        // The job is that of `apart`, which waits.
        unsafe {
            if sys::call(
                libc::SYS_close_range,
                [0, u32::MAX as usize, without, 0, 0, 0],
            ) < 0
            {
                let copied = libc::CLONE_FILES as usize;
                sys::call(libc::SYS_unshare, [copied, 0, 0, 0, 0, 0]);
            }
            (*job.cast::<Self>()).run();
        }
        0
    }

    fn run(&mut self) {
        if let Some(work) = self.work.take() {
            self.result = work();
        }
    }
}

/// Whether a descriptor is one that we [guard](protect).
pub fn is_ours(fd: c_int) -> bool {
    usize::try_from(fd)
        .ok()
        .and_then(|fd| OURS.get(fd / 64))
        .is_some_and(|word| word.load(Ordering::Relaxed) & (1 << (fd % 64)) != 0)
}

/// Sets `errno` and returns -1, as libc does when a descriptor is not open.
pub fn bad_descriptor() -> c_int {
    // SAFETY: the calling thread's errno.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

/// Closes `first..=last` except our descriptors. Returns what libc's `close_range` returns.
///
/// # Safety
/// As `close_range(2)`.
pub unsafe fn close_between(first: u32, last: u32, flags: c_int) -> c_int {
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

/// Defines hooks that keep the program away from our descriptors while a function, `fn() -> bool`, says so.
#[macro_export]
macro_rules! descriptor_hooks {
    (while $active:path) => {
        /// `close_range(2)`, which skips our descriptors.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn close_range(
            first: u32,
            last: u32,
            flags: ::core::ffi::c_int,
        ) -> ::core::ffi::c_int {
            use ::core::ffi::c_int;
            if !$active() || first > last {
                // SAFETY: passes the program's arguments on.
                return unsafe {
                    $crate::real!(close_range: fn(u32, u32, c_int) -> c_int)(first, last, flags)
                };
            }
            // SAFETY: as the program's own call.
            unsafe { $crate::descriptors::close_between(first, last, flags) }
        }

        /// `closefrom(3)`, which skips our descriptors.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn closefrom(first: ::core::ffi::c_int) {
            if $active() {
                // SAFETY: as the program's own call.
                unsafe { $crate::descriptors::close_between(first.max(0) as u32, u32::MAX, 0) };
            } else {
                // SAFETY: passes the program's arguments on.
                unsafe { $crate::real!(closefrom: fn(::core::ffi::c_int) -> ())(first) }
            }
        }

        $crate::descriptor_hooks!(@ $active, close());
        $crate::descriptor_hooks!(@ $active, fstat(status: *mut ::core::ffi::c_void));
        $crate::descriptor_hooks!(@ $active, fstat64(status: *mut ::core::ffi::c_void));
        $crate::descriptor_hooks!(@ $active, dup());
        $crate::descriptor_hooks!(@ $active, dup2(to: ::core::ffi::c_int));
        $crate::descriptor_hooks!(@ $active, dup3(to: ::core::ffi::c_int, flags: ::core::ffi::c_int));
        // Variadic in C: on x86-64 the third argument is in the same register either way.
        $crate::descriptor_hooks!(@ $active, fcntl(command: ::core::ffi::c_int, argument: usize));
        $crate::descriptor_hooks!(@ $active, fcntl64(command: ::core::ffi::c_int, argument: usize));
    };
    (@ $active:path, $name:ident($($argument:ident: $type:ty),*)) => {
        /// As libc's; our descriptors look closed to the program.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(
            fd: ::core::ffi::c_int
            $(, $argument: $type)*
        ) -> ::core::ffi::c_int {
            if $active() && $crate::descriptors::is_ours(fd) {
                return $crate::descriptors::bad_descriptor();
            }
            // SAFETY: passes the program's arguments on.
            unsafe {
                $crate::real!($name: fn(::core::ffi::c_int $(, $type)*) -> ::core::ffi::c_int)(
                    fd $(, $argument)*
                )
            }
        }
    };
}

//! System calls that must not go through libc, whose functions are cancellation points or may be interposed by us or others.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;
use core::sync::atomic::AtomicU32;

/// A raw system call; returns what the kernel returns (`-errno` on failure).
///
/// # Safety
/// The arguments must be valid for the call `number`.
#[inline]
#[cfg(target_arch = "x86_64")]
pub unsafe fn call(number: i64, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the x86-64 Linux convention; the kernel clobbers rcx and r11 only.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// A system call by libc's `syscall`, on other architectures.
///
/// # Safety
/// The arguments must be valid for the call `number`.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn call(number: i64, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let _errno = KeepErrno::new();
    // SAFETY: the caller's promise; the calling thread's errno.
    unsafe {
        match libc::syscall(number, a, b, c, d, e, f) as isize {
            -1 => -(*libc::__errno_location() as isize),
            result => result,
        }
    }
}

/// `CLOCK_MONOTONIC`, nanoseconds.
#[inline]
pub fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Any clock, nanoseconds.
#[inline]
pub fn clock(id: libc::clockid_t) -> u64 {
    // SAFETY: writes to the time; clock_gettime is async-signal-safe and never a cancellation point.
    nanoseconds(|time| unsafe { libc::clock_gettime(id, time) })
}

/// How fine a clock is, nanoseconds.
pub fn clock_resolution(id: libc::clockid_t) -> u64 {
    // SAFETY: writes to the time.
    nanoseconds(|time| unsafe { libc::clock_getres(id, time) })
}

#[inline]
fn nanoseconds(ask: impl FnOnce(&mut libc::timespec) -> libc::c_int) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    ask(&mut time);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Lets other threads run.
pub fn yield_now() {
    // SAFETY: a plain system call.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Sleeps until `CLOCK_MONOTONIC` reads `deadline`, whatever signals arrive meanwhile.
pub fn sleep_until(deadline: u64) {
    let time = libc::timespec {
        tv_sec: (deadline / 1_000_000_000) as i64,
        tv_nsec: (deadline % 1_000_000_000) as i64,
    };
    const ABSOLUTE: usize = 1;
    loop {
        // SAFETY: `time` outlives the call.
        let result = unsafe {
            call(
                libc::SYS_clock_nanosleep,
                [
                    libc::CLOCK_MONOTONIC as usize,
                    ABSOLUTE,
                    &raw const time as usize,
                    0,
                    0,
                    0,
                ],
            )
        };
        if result != -(libc::EINTR as isize) {
            return;
        }
    }
}

/// The calling thread's id.
#[inline]
pub fn thread_id() -> i32 {
    // SAFETY: takes no arguments.
    unsafe { call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// The process's id; a child made by `vfork` has another one than the parent whose memory it uses.
#[inline]
pub fn process_id() -> u32 {
    // SAFETY: takes no arguments.
    unsafe { call(libc::SYS_getpid, [0; 6]) as u32 }
}

/// Waits until `*word` is not `expected`, another thread wakes this one, or `ns` nanoseconds have passed.
pub fn futex_wait(word: &AtomicU32, expected: u32, ns: u64) {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    };
    // SAFETY: `word` and `time` outlive the call.
    unsafe {
        call(
            libc::SYS_futex,
            [
                word.as_ptr() as usize,
                libc::FUTEX_WAIT as usize,
                expected as usize,
                &raw const time as usize,
                0,
                0,
            ],
        );
    }
}

/// Wakes all threads that wait on `word`.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: `word` outlives the call.
    unsafe {
        call(
            libc::SYS_futex,
            [
                word.as_ptr() as usize,
                libc::FUTEX_WAKE as usize,
                i32::MAX as usize,
                0,
                0,
                0,
            ],
        );
    }
}

/// Anonymous memory for the life of the process, zeroed, touched lazily. `None` when there is none.
pub fn map_anonymous(length: usize) -> Option<*mut u8> {
    // SAFETY: a fresh private mapping.
    let at = unsafe {
        call(
            libc::SYS_mmap,
            [
                0,
                length,
                (libc::PROT_READ | libc::PROT_WRITE) as usize,
                (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize,
                usize::MAX,
                0,
            ],
        )
    };
    (at > 0).then_some(at as *mut u8)
}

/// The page size, bytes.
pub const PAGE: usize = 4096;

/// Restores the program's `errno` when it is dropped, so that hooks and handlers do not change it.
pub struct KeepErrno(i32);

impl KeepErrno {
    /// Saves `errno`.
    #[inline]
    #[expect(clippy::new_without_default, reason = "it is made for being dropped")]
    pub fn new() -> KeepErrno {
        // SAFETY: the calling thread's errno.
        KeepErrno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for KeepErrno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the calling thread's errno.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

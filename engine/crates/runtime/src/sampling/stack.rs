//! Where a thread's stack is.

/// Where a thread's stack is: from `low` up to `high`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stack {
    /// Lowest address that may be read while the stack pointer is at or below it.
    pub(crate) low: u64,
    /// Above every frame of the program.
    pub(crate) high: u64,
}

impl Stack {
    /// The initial thread's stack: up to the random bytes that the kernel puts above everything else.
    pub(crate) fn of_main() -> Stack {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: writes to `limit`; the auxiliary vector is readable for the life of the process.
        let high = unsafe {
            libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
            libc::getauxval(libc::AT_RANDOM) & !7
        };
        Stack {
            low: high.saturating_sub(limit.rlim_cur.min(64 << 20)),
            high,
        }
    }
}

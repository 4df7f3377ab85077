//! Room for one pending signal, as the kernel has it for each thread and for the process.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use libc::siginfo_t;

/// Room for one pending signal.
pub(crate) struct Place {
    full: AtomicBool,
    info: UnsafeCell<MaybeUninit<siginfo_t>>,
}
// SAFETY: the information is accessed only under the lock of `with_program_action`.
unsafe impl Sync for Place {}

impl Place {
    pub(super) const fn new() -> Place {
        Place {
            full: AtomicBool::new(false),
            info: UnsafeCell::new(MaybeUninit::zeroed()),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::SeqCst)
    }

    /// Only under the lock. A second one while the first is pending is lost, as in the kernel.
    pub(super) fn put(&self, info: &siginfo_t) {
        if !self.is_full() {
            // SAFETY: the lock is held.
            unsafe { (*self.info.get()).write(*info) };
            self.full.store(true, Ordering::SeqCst);
        }
    }

    /// Only under the lock.
    pub(super) fn take(&self) -> Option<siginfo_t> {
        // SAFETY: the lock is held, and the flag says that it was written.
        self.full
            .swap(false, Ordering::SeqCst)
            .then(|| unsafe { (*self.info.get()).assume_init() })
    }

    /// Whatever is here is no longer pending.
    pub(crate) fn clear(&self) {
        self.full.store(false, Ordering::SeqCst);
    }
}

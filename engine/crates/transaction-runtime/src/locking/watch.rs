//! Whether critical sections are watched, and what is kept of it with each thread.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_unwind::Registers;

/// Whether sections are watched.
static WATCHES: AtomicBool = AtomicBool::new(false);

/// How a thread's sections are watched. Zeroed, nothing is known of the thread.
pub(crate) struct Watch {
    pub(crate) is_known: Cell<bool>,
    /// Something that it did was not told.
    pub(crate) is_lost: Cell<bool>,
    /// Where it took the last lock.
    pub(crate) site: Cell<Registers>,
    /// The call path there.
    pub(crate) path: Cell<u32>,
}

impl Watch {
    /// A thread begins.
    pub(crate) fn begin(&self) {
        self.is_known.set(false);
        self.is_lost.set(false);
    }
}

/// Whether sections are watched.
#[inline]
pub(crate) fn is_on() -> bool {
    WATCHES.load(Ordering::Acquire)
}

/// They are from now on.
pub(crate) fn turn_on() {
    WATCHES.store(true, Ordering::Release);
}

/// There is code that was not there before.
pub(crate) fn loaded() {
    if is_on() {
        fulcrum_critical_sections::loaded();
    }
}

/// Code may be gone.
pub(crate) fn unloaded() {
    if is_on() {
        fulcrum_critical_sections::forget_unmapped();
    }
}

//! Whether critical sections are watched, and what is kept of it with each thread.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_unwind::Registers;

/// Whether sections are watched.
static WATCHES: AtomicBool = AtomicBool::new(false);

/// How a thread's sections are watched. Zeroed, nothing is known of the thread.
pub struct Watch {
    pub is_known: Cell<bool>,
    /// Something that it did was not told.
    pub is_lost: Cell<bool>,
    /// Where it took the last lock.
    pub site: Cell<Registers>,
    /// The call path there.
    pub path: Cell<u32>,
}

impl Watch {
    /// A thread begins.
    pub fn begin(&self) {
        self.is_known.set(false);
        self.is_lost.set(false);
    }
}

/// Whether sections are watched.
#[inline]
pub fn is_on() -> bool {
    WATCHES.load(Ordering::Acquire)
}

/// They are from now on.
pub fn turn_on() {
    WATCHES.store(true, Ordering::Release);
}

/// There is code that was not there before.
pub fn loaded() {
    if is_on() {
        fulcrum_critical_sections::loaded();
    }
}

/// Code may be gone.
pub fn unloaded() {
    if is_on() {
        fulcrum_critical_sections::forget_unmapped();
    }
}

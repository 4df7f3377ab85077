//! Whether critical sections are watched, and the state of this in each thread.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_unwind::Registers;

/// Whether sections are watched.
static WATCHES: AtomicBool = AtomicBool::new(false);
/// Whether a pause has ended of which the detector does not know.
static MISSED: AtomicBool = AtomicBool::new(false);

/// The state of watching in a thread. Zeroed, the thread is unknown.
pub(crate) struct Watch {
    pub(crate) is_known: Cell<bool>,
    /// Whether the detector has missed something the thread did.
    pub(crate) is_lost: Cell<bool>,
    /// Where the thread took the last lock.
    pub(crate) site: Cell<Registers>,
    /// The call path of that place.
    pub(crate) path: Cell<u32>,
}

impl Watch {
    /// A thread starts.
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

/// From now on sections are watched.
pub(crate) fn turn_on() {
    WATCHES.store(true, Ordering::Release);
}

/// A window begins: all threads ask again what is watched. The detector may be in use, so it is told later.
pub(crate) fn begin_window() {
    if is_on() {
        MISSED.store(true, Ordering::Release);
        fulcrum_critical_sections::wake();
    }
}

/// Whether a pause has ended since this was last asked.
#[inline]
pub(crate) fn has_missed() -> bool {
    MISSED.load(Ordering::Relaxed) && MISSED.swap(false, Ordering::Acquire)
}

/// New code was loaded.
pub(crate) fn loaded() {
    if is_on() {
        fulcrum_critical_sections::loaded();
    }
}

/// Code may have been unloaded.
pub(crate) fn unloaded() {
    if is_on() {
        fulcrum_critical_sections::forget_unmapped();
    }
}

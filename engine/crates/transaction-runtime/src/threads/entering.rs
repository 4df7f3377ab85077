//! A process enters a window: what it knows of the one before is brought up to date.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::locking::watch;
use crate::messages::registrations;

/// The latest window in which the process has recorded anything.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// A thread records something in this window for the first time.
pub(crate) fn enter(number: u64) {
    if LATEST.fetch_max(number, Ordering::AcqRel) < number {
        watch::begin_window();
        registrations::begin_window();
    }
}

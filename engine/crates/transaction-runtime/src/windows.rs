//! The windows in which transactions are recorded. When recording costs too much, the engine lets all processes pause at the
//! same times, and go on at the same times.
//!
//! In a pause, hooks only keep up what later windows need: which descriptors there are, how many bytes went through streams, which
//! threads there are. What begins in a pause and ends in a window is left out, and so is what flows from one into the other.
//! [`Thread::may_record`](crate::threads::thread::Thread::may_record) tells whether a thread records.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::locking::watch;
use crate::session::{self, Session};

/// The latest window in which the process has recorded anything.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// How often recording has paused and gone on: odd in pauses.
#[inline]
pub(crate) fn number() -> u64 {
    session::session().map_or(1, Session::window)
}

/// Whether transactions are recorded now.
#[inline]
pub(crate) fn is_open() -> bool {
    number() & 1 == 0
}

/// A thread records something in this window for the first time.
pub(crate) fn enter(number: u64) {
    if LATEST.fetch_max(number, Ordering::AcqRel) < number {
        watch::begin_window();
    }
}

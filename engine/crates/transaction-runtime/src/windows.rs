//! The windows in which transactions are recorded. When recording costs too much, the engine lets all processes pause at the
//! same times, and go on at the same times.
//!
//! In a pause, hooks only keep up what later windows need: which descriptors there are, how many bytes went through streams, which
//! threads there are. What begins in a pause and ends in a window is left out, and so is what flows from one into the other.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::locking::sections;
use crate::session::{self, Session};
use crate::threads::thread::Thread;

/// The latest window in which the process has recorded anything.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// How often recording has paused and gone on: odd in pauses.
#[inline]
fn number() -> u64 {
    session::session().map_or(1, Session::window)
}

/// Whether transactions are recorded now.
#[inline]
pub(crate) fn is_open() -> bool {
    number() & 1 == 0
}

/// Whether the calling thread may record now what happens to transactions. In a window that is new to it, it first forgets what it knew
/// of the one before.
#[inline]
pub(crate) fn is_open_for(thread: &Thread) -> bool {
    let number = number();
    if number & 1 != 0 {
        return false;
    }
    if thread.window.get() != number {
        enter(thread, number);
    }
    !thread.is_behind.get()
}

#[cold]
fn enter(thread: &Thread, number: u64) {
    if LATEST.fetch_max(number, Ordering::AcqRel) < number {
        sections::begin_window();
    }
    thread.begin_window(number);
}

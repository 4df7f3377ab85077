//! The windows in which transactions are recorded. When recording costs too much, the engine lets all processes pause at the
//! same times, and go on at the same times.
//!
//! In a pause, hooks only keep up what later windows need: which descriptors there are, how many bytes went through streams, which
//! threads there are. What begins in a pause and ends in a window is left out, and so is what flows from one into the other.
//! [`Thread::may_record`](crate::threads::thread::Thread::may_record) tells whether a thread records.

use core::ptr::from_ref;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::session::Session;

/// The session's word, which every hook reads.
pub(crate) static NUMBER: AtomicPtr<AtomicU64> = AtomicPtr::new(from_ref(&NONE).cast_mut());
static NONE: AtomicU64 = AtomicU64::new(0);

/// From now on, the session says when recording pauses. Call this when locks are prepared, before the library becomes active.
pub(crate) fn begin(session: &'static Session) {
    NUMBER.store(from_ref(session.window()).cast_mut(), Ordering::Release);
}

/// How often recording has paused and gone on: odd in pauses.
#[inline]
pub(crate) fn number() -> u64 {
    // SAFETY: our own static, or the session's settings, which are never unmapped.
    let number = unsafe { &*NUMBER.load(Ordering::Relaxed) };
    u64::from_le(number.load(Ordering::Acquire))
}

/// Whether transactions are recorded now.
#[inline]
pub(crate) fn is_open() -> bool {
    number() & 1 == 0
}

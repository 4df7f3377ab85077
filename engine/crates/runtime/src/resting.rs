//! Whether samples rest: what a thread that begins to be sampled asks.

use core::sync::atomic::{AtomicBool, Ordering, fence};

static RESTING: AtomicBool = AtomicBool::new(false);

/// Begins or ends a rest. Who begins to be sampled meanwhile sees it, or is seen.
pub fn set(resting: bool) {
    RESTING.store(resting, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

/// Whether samples rest at the moment.
#[inline]
pub fn is_resting() -> bool {
    RESTING.load(Ordering::Relaxed)
}

/// Whether the calling thread, whose sampling anybody can find by now, may begin to take samples.
pub fn may_sample() -> bool {
    // Either we see the rest, or who ended it sees us.
    fence(Ordering::SeqCst);
    !RESTING.load(Ordering::Relaxed)
}

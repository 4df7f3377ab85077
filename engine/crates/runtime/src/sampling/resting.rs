//! Whether sampling is suspended (a *rest*); a thread asks before it starts to sample itself.

use core::sync::atomic::{AtomicBool, Ordering, fence};

static RESTING: AtomicBool = AtomicBool::new(false);

/// Starts or ends a rest. A thread that starts sampling meanwhile either sees the rest or is found by whoever ends it.
pub(crate) fn set(resting: bool) {
    RESTING.store(resting, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

/// Whether sampling is suspended at the moment.
#[inline]
pub(crate) fn is_resting() -> bool {
    RESTING.load(Ordering::Relaxed)
}

/// Whether the calling thread may start to take samples. Other threads must be able to find its [`Sampling`] already.
///
/// [`Sampling`]: super::sampler::Sampling
pub(crate) fn may_sample() -> bool {
    // Either we see the rest, or whoever ends it sees us.
    fence(Ordering::SeqCst);
    !RESTING.load(Ordering::Relaxed)
}

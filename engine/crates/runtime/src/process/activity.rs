//! Whether the runtime is at work in this process: hooks, samples, delays.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fulcrum_preload::life::OwnWord;
use fulcrum_wire::part;

/// Whether hooks do more than pass through, 0 or 1. It is 0 in every forked child, also in those that no handler announces:
/// they have none of their parent's rings.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);
/// Whether this process has a record stream.
static ATTACHED: AtomicBool = AtomicBool::new(false);
static SAMPLING: AtomicBool = AtomicBool::new(false);
static DELAYS: AtomicBool = AtomicBool::new(false);

/// To be called once before [`activate`], in a process that is not a forked child.
pub(crate) fn prepare() -> Option<()> {
    ACTIVE.prepare()
}

/// Whether hooks do more than pass through.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// Whether threads are to be sampled.
pub(crate) fn is_sampling() -> bool {
    SAMPLING.load(Ordering::Relaxed)
}

/// Whether threads pause for virtual speedups.
pub(crate) fn delays_on() -> bool {
    DELAYS.load(Ordering::Relaxed)
}

/// Stops pauses and samples for good; the program goes on as if without us.
pub(crate) fn wind_down() {
    DELAYS.store(false, Ordering::Relaxed);
    SAMPLING.store(false, Ordering::Relaxed);
}

/// Turns on what this [`part`] of the runtime includes: hooks, samples and delays, or hooks alone.
pub(crate) fn activate(part: u32) {
    DELAYS.store(true, Ordering::Relaxed);
    SAMPLING.store(part != part::HOOKS, Ordering::Relaxed);
    ATTACHED.store(true, Ordering::Release);
    ACTIVE.word().store(1, Ordering::Release);
}

/// Makes all hooks pass through. `false` when they did already.
pub(crate) fn deactivate() -> bool {
    wind_down();
    ACTIVE.word().store(0, Ordering::Release);
    ATTACHED.swap(false, Ordering::AcqRel)
}

//! Whether the runtime is at work in this process: hooks, samples, delays.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use fulcrum_preload::life::OwnWord;
use fulcrum_wire::part;

/// Whether hooks do more than pass through, 0 or 1. Forked children that no handler announces find the runtime inactive too:
/// they have none of their parent's rings.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);
/// This process has a record stream.
static ATTACHED: AtomicBool = AtomicBool::new(false);
static SAMPLING: AtomicBool = AtomicBool::new(false);
static DELAYS: AtomicBool = AtomicBool::new(false);

/// Before [`activate`], once in a process that is not a forked child.
pub fn prepare() -> Option<()> {
    ACTIVE.prepare()
}

/// Whether hooks do more than pass through.
#[inline]
pub fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// Whether samples are still wanted.
pub fn is_sampling() -> bool {
    SAMPLING.load(Ordering::Relaxed)
}

/// Whether threads pause for virtual speedups.
pub fn delays_on() -> bool {
    DELAYS.load(Ordering::Relaxed)
}

/// Nothing is paused or sampled from now on; the program goes on as if alone.
pub fn wind_down() {
    DELAYS.store(false, Ordering::Relaxed);
    SAMPLING.store(false, Ordering::Relaxed);
}

/// From now on what this [`part`] of the runtime does: hooks, samples and delays, unless it is hooks alone.
pub fn activate(part: u32) {
    DELAYS.store(true, Ordering::Relaxed);
    SAMPLING.store(part != part::HOOKS, Ordering::Relaxed);
    ATTACHED.store(true, Ordering::Release);
    ACTIVE.word().store(1, Ordering::Release);
}

/// Everything passes through from now on. `false` when it did before.
pub fn deactivate() -> bool {
    wind_down();
    ACTIVE.word().store(0, Ordering::Release);
    ATTACHED.swap(false, Ordering::AcqRel)
}

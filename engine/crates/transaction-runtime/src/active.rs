//! Whether the library is active in this process.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::life::OwnWord;

/// Whether hooks do more than pass calls through: 0 or 1. A forked child finds the library inactive even if no handler
/// announced it, because the log that it sees belongs to its parent.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);

/// Makes the word private to the process. Call this before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    ACTIVE.prepare()
}

/// Whether hooks do more than pass calls through.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// From now on, hooks do their work.
pub(crate) fn activate() {
    ACTIVE.word().store(1, Ordering::Release);
}

/// In a forked child: hooks pass everything through.
pub(crate) fn deactivate() {
    ACTIVE.word().store(0, Ordering::Release);
}

/// The first step of a forked child, whose visible log belongs to its parent.
pub(crate) unsafe extern "C" fn in_child() {
    deactivate();
}

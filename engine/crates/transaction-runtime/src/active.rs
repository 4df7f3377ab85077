//! Whether the library is active in this process.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::life::OwnWord;

/// Whether hooks do more than pass through, 0 or 1. Forked children that no handler announces find the library inactive too:
/// the log that they see is their parent's.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);

/// Makes the word that says so the process's own. Before any other function of this module.
pub(crate) fn prepare() -> Option<()> {
    ACTIVE.prepare()
}

/// Whether hooks do more than pass through.
#[inline]
pub(crate) fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// From now on hooks do what they are for.
pub(crate) fn activate() {
    ACTIVE.word().store(1, Ordering::Release);
}

/// In a forked child: everything passes through.
pub(crate) fn deactivate() {
    ACTIVE.word().store(0, Ordering::Release);
}

/// The child's first step: the log that it sees is its parent's.
pub(crate) unsafe extern "C" fn in_child() {
    deactivate();
}

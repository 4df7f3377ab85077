//! What each thread remembers of its call paths.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_wire::transactions::MAX_PATH;

/// Paths that a thread remembers. Two in one place forget each other, and a server calls hooks from some twenty places.
pub(crate) const MEMOS: usize = 128;
/// Words that a walk reads at most: a return address and a frame base each.
pub(crate) const READS: usize = 2 * MAX_PATH;
/// Words that are read at once from a stack that is not the thread's own.
pub(crate) const WINDOW: usize = 128;

/// What a thread remembers, and where it works. Zeroed, it remembers nothing.
pub(crate) struct Memory {
    /// Whose it is: never given twice, so that what others left is not taken for its own.
    pub(crate) owner: u32,
    pub(crate) memos: [Memo; MEMOS],
    pub(crate) addresses: [u64; MAX_PATH],
    pub(crate) reads: [(u64, u64); READS],
    pub(crate) window: [u64; WINDOW],
}

/// A path that was walked.
pub(crate) struct Memo {
    /// Whose it is.
    pub(crate) owner: u32,
    pub(crate) return_address: u64,
    pub(crate) sp: u64,
    /// The number of the unwind table.
    pub(crate) table: u32,
    /// Its place in the table of paths, from 1.
    pub(crate) place: u32,
    /// Addresses of the path.
    pub(crate) depth: u32,
    /// Where the return addresses were above `sp`, bytes.
    pub(crate) slots: [u32; MAX_PATH],
}

static LAST_OWNER: AtomicU32 = AtomicU32::new(0);

impl Memory {
    /// Another thread uses it from now on.
    pub(crate) fn forget(&mut self) {
        self.owner = LAST_OWNER.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    }
}

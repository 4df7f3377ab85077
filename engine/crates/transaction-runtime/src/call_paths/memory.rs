//! A thread's cache of its call paths.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_wire::transactions::MAX_PATH;

/// The number of cached paths. Two paths in one place evict each other. A server calls hooks from about twenty places.
pub(crate) const MEMOS: usize = 128;
/// The most words that a walk reads: a return address and a frame base for each frame.
pub(crate) const READS: usize = 2 * MAX_PATH;
/// The number of words read at once from a stack that is not the thread's own.
pub(crate) const WINDOW: usize = 128;

/// A thread's cache and working memory. Zeroed, it is empty.
pub(crate) struct Memory {
    /// The owner's number, which is never reused, so that entries of earlier owners are not mistaken for its own.
    pub(crate) owner: u32,
    pub(crate) memos: [Memo; MEMOS],
    pub(crate) addresses: [u64; MAX_PATH],
    pub(crate) reads: [(u64, u64); READS],
    pub(crate) window: [u64; WINDOW],
}

/// A path that was walked.
pub(crate) struct Memo {
    /// The owner's number.
    pub(crate) owner: u32,
    pub(crate) return_address: u64,
    pub(crate) sp: u64,
    /// The number of the unwind table.
    pub(crate) table: u32,
    /// Its place in the table of paths, from 1.
    pub(crate) place: u32,
    /// The number of addresses.
    pub(crate) depth: u32,
    /// The offsets of the return addresses above `sp`, in bytes.
    pub(crate) slots: [u32; MAX_PATH],
}

static LAST_OWNER: AtomicU32 = AtomicU32::new(0);

impl Memory {
    /// Another thread uses it from now on.
    pub(crate) fn forget(&mut self) {
        self.owner = LAST_OWNER.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    }
}

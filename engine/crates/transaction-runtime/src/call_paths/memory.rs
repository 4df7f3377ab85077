//! A thread's cache of its call paths.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_wire::transactions::MAX_PATH;

/// Cached paths are in sets by the place and the stack pointer of the call. A server calls hooks from about twenty places.
pub(crate) const SETS: usize = 32;
/// How many paths of a set are cached. In every second process, three of twenty-five paths fall into one of 64 sets.
const IN_A_SET: usize = 4;
/// The most words that a walk reads: a return address and a frame base for each frame.
pub(crate) const READS: usize = 2 * MAX_PATH;
/// The number of words read at once from a stack that is not the thread's own.
pub(crate) const WINDOW: usize = 128;

/// A thread's cache and working memory. Zeroed, it is empty.
pub(crate) struct Memory {
    /// The owner's number, which is never reused, so that entries of earlier owners are not mistaken for its own.
    pub(crate) owner: u32,
    pub(crate) memos: [[Memo; IN_A_SET]; SETS],
    pub(crate) addresses: [u64; MAX_PATH],
    pub(crate) reads: [(u64, u64); READS],
    pub(crate) window: [u64; WINDOW],
}

/// A path that was walked. All that a hook needs to know it again is here: with up to twelve addresses in one cache line, because
/// between two hooks, servers use more memory than the caches hold.
#[repr(C, align(64))]
pub(crate) struct Memo {
    pub(crate) return_address: u64,
    pub(crate) sp: u64,
    /// The hash of its addresses.
    pub(crate) hash: u64,
    /// The number of the path, or 0 if there is none.
    pub(crate) path: u32,
    /// The log that has the path's record.
    pub(crate) log: u32,
    /// The owner's number.
    pub(crate) owner: u32,
    /// The number of the unwind table.
    pub(crate) table: u32,
    /// The number of addresses.
    pub(crate) depth: u16,
    /// How many words above `sp` the return addresses are, from the second on.
    pub(crate) slots: [u16; MAX_PATH - 1],
}

static LAST_OWNER: AtomicU32 = AtomicU32::new(0);

impl Memory {
    /// Another thread uses it from now on.
    pub(crate) fn forget(&mut self) {
        self.owner = LAST_OWNER.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    }
}

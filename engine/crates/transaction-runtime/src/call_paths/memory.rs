//! What each thread remembers of its call paths.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_wire::transactions::MAX_PATH;

/// Paths that a thread remembers. Two in one place forget each other, and a server calls hooks from some twenty places.
pub const MEMOS: usize = 128;
/// Words that a walk reads at most: a return address and a frame base each.
pub const READS: usize = 2 * MAX_PATH;
/// Words that are read at once from a stack that is not the thread's own.
pub const WINDOW: usize = 128;

/// What a thread remembers, and where it works. Zeroed, it remembers nothing.
pub struct Memory {
    /// Whose it is: never given twice, so that what others left is not taken for its own.
    pub owner: u32,
    pub memos: [Memo; MEMOS],
    pub addresses: [u64; MAX_PATH],
    pub reads: [(u64, u64); READS],
    pub window: [u64; WINDOW],
}

/// A path that was walked.
pub struct Memo {
    /// Whose it is.
    pub owner: u32,
    pub return_address: u64,
    pub sp: u64,
    /// The number of the unwind table.
    pub table: u32,
    /// Its place in the table of paths, from 1.
    pub place: u32,
    /// Addresses of the path.
    pub depth: u32,
    /// Where the return addresses were above `sp`, bytes.
    pub slots: [u32; MAX_PATH],
}

static LAST_OWNER: AtomicU32 = AtomicU32::new(0);

impl Memory {
    /// Another thread uses it from now on.
    pub fn forget(&mut self) {
        self.owner = LAST_OWNER.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    }
}

//! Our own memory allocator: the program's `malloc` may be instrumented, locked, or about to be replaced.
//!
//! Sizes of blocks are powers of two, with a list of free blocks for each size. Only blocks of a megabyte and more are given
//! back to the system. By hand, because a forked child must be able to free the allocator's lock, which allocators of
//! libraries do not offer.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

use fulcrum_preload::quiet::Lock;
use fulcrum_preload::sys;

struct Memory {
    lock: Lock,
    state: UnsafeCell<State>,
}

struct State {
    /// Lists of free blocks, by the logarithm of their size.
    free: [*mut u8; LARGE as usize],
    /// The rest of the piece that was mapped last.
    next: usize,
    end: usize,
}

// SAFETY: the state is only accessed while the lock is held.
unsafe impl Sync for Memory {}

#[global_allocator]
static MEMORY: Memory = Memory {
    lock: Lock::new(),
    state: UnsafeCell::new(State {
        free: [null_mut(); LARGE as usize],
        next: 0,
        end: 0,
    }),
};

/// The logarithm of the size from which on blocks are mapped one by one.
const LARGE: u32 = 20;
const SMALLEST: u32 = 4;
const PIECE: usize = 1 << 20;

/// The logarithm of a block's size.
fn bits(layout: Layout) -> u32 {
    let size = layout.size().max(layout.align()).max(1 << SMALLEST);
    size.next_power_of_two().trailing_zeros()
}

fn map(size: usize) -> *mut u8 {
    sys::map_anonymous(size).unwrap_or(null_mut())
}

impl State {
    fn take(&mut self, bits: u32) -> *mut u8 {
        let free = &mut self.free[bits as usize];
        if !free.is_null() {
            let block = *free;
            // SAFETY: a free block begins with a pointer to the next one.
            *free = unsafe { block.cast::<*mut u8>().read() };
            return block;
        }
        let size = 1 << bits;
        let mut start = self.next.next_multiple_of(size);
        if start + size > self.end {
            let piece = map(2 * PIECE);
            if piece.is_null() {
                return piece;
            }
            (self.next, self.end) = (piece.addr(), piece.addr() + 2 * PIECE);
            start = self.next.next_multiple_of(size);
        }
        self.next = start + size;
        std::ptr::with_exposed_provenance_mut(start)
    }
}

// SAFETY: blocks are aligned to their sizes, which are no smaller than what is asked for, and given to one owner at a time.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bits = bits(layout);
        if bits >= LARGE {
            // Mapped memory is aligned to pages, and nothing here asks for more.
            return map(1 << bits);
        }
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        unsafe { (*self.state.get()).take(bits) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let bits = bits(layout);
        if bits >= LARGE {
            // SAFETY: `alloc` mapped so much there.
            unsafe { libc::munmap(block.cast(), 1 << bits) };
            return;
        }
        let _guard = self.lock.lock();
        // SAFETY: the lock is held, and the block is nobody's from now on.
        unsafe {
            let free = &mut (*self.state.get()).free[bits as usize];
            block.cast::<*mut u8>().write(*free);
            *free = block;
        }
    }
}

/// In a forked child: frees the lock, which a thread of the parent may have held.
pub(crate) fn forked() {
    MEMORY.lock.free();
}

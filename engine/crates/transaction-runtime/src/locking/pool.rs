//! The library's own memory, for the state of watched critical sections. The program's allocator cannot be used: its locks
//! are hooked, and the thread in a watched section may hold them.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, null_mut};

use fulcrum_preload::quiet::Shared;
use fulcrum_preload::sys;

/// The smallest block size in bytes. Sizes are powers of two.
const SMALLEST: usize = 16;
/// Larger blocks are mapped separately.
const LARGEST: usize = 1 << 20;
const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;
/// The size of the pieces that are requested from the system, in bytes.
const PIECE: usize = 4 * LARGEST;

struct Pool {
    /// By size class: the address of the first free block, which holds that of the next, or 0.
    free: [usize; CLASSES],
    /// The unused rest of the last piece.
    next: usize,
    end: usize,
}

const EMPTY: Pool = Pool {
    free: [0; CLASSES],
    next: 0,
    end: 0,
};

static POOL: Shared<Pool> = Shared::new(EMPTY);

/// The library's allocator, which never serves the program.
struct Own;

#[global_allocator]
static OWN: Own = Own;

/// The block size for a layout, and its class if it comes from the pool.
fn size(layout: Layout) -> (usize, Option<usize>) {
    let least = layout.size().max(layout.align()).max(SMALLEST);
    let size = least.checked_next_power_of_two().unwrap_or(usize::MAX);
    let class = (size <= LARGEST).then(|| (size / SMALLEST).trailing_zeros() as usize);
    (size, class)
}

impl Pool {
    fn take(&mut self, size: usize, class: usize) -> *mut u8 {
        let first = self.free[class];
        if first != 0 {
            let block = ptr::with_exposed_provenance_mut::<u8>(first);
            // SAFETY: a free block holds the address of the next one.
            self.free[class] = unsafe { block.cast::<usize>().read() };
            return block;
        }
        // Pieces start at pages, so a block at a multiple of its size is aligned to it, up to a page.
        let mut at = self.next.next_multiple_of(size);
        if at + size > self.end {
            let Some(piece) = sys::map_anonymous(PIECE) else {
                return null_mut();
            };
            let piece = piece.expose_provenance();
            at = piece.next_multiple_of(size);
            self.end = piece + PIECE;
        }
        self.next = at + size;
        ptr::with_exposed_provenance_mut(at)
    }
}

// SAFETY: a block has one user at a time, is at least as large as requested, and is aligned to its size.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match size(layout) {
            (size, Some(class)) => POOL.lock().take(size, class),
            (size, None) if layout.align() <= sys::PAGE => {
                sys::map_anonymous(size).unwrap_or(null_mut())
            }
            _ => null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match size(layout) {
            (_, Some(class)) => {
                let mut pool = POOL.lock();
                // SAFETY: nobody uses the block any more, and it has room for an address.
                unsafe { block.cast::<usize>().write(pool.free[class]) };
                pool.free[class] = block.expose_provenance();
            }
            // SAFETY: unmaps what `alloc` has mapped.
            (size, None) => unsafe {
                sys::call(libc::SYS_munmap, [block.addr(), size, 0, 0, 0, 0]);
            },
        }
    }
}

/// In a forked child: abandons what another thread was changing.
pub(crate) fn after_fork() {
    // SAFETY: in a forked child, no other thread has it.
    unsafe { POOL.raw() }.free();
    *POOL.lock() = EMPTY;
}

//! Memory of our own, for the books of critical sections. The program's allocator cannot serve: its locks are hooked, and the
//! thread whose section is watched may hold them.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, null_mut};

use fulcrum_preload::quiet::Shared;
use fulcrum_preload::sys;

/// Sizes are powers of two: from this one on, bytes.
const SMALLEST: usize = 16;
/// Larger ones are mapped by themselves.
const LARGEST: usize = 1 << 20;
const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;
/// Memory is taken from the system in such pieces, bytes.
const PIECE: usize = 4 * LARGEST;

struct Pool {
    /// By class, the address of the first free block, which holds that of the next; 0: none.
    free: [usize; CLASSES],
    /// What is left of the last piece.
    next: usize,
    end: usize,
}

const EMPTY: Pool = Pool {
    free: [0; CLASSES],
    next: 0,
    end: 0,
};

static POOL: Shared<Pool> = Shared::new(EMPTY);

/// The library's allocator. No memory of the program's comes from it.
struct Own;

#[global_allocator]
static OWN: Own = Own;

/// The size of a block for this, and its class if it is of the pool.
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
            // SAFETY: a free block, which holds the address of the next.
            self.free[class] = unsafe { block.cast::<usize>().read() };
            return block;
        }
        // Pieces begin at pages; a block at a multiple of its size is aligned to it as far as a page is.
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

// SAFETY: blocks are of one user at a time, at least as large as asked for, and aligned to their size.
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
            // SAFETY: what `alloc` has mapped.
            (size, None) => unsafe {
                sys::call(libc::SYS_munmap, [block.addr(), size, 0, 0, 0, 0]);
            },
        }
    }
}

/// In a forked child: what another thread was changing is passed over.
pub(crate) fn after_fork() {
    POOL.raw().free();
    *POOL.lock() = EMPTY;
}

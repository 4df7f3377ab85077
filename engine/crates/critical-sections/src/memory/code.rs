//! The engine's own memory. It never calls the program's `malloc`, whose lock the thread may hold.

use core::ptr::NonNull;
use core::sync::atomic::AtomicPtr;

use fulcrum_preload::sys;

/// Memory that is handed out piece by piece and never freed.
pub(crate) struct Arena {
    start: NonNull<u8>,
    room: usize,
    used: usize,
}

// SAFETY: the arena owns the memory that it has not handed out yet.
unsafe impl Send for Arena {}

impl Arena {
    /// Reserves this many bytes, which are backed only once used. Returns `None` if the system refuses.
    pub(crate) fn new(room: usize) -> Option<Arena> {
        let start = NonNull::new(sys::map_anonymous(room)?)?;
        Some(Arena {
            start,
            room,
            used: 0,
        })
    }

    /// Keeps a copy of a value. Returns `None` if the arena is full.
    pub(crate) fn keep<T: 'static>(&mut self, value: T) -> Option<&'static T> {
        let place = self.room_for::<T>(1)?;
        // SAFETY: `take` returns aligned memory of the right size that belongs to nobody else and is never unmapped.
        unsafe {
            place.write(value);
            Some(place.as_ref())
        }
    }

    /// Keeps copies of values. Returns `None` if the arena is full.
    pub(crate) fn keep_all<T: Copy + 'static>(&mut self, values: &[T]) -> Option<&'static [T]> {
        let place = self.room_for::<T>(values.len())?;
        for (n, value) in values.iter().enumerate() {
            // SAFETY: within the memory that was just taken.
            unsafe { place.add(n).write(*value) };
        }
        // SAFETY: all values were written, and the memory is never unmapped.
        Some(unsafe { core::slice::from_raw_parts(place.as_ptr(), values.len()) })
    }

    /// Returns null pointers, or `None` if the arena is full.
    pub(crate) fn nulls<T>(&mut self, count: usize) -> Option<&'static [AtomicPtr<T>]> {
        let place = self.room_for::<AtomicPtr<T>>(count)?;
        // SAFETY: a fresh mapping is zeroed, and zero is a null pointer.
        Some(unsafe { core::slice::from_raw_parts(place.as_ptr(), count) })
    }

    fn room_for<T>(&mut self, count: usize) -> Option<NonNull<T>> {
        let at = self.used.next_multiple_of(align_of::<T>());
        let end = at.checked_add(size_of::<T>().checked_mul(count)?)?;
        if end > self.room {
            return None;
        }
        self.used = end;
        // SAFETY: within the mapping, which starts at a page.
        Some(unsafe { self.start.add(at) }.cast())
    }
}

/// Memory for code. It is writable and executable at once, because threads run in one part while another part is written.
pub(crate) struct CodeMemory {
    pub(crate) start: *mut u8,
    pub(crate) room: usize,
}

// SAFETY: it owns the mapping, like the arena.
unsafe impl Send for CodeMemory {}

impl CodeMemory {
    /// Returns `None` if the system does not allow such memory.
    pub(crate) fn new(room: usize) -> Option<CodeMemory> {
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let args = [0, room, protection as usize, flags as usize, usize::MAX, 0];
        // SAFETY: a fresh private mapping touches no existing memory.
        let at = unsafe { sys::call(libc::SYS_mmap, args) };
        (at > 0).then_some(CodeMemory {
            start: at as *mut u8,
            room,
        })
    }
}

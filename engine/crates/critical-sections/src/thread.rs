//! The engine's state for each thread.

use core::mem::offset_of;
use core::ptr::NonNull;

use crate::list::List;
use crate::memory::tls;
use crate::policy::Rests;
use crate::replay::{Effects, Lanes};
use crate::translation::gate::VECTOR_ROOM;
use fulcrum_preload::sys;

/// The size of a thread's engine stack. Signal handlers may run on it as well.
const STACK: usize = 256 << 10;
/// The most locks known to the observer that one thread holds at a time.
const MOST_LOCKS: usize = 32;
/// The longest path, in branches.
pub(crate) const LONGEST_PATH: usize = 32;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In the program's own code.
    Native,
    /// In translated code, or in the engine on its behalf.
    Watched,
    /// In a native function. Holds the place on the stack of its return address.
    Calling(u64),
}

/// A path that is being recorded, to be translated as one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording {
    pub(crate) head: u64,
    pub(crate) path: List<u64, LONGEST_PATH>,
}

/// A thread's state.
pub(crate) struct Thread {
    pub(crate) state: State,
    /// Where the thread took the outermost lock of the watched section.
    pub(crate) site: u64,
    /// That lock.
    pub(crate) lock: u64,
    /// Whether the observer does not know yet that the thread has taken this lock.
    pub(crate) is_unknown: bool,
    /// Whether the observer wants reports.
    pub(crate) is_wanted: bool,
    /// Instructions left until the thread runs natively.
    pub(crate) left: u32,
    pub(crate) in_window: bool,
    /// Whether the observer is being called. What signal handlers do meanwhile is not reported.
    pub(crate) is_telling: bool,
    /// The held locks known to the observer.
    pub(crate) held: List<u64, MOST_LOCKS>,
    pub(crate) effects: Effects,
    pub(crate) lanes: Lanes,
    pub(crate) rests: Rests,
    pub(crate) recording: Option<Recording>,
}

/// A thread's mapping: vector registers, state and stack.
#[repr(C, align(64))]
struct Mapping {
    vectors: [u8; VECTOR_ROOM],
    thread: Thread,
}

const MAPPING: usize = size_of::<Mapping>().next_multiple_of(sys::PAGE) + STACK;

impl Thread {
    /// Makes a state in uninitialised memory, field by field, because it is too large for some programs' stacks.
    ///
    /// # Safety
    /// `at` is valid for writes, and aligned.
    unsafe fn make_at(at: *mut Thread) {
        // SAFETY: the caller promises a place that is valid for writes. Each field is written.
        unsafe {
            (&raw mut (*at).state).write(State::Native);
            (&raw mut (*at).site).write(0);
            (&raw mut (*at).lock).write(0);
            (&raw mut (*at).is_unknown).write(false);
            (&raw mut (*at).is_wanted).write(false);
            (&raw mut (*at).left).write(0);
            (&raw mut (*at).in_window).write(false);
            (&raw mut (*at).is_telling).write(false);
            List::make_at(&raw mut (*at).held);
            List::make_at(&raw mut (*at).effects);
            (&raw mut (*at).lanes).write(Lanes::new());
            (&raw mut (*at).rests).write(Rests::new());
            (&raw mut (*at).recording).write(None);
        }
    }

    /// The calling thread's state, if it has one.
    pub(crate) fn known() -> Option<NonNull<Thread>> {
        // SAFETY: reads the calling thread's own words.
        let at = unsafe { (*tls::words()).thread };
        NonNull::new(core::ptr::with_exposed_provenance_mut(at as usize))
    }

    /// The calling thread's state, created if necessary. Returns `None` if there is no memory.
    pub(crate) fn current() -> Option<NonNull<Thread>> {
        if let Some(known) = Thread::known() {
            return Some(known);
        }
        let start = NonNull::new(sys::map_anonymous(MAPPING)?)?;
        let start_address = start.as_ptr().expose_provenance();
        // SAFETY: within the fresh mapping, which starts at a page and belongs to nobody else.
        let thread = unsafe {
            let thread = start.add(offset_of!(Mapping, thread)).cast::<Thread>();
            Thread::make_at(thread.as_ptr());
            thread
        };
        let words = tls::words();
        // SAFETY: writes the calling thread's own words; nothing else refers to the state yet.
        unsafe {
            (*words).itself = words.addr() as u64;
            (*words).vectors = start_address as u64;
            (*words).stack = (start_address + MAPPING) as u64;
            (*words).thread = thread.as_ptr().expose_provenance() as u64;
        }
        Some(thread)
    }

    /// Updates whether hooks may rely on the table of resting sites alone.
    pub(crate) fn settle(&self) {
        let is_idle = self.state == State::Native && !self.is_telling;
        let rests = match is_idle && self.held.as_slice().is_empty() {
            true => self.rests.table().expose_provenance() as u64,
            false => 0,
        };
        // SAFETY: writes the calling thread's own words.
        unsafe { (*tls::words()).rests = rests };
    }

    /// Whether an address is on the calling thread's engine stack.
    pub(crate) fn owns_stack(address: u64) -> bool {
        // SAFETY: reads the calling thread's own words.
        let top = unsafe { (*tls::words()).stack };
        (top.wrapping_sub(STACK as u64)..top).contains(&address)
    }

    /// Frees the calling thread's state.
    pub(crate) fn end() {
        let Some(thread) = Thread::known() else {
            return;
        };
        // SAFETY: the words are the calling thread's own, and nothing refers to its mapping any more.
        unsafe {
            let words = tls::words();
            (*words).thread = 0;
            (*words).rests = 0;
            let start = thread.as_ptr().addr() - offset_of!(Mapping, thread);
            sys::call(libc::SYS_munmap, [start, MAPPING, 0, 0, 0, 0]);
        }
    }
}

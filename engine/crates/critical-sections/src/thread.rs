//! What the engine keeps for each thread.

use core::mem::offset_of;
use core::ptr::NonNull;

use crate::list::List;
use crate::memory::tls;
use crate::policy::Rests;
use crate::replay::{Effects, Lanes};
use crate::translation::gate::VECTOR_ROOM;
use fulcrum_preload::sys;

/// The engine's own stack of a thread; handlers of signals may run on it too.
const STACK: usize = 256 << 10;
/// Locks of one thread at a time that the observer knows of.
const MOST_LOCKS: usize = 32;
/// The longest path, in branches.
pub(crate) const LONGEST_PATH: usize = 32;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In its own code.
    Native,
    /// In translated code, or in the engine on its behalf.
    Watched,
    /// In a function that runs natively: the place on the stack of the address that it returns to.
    Calling(u64),
}

/// A path that is being followed to be translated as one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording {
    pub(crate) head: u64,
    pub(crate) path: List<u64, LONGEST_PATH>,
}

/// A thread's state.
pub(crate) struct Thread {
    pub(crate) state: State,
    /// Where it took the outermost lock of the section that is watched.
    pub(crate) site: u64,
    /// That lock.
    pub(crate) lock: u64,
    /// The observer wants to be told what it does.
    pub(crate) is_wanted: bool,
    /// Instructions until it runs natively again.
    pub(crate) left: u32,
    pub(crate) in_window: bool,
    /// The observer is being called: what signal handlers do meanwhile is not told.
    pub(crate) is_telling: bool,
    /// Locks that it holds, as far as the observer knows.
    pub(crate) held: List<u64, MOST_LOCKS>,
    pub(crate) effects: Effects,
    pub(crate) lanes: Lanes,
    pub(crate) rests: Rests,
    pub(crate) recording: Option<Recording>,
}

/// The mapping of a thread: vector registers, its state, its stack.
#[repr(C, align(64))]
struct Mapping {
    vectors: [u8; VECTOR_ROOM],
    thread: Thread,
}

const MAPPING: usize = size_of::<Mapping>().next_multiple_of(sys::PAGE) + STACK;

impl Thread {
    /// Makes a state of memory that has anything. Piece by piece: it is too large for the stacks of some programs.
    ///
    /// # Safety
    /// `at` must be writable, and aligned.
    unsafe fn make_at(at: *mut Thread) {
        // SAFETY: the caller's promise; each field is written.
        unsafe {
            (&raw mut (*at).state).write(State::Native);
            (&raw mut (*at).site).write(0);
            (&raw mut (*at).lock).write(0);
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
        // SAFETY: the calling thread's words.
        let at = unsafe { (*tls::words()).thread };
        NonNull::new(core::ptr::with_exposed_provenance_mut(at as usize))
    }

    /// The calling thread's state, made when there is none. `None` when there is no memory.
    pub(crate) fn current() -> Option<NonNull<Thread>> {
        if let Some(known) = Thread::known() {
            return Some(known);
        }
        let start = NonNull::new(sys::map_anonymous(MAPPING)?)?;
        let start_address = start.as_ptr().expose_provenance();
        // SAFETY: within the mapping, which begins at a page and is nobody else's.
        let thread = unsafe {
            let thread = start.add(offset_of!(Mapping, thread)).cast::<Thread>();
            Thread::make_at(thread.as_ptr());
            thread
        };
        let words = tls::words();
        // SAFETY: the calling thread's words; nothing else knows them yet.
        unsafe {
            (*words).itself = words.addr() as u64;
            (*words).vectors = start_address as u64;
            (*words).stack = (start_address + MAPPING) as u64;
            (*words).thread = thread.as_ptr().expose_provenance() as u64;
        }
        Some(thread)
    }

    /// Says whether hooks need to ask for nothing but what it knows of sites that rest.
    pub(crate) fn settle(&self) {
        let is_idle = self.state == State::Native && !self.is_telling;
        let rests = match is_idle && self.held.as_slice().is_empty() {
            true => self.rests.table().expose_provenance() as u64,
            false => 0,
        };
        // SAFETY: the calling thread's words.
        unsafe { (*tls::words()).rests = rests };
    }

    /// Whether an address is in the engine's own stack of the calling thread.
    pub(crate) fn owns_stack(address: u64) -> bool {
        // SAFETY: the calling thread's words.
        let top = unsafe { (*tls::words()).stack };
        (top.wrapping_sub(STACK as u64)..top).contains(&address)
    }

    /// Frees what the calling thread has.
    pub(crate) fn end() {
        let Some(thread) = Thread::known() else {
            return;
        };
        // SAFETY: the calling thread's words, and its mapping, which nothing refers to any more.
        unsafe {
            let words = tls::words();
            (*words).thread = 0;
            (*words).rests = 0;
            let start = thread.as_ptr().addr() - offset_of!(Mapping, thread);
            sys::call(libc::SYS_munmap, [start, MAPPING, 0, 0, 0, 0]);
        }
    }
}

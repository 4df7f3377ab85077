//! Requests as progress points, without a change of the source: those of one type, from their first bytes until the first
//! bytes of the answer on the same descriptor.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use fulcrum_runtime_core::request;
use libc::ssize_t;

use crate::points::{self, Counter};
use crate::{control, thread};

/// Descriptors that are told apart; requests on higher ones are not counted.
const DESCRIPTORS: usize = 1 << 16;
/// Which have a request that was not answered yet.
static OPEN: [AtomicBool; DESCRIPTORS] = [const { AtomicBool::new(false) }; DESCRIPTORS];
/// Where requests begin; null until the first.
static BEGINS: AtomicPtr<Counter> = AtomicPtr::new(null_mut());
/// Where they end.
static ENDS: AtomicPtr<Counter> = AtomicPtr::new(null_mut());

/// Whether a request on the descriptor has not been answered; `None` of one that is not told apart.
fn open(fd: c_int) -> Option<&'static AtomicBool> {
    OPEN.get(usize::try_from(fd).ok()?)
}

/// Bytes have come from a descriptor, so many, or none at its end.
///
/// # Safety
/// So many are at `bytes`.
#[inline]
pub unsafe fn came(fd: c_int, bytes: *const c_void, count: ssize_t) {
    if control::counts_requests() && thread::active().is_some() {
        let bytes: &[u8] = match usize::try_from(count) {
            // SAFETY: the caller's promise.
            Ok(count) if count > 0 => unsafe { slice::from_raw_parts(bytes.cast(), count) },
            Ok(_) => &[],
            Err(_) => return,
        };
        came_now(fd, bytes);
    }
}

/// Apart, so that a call costs little where nothing is counted.
#[cold]
#[inline(never)]
fn came_now(fd: c_int, bytes: &[u8]) {
    let Some(open) = open(fd) else { return };
    if bytes.is_empty() {
        // The other side has gone, and waits for nothing any more.
        end(open);
        return;
    }
    let name = control::map().request;
    if !request::is_of(name, bytes) || open.load(Ordering::Relaxed) {
        return;
    }
    if let Some(begins) = begins(name) {
        // What is owed for the time before is none of the request's.
        thread::before();
        open.store(true, Ordering::Relaxed);
        begins.visit();
    }
}

/// Where requests begin. Looked up once: who looks up holds a lock, and may be made to pause meanwhile.
fn begins(name: &[u8]) -> Option<&'static Counter> {
    // SAFETY: null or a counter, which live for ever.
    if let Some(begins) = unsafe { BEGINS.load(Ordering::Acquire).as_ref() } {
        return Some(begins);
    }
    let (begins, ends) = points::latency(name)?;
    ENDS.store(core::ptr::from_ref(ends).cast_mut(), Ordering::Release);
    BEGINS.store(core::ptr::from_ref(begins).cast_mut(), Ordering::Release);
    Some(begins)
}

/// Bytes are about to go to a descriptor, by a thread that owes nothing.
#[inline]
pub fn goes(fd: c_int) {
    if control::counts_requests()
        && let Some(open) = open(fd)
    {
        end(open);
    }
}

/// A request ends, if there is one.
fn end(open: &AtomicBool) {
    if !open.load(Ordering::Relaxed) || !open.swap(false, Ordering::AcqRel) {
        return;
    }
    // SAFETY: null or a counter, which live for ever.
    if let Some(ends) = unsafe { ENDS.load(Ordering::Acquire).as_ref() } {
        ends.visit();
    }
}

/// In a forked child: its parent's requests are none of its own.
pub fn forget() {
    if control::counts_requests() {
        for open in &OPEN {
            open.store(false, Ordering::Relaxed);
        }
    }
}

//! Requests as progress points, without a change of the source: a request of the type lasts from its first bytes until the
//! first bytes of the answer on the same descriptor.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use fulcrum_runtime_core::request;
use libc::ssize_t;

use crate::experiment::points::{self, Counter};
use crate::process::{control, thread};

/// Requests are counted on descriptors below this number.
const DESCRIPTORS: usize = 1 << 16;
/// Whether each descriptor has a request that has not been answered yet.
static OPEN: [AtomicBool; DESCRIPTORS] = [const { AtomicBool::new(false) }; DESCRIPTORS];
/// The counter of requests that began; null until the first.
static BEGINS: AtomicPtr<Counter> = AtomicPtr::new(null_mut());
/// The counter of requests that ended.
static ENDS: AtomicPtr<Counter> = AtomicPtr::new(null_mut());

/// The descriptor's entry in [`OPEN`]; `None` if its number is too high.
fn open(fd: c_int) -> Option<&'static AtomicBool> {
    OPEN.get(usize::try_from(fd).ok()?)
}

/// A call has received `count` bytes from a descriptor; 0 at its end, negative for an error.
///
/// # Safety
/// `count` bytes are at `bytes`, unless it is negative.
#[inline]
pub(crate) unsafe fn received(fd: c_int, bytes: *const c_void, count: ssize_t) {
    if control::counts_requests() && thread::active().is_some() {
        let bytes: &[u8] = match usize::try_from(count) {
            // SAFETY: the caller's promise.
            Ok(count) if count > 0 => unsafe { slice::from_raw_parts(bytes.cast(), count) },
            Ok(_) => &[],
            Err(_) => return,
        };
        received_now(fd, bytes);
    }
}

/// A function of its own, so that a call costs little where nothing is counted.
#[cold]
#[inline(never)]
fn received_now(fd: c_int, bytes: &[u8]) {
    let Some(open) = open(fd) else { return };
    if bytes.is_empty() {
        // The other side has closed the connection, and waits for nothing.
        end(open);
        return;
    }
    let name = control::map().request;
    if !request::matches(name, bytes) || open.load(Ordering::Relaxed) {
        return;
    }
    if let Some(begins) = begins(name) {
        // Delay that is owed for the time before must not become part of the request.
        thread::before();
        open.store(true, Ordering::Relaxed);
        begins.visit();
    }
}

/// The counter of requests that began. It is looked up only once, because the look-up takes a lock and the thread may pause
/// meanwhile.
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

/// A thread that owes nothing is about to send bytes to a descriptor.
#[inline]
pub(crate) fn sending(fd: c_int) {
    if control::counts_requests()
        && let Some(open) = open(fd)
    {
        end(open);
    }
}

/// Ends the request, if there is one.
fn end(open: &AtomicBool) {
    if !open.load(Ordering::Relaxed) || !open.swap(false, Ordering::AcqRel) {
        return;
    }
    // SAFETY: null or a counter, which live for ever.
    if let Some(ends) = unsafe { ENDS.load(Ordering::Acquire).as_ref() } {
        ends.visit();
    }
}

/// In a forked child: forgets its parent's requests.
pub(crate) fn reset() {
    if control::counts_requests() {
        for open in &OPEN {
            open.store(false, Ordering::Relaxed);
        }
    }
}

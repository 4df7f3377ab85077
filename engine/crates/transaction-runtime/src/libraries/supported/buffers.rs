//! libevent's own handlers for buffers: the program's handlers they are recorded as, and what is called after them.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::libraries::handlers::StubId;
use crate::libraries::registrations::{ObjectKind, find, key};

/// Data can be read.
pub(crate) const READS: u64 = 0x02;
/// Data can be written.
pub(crate) const WRITES: u64 = 0x04;
/// The peer has closed its side.
pub(crate) const CLOSES: u64 = 0x80;

/// libevent's own code: the start, and the end (exclusive).
static OWN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Sets where libevent's code is.
pub(crate) fn know(own: [usize; 2]) {
    for (place, value) in OWN.iter().zip(own) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Whether some buffers' handlers are called after libevent's own.
static DEFERS: AtomicBool = AtomicBool::new(false);

/// From now on they are.
pub(crate) fn defer() {
    DEFERS.store(true, Ordering::Relaxed);
}

/// The key of the buffers for which libevent calls one of its own handlers, if the buffers' handlers may be called
/// afterwards, or 0.
pub(crate) fn called_later(stub: StubId, arguments: &[u64]) -> u64 {
    let key = key(ObjectKind::Buffers, arguments[2]);
    let is_later = DEFERS.load(Ordering::Relaxed) && is_own(stub.function()) && find(key).is_some();
    if is_later { key } else { 0 }
}

fn is_own(function: usize) -> bool {
    let [from, to] = [0, 1].map(|at| OWN[at].load(Ordering::Relaxed));
    (from..to).contains(&function)
}

/// The function that a handler is recorded as. A libevent handler that reads or writes for buffers is recorded as the
/// program's handler for that.
pub(crate) fn handler(stub: StubId, arguments: &[u64]) -> usize {
    let function = stub.function();
    if !is_own(function) {
        return function;
    }
    let what = arguments[1];
    let of_buffers = find(key(ObjectKind::Buffers, arguments[2])).map(|known| {
        let both = known.other.load(Ordering::Relaxed);
        if what & READS != 0 {
            both as u32
        } else if what & WRITES != 0 {
            (both >> 32) as u32
        } else {
            0
        }
    });
    let of_program = of_buffers.and_then(|it| it.checked_sub(1));
    of_program.map_or(function, |it| StubId(it).function())
}

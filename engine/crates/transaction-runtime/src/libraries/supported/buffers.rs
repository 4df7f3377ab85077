//! What libevent calls of its own for buffers: by which names it is told, and what is called after it.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::libraries::handlers::StubId;
use crate::libraries::registrations::{Of, find, key};

/// Something can be read.
pub(crate) const READS: u64 = 0x02;
/// Something can be written.
pub(crate) const WRITES: u64 = 0x04;
/// The other side has closed.
pub(crate) const CLOSES: u64 = 0x80;

/// libevent's own code: where it begins, and behind its end.
static OWN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// That is where it is.
pub(crate) fn know(own: [usize; 2]) {
    for (place, value) in OWN.iter().zip(own) {
        place.store(value, Ordering::Relaxed);
    }
}

/// Some buffers' handlers are called after libevent's own.
static DEFERS: AtomicBool = AtomicBool::new(false);

/// They are from now on.
pub(crate) fn defer() {
    DEFERS.store(true, Ordering::Relaxed);
}

/// The key of the buffers for which libevent calls a handler of its own, if theirs may be called after it; 0: there are none.
pub(crate) fn called_later(stub: StubId, arguments: &[u64]) -> u64 {
    let key = key(Of::Buffers, arguments[2]);
    let is_later = DEFERS.load(Ordering::Relaxed) && is_own(stub.function()) && find(key).is_some();
    if is_later { key } else { 0 }
}

fn is_own(function: usize) -> bool {
    let [from, to] = [0, 1].map(|at| OWN[at].load(Ordering::Relaxed));
    (from..to).contains(&function)
}

/// The function that a handler is told as. One of libevent's that reads or writes for buffers is told as the one that the program has for
/// that.
pub(crate) fn handler(stub: StubId, arguments: &[u64]) -> usize {
    let function = stub.function();
    if !is_own(function) {
        return function;
    }
    let what = arguments[1];
    let of_buffers = find(key(Of::Buffers, arguments[2])).map(|known| {
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

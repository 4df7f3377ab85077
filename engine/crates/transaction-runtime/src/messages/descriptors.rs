//! Changes of the program's descriptors: they are opened, copied and closed.

use core::ffi::c_int;

use fulcrum_wire::transactions::Via;

use super::entries::{self, Entry, get, register};
use super::streams::{self, Stream};
use crate::threads::thread;

/// The descriptor is a new one from now on, about which this is known.
pub(crate) fn renew(fd: c_int, entry: Entry) {
    register(fd, None);
    change(fd, entry);
}

/// Sets what is known about the descriptor.
pub(crate) fn change(fd: c_int, entry: Entry) {
    if let Some(Entry::Stream { place, id }) = entries::set(fd, entry)
        && let Some(stream) = Stream::of(place, id)
    {
        streams::release(stream, place);
    }
}

/// The descriptor is closed, or was closed unseen.
#[inline]
pub(crate) fn closed(fd: c_int) {
    if entries::is_known(fd) {
        renew(fd, Entry::Unknown(Via::Found));
    }
}

/// All of `first..=last` are closed.
pub(crate) fn closed_between(first: u32, last: u32) {
    let end = (last as usize + 1).min(entries::end());
    for fd in first as usize..end {
        closed(fd as c_int);
    }
}

/// `to` is now a copy of `from`.
pub(crate) fn copied(from: c_int, to: c_int) {
    if from == to || to < 0 {
        return;
    }
    let inside = thread::enter();
    // If the two were identified separately, they would be two streams.
    let stream = get(from).and_then(|entry| streams::of(inside.as_ref(), from, entry));
    drop(inside);
    let entry = match (get(from), stream) {
        (Some(entry @ Entry::Stream { .. }), Some(stream)) => {
            stream.keep();
            entry
        }
        (Some(entry @ Entry::Nothing), _) => entry,
        (Some(entry @ Entry::Unknown(_)), _) => entry,
        _ => Entry::Unknown(Via::Found),
    };
    renew(to, entry);
}

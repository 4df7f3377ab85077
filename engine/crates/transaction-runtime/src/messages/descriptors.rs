//! What happens to the program's descriptors: they are opened, copied and closed.

use core::ffi::c_int;

use fulcrum_wire::transactions::Via;

use super::entries::{self, Entry, look, register};
use super::streams::{self, Stream};
use crate::threads::thread;

/// It is another one from now on, of which that much is known.
pub(crate) fn renew(fd: c_int, entry: Entry) {
    register(fd, None);
    change(fd, entry);
}

/// That much is known of it from now on.
pub(crate) fn change(fd: c_int, entry: Entry) {
    if let Some(Entry::Stream { place, id }) = entries::set(fd, entry)
        && let Some(stream) = Stream::of(place, id)
    {
        streams::release(stream, place);
    }
}

/// It is closed, or was without our seeing it.
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

/// `to` is the same as `from`.
pub(crate) fn copied(from: c_int, to: c_int) {
    if from == to || to < 0 {
        return;
    }
    let inside = thread::enter();
    // Found apart, they would be two streams.
    let stream = look(from).and_then(|entry| streams::of(inside.as_ref(), from, entry));
    drop(inside);
    let entry = match (look(from), stream) {
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

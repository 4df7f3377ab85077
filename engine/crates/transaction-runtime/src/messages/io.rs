//! Bytes that pass through streams. They are always counted, and logged unless a signal handler has interrupted our code.

use core::ffi::{c_int, c_void};
use core::slice;

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{MAX_HEAD, Record};

use super::entries::{self, Entry, Passed};
use super::streams::{self, Stream};
use crate::hooks::frame::Frame;
use crate::log;
use crate::session;
use crate::threads::process_context;
use crate::threads::thread::{self, Inside};
use crate::windows;

/// A call that may move bytes, before it is made.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    fd: c_int,
    entry: Entry,
    /// 0 in a pause.
    time_ns: u64,
}

impl Begun {
    /// When it began. What began in a pause is taken to begin now.
    fn time_ns(&self) -> u64 {
        match self.time_ns {
            0 => sys::now(),
            time_ns => time_ns,
        }
    }
}

/// Returns `None` if nothing on this descriptor is logged.
#[inline]
pub(crate) fn begin(fd: c_int) -> Option<Begun> {
    if !thread::is_logged() {
        return None;
    }
    match entries::get(fd)? {
        Entry::Nothing => None,
        entry => Some(Begun {
            fd,
            entry,
            time_ns: if windows::is_open() { sys::now() } else { 0 },
        }),
    }
}

/// Counts what passes in a pause. A descriptor need not be identified for that.
#[inline]
fn pass_unrecorded(begun: &Begun, known: impl FnOnce(&Stream), unknown: impl FnOnce(&Passed)) {
    // Meanwhile, another thread may have identified it.
    let entry = match begun.entry {
        Entry::Unknown(_) => entries::get(begun.fd).unwrap_or(begun.entry),
        entry => entry,
    };
    match entry {
        Entry::Stream { place, id } => {
            if let Some(stream) = Stream::of(place, id) {
                known(stream);
            }
        }
        Entry::Unknown(_) => {
            if let Some(passed) = entries::passed(begun.fd) {
                unknown(passed);
            }
        }
        Entry::Nothing => {}
    }
}

/// Where the program receives bytes.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Nowhere that this call shows.
    Nowhere,
    /// In one buffer.
    One(*const c_void),
    /// In this many buffers.
    Parts(*const libc::iovec, usize),
}

/// `bytes` bytes were sent, or none if it is less than 1.
pub(crate) fn sent(begun: Begun, bytes: isize, frame: &Frame) {
    if bytes <= 0 {
        return;
    }
    let length = bytes as u64;
    log::count_message();
    if !windows::is_open() {
        let sends = |it: &Stream| {
            it.sends(length);
        };
        return pass_unrecorded(&begun, sends, |it| it.sends(length));
    }
    let inside = thread::enter();
    let Some(stream) = streams::of(inside.as_ref(), begun.fd, begun.entry) else {
        return;
    };
    let offset = stream.sends(length);
    if let Some(inside) = inside {
        stream.announce(&inside);
        let record = Record::Send {
            stream: stream.id(),
            offset,
            length,
            began_ns: begun.time_ns(),
        };
        inside.write(inside.path(frame), &record);
        process_context::log(&inside);
    }
}

/// `bytes` bytes were received, or none if it is negative. 0 is the end of the stream.
pub(crate) fn received(begun: Begun, bytes: isize, place: Place, frame: &Frame) {
    let Ok(length) = u64::try_from(bytes) else {
        return;
    };
    if !windows::is_open() {
        let receives = |it: &Stream| it.receives_unrecorded(length);
        return pass_unrecorded(&begun, receives, |it| it.receives(length));
    }
    let inside = thread::enter();
    let Some(stream) = streams::of(inside.as_ref(), begun.fd, begun.entry) else {
        return;
    };
    let (offset, since_send) = stream.receives(length);
    let Some(inside) = inside.filter(|_| !stream.is_asked()) else {
        return;
    };
    stream.announce(&inside);
    let arrival = Arrival {
        stream,
        offset,
        length,
        began_ns: begun.time_ns(),
        path: inside.path(frame),
    };
    let wanted = session::session()
        .map_or(0, |it| it.head().saturating_sub(since_send))
        .min(bytes as usize);
    match place {
        Place::One(at) if wanted > 0 => {
            // SAFETY: the kernel has just written at least this many bytes there.
            arrival.write(&inside, unsafe { slice::from_raw_parts(at.cast(), wanted) });
        }
        // SAFETY: the kernel has just written at least this many bytes into these buffers.
        Place::Parts(parts, count) if wanted > 0 => unsafe {
            let parts = slice::from_raw_parts(parts, count);
            arrival.write_parts(&inside, parts, wanted);
        },
        _ => arrival.write(&inside, &[]),
    }
}

/// Bytes that one call received.
struct Arrival {
    stream: &'static Stream,
    offset: u64,
    length: u64,
    began_ns: u64,
    path: u32,
}

impl Arrival {
    fn write(&self, inside: &Inside, head: &[u8]) {
        let record = Record::Receive {
            stream: self.stream.id(),
            offset: self.offset,
            length: self.length,
            began_ns: self.began_ns,
            head,
        };
        inside.write(self.path, &record);
    }

    /// # Safety
    /// The buffers hold at least `wanted` bytes together.
    #[inline(never)]
    unsafe fn write_parts(&self, inside: &Inside, parts: &[libc::iovec], wanted: usize) {
        let mut head = [0; MAX_HEAD];
        let mut filled = 0;
        for part in parts {
            let length = part.iov_len.min(wanted - filled);
            if length > 0 {
                // SAFETY: within the buffer, which the caller promises to be filled.
                let bytes = unsafe { slice::from_raw_parts(part.iov_base.cast::<u8>(), length) };
                head[filled..filled + length].copy_from_slice(bytes);
                filled += length;
            }
        }
        self.write(inside, &head[..filled]);
    }
}

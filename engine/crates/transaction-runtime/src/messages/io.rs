//! What goes through streams: counted always, and logged unless a signal handler has interrupted our code.

use core::ffi::{c_int, c_void};
use core::slice;

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{MAX_HEAD, Record};

use super::entries::{self, Entry};
use super::streams::{self, Stream};
use crate::hooks::frame::Frame;
use crate::session;
use crate::threads::process_context;
use crate::threads::thread::{self, Inside};

/// A call that may move bytes, before it is made.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    fd: c_int,
    entry: Entry,
    time_ns: u64,
}

/// `None`: nothing that this descriptor does is logged.
#[inline]
pub(crate) fn begin(fd: c_int) -> Option<Begun> {
    if !thread::is_logged() {
        return None;
    }
    match entries::look(fd)? {
        Entry::Nothing => None,
        entry => Some(Begun {
            fd,
            entry,
            time_ns: sys::now(),
        }),
    }
}

/// Where the program wants what it receives.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// It never sees it, or not by this call.
    Nowhere,
    /// Here.
    One(*const c_void),
    /// In so many parts.
    Parts(*const libc::iovec, usize),
}

/// So many bytes went out; fewer than 1: none.
pub(crate) fn sent(begun: Begun, bytes: isize, frame: &Frame) {
    if bytes <= 0 {
        return;
    }
    let length = bytes as u64;
    let inside = thread::enter();
    let Some(stream) = streams::of(inside.as_ref(), begun.fd, begun.entry) else {
        return;
    };
    let offset = stream.sends(length);
    if let Some(inside) = inside {
        stream.tell(&inside);
        let record = Record::Send {
            stream: stream.id(),
            offset,
            length,
            began_ns: begun.time_ns,
        };
        inside.write(inside.path(frame), &record);
        process_context::tell(&inside);
    }
}

/// So many bytes came in, 0 at the end of the stream; fewer: none.
pub(crate) fn received(begun: Begun, bytes: isize, place: Place, frame: &Frame) {
    let Ok(length) = u64::try_from(bytes) else {
        return;
    };
    let inside = thread::enter();
    let Some(stream) = streams::of(inside.as_ref(), begun.fd, begun.entry) else {
        return;
    };
    let (offset, heard) = stream.receives(length);
    let Some(inside) = inside else {
        return;
    };
    stream.tell(&inside);
    let arrival = Arrival {
        stream,
        offset,
        length,
        began_ns: begun.time_ns,
        path: inside.path(frame),
    };
    let wanted = session::session()
        .map_or(0, |it| it.head().saturating_sub(heard))
        .min(bytes as usize);
    match place {
        Place::One(at) if wanted > 0 => {
            // SAFETY: the kernel has just written at least so many bytes there.
            arrival.write(&inside, unsafe { slice::from_raw_parts(at.cast(), wanted) });
        }
        // SAFETY: likewise, in parts.
        Place::Parts(parts, count) if wanted > 0 => unsafe {
            let parts = slice::from_raw_parts(parts, count);
            arrival.write_parts(&inside, parts, wanted);
        },
        _ => arrival.write(&inside, &[]),
    }
}

/// Bytes that came in by one call.
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
    /// The parts hold so many bytes together.
    #[inline(never)]
    unsafe fn write_parts(&self, inside: &Inside, parts: &[libc::iovec], wanted: usize) {
        let mut head = [0; MAX_HEAD];
        let mut filled = 0;
        for part in parts {
            let length = part.iov_len.min(wanted - filled);
            if length > 0 {
                // SAFETY: the caller's promise.
                let bytes = unsafe { slice::from_raw_parts(part.iov_base.cast::<u8>(), length) };
                head[filled..filled + length].copy_from_slice(bytes);
                filled += length;
            }
        }
        self.write(inside, &head[..filled]);
    }
}

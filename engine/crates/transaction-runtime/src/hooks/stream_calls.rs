//! Calls that send and receive.

use core::ffi::{c_int, c_uint, c_void};
use core::slice;

use fulcrum_preload::real;
use libc::{iovec, mmsghdr, msghdr, off64_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::frame::{Frame, defines, hooks};
use crate::messages::io::{self, Place};
use crate::messages::{descriptors, identify};
use crate::threads::thread;

/// Runs a call that sends.
#[inline]
pub(crate) fn sending(fd: c_int, frame: &Frame, real: impl FnOnce() -> ssize_t) -> ssize_t {
    let Some(begun) = io::begin(fd) else {
        return real();
    };
    let result = real();
    io::sent(begun, result, frame);
    result
}

/// The buffers and flags of a call that receives.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    place: Place,
    /// Whether nothing is requested. Then receiving nothing does not mean the end of the stream.
    is_empty: bool,
    flags: c_int,
}

impl Buffers {
    /// Receives into one buffer.
    pub(crate) fn one(place: *const c_void, count: size_t, flags: c_int) -> Buffers {
        Buffers {
            place: Place::One(place),
            is_empty: count == 0,
            flags,
        }
    }

    /// Receives into several buffers.
    pub(crate) fn parts(parts: *const iovec, count: size_t, flags: c_int) -> Buffers {
        Buffers {
            place: Place::Parts(parts, count),
            is_empty: count == 0,
            flags,
        }
    }

    /// Receives into the buffers of a message.
    ///
    /// # Safety
    /// The message is null or the program's.
    pub(crate) unsafe fn message(message: *const msghdr, flags: c_int) -> Buffers {
        // SAFETY: the caller promises null or a valid message.
        match unsafe { message.as_ref() } {
            Some(message) => Buffers::parts(message.msg_iov, message.msg_iovlen, flags),
            None => Buffers::parts(core::ptr::null(), 0, flags),
        }
    }
}

/// Runs a call that receives.
#[inline]
pub(crate) fn receiving(
    fd: c_int,
    buffers: Buffers,
    frame: &Frame,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    const ASIDE: c_int = libc::MSG_PEEK | libc::MSG_ERRQUEUE | libc::MSG_OOB;
    // Nothing is taken from the stream.
    if buffers.flags & ASIDE != 0 {
        return real();
    }
    let Some(begun) = io::begin(fd) else {
        return real();
    };
    let result = real();
    if result > 0 || (result == 0 && !buffers.is_empty) {
        // With this flag, TCP discards the received bytes.
        let place = if buffers.flags & libc::MSG_TRUNC != 0 {
            Place::Nowhere
        } else {
            buffers.place
        };
        io::received(begun, result, place, frame);
    }
    result
}

/// What a call between two streams does to the first one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    /// Takes the bytes from it.
    Move,
    /// Leaves the bytes in it.
    Copy,
}

/// Runs a call that moves bytes from one stream to another without the program seeing them.
pub(crate) fn moving(
    (from, transfer): (c_int, Transfer),
    to: c_int,
    frame: &Frame,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    let (source, target) = (io::begin(from), io::begin(to));
    let result = real();
    if let Some(source) = source
        && transfer == Transfer::Move
        && result > 0
    {
        io::received(source, result, Place::Nowhere, frame);
    }
    if let Some(target) = target {
        io::sent(target, result, frame);
    }
    result
}

/// Runs a call that moves bytes between memory and a pipe, in the direction of this end of the pipe.
pub(crate) fn moving_parts(
    fd: c_int,
    buffers: Buffers,
    frame: &Frame,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    let reads = identify::flags(fd).is_some_and(|it| it & libc::O_ACCMODE == libc::O_RDONLY);
    if reads {
        receiving(fd, buffers, frame, real)
    } else {
        sending(fd, frame, real)
    }
}

/// Runs a call that receives a message, and records the descriptors that came with it.
///
/// # Safety
/// The message is the program's.
pub(crate) unsafe fn receiving_message(
    (fd, message): (c_int, *mut msghdr),
    flags: c_int,
    frame: &Frame,
    real: impl FnOnce() -> ssize_t,
) -> ssize_t {
    // SAFETY: the caller promises a valid message; after a success the kernel has filled it.
    unsafe {
        let buffers = Buffers::message(message, flags);
        let result = receiving(fd, buffers, frame, real);
        if result >= 0 && thread::is_logged() && (*message).msg_controllen > 0 {
            identify::passed(&*message, descriptors::closed);
        }
        result
    }
}

/// Runs a call that sends or receives several messages, and counts their bytes together.
///
/// # Safety
/// The messages are the program's.
pub(crate) unsafe fn several(
    (fd, messages): (c_int, *mut mmsghdr),
    receives: Option<c_int>,
    frame: &Frame,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let mut done = -1;
    let messages_done = |done: c_int| {
        let count = usize::try_from(done).unwrap_or(0);
        if count == 0 {
            return &[][..];
        }
        // SAFETY: the caller promises valid messages, of which the kernel has processed this many.
        unsafe { slice::from_raw_parts(messages, count) }
    };
    let bytes = |done: c_int| {
        let sum = |messages: &[mmsghdr]| messages.iter().map(|it| it.msg_len as ssize_t).sum();
        if done < 0 {
            -1
        } else {
            sum(messages_done(done))
        }
    };
    let real = || {
        done = real();
        bytes(done)
    };
    match receives {
        Some(flags) => {
            // SAFETY: the caller promises valid messages.
            let buffers = unsafe { Buffers::message(&raw const (*messages).msg_hdr, flags) };
            receiving(fd, buffers, frame, real);
        }
        None => {
            sending(fd, frame, real);
        }
    }
    if receives.is_some() && thread::is_logged() {
        for message in messages_done(done) {
            // SAFETY: the kernel has filled this message.
            unsafe { identify::passed(&message.msg_hdr, descriptors::closed) };
        }
    }
    done
}

/// Defines a function whose body can call the hidden function.
macro_rules! calls {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $frame:ident, |$real:ident| $body:expr) => {
        defines!($name($($argument: $type),*) -> $result, $frame, |next| {
            // SAFETY: passes on the program's arguments.
            let $real = || unsafe { next($($argument),*) };
            $body
        });
    };
}

calls!(read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, 0), frame, real));
calls!(__read_chk(fd: c_int, buffer: *mut c_void, count: size_t, room: size_t) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, 0), frame, real));
calls!(readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t, frame,
    |real| receiving(fd, Buffers::parts(parts, count.max(0) as size_t, 0), frame, real));
calls!(recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, flags), frame, real));
calls!(__recv_chk(fd: c_int, buffer: *mut c_void, count: size_t, room: size_t, flags: c_int) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, flags), frame, real));
calls!(recvfrom(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, flags), frame, real));
calls!(recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, frame,
    // SAFETY: the message is the program's.
    |real| unsafe { receiving_message((fd, message), flags, frame, real) });
calls!(recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec) -> c_int, frame,
    // SAFETY: the messages are the program's.
    |real| unsafe { several((fd, messages), Some(flags), frame, real) });
calls!(write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t, frame,
    |real| sending(fd, frame, real));
calls!(writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t, frame,
    |real| sending(fd, frame, real));
calls!(send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int) -> ssize_t, frame,
    |real| sending(fd, frame, real));
calls!(sendto(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int, to: *const sockaddr, length: socklen_t) -> ssize_t, frame,
    |real| sending(fd, frame, real));
calls!(sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t, frame,
    |real| sending(fd, frame, real));
calls!(sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int, frame,
    // SAFETY: the messages are the program's.
    |real| unsafe { several((fd, messages), None, frame, real) });
calls!(sendfile(to: c_int, from: c_int, offset: *mut off64_t, count: size_t) -> ssize_t, frame,
    |real| moving((from, Transfer::Move), to, frame, real));
calls!(splice(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, count: size_t, flags: c_uint) -> ssize_t, frame,
    |real| moving((from, Transfer::Move), to, frame, real));
calls!(tee(from: c_int, to: c_int, count: size_t, flags: c_uint) -> ssize_t, frame,
    |real| moving((from, Transfer::Copy), to, frame, real));
calls!(vmsplice(fd: c_int, parts: *const iovec, count: size_t, flags: c_uint) -> ssize_t, frame,
    |real| moving_parts(fd, Buffers::parts(parts, count, 0), frame, real));

calls!(__recvfrom_chk(fd: c_int, buffer: *mut c_void, count: size_t, room: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> ssize_t, frame,
    |real| receiving(fd, Buffers::one(buffer, count, flags), frame, real));

hooks! {
    read => read, "rcx";
    __read => read, "rcx";
    __read_chk => __read_chk, "r8";
    readv => readv, "rcx";
    recv => recv, "r8";
    __recv_chk => __recv_chk, "r9";
    recvfrom => recvfrom, "stack";
    __recvfrom_chk => __recvfrom_chk, "seven";
    recvmsg => recvmsg, "rcx";
    recvmmsg => recvmmsg, "r9";
    write => write, "rcx";
    __write => write, "rcx";
    writev => writev, "rcx";
    send => send, "r8";
    __send => send, "r8";
    sendto => sendto, "stack";
    sendmsg => sendmsg, "rcx";
    sendmmsg => sendmmsg, "r8";
    sendfile => sendfile, "r8";
    sendfile64 => sendfile, "r8";
    splice => splice, "stack";
    tee => tee, "r8";
    vmsplice => vmsplice, "r8";
}

//! Calls that create, copy and close descriptors. Our own descriptors are hidden from the program.

use core::ffi::{c_char, c_int, c_uint, c_void};

use fulcrum_preload::descriptors::{bad_descriptor, close_between, is_ours};
use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::{Address, Record, StreamKind, Via};
use libc::{sockaddr, socklen_t};

use super::frame::{Frame, hooks};
use crate::messages::descriptors;
use crate::messages::entries::{self, Entry};
use crate::messages::identify::{self, What};
use crate::messages::streams::{self, Stream};
use crate::messages::unix_peers;
use crate::threads::thread;
use crate::{active, windows};

/// Whether the program refers to one of our descriptors.
#[inline]
fn is_hidden(fd: c_int) -> bool {
    active::is_active() && is_ours(fd)
}

/// `close(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    if is_hidden(fd) {
        return bad_descriptor();
    }
    if thread::is_logged() {
        // Before the call, because another thread may get the number immediately.
        descriptors::closed(fd);
    }
    // SAFETY: passes on the program's argument.
    unsafe { real!(close: fn(c_int) -> c_int)(fd) }
}

/// libc's other name for `close`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __close(fd: c_int) -> c_int {
    // SAFETY: like the program's own call.
    unsafe { close(fd) }
}

/// `close_range(2)`, which skips our descriptors.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn close_range(
    first: c_uint,
    last: c_uint,
    flags: c_int,
) -> c_int {
    if !active::is_active() || first > last {
        // SAFETY: passes on the program's arguments.
        return unsafe {
            real!(close_range: fn(c_uint, c_uint, c_int) -> c_int)(first, last, flags)
        };
    }
    let closes = flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0;
    if closes && thread::is_logged() {
        descriptors::closed_between(first, last);
    }
    // SAFETY: like the program's own call.
    unsafe { close_between(first, last, flags) }
}

/// `closefrom(3)`, which skips our descriptors.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn closefrom(first: c_int) {
    if !active::is_active() {
        // SAFETY: passes on the program's argument.
        return unsafe { real!(closefrom: fn(c_int) -> ())(first) };
    }
    let first = first.max(0) as c_uint;
    if thread::is_logged() {
        descriptors::closed_between(first, c_uint::MAX);
    }
    // SAFETY: like the program's own call.
    unsafe { close_between(first, c_uint::MAX, 0) };
}

/// `fclose(3)`, which closes a descriptor inside libc.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn fclose(file: *mut libc::FILE) -> c_int {
    // SAFETY: passes on the program's argument.
    unsafe {
        if thread::is_logged() && !file.is_null() {
            let errno = sys::KeepErrno::new();
            descriptors::closed(libc::fileno(file));
            drop(errno);
        }
        real!(fclose: fn(*mut libc::FILE) -> c_int)(file)
    }
}

/// Defines hooks that hide our descriptors from the program.
macro_rules! hides {
    ($name:ident) => {
        /// Like libc's, but hides our descriptors.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(fd: c_int, status: *mut c_void) -> c_int {
            if is_hidden(fd) {
                return bad_descriptor();
            }
            // SAFETY: passes on the program's arguments.
            unsafe { real!($name: fn(c_int, *mut c_void) -> c_int)(fd, status) }
        }
    };
}
hides!(fstat);
hides!(fstat64);

/// After a call that has made `to` a copy of `from`.
pub(crate) fn copied(from: c_int, to: c_int) -> c_int {
    if to >= 0 && thread::is_logged() {
        descriptors::copied(from, to);
    }
    to
}

/// Before a call that replaces `to`.
pub(crate) fn replaces(to: c_int) {
    if is_hidden(to) && thread::is_logged() {
        unix_peers::give_up();
    }
}

/// Defines hooks for calls that copy a descriptor.
macro_rules! copies {
    ($name:ident($($argument:ident: $type:ty),*) $(, $before:expr)?) => {
        /// Like libc's, but recorded, and hides our descriptors.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(from: c_int $(, $argument: $type)*) -> c_int {
            if is_hidden(from) {
                return bad_descriptor();
            }
            $($before;)?
            // SAFETY: passes on the program's arguments.
            let to = unsafe { real!($name: fn(c_int $(, $type)*) -> c_int)(from $(, $argument)*) };
            copied(from, to)
        }
    };
}
copies!(dup());
copies!(dup2(to: c_int), replaces(to));
copies!(dup3(to: c_int, flags: c_int), replaces(to));

/// libc's other name for `dup2`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __dup2(from: c_int, to: c_int) -> c_int {
    // SAFETY: like the program's own call.
    unsafe { dup2(from, to) }
}

/// Whether an `fcntl` command copies the descriptor.
pub(crate) fn is_copy(command: c_int) -> bool {
    command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC
}

/// Defines hooks for the names of `fcntl`. It is variadic in C, but on x86-64 the third argument is in the same register.
macro_rules! controls {
    ($name:ident) => {
        /// Like libc's, but recorded if it copies, and hides our descriptors.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(fd: c_int, command: c_int, argument: usize) -> c_int {
            if is_hidden(fd) {
                return bad_descriptor();
            }
            // SAFETY: passes on the program's arguments.
            let result = unsafe { real!($name: fn(c_int, c_int, usize) -> c_int)(fd, command, argument) };
            if is_copy(command) {
                copied(fd, result);
            }
            result
        }
    };
}
controls!(fcntl);
controls!(fcntl64);
controls!(__fcntl);

/// After a call that has created a descriptor in this way.
pub(crate) fn came(fd: c_int, via: Via) -> c_int {
    if fd >= 0 && thread::is_logged() {
        descriptors::renew(fd, Entry::Unknown(via));
    }
    fd
}

/// Defines hooks for calls that create descriptors. What was known about the number is obsolete, even if the old descriptor
/// was closed unseen.
macro_rules! makes {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// Like libc's, but recorded.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: passes on the program's arguments.
            let fd = unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) };
            if fd >= 0 && thread::is_logged() {
                descriptors::closed(fd);
            }
            fd
        }
    )*};
}
// Some of these are variadic in C, but have the mode in the same register.
makes! {
    open(path: *const c_char, flags: c_int, mode: c_uint);
    open64(path: *const c_char, flags: c_int, mode: c_uint);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint);
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint);
    __open_2(path: *const c_char, flags: c_int);
    __open64_2(path: *const c_char, flags: c_int);
    __openat_2(folder: c_int, path: *const c_char, flags: c_int);
    __openat64_2(folder: c_int, path: *const c_char, flags: c_int);
    creat(path: *const c_char, mode: c_uint);
    creat64(path: *const c_char, mode: c_uint);
    eventfd(count: c_uint, flags: c_int);
    timerfd_create(clock: c_int, flags: c_int);
    signalfd(fd: c_int, mask: *const c_void, flags: c_int);
    inotify_init();
    inotify_init1(flags: c_int);
    memfd_create(name: *const c_char, flags: c_uint);
    epoll_create(size: c_int);
    epoll_create1(flags: c_int);
}

/// `socket(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn socket(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
) -> c_int {
    // SAFETY: passes on the program's arguments.
    let fd = unsafe { real!(socket: fn(c_int, c_int, c_int) -> c_int)(domain, kind, protocol) };
    came(fd, Via::Made)
}

/// Runs a call that accepts a connection. If it blocks, the thread was idle.
pub(crate) fn accepting(fd: c_int, frame: &Frame, real: impl FnOnce() -> c_int) -> c_int {
    if !thread::is_logged() {
        return real();
    }
    let began_ns = windows::is_open().then(sys::now);
    let connection = real();
    if connection < 0 {
        return connection;
    }
    came(connection, Via::Accepted);
    let Some(began_ns) = began_ns else {
        return connection;
    };
    // Most servers poll first.
    let is_idle = thread::current().is_some_and(|it| it.work.is_idle());
    if !is_idle
        && identify::waits(fd)
        && let Some(inside) = thread::enter()
    {
        inside.write(inside.path(frame), &Record::Idle { began_ns });
    }
    connection
}

unsafe extern "C-unwind" fn accept(
    fd: c_int,
    from: *mut sockaddr,
    length: *mut socklen_t,
    frame: &Frame,
) -> c_int {
    // SAFETY: passes on the program's arguments.
    accepting(fd, frame, || unsafe {
        real!(accept: fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int)(fd, from, length)
    })
}

unsafe extern "C-unwind" fn accept4(
    fd: c_int,
    from: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
    frame: &Frame,
) -> c_int {
    // SAFETY: passes on the program's arguments.
    accepting(fd, frame, || unsafe {
        real!(accept4: fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int)(
            fd, from, length, flags,
        )
    })
}

hooks! {
    accept => accept, "rcx";
    accept4 => accept4, "r8";
}

/// Runs a call that connects a socket to an address, or disconnects it.
///
/// # Safety
/// The address is the program's.
pub(crate) unsafe fn connecting(
    fd: c_int,
    (address, length): (*const sockaddr, socklen_t),
    real: impl FnOnce() -> c_int,
) -> c_int {
    let result = real();
    if !thread::is_logged() {
        return result;
    }
    // SAFETY: reads the calling thread's errno, which `connect` has set.
    let error = unsafe { *libc::__errno_location() };
    if result < 0 && error != libc::EINPROGRESS && error != libc::EINTR && error != libc::EAGAIN {
        return result;
    }
    // SAFETY: the kernel has read the address, which begins with its family.
    let (undone, to) = unsafe {
        let undone = c_int::from((*address).sa_family) == libc::AF_UNSPEC;
        (undone, identify::named(address.cast(), length))
    };
    let is_known = match entries::get(fd) {
        // Connected for datagrams, or asked again.
        Some(Entry::Stream { place, id }) if !undone => Stream::of(place, id)
            .is_some_and(|stream| to.is_none_or(|to| stream.leads_to(to) || !stream.is_tcp())),
        _ => false,
    };
    if !is_known {
        descriptors::change(fd, Entry::Unknown(Via::Connected));
        connected(fd, to);
    }
    result
}

/// Reports a new TCP connection immediately.
fn connected(fd: c_int, to: Option<Address>) {
    if let Some(to) = to
        && let Some(inside) = thread::enter()
    {
        streams::connecting(&inside, fd, to);
    }
}

/// `connect(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn connect(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    let real = real!(connect: fn(c_int, *const sockaddr, socklen_t) -> c_int);
    // SAFETY: passes on the program's arguments.
    unsafe { connecting(fd, (address, length), || real(fd, address, length)) }
}

/// libc's other name for `connect`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __connect(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: like the program's own call.
    unsafe { connect(fd, address, length) }
}

fn plain(kind: StreamKind, inode: u64, peer_inode: u64) -> What {
    What {
        kind,
        via: Via::Made,
        inode,
        peer_inode,
        local: Default::default(),
        peer: Default::default(),
    }
}

/// Both ends of a new pipe are one stream.
pub(crate) unsafe fn made_pipe(result: c_int, ends: *const [c_int; 2]) -> c_int {
    if result == 0 && thread::is_logged() {
        // SAFETY: the call has succeeded, so the kernel has written both ends.
        let [read, write] = unsafe { *ends };
        let pipe = identify::status(read)
            .and_then(|(_, inode)| streams::add(plain(StreamKind::Pipe, inode, 0)));
        descriptors::renew(read, pipe.unwrap_or(Entry::Nothing));
        descriptors::renew(write, Entry::Nothing);
        descriptors::copied(read, write);
    }
    result
}

/// The ends of a pair are two streams that know each other.
pub(crate) unsafe fn made_pair(result: c_int, ends: *const [c_int; 2]) -> c_int {
    if result == 0 && thread::is_logged() {
        // SAFETY: the call has succeeded, so the kernel has written both ends.
        let ends = unsafe { *ends };
        let inodes = ends.map(|fd| identify::status(fd).map_or(0, |(_, inode)| inode));
        let is_stream = identify::keeps_order(ends[0]);
        for (fd, (own, other)) in [
            (ends[0], (inodes[0], inodes[1])),
            (ends[1], (inodes[1], inodes[0])),
        ] {
            let kind = if is_stream {
                StreamKind::Unix
            } else {
                StreamKind::Other
            };
            let stream = streams::add(plain(kind, own, other));
            descriptors::renew(fd, stream.unwrap_or(Entry::Nothing));
        }
    }
    result
}

/// `pipe(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pipe(ends: *mut [c_int; 2]) -> c_int {
    // SAFETY: passes on the program's argument.
    unsafe { made_pipe(real!(pipe: fn(*mut [c_int; 2]) -> c_int)(ends), ends) }
}

/// libc's other name for `pipe`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __pipe(ends: *mut [c_int; 2]) -> c_int {
    // SAFETY: like the program's own call.
    unsafe { pipe(ends) }
}

/// `pipe2(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pipe2(ends: *mut [c_int; 2], flags: c_int) -> c_int {
    // SAFETY: passes on the program's arguments.
    unsafe {
        let result = real!(pipe2: fn(*mut [c_int; 2], c_int) -> c_int)(ends, flags);
        made_pipe(result, ends)
    }
}

/// `socketpair(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut [c_int; 2],
) -> c_int {
    type Ends = *mut [c_int; 2];
    // SAFETY: passes on the program's arguments.
    unsafe {
        let result =
            real!(socketpair: fn(c_int, c_int, c_int, Ends) -> c_int)(domain, kind, protocol, ends);
        made_pair(result, ends)
    }
}

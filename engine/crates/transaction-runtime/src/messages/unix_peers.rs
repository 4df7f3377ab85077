//! Finds the other ends of unix sockets through the kernel's socket diagnostics (netlink), one at a time.
//!
//! The messages are built and read by hand: `netlink-packet-sock-diag` keeps them in vectors, and nothing may be
//! allocated here.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use fulcrum_preload::quiet::Lock;
use fulcrum_preload::{descriptors, sys};

use crate::threads::thread::Inside;

/// Our socket: a descriptor, or one of these constants.
static SOCKET: AtomicI32 = AtomicI32::new(CLOSED);
const CLOSED: c_int = -1;
/// No socket is available here.
const DENIED: c_int = -2;
static LOCK: Lock = Lock::new();
static SEQUENCE: AtomicU32 = AtomicU32::new(0);

const NETLINK_SOCK_DIAG: usize = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const SHOW_PEER: u32 = 4;
const ATTRIBUTE_PEER: u16 = 2;
const HEADER: usize = 16;
const MESSAGE: usize = 16;

/// Opens our socket early, because programs may sandbox themselves later.
pub(crate) fn begin() {
    socket();
}

fn socket() -> Option<c_int> {
    match SOCKET.load(Ordering::Relaxed) {
        CLOSED => {}
        fd => return (fd >= 0).then_some(fd),
    }
    let kind = (libc::SOCK_RAW | libc::SOCK_CLOEXEC) as usize;
    let args = [libc::AF_NETLINK as usize, kind, NETLINK_SOCK_DIAG, 0, 0, 0];
    // SAFETY: the call takes no pointers.
    let fd = unsafe { sys::call(libc::SYS_socket, args) };
    let fd = if fd < 0 {
        DENIED
    } else {
        descriptors::protect(fd as c_int)
    };
    SOCKET.store(fd, Ordering::Relaxed);
    (fd >= 0).then_some(fd)
}

/// In a forked child: closes the shared socket, whose answers would go to the first reader.
pub(crate) fn begin_again() {
    LOCK.free();
    give_up();
}

/// Closes our descriptor, whose number is needed for something else.
pub(crate) fn give_up() {
    let fd = SOCKET.swap(CLOSED, Ordering::Relaxed);
    if fd >= 0 {
        descriptors::close(fd);
    }
}

/// The inode of the other end of a unix socket, or 0 if it is unknown or not accepted yet. No signal handler gets here
/// while the thread holds the lock, because the thread is in our code.
pub(crate) fn peer_of(_inside: &Inside, inode: u64) -> u64 {
    LOCK.take();
    let peer = ask(inode).unwrap_or(0);
    LOCK.free();
    peer
}

fn ask(inode: u64) -> Option<u64> {
    let fd = socket()? as usize;
    let inode = u32::try_from(inode).ok()?;
    let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed) + 1;
    let length = HEADER as u32 + 24;
    let kind = u32::from(SOCK_DIAG_BY_FAMILY) | (libc::NLM_F_REQUEST as u32) << 16;
    let any = u32::MAX;
    let request = [
        [length, kind, sequence, 0, libc::AF_UNIX as u32],
        [any, inode, SHOW_PEER, any, any],
    ];
    let wait = libc::MSG_DONTWAIT as usize;
    // SAFETY: the kernel reads at most the request's length.
    let sent = unsafe {
        let args = [fd, request.as_ptr().addr(), length as usize, wait, 0, 0];
        sys::call(libc::SYS_sendto, args)
    };
    if sent < 0 {
        return None;
    }
    // The kernel answers before the call returns. Stale answers are skipped.
    let mut answer = [0_u8; 256];
    loop {
        // SAFETY: the kernel writes at most the buffer's length.
        let read = unsafe {
            let args = [fd, answer.as_mut_ptr().addr(), answer.len(), wait, 0, 0];
            sys::call(libc::SYS_recvfrom, args)
        };
        let answer = answer.get(..usize::try_from(read).ok()?)?;
        if word(answer, 8)? == sequence {
            return peer(answer);
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The peer in an answer: a header, a message, and attributes, each with a length, a kind and a value.
fn peer(answer: &[u8]) -> Option<u64> {
    if word(answer, 4)? as u16 != SOCK_DIAG_BY_FAMILY {
        return None;
    }
    let mut rest = answer.get(HEADER + MESSAGE..)?;
    loop {
        let head = word(rest, 0)?;
        let (length, kind) = ((head & 0xffff) as usize, (head >> 16) as u16);
        if kind == ATTRIBUTE_PEER {
            return word(rest, 4).map(u64::from);
        }
        rest = rest.get(length.next_multiple_of(4).max(4)..)?;
    }
}

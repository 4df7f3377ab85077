//! Identifies descriptors, with system calls that are not recorded.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use fulcrum_preload::sys;
use fulcrum_wire::transactions::{Address, StreamKind, Via};

use super::unix_peers;
use crate::threads::thread::Inside;

/// The properties of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct What {
    /// The kind of stream.
    pub(crate) kind: StreamKind,
    /// How the process got it.
    pub(crate) via: Via,
    /// The inode of this end. For a pipe, it is the same at both ends.
    pub(crate) inode: u64,
    /// For a unix socket, the inode of the other end, or 0 if unknown.
    pub(crate) peer_inode: u64,
    /// This end of a TCP connection.
    pub(crate) local: Address,
    /// The other end of a TCP connection.
    pub(crate) peer: Address,
}

/// The result of identifying a descriptor.
pub(crate) enum Found {
    /// A stream, or datagrams.
    Stream(What),
    /// Something that is not logged: a file, a terminal, a listening socket.
    Nothing,
    /// A socket that is not connected yet.
    NotYet,
}

/// Room for any socket address.
#[repr(C, align(8))]
struct Room([u8; 128]);

/// Identifies a descriptor. `via` is how the process got it. `to` is the address that it is being connected to, if it may
/// not be connected yet.
pub(crate) fn inspect(inside: &Inside, fd: c_int, via: Via, to: Option<Address>) -> Found {
    let Some((mode, inode)) = status(fd) else {
        return Found::NotYet;
    };
    let mut what = What {
        kind: StreamKind::Pipe,
        via,
        inode,
        peer_inode: 0,
        local: Address::default(),
        peer: Address::default(),
    };
    match mode & libc::S_IFMT {
        libc::S_IFIFO => Found::Stream(what),
        libc::S_IFSOCK => socket(inside, fd, &mut what, to),
        _ => Found::Nothing,
    }
}

fn socket(inside: &Inside, fd: c_int, what: &mut What, to: Option<Address>) -> Found {
    let option = |name| option(fd, name).unwrap_or(-1);
    // A socket with a peer is connected, so no further questions are needed.
    let named = match to {
        Some(_) => None,
        None => name(libc::SYS_getpeername, fd),
    };
    let domain = named.map_or_else(|| option(libc::SO_DOMAIN), |it| it.0);
    let kind = match (what.via, domain) {
        // Accepted sockets of these domains are always TCP.
        (Via::Accepted, libc::AF_INET | libc::AF_INET6) => libc::SOCK_STREAM,
        _ => option(libc::SO_TYPE),
    };
    if ![libc::AF_INET, libc::AF_INET6, libc::AF_UNIX].contains(&domain) {
        return Found::Nothing;
    }
    if kind == libc::SOCK_DGRAM {
        what.kind = StreamKind::Other;
        return Found::Stream(*what);
    }
    if kind != libc::SOCK_STREAM && kind != libc::SOCK_SEQPACKET {
        return Found::Nothing;
    }
    if named.is_none() && option(libc::SO_ACCEPTCONN) == 1 {
        return Found::Nothing;
    }
    let Some(peer) = to.or(named.map(|it| it.1)) else {
        return Found::NotYet;
    };
    if domain == libc::AF_UNIX {
        what.kind = StreamKind::Unix;
        what.peer_inode = unix_peers::peer_of(inside, what.inode);
    } else if kind == libc::SOCK_STREAM {
        what.kind = StreamKind::Tcp;
        what.peer = peer;
        what.local = name(libc::SYS_getsockname, fd).unwrap_or_default().1;
    } else {
        what.kind = StreamKind::Other;
    }
    Found::Stream(*what)
}

/// A descriptor's mode and inode.
pub(crate) fn status(fd: c_int) -> Option<(u32, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel writes the whole struct, or fails.
    unsafe {
        let args = [fd as usize, status.as_mut_ptr().addr(), 0, 0, 0, 0];
        if sys::call(libc::SYS_fstat, args) < 0 {
            return None;
        }
        let status = status.assume_init();
        Some((status.st_mode, status.st_ino))
    }
}

/// Whether a socket delivers bytes in the order in which they were sent.
pub(crate) fn keeps_order(fd: c_int) -> bool {
    option(fd, libc::SO_TYPE).is_some_and(|kind| kind != libc::SOCK_DGRAM)
}

/// The value of an integer socket option.
fn option(fd: c_int, name: c_int) -> Option<c_int> {
    let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as u32);
    // SAFETY: the kernel writes one integer and its length.
    let result = unsafe {
        let args = [
            fd as usize,
            libc::SOL_SOCKET as usize,
            name as usize,
            (&raw mut value).addr(),
            (&raw mut length).addr(),
            0,
        ];
        sys::call(libc::SYS_getsockopt, args)
    };
    (result == 0).then_some(value)
}

/// The domain and the address from `getsockname` or `getpeername`, or `None` if the socket is not connected. A unix socket
/// has a domain even if it has no address.
fn name(call: i64, fd: c_int) -> Option<(c_int, Address)> {
    let mut room = Room([0; 128]);
    let mut length = size_of::<Room>() as u32;
    // SAFETY: the kernel writes no more than the room's length, and the length itself.
    let result = unsafe {
        let args = [
            fd as usize,
            (&raw mut room).addr(),
            (&raw mut length).addr(),
            0,
            0,
            0,
        ];
        sys::call(call, args)
    };
    (result == 0).then(|| (family(&room), address(&room)))
}

/// The peer address that a program passes for a TCP socket, or `None` if it is none.
///
/// # Safety
/// `length` bytes at `address` are readable.
pub(crate) unsafe fn named(address: *const c_void, length: u32) -> Option<Address> {
    let mut room = Room([0; 128]);
    let length = (length as usize).min(room.0.len());
    // SAFETY: the caller promises `length` readable bytes, and the room holds what is copied.
    unsafe { core::ptr::copy_nonoverlapping(address.cast(), room.0.as_mut_ptr(), length) };
    let address = self::address(&room);
    (address.port != 0).then_some(address)
}

fn family(room: &Room) -> c_int {
    c_int::from(u16::from_ne_bytes([room.0[0], room.0[1]]))
}

fn address(room: &Room) -> Address {
    let bytes = &room.0;
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let mut ip = [0; 16];
    match family(room) {
        libc::AF_INET => {
            ip[10..12].fill(0xff);
            ip[12..].copy_from_slice(&bytes[4..8]);
        }
        libc::AF_INET6 => ip.copy_from_slice(&bytes[8..24]),
        _ => return Address::default(),
    }
    Address { ip, port }
}

/// Whether calls on a descriptor block.
pub(crate) fn waits(fd: c_int) -> bool {
    flags(fd).is_some_and(|flags| flags & libc::O_NONBLOCK == 0)
}

/// A descriptor's status flags, from `fcntl`.
pub(crate) fn flags(fd: c_int) -> Option<c_int> {
    // SAFETY: the call takes no pointers.
    let flags = unsafe {
        let args = [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
        sys::call(libc::SYS_fcntl, args)
    };
    (flags >= 0).then_some(flags as c_int)
}

/// Calls `then` with each descriptor that came with a message.
///
/// # Safety
/// `recvmsg` has filled the message.
pub(crate) unsafe fn passed(message: &libc::msghdr, then: impl Fn(c_int)) {
    // SAFETY: the caller promises a message that `recvmsg` has filled; everything read is within its control data.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = header.as_ref() {
            if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data: *const c_int = libc::CMSG_DATA(control).cast::<c_void>().cast();
                let bytes = control.cmsg_len - (data.addr() - header.addr());
                for index in 0..bytes / size_of::<c_int>() {
                    then(data.add(index).read_unaligned());
                }
            }
            header = libc::CMSG_NXTHDR(message, control);
        }
    }
}

//! libuv: a handler is called with the handle or the request that it was registered with.
//!
//! libuv reads data before it calls the handler, but after asking where to put it. So the handler begins with that
//! question.

use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_wire::transactions::Record;

use crate::libraries::call::{Call, exports};
use crate::libraries::handlers::{StubId, TOO_MANY, is_full};
use crate::libraries::kind::Kind;
use crate::libraries::registrations::{ObjectKind, find, key, place};
use crate::libraries::resolve::{Behind, Library, Scope, function};
use crate::libraries::stubs::{address, stub};
use crate::threads::thread::{self, Inside};

static LIBRARY: Library = Library {
    marks: &[c"uv_run", c"uv_version", c"uv_fileno"],
    fits,
};

/// `uv_fileno`.
static FILENO: AtomicUsize = AtomicUsize::new(0);
type FileNumber = unsafe extern "C-unwind" fn(u64, *mut i32) -> i32;

fn fits(scope: Scope) -> bool {
    let (Some(version), Some(fileno)) = (scope.find(c"uv_version"), scope.find(c"uv_fileno"))
    else {
        return false;
    };
    FILENO.store(fileno, Ordering::Release);
    // SAFETY: a function of libuv, which has always had this type.
    let version = unsafe { function::<unsafe extern "C-unwind" fn() -> u32>(version)() };
    version >> 16 == 1
}

/// The descriptor of a handle, or negative if there is none.
fn descriptor(handle: u64) -> i32 {
    let mut fd = -1;
    let fileno = FILENO.load(Ordering::Acquire);
    if fileno != 0 {
        // SAFETY: libuv's function, on a handle that the program has just passed to it. It fails on handles without
        // descriptors.
        unsafe { function::<FileNumber>(fileno)(handle, &raw mut fd) };
    }
    fd
}

/// Whether the program makes this call in a thread that can log. libuv calls its own functions too, but what they register
/// is known by then.
fn by_program(call: &Call, behind: &Behind) -> Option<Inside> {
    match behind.has(call.site() as usize) {
        true => None,
        false => thread::enter(),
    }
}

/// Replaces an argument that is a handler with a stub. Returns `None` if there is none to follow.
fn replaced(inside: &Inside, call: &mut Call, at: usize, kind: Kind) -> Option<StubId> {
    let handler = call.argument(at) as usize;
    let stub = (handler != 0).then(|| stub(handler, kind, 0))?;
    if is_full() {
        inside.write(0, &Record::Note(TOO_MANY.as_bytes()));
    }
    call.set_argument(at, address(stub?) as u64);
    stub
}

/// A handler is registered with a handle or a request, which may have a descriptor.
fn registers(call: &mut Call, behind: Behind, (handler, of): (usize, usize), fd: i32) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(stub) = replaced(&inside, call, handler, Kind::First)
        && let Some(place) = place(key(ObjectKind::Uv, call.argument(of)))
    {
        place.set(stub, fd);
        place.produce(&inside);
    }
    behind.address
}

/// Reading starts, with a handler that allocates buffers and one for the data.
fn reads(call: &mut Call, behind: Behind) -> usize {
    let handle = call.argument(0);
    let fd = descriptor(handle);
    if let Some(inside) = by_program(call, &behind)
        && let Some(stub) = replaced(&inside, call, 2, Kind::Reads)
        && replaced(&inside, call, 1, Kind::Allocates).is_some()
        && let Some(place) = place(key(ObjectKind::Uv, handle))
    {
        place.set(stub, fd);
        place.produce(&inside);
    }
    behind.address
}

/// A descriptor is polled.
fn polls(call: &mut Call, behind: Behind) -> usize {
    let fd = descriptor(call.argument(0));
    registers(call, behind, (2, 0), fd)
}

/// A timer is restarted.
fn again(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(known) = find(key(ObjectKind::Uv, call.argument(0)))
    {
        known.produce(&inside);
    }
    behind.address
}

/// A handler is registered that threads can request.
fn prepares(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(stub) = replaced(&inside, call, 2, Kind::First)
        && let Some(place) = place(key(ObjectKind::Uv, call.argument(1)))
    {
        place.empty();
        place.set(stub, -1);
    }
    behind.address
}

/// A thread requests it.
fn sends(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(known) = find(key(ObjectKind::Uv, call.argument(0)))
    {
        known.ask(&inside);
    }
    behind.address
}

/// Work for a thread, and a handler for its completion.
fn queues(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && replaced(&inside, call, 2, Kind::Work).is_some()
    {
        let after = replaced(&inside, call, 3, Kind::First);
        if let Some(place) = place(key(ObjectKind::Uv, call.argument(1))) {
            place.empty();
            if let Some(after) = after {
                place.set(after, -1);
            }
            place.produce(&inside);
        }
    }
    behind.address
}

/// `handler!(h, r)`: argument `h` is a handler for argument `r`.
macro_rules! handler {
    ($handler:literal, $of:literal) => {
        |call, behind| registers(call, behind, ($handler, $of), -1)
    };
}

exports! {
    LIBRARY;
    uv_timer_start => handler!(1, 0);
    uv_timer_again => again;
    uv_idle_start => handler!(1, 0);
    uv_prepare_start => handler!(1, 0);
    uv_check_start => handler!(1, 0);
    uv_signal_start => handler!(1, 0);
    uv_signal_start_oneshot => handler!(1, 0);
    uv_poll_start => polls;
    uv_async_init => prepares;
    uv_async_send => sends;
    uv_close => handler!(1, 0);
    uv_listen => handler!(2, 0);
    uv_read_start => reads;
    uv_udp_recv_start => reads;
    uv_write => handler!(4, 0);
    uv_write2 => handler!(5, 0);
    uv_udp_send => handler!(5, 0);
    uv_shutdown => handler!(2, 0);
    uv_tcp_connect => handler!(3, 0);
    uv_pipe_connect => handler!(3, 0);
    uv_pipe_connect2 => handler!(5, 0);
    uv_queue_work => queues;
    uv_getaddrinfo => handler!(2, 1);
    uv_getnameinfo => handler!(2, 1);
    uv_random => handler!(5, 1);
    uv_fs_event_start => handler!(1, 0);
    uv_fs_poll_start => handler!(1, 0);
    uv_fs_close => handler!(3, 1);
    uv_fs_open => handler!(5, 1);
    uv_fs_read => handler!(6, 1);
    uv_fs_write => handler!(6, 1);
    uv_fs_unlink => handler!(3, 1);
    uv_fs_copyfile => handler!(5, 1);
    uv_fs_mkdir => handler!(4, 1);
    uv_fs_mkdtemp => handler!(3, 1);
    uv_fs_mkstemp => handler!(3, 1);
    uv_fs_rmdir => handler!(3, 1);
    uv_fs_scandir => handler!(4, 1);
    uv_fs_opendir => handler!(3, 1);
    uv_fs_readdir => handler!(3, 1);
    uv_fs_closedir => handler!(3, 1);
    uv_fs_stat => handler!(3, 1);
    uv_fs_fstat => handler!(3, 1);
    uv_fs_lstat => handler!(3, 1);
    uv_fs_statfs => handler!(3, 1);
    uv_fs_rename => handler!(4, 1);
    uv_fs_fsync => handler!(3, 1);
    uv_fs_fdatasync => handler!(3, 1);
    uv_fs_ftruncate => handler!(4, 1);
    uv_fs_sendfile => handler!(6, 1);
    uv_fs_access => handler!(4, 1);
    uv_fs_chmod => handler!(4, 1);
    uv_fs_fchmod => handler!(4, 1);
    uv_fs_utime => handler!(3, 1);
    uv_fs_futime => handler!(3, 1);
    uv_fs_lutime => handler!(3, 1);
    uv_fs_link => handler!(4, 1);
    uv_fs_symlink => handler!(5, 1);
    uv_fs_readlink => handler!(3, 1);
    uv_fs_realpath => handler!(3, 1);
    uv_fs_chown => handler!(5, 1);
    uv_fs_fchown => handler!(5, 1);
    uv_fs_lchown => handler!(5, 1);
}

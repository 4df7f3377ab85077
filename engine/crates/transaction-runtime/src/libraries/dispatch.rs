//! A library calls a handler (Figure 4, lines 4 to 8).

use core::slice;

use fulcrum_preload::sys::KeepErrno;
use fulcrum_wire::transactions::{Calling, Record};

use super::handlers::StubId;
use super::kind::Kind;
use super::nesting::Called;
use super::registrations::{self, Due, ObjectKind, Registration, key, key_of_arguments};
use super::supported::buffers;
use super::supported::glib_functions::current_source;
use crate::messages::{entries, streams};
use crate::threads::thread::{self, Inside, Thread};

/// The function that a stub calls, and the token that it then passes to [`end`], or 0 for none.
#[repr(C)]
pub(crate) struct Target {
    function: usize,
    token: u64,
}

/// Set in a token if the handler's result says that it is not called again.
const ONCE: u64 = 1 << 32;

/// Called before a handler. The arguments are six words.
pub(crate) unsafe extern "C-unwind" fn begin(number: u32, arguments: *const u64) -> Target {
    let stub = StubId(number);
    let kind = stub.kind();
    let once = if kind == Kind::SourceOnce { ONCE } else { 0 };
    // SAFETY: the caller has laid out six words, which are only read here.
    let arguments = unsafe { slice::from_raw_parts(arguments, 6) };
    let errno = KeepErrno::new();
    let depth = thread::enter().and_then(|inside| record_call(&inside, stub, kind, arguments));
    drop(errno);
    Target {
        function: stub.function(),
        token: u64::from(depth.unwrap_or(0)) | once,
    }
}

/// Records which handler is called for what. Returns its depth, or `None` if it is too deep or only continues the current
/// work.
fn record_call(inside: &Inside, stub: StubId, kind: Kind, arguments: &[u64]) -> Option<u32> {
    let key = key_of(stub, kind, arguments);
    let called = Called {
        stack: arguments.as_ptr().addr() as u64,
        key,
        kind,
        later: match kind {
            Kind::Event => buffers::called_later(stub, arguments),
            _ => 0,
        },
    };
    let thread = inside.thread();
    let stack = thread.stack();
    if kind == Kind::Reads
        && let Some(depth) = thread.nesting.go_on(called)
    {
        return Some(depth);
    }
    let is_onward = kind == Kind::Buffered && thread.nesting.innermost().is_some();
    let registered = (!is_onward).then(|| registrations::find(key)).flatten();
    let registered = registered.filter(|it| is_of(it, stub, kind));
    let depth = thread.nesting.enter(called, |it| stack.has(it))?;
    let due = match registered {
        Some(registered) => registered.call(),
        None => Due {
            fd: -1,
            ..Due::default()
        },
    };
    let how = match (kind, registered.is_some()) {
        (Kind::Onward, _) => Calling::Onward,
        (Kind::Source | Kind::SourceOnce | Kind::Buffered, false) => Calling::Onward,
        _ if due.again => Calling::Again,
        _ => Calling::First,
    };
    let record = Record::Handler {
        item: due.item,
        function: named(stub, kind, registered, arguments) as u64,
        stream: stream(inside, due.fd),
        depth,
        how,
    };
    inside.write(0, &record);
    Some(depth)
}

/// The key of what a handler is called for, or 0 if there is none.
fn key_of(stub: StubId, kind: Kind, arguments: &[u64]) -> u64 {
    match kind {
        Kind::Onward => 0,
        Kind::First | Kind::Allocates | Kind::Reads | Kind::Work => {
            key(ObjectKind::Uv, arguments[0])
        }
        Kind::Second => key(ObjectKind::Watcher, arguments[1]),
        Kind::Event => key_of_arguments(stub, arguments[0] as i32, arguments[2]),
        Kind::Source | Kind::SourceOnce => key(ObjectKind::Source, current_source()),
        Kind::Buffered => key(ObjectKind::Buffers, arguments[0]),
    }
}

/// Whether this was registered with that handler. The address may have been reused for something else.
fn is_of(registered: &Registration, stub: StubId, kind: Kind) -> bool {
    match kind {
        // A different handler of the same object is kept.
        Kind::Allocates | Kind::Work | Kind::Buffered => true,
        _ => registered.stub() == Some(stub),
    }
}

/// The function that the handler is recorded as.
fn named(stub: StubId, kind: Kind, registered: Option<&Registration>, arguments: &[u64]) -> usize {
    match kind {
        Kind::Allocates => {
            let reads = registered.and_then(Registration::stub);
            reads.unwrap_or(stub).function()
        }
        Kind::Event => buffers::handler(stub, arguments),
        _ => stub.function(),
    }
}

/// The stream of a descriptor, or 0 if there is none or it is unknown.
fn stream(inside: &Inside, fd: i32) -> u32 {
    let stream = (fd >= 0)
        .then(|| entries::get(fd))
        .flatten()
        .and_then(|entry| streams::of(Some(inside), fd, entry));
    stream.map_or(0, |stream| {
        stream.announce(inside);
        stream.id()
    })
}

/// Called after a handler has returned `result`. Returns what the library is told.
pub(crate) unsafe extern "C-unwind" fn end(token: u64, result: u64) -> u64 {
    let errno = KeepErrno::new();
    let depth = token as u32;
    if depth > 0
        && let Some(thread) = thread::current()
        && let Some(called) = thread.nesting.leave(depth)
    {
        match called.kind {
            Kind::Work => goes_on(called.key),
            _ if called.later != 0 => goes_on(called.later),
            _ => {}
        }
        returned(thread, depth, called.kind);
    }
    drop(errno);
    if token & ONCE != 0 { 0 } else { result }
}

/// The handler that is called next for this continues the current work.
fn goes_on(key: u64) {
    if let Some(inside) = thread::enter()
        && let Some(registered) = registrations::find(key)
    {
        registered.produce(&inside);
    }
}

/// Usually the next record implies the return, so one record for each handler is enough. A thread that ran a loop inside a
/// handler continues the handler immediately.
fn returned(thread: &Thread, depth: u32, kind: Kind) {
    if depth > 1 && kind != Kind::Onward {
        if let Some(inside) = thread::enter() {
            inside.write(0, &Record::Returned { depth });
        }
    } else {
        thread.nesting.owe(depth);
    }
}

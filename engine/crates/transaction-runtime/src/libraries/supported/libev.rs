//! libev: programs write handlers into watchers directly, and start the watchers with a call. A handler is called with its
//! watcher.
//!
//! Once started, a watcher keeps our stub in place of the handler, because libev stops watchers before it calls them. A
//! program that reads the handler there sees the stub, which does the same.

use fulcrum_wire::transactions::Record;

use crate::libraries::call::{Call, exports};
use crate::libraries::handlers::{TOO_MANY, is_full};
use crate::libraries::kind::Kind;
use crate::libraries::registrations::{ObjectKind, find, key, place};
use crate::libraries::resolve::{Behind, Library, Scope, function};
use crate::libraries::stubs::{address, stub};
use crate::threads::thread::{self, Inside};

static LIBRARY: Library = Library {
    marks: &[c"ev_run", c"ev_version_major", c"ev_feed_event"],
    fits,
};

fn fits(scope: Scope) -> bool {
    let Some(version) = scope.find(c"ev_version_major") else {
        return false;
    };
    // SAFETY: a function of libev, which has always had this type.
    let version = unsafe { function::<unsafe extern "C-unwind" fn() -> i32>(version)() };
    version == 4
}

/// The offset of a watcher's handler, unless libev's source was changed: after three numbers and an argument.
const HANDLER: usize = 24;
/// The offset of an I/O watcher's descriptor: after the handler and the next watcher's address.
const DESCRIPTOR: usize = 40;

/// Whether the program makes this call in a thread that can log. libev calls its own functions too.
fn by_program(call: &Call, behind: &Behind) -> Option<Inside> {
    match behind.has(call.site() as usize) {
        true => None,
        false => thread::enter(),
    }
}

/// Follows the watcher that a call starts: our stub will call its handler.
fn follow(call: &Call, behind: &Behind, fd: i32, is_for_caller: IsForCaller) {
    let Some(inside) = by_program(call, behind) else {
        return;
    };
    let watcher = call.argument(1);
    let at: *mut usize = core::ptr::with_exposed_provenance_mut(watcher as usize + HANDLER);
    // SAFETY: the program's watcher, which libev will read and write.
    let handler = unsafe { at.read() };
    if handler == 0 {
        return;
    }
    let stub = stub(handler, Kind::Second, 0);
    if is_full() {
        inside.write(0, &Record::Note(TOO_MANY.as_bytes()));
    }
    let Some(stub) = stub else {
        return;
    };
    let Some(known) = place(key(ObjectKind::Watcher, watcher)) else {
        return;
    };
    // SAFETY: the program's watcher, which libev will read and write.
    unsafe { at.write(address(stub)) };
    known.set(stub, fd);
    match is_for_caller {
        IsForCaller::Yes => known.produce(&inside),
        IsForCaller::No => known.empty_items(),
    }
}

/// Whether a watcher is called for the work of the thread that starts it.
#[derive(Clone, Copy)]
enum IsForCaller {
    Yes,
    /// It is called when requested.
    No,
}

fn starts(call: &mut Call, behind: Behind) -> usize {
    follow(call, &behind, -1, IsForCaller::Yes);
    behind.address
}

fn starts_for_descriptor(call: &mut Call, behind: Behind) -> usize {
    let place = call.argument(1) as usize + DESCRIPTOR;
    // SAFETY: the program's watcher, which libev will read.
    let fd = unsafe { core::ptr::with_exposed_provenance::<i32>(place).read() };
    follow(call, &behind, fd, IsForCaller::Yes);
    behind.address
}

fn prepares(call: &mut Call, behind: Behind) -> usize {
    follow(call, &behind, -1, IsForCaller::No);
    behind.address
}

/// A watcher's handler is requested.
fn asks(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(known) = find(key(ObjectKind::Watcher, call.argument(1)))
    {
        known.ask(&inside);
    }
    behind.address
}

exports! {
    LIBRARY;
    ev_io_start => starts_for_descriptor;
    ev_timer_start => starts;
    ev_timer_again => starts;
    ev_periodic_start => starts;
    ev_periodic_again => starts;
    ev_signal_start => starts;
    ev_child_start => starts;
    ev_stat_start => starts;
    ev_idle_start => starts;
    ev_prepare_start => starts;
    ev_check_start => starts;
    ev_fork_start => starts;
    ev_cleanup_start => starts;
    ev_async_start => prepares;
    ev_async_send => asks;
    ev_feed_event => asks;
}

//! libev: programs write handlers into watchers themselves, and start them by a call. A handler is called with its watcher.
//!
//! A watcher that was started once keeps our function in the place of the handler, since libev stops watchers before it calls
//! them. Whoever looks at it there sees that one, which does the same.

use fulcrum_wire::transactions::Record;

use crate::libraries::call::{Call, exports};
use crate::libraries::handlers::{TOO_MANY, is_full};
use crate::libraries::kind::Kind;
use crate::libraries::registrations::{Of, find, key, place};
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
    // SAFETY: a function of libev's, which has had this type from the beginning.
    let version = unsafe { function::<unsafe extern "C-unwind" fn() -> i32>(version)() };
    version == 4
}

/// Where a watcher's handler is, as libev is built unless one changes its source: behind three numbers and an argument.
const HANDLER: usize = 24;
/// Where the descriptor is of one that watches a descriptor: behind the handler and the next one's address.
const DESCRIPTOR: usize = 40;

/// A call that the program makes, and a thread that can log: libev calls its own functions too.
fn by_program(call: &Call, behind: &Behind) -> Option<Inside> {
    match behind.has(call.site() as usize) {
        true => None,
        false => thread::enter(),
    }
}

/// The watcher that a call starts: our function calls its handler.
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
    let Some(known) = place(key(Of::Watcher, watcher)) else {
        return;
    };
    // SAFETY: likewise.
    unsafe { at.write(address(stub)) };
    known.set(stub, fd);
    match is_for_caller {
        IsForCaller::Yes => known.produce(&inside),
        IsForCaller::No => known.empty_items(),
    }
}

/// Whether a watcher is called for what the thread does that starts it.
#[derive(Clone, Copy)]
enum IsForCaller {
    Yes,
    /// It is called when it is asked for.
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

/// A watcher's handler is asked for.
fn asks(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = by_program(call, &behind)
        && let Some(known) = find(key(Of::Watcher, call.argument(1)))
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

//! libevent: handlers are called with a descriptor and an argument, which several events may share. Where events would be
//! called with equal arguments, stubs of different colours stand for one handler.
//!
//! libevent also calls its own public functions for what it builds on events: buffers, listeners, HTTP. So its own events
//! are followed like the program's, and the program's handlers are called within libevent's.

use core::sync::atomic::{AtomicUsize, Ordering};

use fulcrum_wire::transactions::Record;

use super::buffers::{self, CLOSES, READS, WRITES};
use crate::libraries::call::{Call, exports};
use crate::libraries::handlers::{StubId, TOO_MANY, is_full};
use crate::libraries::kind::Kind;
use crate::libraries::registrations::{
    ObjectKind, Registration, find, key, key_of_arguments, place, remove,
};
use crate::libraries::resolve::{Behind, Library, Scope, function};
use crate::libraries::stubs::{address, original, stub};
use crate::threads::thread::{self, Inside};

static LIBRARY: Library = Library {
    marks: &[c"event_base_loop", c"event_get_version_number"],
    fits,
};

/// The part of libevent that has been in a library of its own since 2.0.
static HTTP: Library = Library {
    marks: &[c"evhttp_set_gencb", c"evhttp_bind_socket_with_handle"],
    fits: |_| true,
};

fn fits(scope: Scope) -> bool {
    let Some(version) = scope.find(c"event_get_version_number") else {
        return false;
    };
    if let Some(own) = scope.find(c"event_self_cbarg") {
        // SAFETY: a function of libevent, which has always had this type.
        let own = unsafe { function::<unsafe extern "C-unwind" fn() -> usize>(own)() };
        SELF.store(own, Ordering::Relaxed);
    }
    // SAFETY: a function of libevent, which has always had this type.
    let version = unsafe { function::<unsafe extern "C-unwind" fn() -> u32>(version)() };
    version >> 24 == 2
}

/// The value that stands for the event itself where an argument is expected.
static SELF: AtomicUsize = AtomicUsize::new(0);

/// The most events with equal arguments that are told apart. Further ones are not followed.
const COLOURS: u8 = 8;
fn said(inside: &Inside, stub: Option<StubId>) -> Option<StubId> {
    if is_full() {
        inside.write(0, &Record::Note(TOO_MANY.as_bytes()));
    }
    stub
}

/// `event_assign(event, base, fd, events, handler, argument)`: the event is a new one from now on.
fn assigns(call: &mut Call, behind: Behind) -> usize {
    let (event, fd, events) = (call.argument(0), call.argument(2) as i32, call.argument(3));
    let (handler, argument) = (call.argument(4) as usize, call.argument(5));
    let Some(inside) = thread::enter().filter(|_| handler != 0) else {
        return behind.address;
    };
    if behind.has(handler) {
        buffers::know([0, 1].map(|at| behind.code(at)));
    }
    let is_self = argument != 0 && argument as usize == SELF.load(Ordering::Relaxed);
    let argument = if is_self { event } else { argument };
    forget(event);
    let Some((stub, known)) = claim(&inside, event, (handler, fd, argument)) else {
        call.set_argument(4, original(handler) as u64);
        return behind.address;
    };
    let watched = events & (READS | WRITES | CLOSES) != 0;
    known.set(stub, if watched { fd } else { -1 });
    // Events that run immediately are never added.
    if behind.has(call.site() as usize) {
        known.produce(&inside);
    }
    call.set_argument(4, address(stub) as u64);
    behind.address
}

/// A stub for a handler that no other event is called with in the same way.
fn claim(
    inside: &Inside,
    event: u64,
    (handler, fd, argument): (usize, i32, u64),
) -> Option<(StubId, &'static Registration)> {
    for colour in 0..COLOURS {
        let stub = said(inside, stub(handler, Kind::Event, colour))?;
        let key_of_call = key_of_arguments(stub, fd, argument);
        let known = place(key_of_call)?;
        let free = known
            .other
            .compare_exchange(0, event, Ordering::AcqRel, Ordering::Relaxed);
        if free.is_err() {
            continue;
        }
        place(key(ObjectKind::Event, event))?
            .other
            .store(key_of_call, Ordering::Release);
        return Some((stub, known));
    }
    None
}

/// What is known about an event.
fn of_event(event: u64) -> Option<&'static Registration> {
    let known = find(key(ObjectKind::Event, event))?;
    let of_call = find(known.other.load(Ordering::Acquire))?;
    (of_call.other.load(Ordering::Acquire) == event).then_some(of_call)
}

/// An event is a different one from now on, or none.
fn forget(event: u64) {
    if of_event(event).is_some()
        && let Some(known) = find(key(ObjectKind::Event, event))
    {
        remove(known.other.load(Ordering::Acquire));
    }
    remove(key(ObjectKind::Event, event));
}

/// `event_add(event, …)`.
fn adds(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = thread::enter()
        && let Some(known) = of_event(call.argument(0))
    {
        known.produce(&inside);
    }
    behind.address
}

/// `event_active(event, …)`.
fn activates(call: &mut Call, behind: Behind) -> usize {
    if let Some(inside) = thread::enter()
        && let Some(known) = of_event(call.argument(0))
    {
        known.ask(&inside);
    }
    behind.address
}

/// `event_free(event)`. The event may still be called until this returns.
fn frees(call: &mut Call, behind: Behind) -> usize {
    let event = call.argument(0);
    // SAFETY: passes on the program's argument.
    unsafe { behind.function::<unsafe extern "C-unwind" fn(u64)>()(event) };
    forget(event);
    call.answer(0)
}

/// `event_get_callback(event)`.
fn gets_callback(call: &mut Call, behind: Behind) -> usize {
    type Get = unsafe extern "C-unwind" fn(u64) -> usize;
    // SAFETY: passes on the program's argument.
    let handler = unsafe { behind.function::<Get>()(call.argument(0)) };
    call.answer(original(handler) as u64)
}

/// Gives the program its own handler where it asks for one.
fn restore(place: u64) {
    let place: *mut usize = core::ptr::with_exposed_provenance_mut(place as usize);
    if !place.is_null() {
        // SAFETY: the library has just written to this place.
        unsafe { place.write(original(place.read())) };
    }
}

/// `event_get_assignment(event, base, fd, events, handler, argument)`, with places for all but the first.
fn gets_assignment(call: &mut Call, behind: Behind) -> usize {
    type Get = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64, u64);
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|at| call.argument(at));
    // SAFETY: passes on the program's arguments.
    unsafe { behind.function::<Get>()(a, b, c, d, e, f) };
    restore(e);
    call.answer(0)
}

/// Replaces a handler that is called within one of libevent's, or after it, with a stub.
fn replace(inside: &Inside, call: &mut Call, at: usize, kind: Kind) -> Option<StubId> {
    let handler = call.argument(at) as usize;
    let stub = (handler != 0).then(|| stub(handler, kind, 0))?;
    let stub = said(inside, stub)?;
    call.set_argument(at, address(stub) as u64);
    Some(stub)
}

/// `bufferevent_setcb(buffers, reads, writes, events, argument)`.
fn sets(call: &mut Call, behind: Behind) -> usize {
    let Some(inside) = thread::enter() else {
        return behind.address;
    };
    let [reads, writes, _] = [1, 2, 3].map(|at| replace(&inside, call, at, Kind::Buffered));
    if let Some(known) = place(key(ObjectKind::Buffers, call.argument(0))) {
        let number = |stub: Option<StubId>| stub.map_or(0, |it| u64::from(it.0) + 1);
        known
            .other
            .store(number(reads) | number(writes) << 32, Ordering::Relaxed);
    }
    behind.address
}

/// `bufferevent_getcb(buffers, reads, writes, events, argument)`, with places for all but the first.
fn gets_buffers(call: &mut Call, behind: Behind) -> usize {
    type Get = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|at| call.argument(at));
    // SAFETY: passes on the program's arguments.
    unsafe { behind.function::<Get>()(a, b, c, d, e) };
    for place in [b, c, d] {
        restore(place);
    }
    call.answer(0)
}

/// One of the arguments is a handler that is called within one of libevent's.
fn within(call: &mut Call, behind: Behind, handler: usize) -> usize {
    if let Some(inside) = thread::enter() {
        replace(&inside, call, handler, Kind::Onward);
    }
    behind.address
}

/// One of the arguments has options for buffers.
fn makes(call: &mut Call, behind: Behind, options: usize) -> usize {
    const DEFER: u64 = 1 << 2;
    if call.argument(options) & DEFER != 0 {
        buffers::defer();
    }
    behind.address
}

exports! {
    LIBRARY;
    event_assign => assigns;
    event_add => adds;
    event_active => activates;
    event_free => frees;
    event_get_callback => gets_callback;
    event_get_assignment => gets_assignment;
    event_base_once => |call, behind| within(call, behind, 3);
    bufferevent_socket_new => |call, behind| makes(call, behind, 2);
    bufferevent_filter_new => |call, behind| makes(call, behind, 3);
    bufferevent_pair_new => |call, behind| makes(call, behind, 1);
    bufferevent_setcb => sets;
    bufferevent_getcb => gets_buffers;
    evconnlistener_new => |call, behind| within(call, behind, 1);
    evconnlistener_set_cb => |call, behind| within(call, behind, 1);
}

/// The functions in the library of its own.
mod http {
    use super::{HTTP, exports, within};

    exports! {
        HTTP;
        evhttp_set_cb => |call, behind| within(call, behind, 2);
        evhttp_set_gencb => |call, behind| within(call, behind, 1);
        evhttp_request_new => |call, behind| within(call, behind, 0);
    }
}

/// The addresses of the exported functions.
pub(crate) fn all_hooks() -> impl Iterator<Item = u64> {
    hooks().chain(http::hooks())
}

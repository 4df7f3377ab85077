//! GLib: while a handler runs, GLib tells the source that it is called for. GLib's functions that create a source, attach
//! it and return its number do so through public functions. Here these are called one by one, so that the source is known
//! before another thread can dispatch it.

use fulcrum_wire::transactions::Record;

use super::glib_functions::{Own, fits};
use crate::libraries::call::{Call, exports};
use crate::libraries::handlers::{StubId, TOO_MANY, is_full};
use crate::libraries::kind::Kind;
use crate::libraries::registrations::{ObjectKind, key, place};
use crate::libraries::resolve::{Behind, Library};
use crate::libraries::stubs::{address, stub};
use crate::threads::thread;

static LIBRARY: Library = Library {
    marks: &[c"g_main_context_dispatch", c"g_main_current_source"],
    fits,
};

/// What a source calls, and what frees the argument.
#[derive(Clone, Copy)]
struct Handler {
    stub: StubId,
    data: u64,
    notify: u64,
    /// The descriptor of the source, or negative if there is none or it is unknown.
    fd: i32,
}

/// Records the thread's work with a source, which may have a descriptor.
fn register(source: u64, stub: StubId, fd: i32) {
    if let Some(inside) = thread::enter()
        && let Some(place) = place(key(ObjectKind::Source, source))
    {
        place.set(stub, fd);
        place.produce(&inside);
    }
}

/// The stub for a handler, or `None` if it is not followed.
fn standing_for(handler: u64, kind: Kind) -> Option<StubId> {
    let inside = thread::enter().filter(|_| handler != 0)?;
    let stub = stub(handler as usize, kind, 0);
    if is_full() {
        inside.write(0, &Record::Note(TOO_MANY.as_bytes()));
    }
    stub
}

/// `g_source_set_callback(source, handler, data, notify)`.
fn sets(call: &mut Call, behind: Behind) -> usize {
    if let Some(stub) = standing_for(call.argument(1), Kind::Source) {
        register(call.argument(0), stub, -1);
        call.set_argument(1, address(stub) as u64);
    }
    behind.address
}

/// Attaches a new source to a context, or to GLib's own if it is 0. Returns the number for the program.
fn attach(source: u64, context: u64, priority: Option<i32>, handler: Handler) -> u64 {
    register(source, handler.stub, handler.fd);
    let called = address(handler.stub) as u64;
    // SAFETY: GLib's functions with these types, called with our own source.
    unsafe {
        if let Some(priority) = priority {
            Own::SetPriority.get::<unsafe extern "C-unwind" fn(u64, i32)>()(source, priority);
        }
        type Set = unsafe extern "C-unwind" fn(u64, u64, u64, u64);
        Own::SetCallback.get::<Set>()(source, called, handler.data, handler.notify);
        type Attach = unsafe extern "C-unwind" fn(u64, u64) -> u32;
        let number = Own::Attach.get::<Attach>()(source, context);
        Own::Unref.get::<unsafe extern "C-unwind" fn(u64)>()(source);
        u64::from(number)
    }
}

/// A function that adds a source. It makes the source from up to two arguments, given by their places.
struct Adds {
    make: Own,
    of: [usize; 2],
    /// The place of the handler. The handler's argument follows.
    handler: usize,
    /// The place of the priority, for the full form. In that form, the last argument frees the handler's argument.
    priority: Option<usize>,
    kind: Kind,
}

impl Adds {
    const fn simple(make: Own, of: [usize; 2], handler: usize) -> Adds {
        Adds {
            make,
            of,
            handler,
            priority: None,
            kind: Kind::Source,
        }
    }

    const fn once(make: Own, of: [usize; 2], handler: usize) -> Adds {
        Adds {
            kind: Kind::SourceOnce,
            ..Adds::simple(make, of, handler)
        }
    }

    const fn full(make: Own, of: [usize; 2], handler: usize, priority: usize) -> Adds {
        Adds {
            priority: Some(priority),
            ..Adds::simple(make, of, handler)
        }
    }

    fn handler(&self, call: &Call) -> Option<Handler> {
        let notify = self.priority.map(|_| call.argument(self.handler + 2));
        Some(Handler {
            stub: standing_for(call.argument(self.handler), self.kind)?,
            data: call.argument(self.handler + 1),
            notify: notify.unwrap_or(0),
            fd: match self.make {
                Own::Descriptor => call.argument(self.of[0]) as i32,
                _ => -1,
            },
        })
    }

    fn call(&self, call: &mut Call, behind: Behind) -> usize {
        // Without a handler GLib complains.
        let Some(handler) = self.handler(call) else {
            return behind.address;
        };
        let [a, b] = self.of.map(|at| call.argument(at));
        type Make = unsafe extern "C-unwind" fn(u64, u64) -> u64;
        // SAFETY: GLib's function, which takes one or both of the program's arguments and ignores further ones.
        let source = unsafe { self.make.get::<Make>()(a, b) };
        if source == 0 {
            return behind.address;
        }
        let priority = self.priority.map(|at| call.argument(at) as i32);
        let number = attach(source, 0, priority, handler);
        call.answer(number)
    }
}

/// A handler is called immediately, or by the loop of the context in the first argument, with a priority. Takes the places
/// of the handler and of what frees its argument, or 0 for the latter.
fn invokes(call: &mut Call, behind: Behind, priority: i32, [handler, notify]: [usize; 2]) -> usize {
    type Get = unsafe extern "C-unwind" fn() -> u64;
    type Ask = unsafe extern "C-unwind" fn(u64) -> i32;
    let Some(stub) = standing_for(call.argument(handler), Kind::Source) else {
        return behind.address;
    };
    // SAFETY: GLib's functions with these types, called with a context from the program or GLib's own.
    let source = unsafe {
        let or_default = |context: u64| match context {
            0 => Own::Default.get::<Get>()(),
            context => context,
        };
        let context = or_default(call.argument(0));
        if Own::IsOwner.get::<Ask>()(context) != 0 {
            return behind.address;
        }
        let is_threads = or_default(Own::ThreadDefault.get::<Get>()()) == context;
        if is_threads && Own::Acquire.get::<Ask>()(context) != 0 {
            // No thread runs the context, so this thread calls the handler itself.
            Own::Release.get::<unsafe extern "C-unwind" fn(u64)>()(context);
            return behind.address;
        }
        Own::Idle.get::<Get>()()
    };
    let handler = Handler {
        stub,
        data: call.argument(handler + 1),
        notify: if notify == 0 {
            0
        } else {
            call.argument(notify)
        },
        fd: -1,
    };
    attach(source, call.argument(0), Some(priority), handler);
    call.answer(0)
}

fn invokes_in_order(call: &mut Call, behind: Behind) -> usize {
    let priority = call.argument(1) as i32;
    invokes(call, behind, priority, [2, 4])
}

/// `adds!(form, what, places of its arguments, …)`.
macro_rules! adds {
    ($form:ident, $make:ident, $of:expr, $($place:literal),*) => {
        |call, behind| const { Adds::$form(Own::$make, $of, $($place),*) }.call(call, behind)
    };
}

exports! {
    LIBRARY;
    g_source_set_callback => sets;
    g_timeout_add => adds!(simple, Timeout, [0, 0], 1);
    g_timeout_add_full => adds!(full, Timeout, [1, 1], 2, 0);
    g_timeout_add_once => adds!(once, Timeout, [0, 0], 1);
    g_timeout_add_seconds => adds!(simple, TimeoutSeconds, [0, 0], 1);
    g_timeout_add_seconds_full => adds!(full, TimeoutSeconds, [1, 1], 2, 0);
    g_timeout_add_seconds_once => adds!(once, TimeoutSeconds, [0, 0], 1);
    g_idle_add => adds!(simple, Idle, [0, 0], 0);
    g_idle_add_full => adds!(full, Idle, [0, 0], 1, 0);
    g_idle_add_once => adds!(once, Idle, [0, 0], 0);
    g_io_add_watch => adds!(simple, Watch, [0, 1], 2);
    g_io_add_watch_full => adds!(full, Watch, [0, 2], 3, 1);
    g_unix_fd_add => adds!(simple, Descriptor, [0, 1], 2);
    g_unix_fd_add_full => adds!(full, Descriptor, [1, 2], 3, 0);
    g_child_watch_add => adds!(simple, Child, [0, 0], 1);
    g_child_watch_add_full => adds!(full, Child, [1, 1], 2, 0);
    g_unix_signal_add => adds!(simple, Signal, [0, 0], 1);
    g_unix_signal_add_full => adds!(full, Signal, [1, 1], 2, 0);
    g_main_context_invoke => |call, behind| invokes(call, behind, 0, [1, 0]);
    g_main_context_invoke_full => invokes_in_order;
}

//! Event libraries (Whodunit §4.1, §7.3): libevent, libuv, GLib and libev at their public calls; of io_uring, how much of it
//! is not followed.
//!
//! A call that registers a handler notes the caller's transaction with what it registers ([`registrations`]), and gives the
//! library a function of ours in the handler's place ([`stubs`]). That tells who is called for what, and calls the handler with
//! the very registers that it was called with: arguments are the program's own.
//!
//! Our functions have the libraries' names, and so stand before those of every library and plug-in of the process
//! ([`resolve`]). What is called by such a name and is not the library is passed on as if we were not there.

mod call;
mod dispatch;
mod handlers;
mod kind;
mod nesting;
mod registers;
mod registrations;
mod resolve;
mod stubs;
mod supported;

pub(crate) use nesting::Nesting;
pub(crate) use registrations::next_item;
pub(crate) use resolve::{begin_again, forget};
pub(crate) use supported::uring::submitted;

use supported::{glib, libev, libevent, libuv, uring};

/// The addresses of what the program calls.
pub(crate) fn hooks() -> impl Iterator<Item = u64> {
    libevent::all_hooks()
        .chain(libuv::hooks())
        .chain(glib::hooks())
        .chain(libev::hooks())
        .chain(uring::hooks())
}

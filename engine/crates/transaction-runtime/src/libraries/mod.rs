//! Event libraries (Whodunit §4.1, §7.3): libevent, libuv, GLib and libev, followed at their public functions. Operations
//! of io_uring are only counted.
//!
//! A call that registers a handler records the caller's transaction with what it registers ([`registrations`]), and gives
//! the library a function of ours in place of the handler ([`stubs`]). This function records which handler is called for
//! what, and calls the handler with exactly the same registers, so the arguments are the program's own.
//!
//! Our functions have the libraries' names, so they precede those of every library and plug-in in the process
//! ([`resolve`]). A call by such a name that is not meant for the library is passed on unchanged.

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

/// The addresses of the exported functions.
pub(crate) fn hooks() -> impl Iterator<Item = u64> {
    libevent::all_hooks()
        .chain(libuv::hooks())
        .chain(glib::hooks())
        .chain(libev::hooks())
        .chain(uring::hooks())
}

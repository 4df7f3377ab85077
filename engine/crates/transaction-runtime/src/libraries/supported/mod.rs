//! The supported libraries, one file each, with helpers that belong to a single library.

pub(crate) mod buffers;
pub(crate) mod glib;
pub(crate) mod glib_functions;
pub(crate) mod libev;
pub(crate) mod libevent;
pub(crate) mod libuv;
pub(crate) mod uring;

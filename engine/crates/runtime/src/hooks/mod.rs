//! What replaces libc's functions: calls that block a thread or wake one, receive or send bytes, or change the sampling
//! signal.

pub(crate) mod action;
pub(crate) mod blocked;
pub(crate) mod c11;
pub(crate) mod io;
pub(crate) mod pthread;
pub(crate) mod signal;

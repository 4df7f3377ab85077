//! Hooks that hide libc's lock functions. They capture the caller's registers, and have a fast path for locks without flow.

pub(crate) mod captured;
pub(crate) mod mutexes;

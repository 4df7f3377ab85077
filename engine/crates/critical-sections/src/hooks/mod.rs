//! The hooks that hide libc's functions of locks: they capture the caller's registers, and are short where nothing flows.

pub(crate) mod captured;
pub(crate) mod mutexes;

//! Doing something that neither a handler of signals nor a panic interrupts.

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::sys::KeepErrno;

/// Does something while signals wait; the thread's `errno` stays as it is, and no panic leaves it.
pub fn quietly<T: Default>(what: impl FnOnce() -> T) -> T {
    let _errno = KeepErrno::new();
    uninterrupted(|| fulcrum_agent_core::say::guarded(what))
}

//! Work that neither a signal handler nor a panic interrupts.

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::sys::KeepErrno;

/// Does something while signals are blocked. Preserves the thread's `errno`, and catches panics.
pub(crate) fn quietly<T: Default>(what: impl FnOnce() -> T) -> T {
    let _errno = KeepErrno::new();
    uninterrupted(|| fulcrum_agent_core::say::guarded(what))
}

//! The functions of GLib that are called here.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::libraries::resolve::{Scope, function};

/// A function of GLib.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Own {
    CurrentSource,
    SetCallback,
    SetPriority,
    Attach,
    Unref,
    Timeout,
    TimeoutSeconds,
    Idle,
    Watch,
    Descriptor,
    Child,
    Signal,
    Default,
    ThreadDefault,
    IsOwner,
    Acquire,
    Release,
}

const NAMES: [&CStr; 17] = [
    c"g_main_current_source",
    c"g_source_set_callback",
    c"g_source_set_priority",
    c"g_source_attach",
    c"g_source_unref",
    c"g_timeout_source_new",
    c"g_timeout_source_new_seconds",
    c"g_idle_source_new",
    c"g_io_create_watch",
    c"g_unix_fd_source_new",
    c"g_child_watch_source_new",
    c"g_unix_signal_source_new",
    c"g_main_context_default",
    c"g_main_context_get_thread_default",
    c"g_main_context_is_owner",
    c"g_main_context_acquire",
    c"g_main_context_release",
];
static FUNCTIONS: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// Looks up all functions. Returns whether all of them exist.
pub(crate) fn fits(scope: Scope) -> bool {
    let mut all = FUNCTIONS.iter().zip(NAMES);
    all.all(|(place, name)| {
        let found = scope.find(name);
        place.store(found.unwrap_or(0), Ordering::Release);
        found.is_some()
    })
}

impl Own {
    /// The function as type `F`. Calling it is as unsafe as calling that function.
    pub(crate) fn get<F: Copy>(self) -> F {
        function(FUNCTIONS[self as usize].load(Ordering::Acquire))
    }
}

/// The source whose handler is running, or 0 if there is none.
pub(crate) fn current_source() -> u64 {
    type Current = unsafe extern "C-unwind" fn() -> u64;
    if FUNCTIONS[Own::CurrentSource as usize].load(Ordering::Acquire) == 0 {
        return 0;
    }
    // SAFETY: GLib's function, with this type.
    unsafe { Own::CurrentSource.get::<Current>()() }
}

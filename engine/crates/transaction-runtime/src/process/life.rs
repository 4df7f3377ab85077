//! The library's constructor and destructor.

use core::ffi::c_void;

use fulcrum_preload::life::at_quick_exit;
use fulcrum_preload::sys;

use super::{exits, fork, process_log};
use crate::call_paths::{callers, modules, paths};
use crate::hooks::{descriptor_calls, epoll, idle, stream_calls};
use crate::locking::{locks, sections};
use crate::log::Parent;
use crate::messages::{entries, streams, unix_peers};
use crate::threads::{ending, spawn, thread};
use crate::{active, java, libraries, session, windows};

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(end);

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    let Some(session) = session::attach() else {
        return;
    };
    locks::prepare();
    windows::begin(session);
    if active::prepare().is_none()
        || thread::prepare(ending::end).is_none()
        || paths::prepare().is_none()
        || entries::prepare().is_none()
        || streams::prepare().is_none()
        || process_log::begin(Parent::default()).is_none()
    {
        return;
    }
    if let Some(main) = thread::current() {
        main.set_stack(thread::main_stack());
    }
    // SAFETY: the handler lives as long as the process.
    unsafe { libc::pthread_atfork(None, None, Some(active::in_child)) };
    at_quick_exit(at_quick);
    if let Some(inside) = thread::enter() {
        modules::log_new(&inside);
    }
    callers::ask();
    unix_peers::begin();
    callers::wait();
    let native = locks::hooks()
        .chain(epoll::hooks())
        .chain(descriptor_calls::hooks())
        .chain(stream_calls::hooks())
        .chain(idle::hooks())
        .chain(spawn::hooks())
        .chain(libraries::hooks())
        .chain(java::hooks());
    // The hooks of `fork` return twice.
    sections::begin(native, &locks::reported_later(), fork::hooks());
}

extern "C" fn end() {
    let _errno = sys::KeepErrno::new();
    exits::leave();
}

extern "C" fn at_quick(_: *mut c_void) {
    exits::leave();
}

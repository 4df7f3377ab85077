//! The library's life in a process: constructor and destructor.

use core::ffi::c_void;

use fulcrum_preload::life::at_quick_exit;
use fulcrum_preload::sys;

use crate::log::Parent;
use crate::{
    active, callers, ending, entries, epoll, exits, fork, hooks_descriptors, hooks_io, idle, java,
    libraries, locks, modules, paths, process_log, sections, session, spawn, streams, thread,
    unix_peers,
};

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(end);

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    if session::attach().is_none()
        || active::prepare().is_none()
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
        modules::look(&inside);
    }
    callers::ask();
    unix_peers::begin();
    callers::wait();
    let native = locks::hooks()
        .chain(epoll::hooks())
        .chain(hooks_descriptors::hooks())
        .chain(hooks_io::hooks())
        .chain(idle::hooks())
        .chain(spawn::hooks())
        .chain(libraries::hooks())
        .chain(java::hooks());
    locks::prepare();
    // Those of `fork` return twice.
    sections::begin(native, fork::hooks());
}

extern "C" fn end() {
    let _errno = sys::KeepErrno::new();
    exits::leave();
}

extern "C" fn at_quick(_: *mut c_void) {
    exits::leave();
}

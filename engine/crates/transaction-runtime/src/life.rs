//! The library's life in a process: constructor, destructor, and whether it is active.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::life::{OwnWord, at_quick_exit};
use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use crate::log::{self, Parent};
use crate::{
    callers, descriptors, exits, fork, modules, paths, sections, session, streams, thread,
    unix_peers,
};

/// Whether hooks do more than pass through, 0 or 1. Forked children that no handler announces find the library inactive too:
/// the log that they see is their parent's.
static ACTIVE: OwnWord = OwnWord::new(&INACTIVE);
static INACTIVE: AtomicU32 = AtomicU32::new(0);

fulcrum_preload::constructor!(begin);
fulcrum_preload::destructor!(end);

/// Whether hooks do more than pass through.
#[inline]
pub fn is_active() -> bool {
    ACTIVE.word().load(Ordering::Acquire) != 0
}

/// In a forked child: everything passes through.
pub fn deactivate() {
    ACTIVE.word().store(0, Ordering::Release);
}

/// Makes a log, of the calling thread for the moment, and activates the library. `None`: the process goes on without.
pub fn begin_log(parent: Parent) -> Option<()> {
    let session = session::session()?;
    log::create(session, parent)?;
    ACTIVE.word().store(1, Ordering::Release);
    if thread::begin_process().is_none() {
        deactivate();
        return None;
    }
    write_program();
    Some(())
}

fn write_program() {
    let mut path = [0_u8; 1024];
    // SAFETY: the kernel writes so many bytes at most.
    let length = unsafe {
        let name = c"/proc/self/exe".as_ptr().addr();
        let args = [name, path.as_mut_ptr().addr(), path.len(), 0, 0, 0];
        sys::call(libc::SYS_readlink, args)
    };
    let path = &path[..length.max(0) as usize];
    if let Some(inside) = thread::enter() {
        inside.write(0, &Record::Program(path));
    }
}

extern "C" fn begin() {
    let _errno = sys::KeepErrno::new();
    if session::attach().is_none()
        || ACTIVE.prepare().is_none()
        || thread::prepare().is_none()
        || paths::prepare().is_none()
        || descriptors::prepare().is_none()
        || streams::prepare().is_none()
        || begin_log(Parent::default()).is_none()
    {
        return;
    }
    if let Some(main) = thread::current() {
        main.set_stack(thread::main_stack());
    }
    // SAFETY: the handler lives as long as the process.
    unsafe { libc::pthread_atfork(None, None, Some(fork::in_child)) };
    at_quick_exit(at_quick);
    if let Some(inside) = thread::enter() {
        modules::look(&inside);
    }
    callers::ask();
    unix_peers::begin();
    callers::wait();
    sections::begin();
}

extern "C" fn end() {
    let _errno = sys::KeepErrno::new();
    exits::leave();
}

extern "C" fn at_quick(_: *mut c_void) {
    exits::leave();
}

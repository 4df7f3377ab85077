//! Starts the log of a process, at program start and in forked children.

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use crate::log::{self, Parent};
use crate::threads::thread;
use crate::{active, session};

/// Creates a log, with the calling thread as its only thread for now, and activates the library. Returns `None` if the
/// process continues without a log.
pub(crate) fn begin(parent: Parent) -> Option<()> {
    let session = session::session()?;
    log::create(session, parent)?;
    active::activate();
    if thread::begin_process().is_none() {
        active::deactivate();
        return None;
    }
    write_program();
    Some(())
}

fn write_program() {
    let mut path = [0_u8; 1024];
    // SAFETY: the kernel writes at most the buffer's length.
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

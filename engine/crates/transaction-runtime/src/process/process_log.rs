//! The log of a process begins: where the program begins, and in forked children.

use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use crate::log::{self, Parent};
use crate::threads::thread;
use crate::{active, session};

/// Makes a log, of the calling thread for the moment, and activates the library. `None`: the process goes on without.
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

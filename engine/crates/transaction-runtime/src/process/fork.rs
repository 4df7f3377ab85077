//! Forked children, which have logs of their own from their first moment. Children that share their parent's memory
//! (`vfork`) have none; the programs they execute have.

use core::ffi::{c_char, c_int, c_void};

use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::Record;

use super::{exits, process_log};
use crate::call_paths::{callers, paths};
use crate::hooks::frame::{Frame, hooks};
use crate::locking::sections;
use crate::log::{self, Parent};
use crate::messages::unix_peers;
use crate::threads::{process_context, thread, thread_context};
use crate::{active, libraries, session};

/// Starts the child's log. Not in the fork handler itself, because other libraries' handlers must run before.
fn begin_again(parent: Parent) {
    let _errno = sys::KeepErrno::new();
    active::deactivate();
    let Some(session) = session::session() else {
        return;
    };
    if !session.has_engine() {
        return;
    }
    callers::begin_again();
    process_context::begin_again();
    thread_context::begin_again();
    paths::begin_again();
    libraries::begin_again();
    unix_peers::begin_again();
    sections::begin_again();
    // Without a log the child continues unprofiled.
    let _ = process_log::begin(parent);
}

/// The calling thread as a parent, or `None` if it is not logged.
fn parent() -> Option<Parent> {
    if !active::is_active() {
        return None;
    }
    let thread = thread::current()?;
    (!thread.is_vforked()).then(|| log::as_parent(thread.number()))
}

/// Runs a call that forks: its result is 0 in the child, and the child's number or an error in the parent.
fn forked(frame: &Frame, fork: impl FnOnce() -> c_int) -> c_int {
    let Some(parent) = parent() else {
        return fork();
    };
    let child = fork();
    if child == 0 {
        begin_again(parent);
    } else {
        made(frame, child);
    }
    child
}

/// Records a child, if there is one.
fn made(frame: &Frame, child: c_int) {
    if child > 0
        && let Some(inside) = thread::enter()
    {
        let child = child as u32;
        inside.write(inside.path(frame), &Record::Fork { child });
    }
}

unsafe extern "C-unwind" fn fork(frame: &Frame) -> c_int {
    // SAFETY: passes on the call.
    forked(frame, || unsafe { real!(fork: fn() -> c_int)() })
}

/// `_Fork`, which runs no fork handlers.
unsafe extern "C-unwind" fn fork_alone(frame: &Frame) -> c_int {
    // SAFETY: passes on the call.
    forked(frame, || unsafe { real!(_Fork: fn() -> c_int)() })
}

unsafe extern "C-unwind" fn forkpty(
    master: *mut c_int,
    name: *mut c_char,
    terminal: *const c_void,
    size: *const c_void,
    frame: &Frame,
) -> c_int {
    type Settings = *const c_void;
    // SAFETY: passes on the program's arguments.
    forked(frame, || unsafe {
        real!(forkpty: fn(*mut c_int, *mut c_char, Settings, Settings) -> c_int)(
            master, name, terminal, size,
        )
    })
}

/// Returns only in the child, unless it fails: the calling process ends inside libc.
unsafe extern "C-unwind" fn daemon(stay: c_int, open: c_int, _frame: &Frame) -> c_int {
    use fulcrum_wire::transactions::state::ENDED;
    let real = real!(daemon: fn(c_int, c_int) -> c_int);
    let Some(parent) = parent() else {
        // SAFETY: passes on the program's arguments.
        return unsafe { real(stay, open) };
    };
    let own = sys::process_id();
    log::end(ENDED);
    // SAFETY: passes on the program's arguments.
    let result = unsafe { real(stay, open) };
    if sys::process_id() == own {
        log::reopen(ENDED);
    } else {
        begin_again(parent);
    }
    result
}

type Strings = *const *const c_char;

macro_rules! spawns {
    ($name:ident) => {
        unsafe extern "C-unwind" fn $name(
            pid: *mut libc::pid_t,
            file: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: Strings,
            environment: Strings,
            frame: &Frame,
        ) -> c_int {
            let mut child = 0;
            // SAFETY: passes on the program's arguments, with a place for the child's number if the program gives none.
            unsafe {
                let place = if pid.is_null() { &raw mut child } else { pid };
                let real = real!($name: fn(*mut libc::pid_t, *const c_char, *const c_void, *const c_void, Strings, Strings) -> c_int);
                let result = real(place, file, actions, attributes, arguments, environment);
                if result == 0 {
                    made(frame, *place);
                }
                result
            }
        }
    };
}

spawns!(posix_spawn);
spawns!(posix_spawnp);

hooks! {
    fork => fork, "rdi";
    __fork => fork, "rdi";
    _Fork => fork_alone, "rdi";
    forkpty => forkpty, "r8";
    daemon => daemon, "rdx";
    posix_spawn => posix_spawn, "stack";
    posix_spawnp => posix_spawnp, "stack";
}

/// `vfork(2)` returns twice on the same stack. As in libc, a register holds the return address meanwhile. The child runs
/// first.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn vfork() -> c_int {
    core::arch::naked_asm!(
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "pop rdx",
        "mov eax, {number}",
        "syscall",
        "push rdx",
        "test eax, eax",
        "jz 2f",
        "mov rdi, rax",
        "sub rsp, 8",
        "call {after}",
        "add rsp, 8",
        "2:",
        "ret",
        number = const libc::SYS_vfork,
        before = sym before_vfork,
        after = sym after_vfork,
    )
}

unsafe extern "C-unwind" fn before_vfork() {
    if active::is_active()
        && let Some(thread) = thread::current()
    {
        thread.set_vforked(true);
    }
}

/// In the parent, once the child has ended or executed a program.
unsafe extern "C-unwind" fn after_vfork(result: isize) -> c_int {
    if let Some(thread) = thread::current() {
        // A child made by `vfork` that calls `vfork` itself stays a child.
        let own = exits::is_own_process();
        thread.set_vforked(!own && thread.is_vforked());
    }
    if result < 0 {
        // SAFETY: writes the calling thread's errno.
        unsafe { *libc::__errno_location() = -result as c_int };
        return -1;
    }
    if let Some(inside) = thread::enter() {
        let child = result as u32;
        inside.write(0, &Record::Fork { child });
    }
    result as c_int
}

//! Calls that block until time passes or something outside the program happens. They earn no credit: delays that arise
//! meanwhile are paid afterwards (COZ §3.4.1), at the next such call at the latest, because a thread that mostly sleeps has
//! no samples at which to pay. The hooks also time the calls, and keep samples from interrupting those that the kernel never
//! restarts.

use core::ffi::{c_int, c_uint, c_void};

use libc::{
    clockid_t, epoll_event, fd_set, iovec, msghdr, nfds_t, pollfd, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec, timeval,
};

use crate::experiment::requests;
use crate::hooks::blocked::{self, Call};
use crate::process::thread;
use crate::signals::handler::{may_disturb, undisturbed, with_mask};
use fulcrum_preload::real;

/// Defines a hook for a call that is restarted after a signal.
macro_rules! restarted {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $call:ident) => {
        /// As libc's, timed.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            thread::before();
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn($($type),*) -> $result)($($argument),*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || blocked::around(Call::$call, real))
        }
    };
}

/// Defines a hook for a call that any signal handler interrupts, ours too, or for which it returns a short count. Programs
/// that never see signals expect neither.
macro_rules! interrupted {
    ($name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),*) -> $result:ty, $call:ident) => {
        /// As libc's, timed, and not interrupted by samples.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
            thread::before();
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name $(@ $version)?: fn($($type),*) -> $result)($($argument),*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                undisturbed(|| blocked::around(Call::$call, real))
            })
        }
    };
}

/// Defines a hook for a call that receives bytes into a buffer.
macro_rules! receives {
    ($name:ident(fd: c_int, buffer: *mut c_void $(, $argument:ident: $type:ty)*), $call:ident) => {
        /// As libc's, timed; the bytes may begin a request.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(fd: c_int, buffer: *mut c_void $(, $argument: $type)*) -> ssize_t {
            thread::before();
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn(c_int, *mut c_void $(, $type)*) -> ssize_t)(fd, buffer $(, $argument)*) };
            let received = blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || blocked::around(Call::$call, real));
            // SAFETY: the call has written so many bytes there.
            unsafe { requests::received(fd, buffer, received) };
            received
        }
    };
}

/// Defines a hook for a call that sends several buffers at once, which any signal handler ends.
macro_rules! gathers {
    ($name:ident(fd: c_int $(, $argument:ident: $type:ty)*)) => {
        /// As libc's, timed, and not interrupted by samples; the bytes may end a request.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(fd: c_int $(, $argument: $type)*) -> ssize_t {
            thread::before();
            requests::sending(fd);
            // SAFETY: passes the program's arguments on.
            let real = || unsafe { real!($name: fn(c_int $(, $type)*) -> ssize_t)(fd $(, $argument)*) };
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                undisturbed(|| blocked::around(Call::Write, real))
            })
        }
    };
}

/// Up to this size, a sample hardly ever interrupts a call that sends; pipes are the slowest. Blocking samples would cost half
/// as much as the call itself.
const SMALL: usize = libc::PIPE_BUF;

/// Defines a hook for a call that sends everything unless a signal arrives when part has been sent. The kernel does not
/// restart a short count, and programs that never see signals do not expect one. When another signal cut the call short, it
/// returns: somebody may be waiting for that signal's handler.
macro_rules! sends {
    ($name:ident(fd: $fd:ty, buffer: $buffer:ty, count: $count:ty $(, $argument:ident: $type:ty)*)) => {
        /// As libc's, timed, and not cut short by samples.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(fd: $fd, buffer: $buffer, count: $count $(, $argument: $type)*) -> ssize_t {
            thread::before();
            requests::sending(fd);
            // SAFETY: passes the program's arguments on, or what is left of them.
            let from = |done: size_t| unsafe {
                real!($name: fn($fd, $buffer, $count $(, $type)*) -> ssize_t)(fd, buffer.add(done), count - done $(, $argument)*)
            };
            let from = |done| blocked::around(Call::Write, || from(done));
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || send_all(count, from))
        }
    };
}

/// Sends `count` bytes. `from` sends the bytes after the first so many.
#[inline]
fn send_all(count: size_t, from: impl Fn(size_t) -> ssize_t) -> ssize_t {
    if count > SMALL {
        return undisturbed(|| from(0));
    }
    let samples = thread::samples_taken();
    let done = from(0);
    let all = done <= 0 || done as size_t == count;
    if all || thread::samples_taken() == samples || !may_disturb() {
        return done;
    }
    let before = *errno();
    let rest = undisturbed(|| from(done as size_t));
    if rest < 0 {
        // Without us this would have been a short count too; the next call reports the error.
        *errno() = before;
    }
    done + rest.max(0)
}

fn errno() -> &'static mut c_int {
    // SAFETY: the calling thread's own, for the moment of an assignment.
    unsafe { &mut *libc::__errno_location() }
}

/// Defines a hook for a call that sets a signal mask while it waits.
macro_rules! masked {
    ($name:ident($($argument:ident: $type:ty),*), $call:ident) => {
        /// As libc's, timed, and not interrupted by samples.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type,)* mask: *const sigset_t) -> c_int {
            thread::before();
            // SAFETY: passes the program's arguments on, and a mask made of its own.
            let real = |mask| unsafe { real!($name: fn($($type,)* *const sigset_t) -> c_int)($($argument,)* mask) };
            let real = |mask| blocked::around(Call::$call, || real(mask));
            blocked::inside(const { fulcrum_wire::function(stringify!($name)) }, || {
                // SAFETY: the program's mask, valid or null.
                unsafe { with_mask(mask, real) }
            })
        }
    };
}

receives!(read(fd: c_int, buffer: *mut c_void, count: size_t), Read);
sends!(write(fd: c_int, buffer: *const c_void, count: size_t));
gathers!(writev(fd: c_int, parts: *const iovec, count: c_int));
sends!(send(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int));
sends!(sendto(fd: c_int, buffer: *const c_void, count: size_t, flags: c_int, to: *const sockaddr, length: socklen_t));
gathers!(sendmsg(fd: c_int, message: *const msghdr, flags: c_int));
receives!(recv(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int), Receive);
receives!(recvfrom(fd: c_int, buffer: *mut c_void, count: size_t, flags: c_int, from: *mut sockaddr, length: *mut socklen_t), Receive);
restarted!(recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, Receive);
restarted!(accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int, Accept);
restarted!(accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int, Accept);

interrupted!(poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int, Poll);
masked!(ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec), Poll);
interrupted!(select(count: c_int, reads: *mut fd_set, writes: *mut fd_set, exceptions: *mut fd_set, timeout: *mut timeval) -> c_int, Select);
masked!(pselect(count: c_int, reads: *mut fd_set, writes: *mut fd_set, exceptions: *mut fd_set, timeout: *const timespec), Select);
interrupted!(epoll_wait(fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int, Epoll);
masked!(epoll_pwait(fd: c_int, events: *mut epoll_event, count: c_int, timeout: c_int), Epoll);
interrupted!(nanosleep(time: *const timespec, left: *mut timespec) -> c_int, Sleep);
interrupted!(clock_nanosleep @ "GLIBC_2.17" (clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int, Sleep);
interrupted!(usleep(microseconds: libc::useconds_t) -> c_int, Sleep);
interrupted!(sleep(seconds: c_uint) -> c_uint, Sleep);
interrupted!(thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int, Sleep);

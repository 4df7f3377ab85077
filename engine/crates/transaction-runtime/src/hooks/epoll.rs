//! Event loops (Whodunit §4.1). Each call reports one event, so that the start and end of its handler are seen.
//!
//! The kernel is asked for one event at a time, and keeps the others ready, in order. If they were kept here, they would
//! outlive their descriptors, and an epoll descriptor that is watched by another one would no longer be ready.

use core::ffi::c_int;

use fulcrum_preload::{real, sys};
use fulcrum_wire::transactions::{Interest, Record, Via};
use libc::{epoll_event, sigset_t, timespec};

use super::frame::{Frame, defines, hooks};
use super::idle::{self, Blocking, lets_wait};
use crate::messages::entries::{self, Entry};
use crate::messages::registrations;
use crate::messages::streams::{self, Stream};
use crate::threads::thread;
use crate::threads::thread::Inside;
use crate::windows;

/// Runs a call that registers a descriptor or removes its registration.
///
/// # Safety
/// The event is the program's.
pub(crate) unsafe fn controlling(
    (epoll, operation, fd): (c_int, c_int, c_int),
    event: *const epoll_event,
    real: impl FnOnce() -> c_int,
) -> c_int {
    if !thread::is_logged() {
        return real();
    }
    let before = entries::registration(fd);
    let adds = operation == libc::EPOLL_CTL_ADD || operation == libc::EPOLL_CTL_MOD;
    let mut interest = Interest::Nothing;
    if adds && !event.is_null() {
        // SAFETY: the program's event, which the kernel will read too. It is read before the call, because another thread
        // may receive the first event immediately.
        let (data, events) = unsafe {
            let data = (&raw const (*event).u64).read_unaligned();
            (data, (&raw const (*event).events).read_unaligned())
        };
        interest = interest_in(events);
        entries::register(fd, Some((epoll, data)));
        if windows::is_open() {
            registrations::remember(fd, epoll, data);
        }
    }
    let registration = Registration::of(fd, interest);
    let result = real();
    if result < 0 {
        entries::register(fd, before);
        return result;
    }
    if operation == libc::EPOLL_CTL_DEL {
        entries::register(fd, None);
    }
    if let Some(registration) = registration {
        registration.write(fd);
    }
    result
}

/// What a program waits for that registers a descriptor for these events.
fn interest_in(events: u32) -> Interest {
    let has = |event: c_int| events & event as u32 != 0;
    // Other flags only say how events are reported.
    let reads = libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP | libc::EPOLLRDNORM;
    match (has(libc::EPOLLOUT | libc::EPOLLWRNORM), has(reads)) {
        (true, _) => Interest::Write,
        (false, true) => Interest::Read,
        (false, false) => Interest::Nothing,
    }
}

/// A registration that tells for which transaction the next event is.
struct Registration {
    began_ns: u64,
    interest: Interest,
    /// See [`Work::mark`](crate::threads::work::Work::mark).
    mark: u64,
}

impl Registration {
    /// Returns `None` if it tells nothing new. In the steady state of most programs, none does.
    fn of(fd: c_int, interest: Interest) -> Option<Registration> {
        if !thread::is_recorded() {
            return None;
        }
        let thread = thread::current()?;
        let stream = match entries::get(fd)? {
            // Requests arrive there, and belong to themselves.
            Entry::Nothing | Entry::Unknown(Via::Accepted) => return None,
            Entry::Unknown(_) => 0,
            Entry::Stream { place, id } => {
                if Stream::of(place, id)?.is_accepted() {
                    return None;
                }
                id
            }
        };
        let last = entries::mark(fd);
        let mark = match interest {
            Interest::Nothing => 0,
            Interest::Read | Interest::Write if thread.nesting.is_over() => return None,
            Interest::Read | Interest::Write => {
                thread.work.mark(thread.number(), stream, interest)?
            }
        };
        (mark != last).then(|| Registration {
            began_ns: sys::now(),
            interest,
            mark,
        })
    }

    /// Records it, now that the call has succeeded. Another thread may already have been told of an event, so its time is that of
    /// the call's beginning.
    fn write(&self, fd: c_int) {
        let Some(inside) = thread::enter() else {
            return;
        };
        let stream = entries::get(fd).and_then(|entry| streams::of(Some(&inside), fd, entry));
        let Some(stream) = stream else {
            return;
        };
        stream.announce(&inside);
        let record = Record::Register {
            stream: stream.id(),
            interest: self.interest,
        };
        inside.write_at(self.began_ns, 0, &record);
        entries::set_mark(fd, self.mark);
    }
}

/// `epoll_ctl(2)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: passes on the program's arguments.
    unsafe {
        controlling((epoll, operation, fd), event, || {
            real!(epoll_ctl: fn(c_int, c_int, c_int, *mut epoll_event) -> c_int)(
                epoll, operation, fd, event,
            )
        })
    }
}

/// Runs a call that waits for events. It is passed the number of events to ask for.
///
/// # Safety
/// There is room for this many events.
pub(crate) unsafe fn waiting(
    (epoll, events, count): (c_int, *const epoll_event, c_int),
    blocking: Blocking,
    frame: &Frame,
    real: impl FnOnce(c_int) -> c_int,
) -> c_int {
    if !thread::is_recorded() {
        let found = real(count);
        if found > 1 {
            thread::falls_behind();
        }
        return found;
    }
    thread::catches_up();
    let began_ns = sys::now();
    let found = real(count.min(1));
    if !idle::has_waited(found.into()) {
        return found;
    }
    let Some(inside) = thread::enter() else {
        return found;
    };
    let (path, ended) = (inside.path(frame), sys::now());
    if blocking == Blocking::Allowed {
        inside.write_at(ended, path, &Record::Idle { began_ns });
    }
    if found > 0 {
        // SAFETY: the kernel has written this event.
        let data = unsafe { (&raw const (*events).u64).read_unaligned() };
        let stream = stream(&inside, epoll, data);
        inside.write_at(ended, path, &Record::Event { stream, data });
    }
    found
}

/// The stream that an event belongs to, or 0 if unknown.
fn stream(inside: &Inside, epoll: c_int, data: u64) -> u32 {
    // The window may be a new one.
    inside.thread().may_record();
    let stream = registrations::registered(epoll, data).and_then(|fd| {
        let entry = entries::get(fd)?;
        streams::of(Some(inside), fd, entry)
    });
    stream.map_or(0, |stream| {
        stream.announce(inside);
        stream.id()
    })
}

defines!(epoll_wait(epoll: c_int, events: *mut epoll_event, count: c_int, timeout: c_int) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments, with a smaller count.
    unsafe { waiting((epoll, events, count), Blocking::allowed_if(timeout != 0), frame, |count| next(epoll, events, count, timeout)) }
});
defines!(epoll_pwait(epoll: c_int, events: *mut epoll_event, count: c_int, timeout: c_int, mask: *const sigset_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments, with a smaller count.
    unsafe { waiting((epoll, events, count), Blocking::allowed_if(timeout != 0), frame, |count| next(epoll, events, count, timeout, mask)) }
});
defines!(epoll_pwait2(epoll: c_int, events: *mut epoll_event, count: c_int, timeout: *const timespec, mask: *const sigset_t) -> c_int, frame, |next| {
    // SAFETY: passes on the program's arguments, with a smaller count; the time limit is null or the program's.
    unsafe { waiting((epoll, events, count), lets_wait(timeout), frame, |count| next(epoll, events, count, timeout, mask)) }
});

hooks! {
    epoll_wait => epoll_wait, "r8";
    epoll_pwait => epoll_pwait, "r9";
    epoll_pwait2 => epoll_pwait2, "r9";
}

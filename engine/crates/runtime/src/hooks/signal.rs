//! Signals as messages between threads: sending one may wake, waiting for one may block (COZ Tables 1 and 2).

use core::ffi::{c_int, c_long};
use core::mem::MaybeUninit;
use core::ptr::null;

use libc::{pid_t, pthread_t, siginfo_t, sigset_t, sigval, timespec};

use crate::hooks::blocked::{self, Call};
use crate::process::thread;
use crate::signals::handler::{self, undisturbed};
use crate::signals::held::{self, Content};
use crate::signals::program_view::sampling_signal;
use fulcrum_preload::{real, sys};

macro_rules! sends {
    ($name:ident($($argument:ident: $type:ty),*) $(, $kept:expr)?) => {
        /// As libc's; settles before.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
            thread::before();
            handler::sent();
            $(if $kept { return 0; })?
            // SAFETY: passes the program's arguments on.
            unsafe { real!($name: fn($($type),*) -> c_int)($($argument),*) }
        }
    };
}

sends!(kill(process: pid_t, signal: c_int), held::send(process.into(), signal, Content::Number));
sends!(killpg(group: pid_t, signal: c_int));
sends!(sigqueue(process: pid_t, signal: c_int, value: sigval),
    held::send(process.into(), signal, Content::Value(value.sival_ptr.addr())));
sends!(pthread_kill(target: pthread_t, signal: c_int),
    held::send_to_thread(signal, Content::Number, |thread| thread.is_handle(target)));
sends!(pthread_sigqueue(target: pthread_t, signal: c_int, value: sigval),
    held::send_to_thread(signal, Content::Value(value.sival_ptr.addr()), |thread| thread.is_handle(target)));
sends!(tgkill(process: pid_t, target: pid_t, signal: c_int), by_id(process.into(), target.into(), signal, Content::Number));
sends!(raise(signal: c_int), send_to_itself(signal));
// A cancelled thread wakes from whatever it waits for.
sends!(pthread_cancel(thread: pthread_t));

fn send_to_itself(signal: c_int) -> bool {
    thread::current().is_some_and(|current| {
        held::send_to_thread(signal, Content::Number, |it| core::ptr::eq(it, current))
    })
}

/// The program sends a signal to a thread of this process, if it is one. `false` if the kernel has to.
fn by_id(process: i64, target: i64, signal: c_int, content: Content) -> bool {
    process == i64::from(sys::process_id())
        && held::send_to_thread(signal, content, |it| i64::from(it.id()) == target)
}

/// `syscall(2)` is about to send a signal. `false` if the kernel has to.
///
/// # Safety
/// The arguments are the call's.
pub(crate) unsafe fn sent_by_number(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> bool {
    thread::before();
    handler::sent();
    let own = i64::from(sys::process_id());
    // Whether the kernel would accept it from any thread.
    let all = |info: usize| {
        // SAFETY: the program's, valid or null.
        let info = unsafe { (info as *const siginfo_t).as_ref() }?;
        (info.si_code < 0 && info.si_code != THREAD_KILL).then_some(Content::All(*info))
    };
    let number_of = |argument: usize| i64::from(argument as c_int);
    match number {
        libc::SYS_kill => held::send(number_of(a), b as c_int, Content::Number),
        libc::SYS_tkill => by_id(own, number_of(a), b as c_int, Content::Number),
        libc::SYS_tgkill => by_id(number_of(a), number_of(b), c as c_int, Content::Number),
        libc::SYS_rt_sigqueueinfo => {
            all(c).is_some_and(|content| held::send(number_of(a), b as c_int, content))
        }
        libc::SYS_rt_tgsigqueueinfo => {
            all(d).is_some_and(|content| by_id(number_of(a), number_of(b), c as c_int, content))
        }
        _ => false,
    }
}

/// The code of a signal that `tgkill(2)` has sent.
const THREAD_KILL: c_int = -6;

/// Whether a thread of this process sent the signal, rather than a timer, a child or the terminal.
fn from_ourselves(info: &siginfo_t) -> bool {
    // SAFETY: these codes say that the sender's process is filled in; getpid takes no arguments.
    matches!(info.si_code, libc::SI_USER | libc::SI_QUEUE | THREAD_KILL)
        && unsafe { info.si_pid() as isize == sys::call(libc::SYS_getpid, [0; 6]) }
}

/// When a timeout that starts now ends, nanoseconds.
fn end_of(timeout: &timespec) -> u64 {
    let ns = timeout
        .tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(timeout.tv_nsec);
    sys::now().saturating_add(ns.max(0) as u64)
}

/// The time until `end`, nanoseconds.
fn left_until(end: u64) -> timespec {
    let ns = end.saturating_sub(sys::now());
    timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    }
}

/// What the calls of this family share. `real` waits for at most the rest of `timeout` and fills in its argument.
///
/// Samples are removed: the program waits for signals of its own.
///
/// # Safety
/// The pointers are valid or null, as the calls demand.
unsafe fn wait_for(
    set: *const sigset_t,
    info: *mut siginfo_t,
    timeout: *const timespec,
    real: impl Fn(&mut siginfo_t, *const timespec) -> c_int,
) -> c_int {
    // SAFETY: the program's pointers, valid or null as the calls demand; zeroed is a valid siginfo.
    unsafe {
        let mut found: siginfo_t = MaybeUninit::zeroed().assume_init();
        let Some(thread) = thread::active() else {
            let result = real(&mut found, timeout);
            if result > 0 && !info.is_null() {
                *info = found;
            }
            return result;
        };
        thread::before();
        let has_ours = libc::sigismember(set, sampling_signal()) == 1;
        let begin = thread::wait_begins();
        let end = timeout.as_ref().map(end_of);
        let result = loop {
            let mut left = timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let limit = end.map_or(null(), |end| {
                left = left_until(end);
                &raw const left
            });
            if !has_ours {
                let wait = || real(&mut found, limit);
                break undisturbed(|| blocked::around(Call::Signal, wait));
            }
            if let Some(held) = held::take(thread) {
                found = held;
                break sampling_signal();
            }
            let wait = || blocked::around(Call::Signal, || real(&mut found, limit));
            match held::as_waiter(thread, wait) {
                Some(result) if result != sampling_signal() => break result,
                None => {}
                Some(result) => {
                    let is_nudge = held::is_nudge(thread, &found);
                    if !is_nudge && !handler::is_sample(&found) {
                        break result;
                    }
                    thread::on_signal(thread, None, || None);
                }
            }
        };
        if result > 0 {
            if from_ourselves(&found) {
                thread::after_wake(begin);
            }
            if !info.is_null() {
                *info = found;
            }
        }
        result
    }
}

type WaitInfo = unsafe extern "C-unwind" fn(*const sigset_t, *mut siginfo_t) -> c_int;

fn real_wait() -> WaitInfo {
    real!(sigwaitinfo: fn(*const sigset_t, *mut siginfo_t) -> c_int)
}

/// `sigwaitinfo(2)`: settles before; credits when this process sent the signal.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigwaitinfo(
    set: *const sigset_t,
    info: *mut siginfo_t,
) -> c_int {
    // SAFETY: passes the program's arguments on.
    unsafe { wait_for(set, info, null(), |found, _| real_wait()(set, found)) }
}

/// `sigtimedwait(2)`, likewise.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigtimedwait(
    set: *const sigset_t,
    info: *mut siginfo_t,
    timeout: *const timespec,
) -> c_int {
    let real = real!(sigtimedwait: fn(*const sigset_t, *mut siginfo_t, *const timespec) -> c_int);
    // SAFETY: passes the program's arguments on.
    unsafe { wait_for(set, info, timeout, |found, limit| real(set, found, limit)) }
}

/// `sigwait(3)`, likewise; it is never interrupted and returns its error.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    let errno = sys::KeepErrno::new();
    loop {
        // SAFETY: passes the program's arguments on; the calling thread's errno.
        unsafe {
            let result = wait_for(set, core::ptr::null_mut(), null(), |found, _| {
                real_wait()(set, found)
            });
            if result > 0 {
                *signal = result;
                drop(errno);
                return 0;
            }
            let error = *libc::__errno_location();
            if error != libc::EINTR {
                drop(errno);
                return error;
            }
        }
    }
}

/// `sigsuspend(2)`: settles before; credits when a thread of this process has sent a signal meanwhile.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigsuspend(mask: *const sigset_t) -> c_int {
    thread::before();
    let sent = handler::sent_so_far();
    // SAFETY: passes on a mask made of the program's argument.
    unsafe {
        handler::with_mask(mask, |mask| {
            let real = || real!(sigsuspend: fn(*const sigset_t) -> c_int)(mask);
            blocked::wait(Call::Signal, real, |_| handler::sent_so_far() != sent)
        })
    }
}

/// `pause(2)`, likewise.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pause() -> c_int {
    thread::before();
    let sent = handler::sent_so_far();
    // SAFETY: takes no arguments.
    let real = || unsafe { real!(pause: fn() -> c_int)() };
    undisturbed(|| blocked::wait(Call::Signal, real, |_| handler::sent_so_far() != sent))
}

/// `signalfd(2)`: reading it never returns samples. The kernel does not have the program's own signals of that number either.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn signalfd(
    fd: c_int,
    mask: *const sigset_t,
    flags: c_int,
) -> c_int {
    let real = real!(signalfd: fn(c_int, *const sigset_t, c_int) -> c_int);
    // SAFETY: the program's mask, valid or null; passes the other arguments on.
    unsafe {
        match mask.as_ref() {
            Some(mask) if thread::active().is_some() => {
                let mut others = *mask;
                libc::sigdelset(&mut others, sampling_signal());
                real(fd, &others, flags)
            }
            _ => real(fd, mask, flags),
        }
    }
}

//! Pending signals of the sampling signal's number.
//!
//! The kernel keeps at most one signal of a number pending for a thread, so a pending sample swallows what the program sends to
//! that thread. And when the program blocks the number, the kernel does not, because samples need it. So what the program sends
//! to threads of its own is kept here, as is what reached a thread that believes to block it. A signal of the same number, a
//! *nudge*, has the receiver look here. If a sample swallows the nudge, the receiver looks at the sample.

use core::ffi::c_int;
use core::mem::{MaybeUninit, offset_of};
use core::sync::atomic::Ordering;

use fulcrum_preload::sys;
use libc::siginfo_t;

use crate::process::thread::{self, Thread};
use crate::process::{activity, control};
use crate::signals::place::Place;
use crate::signals::program_view::{
    is_handled, mask_sampling_signal, only_sampling_signal, sampling_signal, with_program_action,
};
use crate::sys::allowed::{Purpose, may};

/// What is pending for whichever thread does not block it.
static FOR_PROCESS: Place = Place::new();

/// Whether a signal is pending for the thread.
pub(crate) fn is_pending(thread: &Thread) -> bool {
    thread.pending.is_full() || FOR_PROCESS.is_full()
}

/// Takes a signal that is pending for the thread, if there is one.
pub(crate) fn take(thread: &Thread) -> Option<siginfo_t> {
    if !is_pending(thread) {
        return None;
    }
    with_program_action(|_| thread.pending.take().or_else(|| FOR_PROCESS.take()))
}

/// Discards what is pending, as the kernel does when the program ignores the signal, or in a forked child.
pub(crate) fn discard() {
    FOR_PROCESS.clear();
    for thread in thread::all() {
        thread.pending.clear();
    }
}

/// `tgkill(2)` has sent it, so it is for one thread.
const BY_TGKILL: c_int = -6;

/// Keeps a signal that has reached the calling thread, which believes to block it. If it was for the process, another thread may
/// take it.
pub(crate) fn hold(thread: &Thread, info: &siginfo_t) {
    let for_thread = info.si_code == BY_TGKILL;
    with_program_action(|_| {
        let place = if for_thread {
            &thread.pending
        } else {
            &FOR_PROCESS
        };
        place.put(info);
    });
    if !for_thread {
        pass_along();
    }
}

/// Nudges a thread that can take what is pending for the process. If all block it, whoever unblocks it looks here.
pub(crate) fn pass_along() {
    if !FOR_PROCESS.is_full() {
        return;
    }
    let takes = || thread::all().filter(|thread| thread.takes_signal());
    // As the kernel chooses. Without a handler, the main thread may block samples where it waits.
    let main = sys::process_id() as i32;
    let first = takes().find(|thread| is_handled() && thread.id() == main);
    let second = thread::current().filter(|thread| thread.takes_signal());
    // A thread may have ended without our knowledge.
    first.into_iter().chain(second).chain(takes()).any(nudge);
}

/// A signal's information as the kernel has it when a process sends it.
#[repr(C)]
struct Sent {
    number: c_int,
    error: c_int,
    code: c_int,
    padding: c_int,
    process: i32,
    user: u32,
    value: usize,
    rest: [usize; 12],
}
const _: () = assert!(size_of::<Sent>() == size_of::<siginfo_t>());
const _: () = assert!(offset_of!(Sent, process) == 16);

const NUDGE_MARK: usize = 0x6e_75_64_67;

/// Has a thread look at what is pending. `false` if the thread has ended.
fn nudge(thread: &Thread) -> bool {
    let process = sys::process_id() as usize;
    let (id, signal) = (thread.id() as usize, sampling_signal() as usize);
    thread.nudged.store(true, Ordering::SeqCst);
    // SAFETY: the kernel reads the information during the call.
    let result = unsafe {
        if may(Purpose::Keep) {
            let info = sent(libc::SI_QUEUE, NUDGE_MARK);
            let info = &raw const info as usize;
            let args = [process, id, signal, info, 0, 0];
            sys::call(libc::SYS_rt_tgsigqueueinfo, args)
        } else {
            sys::call(libc::SYS_tgkill, [process, id, signal, 0, 0, 0])
        }
    };
    result == 0
}

/// Whether a signal that the thread has received is a nudge.
pub(crate) fn is_nudge(thread: &Thread, info: &siginfo_t) -> bool {
    let nudged = thread.nudged.swap(false, Ordering::SeqCst);
    // SAFETY: these codes say that a sender is filled in, and a value if it was queued.
    unsafe {
        match info.si_code {
            libc::SI_QUEUE => info.si_value().sival_ptr.addr() == NUDGE_MARK,
            BY_TGKILL => nudged && !may(Purpose::Keep) && info.si_pid() == sys::process_id() as i32,
            // The kernel had no room for more than the number.
            libc::SI_USER => nudged && info.si_pid() == 0,
            _ => false,
        }
    }
}

/// What a signal says that this process sends now.
fn sent(code: c_int, value: usize) -> siginfo_t {
    let sent = Sent {
        number: sampling_signal(),
        error: 0,
        code,
        padding: 0,
        process: sys::process_id() as i32,
        // SAFETY: takes no arguments.
        user: unsafe { sys::call(libc::SYS_getuid, [0; 6]) as u32 },
        value,
        rest: [0; 12],
    };
    // SAFETY: the same size, and the kernel's layout for signals that were sent.
    unsafe { core::mem::transmute::<Sent, siginfo_t>(sent) }
}

/// What the program says of a signal that it sends.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    /// Nothing.
    Number,
    /// `sigqueue(3)`.
    Value(usize),
    /// `rt_sigqueueinfo(2)`: all of it.
    All(siginfo_t),
}

impl Content {
    fn info(self, code: c_int) -> siginfo_t {
        match self {
            Content::Number => sent(code, 0),
            Content::Value(value) => sent(libc::SI_QUEUE, value),
            Content::All(mut info) => {
                info.si_signo = sampling_signal();
                info
            }
        }
    }
}

fn is_ours(signal: c_int) -> bool {
    activity::is_active()
        && signal == sampling_signal()
        // A child of `vfork` shares our memory.
        && sys::process_id() == control::process().pid
        && may(Purpose::Keep)
}

/// The program sends a signal to a process. `false` if the kernel has to.
pub(crate) fn send(process: i64, signal: c_int, content: Content) -> bool {
    if !is_ours(signal) || process != i64::from(sys::process_id()) {
        return false;
    }
    let info = content.info(libc::SI_USER);
    with_program_action(|_| FOR_PROCESS.put(&info));
    pass_along();
    true
}

/// The program sends a signal to the thread that `is_it` recognises. `false` if the kernel has to.
pub(crate) fn send_to_thread(
    signal: c_int,
    content: Content,
    is_it: impl Fn(&Thread) -> bool,
) -> bool {
    if !is_ours(signal) {
        return false;
    }
    let current = thread::current().filter(|it| is_it(it));
    let Some(thread) = current.or_else(|| thread::all().find(|it| it.id() != 0 && is_it(it)))
    else {
        return false;
    };
    let info = content.info(BY_TGKILL);
    let is_here = with_program_action(|_| {
        // Its slot may be another's by now.
        let is_here = thread.id() != 0 && is_it(thread);
        if is_here {
            thread.pending.put(&info);
        }
        is_here
    });
    // A thread that blocks it looks when it no longer does.
    if is_here && (!thread.takes_signal() || nudge(thread)) {
        return true;
    }
    if is_here {
        thread.pending.clear();
    }
    false
}

/// The calling thread does not block the signal any more: delivers what is pending.
pub(crate) fn deliver() {
    if let Some(thread) = thread::active()
        && is_pending(thread)
    {
        nudge(thread);
    }
}

/// The thread is about to end: nobody finds it any more, and what is pending for the process is another's.
pub(crate) fn leave(thread: &Thread) {
    with_program_action(|_| {
        thread.forget_id();
        thread.pending.clear();
    });
    if thread.blocks_signal() {
        // It is no longer known as one that believes to.
        mask_sampling_signal(libc::SIG_BLOCK);
    }
    pass_along();
}

/// Runs a call that waits for the sampling signal, among others, on the program's behalf. The signal is blocked meanwhile, as
/// the program believes it to be, so that none is lost before the call takes it. `None` if one is pending here already.
pub(crate) fn as_waiter(thread: &Thread, then: impl FnOnce() -> c_int) -> Option<c_int> {
    let blocked = mask_sampling_signal(libc::SIG_BLOCK);
    thread.waits_for_signal.store(true, Ordering::SeqCst);
    let result = (!is_pending(thread)).then(then);
    thread.waits_for_signal.store(false, Ordering::SeqCst);
    if !blocked {
        mask_sampling_signal(libc::SIG_UNBLOCK);
    }
    result
}

/// Empties the kernel's queue, in which the calling thread has the signal blocked, of samples and nudges.
pub(crate) fn drain(thread: &Thread, is_sample: impl Fn(&siginfo_t) -> bool) {
    let set = only_sampling_signal();
    let now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut info = MaybeUninit::<siginfo_t>::zeroed();
    loop {
        let args = [
            &raw const set as usize,
            info.as_mut_ptr() as usize,
            &raw const now as usize,
            size_of::<u64>(),
            0,
            0,
        ];
        // SAFETY: a valid set and time-out, and room for a signal's information, which zeroed memory is.
        let found = unsafe {
            if sys::call(libc::SYS_rt_sigtimedwait, args) != sampling_signal() as isize {
                return;
            }
            info.assume_init_ref()
        };
        if !is_sample(found) && !is_nudge(thread, found) {
            with_program_action(|_| FOR_PROCESS.put(found));
        }
    }
}

/// Leaves what is pending to the kernel: the calling thread, which has the signal blocked, may become another program.
pub(crate) fn leave_to_kernel(thread: &Thread) {
    if !may(Purpose::Keep) {
        return;
    }
    if let Some(info) = take(thread) {
        let process = sys::process_id() as usize;
        let (id, signal) = (sys::thread_id() as usize, sampling_signal() as usize);
        let info = &raw const info as usize;
        // SAFETY: a thread may send itself any.
        unsafe {
            sys::call(
                libc::SYS_rt_tgsigqueueinfo,
                [process, id, signal, info, 0, 0],
            )
        };
    }
}

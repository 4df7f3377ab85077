//! Which of our system calls the process may make. A seccomp filter can end the process for one, so calls that are not allowed
//! are not made.
//!
//! A process cannot ask which filters were in force when it started, so a child process tries the calls. Filters that the
//! program installs itself are evaluated by `seccomp`.

use core::sync::atomic::{AtomicU32, Ordering};

use fulcrum_preload::{descriptors, sys};
use fulcrum_runtime_core::seccomp::{Call, Instruction, Verdict, verdict};
use fulcrum_wire::perf::Attributes;

/// What a group of calls is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Nothing works without it.
    Everything,
    /// New threads are sampled by perf events.
    Perf,
    /// New threads are sampled by timers.
    Timer,
    /// Stacks other than a thread's own are read.
    Memory,
    /// Files are opened in a thread that does not share the program's descriptors.
    Apart,
    /// The load of the machine is read.
    Machine,
    /// The prepared record file gets its name.
    Link,
    /// A forked child gets a profiler thread.
    Child,
    /// A child that is killed for a call leaves no core dump.
    Quiet,
    /// Sleeps end on time.
    Punctual,
    /// Sleepers are woken at once beside busy programs.
    Slice,
    /// Signals of our number that the program sends are kept by us.
    Keep,
    /// The processor time of threads is read.
    Time,
}

/// Bits of [`Purpose`] for which a call is forbidden.
static FORBIDDEN: AtomicU32 = AtomicU32::new(0);

/// Whether the calls for this purpose may be made.
#[inline]
pub(crate) fn may(what: Purpose) -> bool {
    FORBIDDEN.load(Ordering::Relaxed) & (1 << what as u32) == 0
}

/// Forbids the calls for this purpose from now on.
pub(crate) fn forbid(what: Purpose) {
    FORBIDDEN.fetch_or(1 << what as u32, Ordering::Relaxed);
    if what == Purpose::Apart {
        descriptors::forbid_apart();
    }
}

/// A call as we make it, because filters look at arguments. These arguments keep a tried call from doing anything.
struct Needed {
    what: Purpose,
    number: i64,
    arguments: [u64; 6],
    /// An error is as good: libc then does it another way.
    may_fail: bool,
}

/// No descriptor.
const NONE: u64 = u64::MAX;
const CLONE3: i64 = 435;

const fn needed(what: Purpose, number: i64, arguments: [u64; 6]) -> Needed {
    Needed {
        what,
        number,
        arguments,
        may_fail: number == CLONE3,
    }
}

const THREAD_OF_LIBC: u64 = 0x003d_0f00;
const APART: u64 = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_VFORK) as u64;
const ACCESS: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
const TICKS: u64 = libc::CLOCK_THREAD_CPUTIME_ID as u64;

static NEEDED: [Needed; 45] = {
    use Purpose::{
        Apart, Child, Everything, Keep, Link, Machine, Memory, Perf, Punctual, Quiet, Slice, Time,
        Timer,
    };
    let wait = libc::FUTEX_WAIT as u64;
    let wake = libc::FUTEX_WAKE as u64;
    let block = libc::SIG_BLOCK as u64;
    let here = libc::AT_FDCWD as u64;
    let dumpable = libc::PR_SET_DUMPABLE as u64;
    [
        // The only one with an effect, which the child that tries calls needs.
        needed(Quiet, libc::SYS_prctl, [dumpable, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_futex, [0, wait, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_futex, [0, wake, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_clock_nanosleep, [1, 1, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_rt_sigprocmask, [block, 0, 0, 8, 0, 0]),
        needed(Everything, libc::SYS_write, [NONE, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_openat, [NONE, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_close, [NONE, 0, 0, 0, 0, 0]),
        needed(
            Everything,
            libc::SYS_fcntl,
            [NONE, libc::F_DUPFD_CLOEXEC as u64, 0, 0, 0, 0],
        ),
        needed(Everything, libc::SYS_fstat, [NONE, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_mmap, [0, 0, ACCESS, 1, NONE, 0]),
        needed(Everything, libc::SYS_munmap, [1, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_lseek, [NONE, 0, 2, 0, 0, 0]),
        needed(Everything, libc::SYS_ftruncate, [NONE, 0, 0, 0, 0, 0]),
        needed(Everything, libc::SYS_getpid, [0; 6]),
        needed(Everything, libc::SYS_gettid, [0; 6]),
        needed(Everything, libc::SYS_sched_yield, [0; 6]),
        needed(
            Everything,
            libc::SYS_ioctl,
            [NONE, Attributes::DISABLE as u64, 0, 0, 0, 0],
        ),
        needed(Perf, libc::SYS_perf_event_open, [0, 0, NONE, NONE, 8, 0]),
        needed(Perf, libc::SYS_fcntl, [NONE, 15, 0, 0, 0, 0]),
        needed(Perf, libc::SYS_fcntl, [NONE, 10, 0, 0, 0, 0]),
        needed(
            Perf,
            libc::SYS_fcntl,
            [NONE, libc::F_SETFL as u64, 0, 0, 0, 0],
        ),
        needed(
            Perf,
            libc::SYS_ioctl,
            [NONE, Attributes::ENABLE as u64, 0, 0, 0, 0],
        ),
        needed(
            Perf,
            libc::SYS_ioctl,
            [NONE, Attributes::SET_PERIOD as u64, 0, 0, 0, 0],
        ),
        needed(Timer, libc::SYS_timer_create, [TICKS, 1, 0, 0, 0, 0]),
        needed(Timer, libc::SYS_timer_settime, [NONE, 0, 0, 0, 0, 0]),
        needed(Timer, libc::SYS_timer_delete, [NONE, 0, 0, 0, 0, 0]),
        needed(Timer, libc::SYS_clock_gettime, [TICKS, 0, 0, 0, 0, 0]),
        needed(Time, libc::SYS_clock_gettime, [TICKS, 0, 0, 0, 0, 0]),
        needed(Memory, libc::SYS_process_vm_readv, [0, 0, 0, 0, 0, 0]),
        needed(Apart, libc::SYS_clone, [APART, 0, 0, 0, 0, 0]),
        needed(Apart, libc::SYS_close_range, [1, 0, 2, 0, 0, 0]),
        needed(
            Punctual,
            libc::SYS_prctl,
            [libc::PR_GET_TIMERSLACK as u64, 0, 0, 0, 0, 0],
        ),
        needed(
            Punctual,
            libc::SYS_prctl,
            [libc::PR_SET_TIMERSLACK as u64, 1, 0, 0, 0, 0],
        ),
        needed(Slice, libc::SYS_sched_getattr, [0; 6]),
        needed(Slice, libc::SYS_sched_setattr, [0; 6]),
        needed(Keep, libc::SYS_rt_tgsigqueueinfo, [NONE, 0, 0, 0, 0, 0]),
        needed(Keep, libc::SYS_getuid, [0; 6]),
        needed(Machine, libc::SYS_pread64, [NONE, 0, 0, 0, 0, 0]),
        needed(Link, libc::SYS_linkat, [here, 0, here, 0, 0, 0]),
        needed(Child, CLONE3, [0; 6]),
        needed(
            Child,
            libc::SYS_clone,
            [THREAD_OF_LIBC & !0x800, 0, 0, 0, 0, 0],
        ),
        needed(Child, libc::SYS_set_robust_list, [0; 6]),
        needed(Child, libc::SYS_mprotect, [0; 6]),
        needed(
            Child,
            libc::SYS_prctl,
            [libc::PR_SET_NAME as u64, 0, 0, 0, 0, 0],
        ),
    ]
};

/// Finds out what filters allow that are in force already. `false` when we must stay out of the process.
pub(crate) fn detect() -> bool {
    if is_filtered() {
        try_all();
    }
    may(Purpose::Everything)
}

/// Whether this process has a filter. Uses only calls that the loader has just made itself.
fn is_filtered() -> bool {
    let mut text = [0_u8; 4096];
    // SAFETY: a C string, and memory of that length.
    let length = unsafe {
        let path = c"/proc/self/status".as_ptr() as usize;
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let here = libc::AT_FDCWD as usize;
        let fd = sys::call(libc::SYS_openat, [here, path, flags, 0, 0, 0]);
        if fd < 0 {
            return false;
        }
        let at = text.as_mut_ptr() as usize;
        let length = sys::call(libc::SYS_read, [fd as usize, at, text.len(), 0, 0, 0]);
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        length
    };
    const FILTERED: &[u8] = b"\nSeccomp:\t2";
    let text = text.get(..length.max(0) as usize).unwrap_or(&[]);
    text.windows(FILTERED.len()).any(|it| it == FILTERED)
}

/// Makes each call in a child, which is killed for those that are forbidden.
fn try_all() {
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: a fresh mapping, which this process and its children share.
    let page = unsafe {
        sys::call(
            libc::SYS_mmap,
            [0, sys::PAGE, access, shared, usize::MAX, 0],
        )
    };
    if page <= 0 {
        return;
    }
    // SAFETY: zeroed memory of more than that size, never unmapped while this is used.
    let done = unsafe { &*(page as *const AtomicU32) };
    while (done.load(Ordering::Acquire) as usize) < NEEDED.len() {
        let from = done.load(Ordering::Acquire) as usize;
        if !make_calls(from, done) {
            break;
        }
        if let Some(denied) = NEEDED.get(done.load(Ordering::Acquire) as usize) {
            forbid(denied.what);
            done.fetch_add(1, Ordering::AcqRel);
        }
    }
    // SAFETY: our own mapping; the child is gone.
    unsafe { sys::call(libc::SYS_munmap, [page as usize, sys::PAGE, 0, 0, 0, 0]) };
}

/// Has a child make the calls from number `from` on, which counts them in `done`. `false` when no child can be created.
fn make_calls(from: usize, done: &AtomicU32) -> bool {
    // SAFETY: a child with its own memory, which only makes system calls and exits; no signal reports its end.
    unsafe {
        let child = sys::call(libc::SYS_clone, [0; 6]);
        if child < 0 {
            return false;
        }
        if child == 0 {
            let make = |it: &Needed| sys::call(it.number, it.arguments.map(|it| it as usize));
            if from > 0 && may(Purpose::Quiet) {
                make(&NEEDED[0]);
            }
            for needed in &NEEDED[from..] {
                make(needed);
                done.fetch_add(1, Ordering::AcqRel);
            }
            sys::call(libc::SYS_exit_group, [0; 6]);
        }
        let any = libc::__WALL as usize;
        while sys::call(libc::SYS_wait4, [child as usize, 0, any, 0, 0, 0])
            == -(libc::EINTR as isize)
        {}
    }
    true
}

/// Forbids what this filter forbids, which is about to be in force.
pub(crate) fn apply(filter: &[Instruction]) {
    let is_denied = |needed: &&Needed| {
        let call = Call {
            number: needed.number as u32,
            arguments: needed.arguments,
        };
        match verdict(filter, &call) {
            Verdict::Allowed => false,
            Verdict::Fails => !needed.may_fail,
            Verdict::Forbidden => true,
        }
    };
    for denied in NEEDED.iter().filter(is_denied) {
        forbid(denied.what);
    }
}

//! Pauses, exact to the microsecond: a thread sleeps for most of one and spins for the rest, or spins all the time where no one else
//! needs the processor.

use core::cell::Cell;
use core::mem::{self, MaybeUninit};
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::sys;
use fulcrum_runtime_core::ledger::Sleeper;
use fulcrum_runtime_core::tail::{Demand, Tail};

use crate::process::activity;
use crate::sampling::sampler::Sampling;
use crate::sys::allowed::{Purpose, may};

/// How pauses end on this machine.
static TAIL: Tail = Tail::new();
/// How many pauses all threads have started and ended. On a busy machine, a pause may outlast an experiment.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);
/// How long all threads slept in pauses, nanoseconds.
static SLEPT_NS: AtomicU64 = AtomicU64::new(0);

/// The longest single sleep, so that switching delays off ends a pause.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// Makes the pauses of the calling thread's account.
pub(crate) struct Pause<'a> {
    sampling: &'a Sampling,
    took_ns: Cell<u64>,
}

impl<'a> Pause<'a> {
    /// For the thread that is sampled so.
    pub(crate) fn new(sampling: &'a Sampling) -> Self {
        Pause {
            sampling,
            took_ns: Cell::new(0),
        }
    }

    /// How long it took; 0 when there was none.
    pub(crate) fn took_ns(&self) -> u64 {
        self.took_ns.get()
    }
}

impl Sleeper for Pause<'_> {
    fn sleep(&self, ns: u64) -> Option<u64> {
        if !activity::delays_on() {
            return None;
        }
        BEGUN.fetch_add(1, Ordering::Relaxed);
        // To stop sampling and to start it again is part of the pause.
        let begin = sys::now();
        self.sampling.hold_for_pause();
        let end = begin + ns;
        let mut now = begin;
        while now < end && activity::delays_on() {
            let awake = end - TAIL.length_ns().min(ns);
            if now < awake {
                let until = awake.min(now + LONGEST_SLEEP_NS);
                uninterrupted(|| with_short_slice(|| without_slack(|| sys::sleep_until(until))));
                let before = mem::replace(&mut now, sys::now());
                SLEPT_NS.fetch_add(now.saturating_sub(before), Ordering::Relaxed);
                TAIL.slept(now.saturating_sub(until));
            } else {
                core::hint::spin_loop();
                now = sys::now();
            }
        }
        self.sampling.resume_after_pause();
        let took = sys::now().saturating_sub(begin).max(ns);
        self.took_ns.set(took);
        ENDED.fetch_add(1, Ordering::Release);
        Some(took)
    }
}

/// Sleeps without timer slack, which lets the kernel wake a sleeper 50 µs late to wake several at once.
fn without_slack(sleep: impl FnOnce()) {
    let slack = |option: i32, ns: usize| {
        // SAFETY: takes no pointers.
        unsafe { sys::call(libc::SYS_prctl, [option as usize, ns, 0, 0, 0, 0]) }
    };
    if !may(Purpose::Punctual) {
        return sleep();
    }
    let before = slack(libc::PR_GET_TIMERSLACK, 0);
    if before > 1 {
        slack(libc::PR_SET_TIMERSLACK, 1);
    }
    sleep();
    // It may have been forbidden meanwhile.
    if before > 1 && may(Purpose::Punctual) {
        slack(libc::PR_SET_TIMERSLACK, before as usize);
    }
}

/// The shortest slice that the kernel gives to a thread.
const SHORT_SLICE_NS: u64 = 100_000;

/// Sleeps with the shortest slice. Linux 6.12 and later let a thread with a shorter slice run as soon as it wakes; others wait
/// until whoever runs has used up its own, up to 3 ms here. The thread gets no larger share of the processor.
fn with_short_slice(sleep: impl FnOnce()) {
    let own = if may(Purpose::Slice) {
        slice_of_own()
    } else {
        None
    };
    let Some(own) = own else {
        return sleep();
    };
    set_slice(&libc::sched_attr {
        sched_runtime: SHORT_SLICE_NS,
        ..own
    });
    sleep();
    // It may have been forbidden meanwhile.
    if may(Purpose::Slice) {
        set_slice(&own);
    }
}

/// How the calling thread is scheduled, where that has a slice which can be shortened.
fn slice_of_own() -> Option<libc::sched_attr> {
    let mut own = MaybeUninit::<libc::sched_attr>::zeroed();
    let size = size_of::<libc::sched_attr>();
    // SAFETY: the kernel writes at most `size` bytes there.
    let result = unsafe {
        sys::call(
            libc::SYS_sched_getattr,
            [0, own.as_mut_ptr().addr(), size, 0, 0, 0],
        )
    };
    // SAFETY: plain numbers, which are zero where the kernel has not written.
    let own = unsafe { own.assume_init() };
    // Kernels without slices of a thread's own report none.
    let known = result == 0
        && own.sched_policy == libc::SCHED_OTHER as u32
        && own.sched_runtime > SHORT_SLICE_NS;
    known.then_some(own)
}

fn set_slice(to: &libc::sched_attr) {
    // SAFETY: the kernel reads as many bytes as the first field says.
    unsafe {
        sys::call(
            libc::SYS_sched_setattr,
            [0, core::ptr::from_ref(to).addr(), 0, 0, 0, 0],
        )
    };
}

/// Tells how busy the machine was in an experiment. See [`Tail::report`].
pub(crate) fn report(demand: Demand) {
    TAIL.report(demand);
}

/// How long all threads have slept in pauses, nanoseconds.
pub(crate) fn slept_ns() -> u64 {
    SLEPT_NS.load(Ordering::Relaxed)
}

/// How many pauses all threads have started.
pub(crate) fn begun() -> u64 {
    BEGUN.load(Ordering::Relaxed)
}

/// How many of them have ended.
pub(crate) fn ended() -> u64 {
    ENDED.load(Ordering::Acquire)
}

/// In a forked child: the pauses of the other threads are the parent's.
pub(crate) fn forget_others() {
    ENDED.store(begun(), Ordering::Relaxed);
}

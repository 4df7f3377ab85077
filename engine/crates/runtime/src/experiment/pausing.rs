//! Pauses, exact to the microsecond: a thread sleeps for most of one and spins for the rest.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::sys;
use fulcrum_runtime_core::ledger::Sleeper;
use fulcrum_runtime_core::tail::Tail;

use crate::process::activity;
use crate::sys::allowed::{Purpose, may};

/// How pauses end on this machine.
static TAIL: Tail = Tail::new();
/// How many pauses all threads have started and ended. On a busy machine, a pause may outlast an experiment.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// The longest single sleep, so that switching delays off ends a pause.
const SLICE_NS: u64 = 50_000_000;

/// Makes the pauses of the calling thread's account.
#[derive(Default)]
pub(crate) struct Pause {
    took_ns: Cell<u64>,
}

impl Pause {
    /// How long it took; 0 when there was none.
    pub(crate) fn took_ns(&self) -> u64 {
        self.took_ns.get()
    }
}

impl Sleeper for Pause {
    fn sleep(&self, ns: u64) -> Option<u64> {
        if !activity::delays_on() {
            return None;
        }
        BEGUN.fetch_add(1, Ordering::Relaxed);
        let begin = sys::now();
        let end = begin + ns;
        let mut now = begin;
        while now < end && activity::delays_on() {
            let awake = end - TAIL.length_ns().min(ns);
            if now < awake {
                let until = awake.min(now + SLICE_NS);
                uninterrupted(|| without_slack(|| sys::sleep_until(until)));
                now = sys::now();
                TAIL.slept(now.saturating_sub(until));
            } else {
                core::hint::spin_loop();
                now = sys::now();
            }
        }
        let took = (now - begin).max(ns);
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

/// In `passed_ns`, all threads of the program together spent `queued_ns` in run queues.
pub(crate) fn report_queueing(queued_ns: u64, passed_ns: u64) {
    TAIL.report_queueing(queued_ns, passed_ns);
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

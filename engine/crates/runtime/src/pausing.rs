//! Pauses, to the microsecond: a thread sleeps most of the time and waits out the rest.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_preload::quiet::uninterrupted;
use fulcrum_preload::sys;
use fulcrum_runtime_core::ledger::Sleeper;
use fulcrum_runtime_core::tail::Tail;

use crate::activity;
use crate::allowed::{Use, may};

/// How pauses end here.
static TAIL: Tail = Tail::new();
/// How many pauses threads have begun and ended, all together. On a busy machine a pause may outlast an experiment.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Longest sleep at once, so that switching delays off ends a pause.
const SLICE_NS: u64 = 50_000_000;

/// What the calling thread's account has pauses made by.
#[derive(Default)]
pub struct Pause {
    took_ns: Cell<u64>,
}

impl Pause {
    /// How long it took; 0 when there was none.
    pub fn took_ns(&self) -> u64 {
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

/// Sleeps with the thread's timer slack put aside: the kernel may wake a sleeper 50 µs late, so that it can wake several at once.
fn without_slack(sleep: impl FnOnce()) {
    let slack = |option: i32, ns: usize| {
        // SAFETY: takes no pointers.
        unsafe { sys::call(libc::SYS_prctl, [option as usize, ns, 0, 0, 0, 0]) }
    };
    if !may(Use::Punctual) {
        return sleep();
    }
    let before = slack(libc::PR_GET_TIMERSLACK, 0);
    if before > 1 {
        slack(libc::PR_SET_TIMERSLACK, 1);
    }
    sleep();
    // It may have been forbidden meanwhile.
    if before > 1 && may(Use::Punctual) {
        slack(libc::PR_SET_TIMERSLACK, before as usize);
    }
}

/// In `passed_ns`, the program's threads stood in line for a processor for `queued_ns`, all together.
pub fn stood_in_line(queued_ns: u64, passed_ns: u64) {
    TAIL.stood_in_line(queued_ns, passed_ns);
}

/// How many pauses threads have begun so far, all together.
pub fn begun() -> u64 {
    BEGUN.load(Ordering::Relaxed)
}

/// How many of them have ended.
pub fn ended() -> u64 {
    ENDED.load(Ordering::Acquire)
}

/// In a forked child: the other threads' pauses are the parent's.
pub fn forget_others() {
    ENDED.store(begun(), Ordering::Relaxed);
}

//! Rests: no samples are taken while the user has paused, or while the next experiment waits for the budget.

use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::sys;
use fulcrum_runtime_core::budget::{Budget, Spent};
use fulcrum_wire::NONE;

use crate::process::{activity, control, thread};
use crate::sampling::resting;

/// Held by the thread that switches the sampling of all threads.
static SWITCHING: AtomicBool = AtomicBool::new(false);

/// In a process that starts to be profiled.
pub(crate) fn reset() {
    resting::set(false);
    SWITCHING.store(false, Ordering::Relaxed);
}

/// Suspends the sampling of every thread while `work` runs, which replaces this program if it succeeds.
pub(crate) fn without_samples<T>(work: impl FnOnce() -> T) -> T {
    while SWITCHING.swap(true, Ordering::Acquire) {
        sys::yield_now();
    }
    thread::all().for_each(|it| it.sampling.hold());
    let result = work();
    if activity::is_sampling() && resting::may_sample() {
        thread::all().for_each(|it| it.sampling.resume());
    }
    SWITCHING.store(false, Ordering::Release);
    result
}

/// The rests of this process. Only the profiler thread uses it.
pub(crate) struct Rests {
    budget: Budget,
    since_ns: Option<u64>,
    done_ns: u64,
}

impl Rests {
    /// None so far.
    pub(crate) fn new() -> Rests {
        let session = control::session();
        let most = (session.max_overhead != NONE).then_some(session.max_overhead);
        Rests {
            budget: Budget::new(most),
            since_ns: None,
            done_ns: 0,
        }
    }

    /// Time without samples so far, nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        self.done_ns + self.since_ns.map_or(0, |since| sys::now() - since)
    }

    /// Starts or ends a rest, unless another program is about to replace this one.
    pub(crate) fn set(&mut self, resting: bool) {
        if resting == self.since_ns.is_some() || SWITCHING.swap(true, Ordering::Acquire) {
            return;
        }
        resting::set(resting);
        let now = sys::now();
        match self.since_ns.take() {
            Some(since) => self.done_ns += now - since,
            None => self.since_ns = Some(now),
        }
        for thread in thread::all() {
            if resting {
                thread.sampling.hold();
            } else {
                thread.sampling.resume();
            }
        }
        SWITCHING.store(false, Ordering::Release);
    }

    /// What has been spent until now.
    fn spent(&self) -> Spent {
        Spent {
            elapsed_ns: sys::now() - control::process().start_ns,
            rested_ns: self.total_ns(),
            delay_ns: thread::global().now(),
        }
    }

    /// Whether an experiment of `length_ns` has to wait.
    pub(crate) fn are_due(&self, length_ns: u64) -> bool {
        self.budget.must_rest(self.spent(), length_ns)
    }

    /// Whether even samples without experiments would exceed the budget.
    pub(crate) fn are_overdue(&self) -> bool {
        self.budget.is_spent(self.spent())
    }
}

//! Rest: while the user has paused, or the next experiment waits until the budget allows it, no samples are taken.

use core::sync::atomic::{AtomicBool, Ordering};

use fulcrum_preload::sys;
use fulcrum_runtime_core::budget::{Budget, Spent};
use fulcrum_wire::NONE;

use crate::{activity, control, resting, thread};

/// Held by who switches the sampling of all threads.
static SWITCHING: AtomicBool = AtomicBool::new(false);

/// In a process that begins to be profiled.
pub fn reset() {
    resting::set(false);
    SWITCHING.store(false, Ordering::Relaxed);
}

/// Holds the sampling of every thread while `work` is done, which ends this program if it succeeds.
pub fn without_samples<T>(work: impl FnOnce() -> T) -> T {
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

/// The rests of this process. The profiler thread's alone.
pub struct Rests {
    budget: Budget,
    since_ns: Option<u64>,
    done_ns: u64,
}

impl Rests {
    /// None so far.
    pub fn new() -> Rests {
        let session = control::session();
        let most = (session.max_overhead != NONE).then_some(session.max_overhead);
        Rests {
            budget: Budget::new(most),
            since_ns: None,
            done_ns: 0,
        }
    }

    /// Time without samples so far, nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.done_ns + self.since_ns.map_or(0, |since| sys::now() - since)
    }

    /// Begins or ends a rest; not while another program is about to take this one's place.
    pub fn set(&mut self, resting: bool) {
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
    pub fn are_due(&self, length_ns: u64) -> bool {
        self.budget.must_rest(self.spent(), length_ns)
    }

    /// Whether even samples without experiments are too much.
    pub fn are_overdue(&self) -> bool {
        self.budget.is_spent(self.spent())
    }
}

//! The delay ledger (COZ §3.4): how a virtual speedup becomes pauses in other threads.
//!
//! One global count says how long every thread should have been paused since the run began. Each thread keeps how
//! much of it is accounted for: by pauses it made, by samples of its own in the selected line ("hits", §3.4.3), and by
//! credits for time in which another thread, itself paused, kept it waiting (§3.4.1). After [`Ledger::settle`]:
//! `pauses + credits + hits = global`, unless the count moved on meanwhile. All amounts are nanoseconds.
//!
//! A *placebo* hit makes the others pause as any hit does, and its own thread too: what it has earned it owes as well
//! ([`Ledger::hit_placebo`]). So every thread is delayed by the whole count, and what the program then takes longer than
//! without pauses is what pausing itself costs here.

use core::sync::atomic::{AtomicU64, Ordering};

/// How long every thread should have been paused, nanoseconds.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Global(pub AtomicU64);

impl Global {
    /// The count now.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Raises the count to what a thread has accounted for that waits and cannot settle itself.
    pub fn advance_to(&self, to: u64) {
        self.raise(to);
    }

    /// Raises the count to `to`; never lowers it.
    fn raise(&self, to: u64) {
        self.0.fetch_max(to, Ordering::AcqRel);
    }
}

/// Puts the calling thread to sleep.
pub trait Sleeper {
    /// Sleeps for at least `ns` nanoseconds and returns how long it really took.
    /// `None`: delays are switched off, nothing was slept.
    fn sleep(&self, ns: u64) -> Option<u64>;
}

/// How often a thread that is about to block or to wake another pauses at most for what others have earned during its pauses.
///
/// With a speedup of `s`, a pause of `d` is followed by one of `s·d`, and so on: `d / (1 - s)` in all, without end when the
/// selected line runs on and takes no time at all. What is not paid then would be forgiven by the credit that comes
/// with the wake-up. The limit is for a thread that waits in the selected line for this very one.
pub const MOST_PAUSES: usize = 32;

/// One thread's account. Only its own thread touches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    hits: u64,
    pauses: u64,
    credits: u64,
    excess: u64,
    /// What placebo hits have earned and the thread still has to pause for. It is not part of what is accounted for; the hits
    /// are.
    debt: u64,
}

impl Ledger {
    /// A new thread's account: what delayed the parent delayed the creation of the child (COZ §3.4, "Thread creation").
    pub fn inherit(parent: &Ledger) -> Ledger {
        Ledger {
            credits: parent.accounted(),
            ..Ledger::default()
        }
    }

    /// An account that owes nothing at this count.
    pub fn at(count: u64) -> Ledger {
        Ledger {
            credits: count,
            ..Ledger::default()
        }
    }

    /// What is accounted for: pauses, credits and hits.
    #[inline]
    pub fn accounted(&self) -> u64 {
        self.hits + self.pauses + self.credits
    }

    /// What was forgiven because another thread, itself paused, kept this one waiting.
    #[inline]
    pub fn credits(&self) -> u64 {
        self.credits
    }

    /// Time slept beyond what was asked and not used up yet.
    pub fn excess(&self) -> u64 {
        self.excess
    }

    /// A sample fell in the selected line: this thread owes `delay` less than the others.
    #[inline]
    pub fn hit(&mut self, delay: u64) {
        self.hits += delay;
    }

    /// A sample fell in the selected line of a placebo experiment: the others owe `delay`, and so does this thread.
    #[inline]
    pub fn hit_placebo(&mut self, delay: u64) {
        self.hits += delay;
        self.debt += delay;
    }

    /// Whether this thread owes nothing, and has earned nothing that the others do not know of yet.
    #[inline]
    pub fn is_balanced(&self, global: &Global) -> bool {
        self.accounted() == global.now() && self.debt == 0
    }

    /// Whether this thread owes nothing at the moment.
    #[inline]
    pub fn is_settled(&self, global: &Global) -> bool {
        self.accounted() >= global.now() && self.debt == 0
    }

    /// Whether this thread owes anything, but less than `ns` nanoseconds.
    pub fn owes_less_than(&self, ns: u64, global: &Global) -> bool {
        let due = global.now().saturating_sub(self.accounted()) + self.debt;
        (1..ns).contains(&due)
    }

    /// Pays what is owed, or makes the others owe what this thread has earned (COZ §3.4.3).
    ///
    /// One pause at most; before blocking or waking, up to [`MOST_PAUSES`] follow one another.
    pub fn settle(&mut self, global: &Global, sleeper: &impl Sleeper) {
        let count = global.now();
        let accounted = self.accounted();
        if accounted > count {
            global.raise(accounted);
        }
        let owed = count.saturating_sub(accounted);
        let due = owed + self.debt;
        let slept_before = due.min(self.excess);
        let rest = due - slept_before;
        let took = if rest > 0 {
            sleeper.sleep(rest)
        } else {
            Some(0)
        };
        match took {
            Some(took) => {
                self.excess = self.excess - slept_before + took.saturating_sub(rest);
                self.pauses += owed;
            }
            None => self.credits += owed,
        }
        self.debt = 0;
    }

    /// Another thread woke this one. It had settled before, so this one has been delayed already (COZ §3.4.1).
    #[inline]
    pub fn credit(&mut self, global: &Global) {
        self.credit_wait(global, u64::MAX, 0);
    }

    /// The same after a wait of `waited` nanoseconds, while others gave out `saved` of delay for the time that they ran: of that,
    /// no more is forgiven than it waited.
    ///
    /// In virtual time, the count taken off the clock, a woken thread goes on at the later of two times: when it began to wait, and
    /// when the other woke it. Delay that comes in lumps of a whole sample is forgiven in any case: part of it stands for time
    /// before the wait, as part of what was paid before stands for time in the wait.
    #[inline]
    pub fn credit_wait(&mut self, global: &Global, waited: u64, saved: u64) {
        let owed = global.now().saturating_sub(self.accounted());
        self.credits += owed - owed.min(saved).saturating_sub(waited);
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

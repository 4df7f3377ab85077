//! Which thread holds which lock, and who waits for whom (Whodunit §7.5).

use std::collections::HashMap;

use super::{Holder, LockKind, Party, Paths, Wait};
use crate::Synopsis;
use crate::{LockId, ThreadId};

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// By one thread.
    Exclusive,
    /// By several readers.
    Shared,
}

/// The locks of a process that are held or waited for. All times are nanoseconds of one clock.
#[derive(Debug)]
pub struct Holders {
    locks: HashMap<LockId, Lock>,
    limit: usize,
    left_out: u64,
}

#[derive(Debug, Default)]
struct Lock {
    held: Vec<Held>,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Held {
    thread: ThreadId,
    party: Party,
    times: u32,
}

#[derive(Debug)]
struct Waiting {
    thread: ThreadId,
    party: Party,
    kind: LockKind,
    since_ns: u64,
    /// Threads that held the lock when the wait began and were the last to release it, or the last to signal.
    behind: Vec<(ThreadId, Party)>,
}

/// What remained when a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Locks still held, and the contexts in which they were taken.
    pub held: Vec<(LockId, Synopsis)>,
    /// Waits that had not ended.
    pub waits: u64,
    /// Events left out because too many locks were in use at once.
    pub left_out: u64,
}

impl Default for Holders {
    fn default() -> Self {
        Holders::with_limit(1 << 16)
    }
}

impl Holders {
    /// The most readers of one lock that a waiter can wait for. Further readers are not told apart.
    const MOST_BEHIND: usize = 64;

    /// No locks yet, and at most this many held or waited for at once.
    pub fn with_limit(locks: usize) -> Self {
        Holders {
            locks: HashMap::new(),
            limit: locks,
            left_out: 0,
        }
    }

    /// A thread starts to wait for a lock or a condition.
    ///
    /// It waits for the current holder, as in the paper. For several readers, that is the last one to release the lock; for
    /// a condition, the last one to signal it.
    pub fn waits(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        kind: LockKind,
        party: Party,
        now_ns: u64,
    ) {
        let Some(lock) = self.lock(lock) else {
            return;
        };
        let held = lock.held.iter().take(Holders::MOST_BEHIND);
        let behind = held.map(|it| (it.thread, it.party)).collect();
        lock.waiting.retain(|it| it.thread != thread);
        lock.waiting.push(Waiting {
            thread,
            party,
            kind,
            since_ns: now_ns,
            behind,
        });
    }

    /// The wait ends. Returns `None` if the thread worked for no transaction: idle threads wait for work, not for each
    /// other.
    pub fn ends_wait(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        now_ns: u64,
    ) -> Option<Wait<Synopsis, LockId, Synopsis>> {
        let entry = self.locks.get_mut(&lock)?;
        let at = entry.waiting.iter().position(|it| it.thread == thread)?;
        let waiting = entry.waiting.swap_remove(at);
        self.tidy(lock);
        if waiting.party.context.is_empty() {
            return None;
        }
        let behind = waiting.behind.last().map(|(_, party)| *party);
        Some(Wait {
            waiter: waiting.party.context,
            holder: match behind.map(|it| it.context) {
                None => Holder::Unknown,
                Some(Synopsis::EMPTY) => Holder::NoTransaction,
                Some(context) => Holder::Transaction(context),
            },
            lock,
            kind: waiting.kind,
            wait_ns: now_ns.saturating_sub(waiting.since_ns),
            paths: Paths {
                waiter: waiting.party.path,
                holder: behind.map(|it| it.path),
            },
        })
    }

    /// The wait ended by a timeout, so no thread caused its end.
    pub fn gives_up(&mut self, thread: ThreadId, lock: LockId) {
        if let Some(entry) = self.locks.get_mut(&lock) {
            entry.waiting.retain(|it| it.thread != thread);
        }
        self.tidy(lock);
    }

    /// A thread has taken a lock.
    pub fn acquired(&mut self, thread: ThreadId, lock: LockId, sharing: Sharing, party: Party) {
        let Some(lock) = self.lock(lock) else {
            return;
        };
        if let Some(held) = lock.held.iter_mut().find(|it| it.thread == thread) {
            held.times += 1;
            return;
        }
        if sharing == Sharing::Exclusive {
            // Others released it unseen.
            lock.held.clear();
        }
        // Threads that waited for an unknown holder have now met this one.
        for waiting in &mut lock.waiting {
            let waits_for_nobody = waiting.behind.is_empty() && waiting.thread != thread;
            if waits_for_nobody && waiting.kind != LockKind::Condition {
                waiting.behind.push((thread, party));
            }
        }
        lock.held.push(Held {
            thread,
            party,
            times: 1,
        });
    }

    /// A thread releases a lock.
    pub fn released(&mut self, thread: ThreadId, lock: LockId) {
        let Some(entry) = self.locks.get_mut(&lock) else {
            return;
        };
        let Some(at) = entry.held.iter().position(|it| it.thread == thread) else {
            return;
        };
        entry.held[at].times -= 1;
        if entry.held[at].times > 0 {
            return;
        }
        entry.held.swap_remove(at);
        for waiting in &mut entry.waiting {
            if waiting.behind.len() > 1 {
                waiting.behind.retain(|(holder, _)| *holder != thread);
            }
        }
        self.tidy(lock);
    }

    /// A thread signals a condition.
    pub fn signalled(&mut self, thread: ThreadId, condition: LockId, party: Party) {
        if let Some(entry) = self.locks.get_mut(&condition) {
            for waiting in &mut entry.waiting {
                waiting.behind = vec![(thread, party)];
            }
        }
    }

    /// What remains when the process has ended, with locks by their numbers.
    pub fn finish(self) -> Leftovers {
        let mut left = Leftovers {
            left_out: self.left_out,
            ..Leftovers::default()
        };
        for (lock, entry) in self.locks {
            left.waits += entry.waiting.len() as u64;
            left.held
                .extend(entry.held.iter().map(|it| (lock, it.party.context)));
        }
        left.held.sort_unstable();
        left
    }

    fn lock(&mut self, lock: LockId) -> Option<&mut Lock> {
        if self.locks.len() >= self.limit && !self.locks.contains_key(&lock) {
            self.left_out += 1;
            return None;
        }
        Some(self.locks.entry(lock).or_default())
    }

    fn tidy(&mut self, lock: LockId) {
        let unused = |it: &Lock| it.held.is_empty() && it.waiting.is_empty();
        if self.locks.get(&lock).is_some_and(unused) {
            self.locks.remove(&lock);
        }
    }
}

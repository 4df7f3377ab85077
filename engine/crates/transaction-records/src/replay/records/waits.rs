//! Who waited for whom (Whodunit §6).

use fulcrum_transactions::crosstalk::{self, Holder, Pairs, Paths, Wait};
use fulcrum_transactions::{CallPath, LockId, Step, Synopsis};
use fulcrum_wire::transactions::{Head, LockKind, Record};

use crate::replay::state::doing::{Doing, Hold, InstanceId, ThreadRow};
use crate::replay::state::wait::{LockedAt, OwnedWait, RecordedWait, Released, SeenWait, WaitsFor};
use crate::replay::state::world::World;

/// The thread that another one waited for, and where it was.
struct Blamed {
    context: Synopsis,
    instance: Option<InstanceId>,
    at: Option<LockedAt>,
}

/// The record of a release may be this much later than that of the end of the wait.
const LATE_NS: u64 = 1_000_000;

impl World<'_> {
    /// A thread has waited for a lock.
    pub(in crate::replay) fn waited(&mut self, thread: ThreadRow, head: Head, record: &Record<'_>) {
        let Some(recorded) = RecordedWait::of(record) else {
            return;
        };
        let began_ns = recorded.began_ns;
        let doing = self.threads[thread].doing();
        let windows = self.index.windows(self.threads[thread].process);
        let is_cut = windows.is_some_and(|it| began_ns < it.since(head.time_ns));
        if doing.context.is_empty() || is_cut {
            return;
        }
        if self.may_wait_for_work(thread, recorded.kind) {
            self.drop_idle_waits(thread);
            let from_ns = began_ns.max(self.threads[thread].last_ns);
            self.works_for(thread, Doing::default(), from_ns);
            return;
        }
        if recorded.timed_out {
            return;
        }
        let wait = SeenWait {
            thread,
            recorded,
            ended_ns: head.time_ns,
            context: doing.context,
            instance: self.instance_of(doing),
            is_over: doing.task.is_some_and(|it| self.tasks[it].is_over),
            path: head.path,
        };
        self.threads[thread].waits.push(wait);
    }

    /// Whether a thread may have turned to another transaction after a wait without this being recorded. No attribution is
    /// better than a wrong one.
    fn may_wait_for_work(&self, thread: ThreadRow, kind: LockKind) -> bool {
        let it = &self.threads[thread];
        let is_over = it.task.is_some_and(|it| self.tasks[it].is_over);
        match (it.hold, kind) {
            (Hold::Seen, _) | (_, LockKind::Mutex | LockKind::ReadWrite) => false,
            // Locks of C++, Rust and others are futexes too.
            (Hold::Made, LockKind::Futex) => is_over,
            (Hold::Made, LockKind::Condition | LockKind::Semaphore) | (Hold::Answered, _) => true,
        }
    }

    /// A thread releases a lock.
    pub(in crate::replay) fn released(&mut self, thread: ThreadRow, head: Head, lock: u64) {
        let process = self.threads[thread].process;
        let releases = self.processes[process].releases.entry(lock).or_default();
        releases.push(Released {
            time_ns: head.time_ns,
            thread,
            at: LockedAt {
                path: head.path,
                method: 0,
            },
        });
    }

    /// A method of Java was what released a lock.
    pub(in crate::replay) fn released_in_java(
        &mut self,
        thread: ThreadRow,
        lock: u64,
        method: u64,
    ) {
        let process = self.threads[thread].process;
        let of_lock = self.processes[process].releases.get_mut(&lock);
        let own = of_lock.and_then(|all| all.iter_mut().rev().find(|it| it.thread == thread));
        if let Some(release) = own {
            release.at.method = method;
        }
    }

    /// A thread continues its previous work, so its waits delayed that work. Waits after an answer only did so if more of
    /// the answer follows.
    pub(in crate::replay) fn keep_waits(&mut self, thread: ThreadRow, before: WaitsFor) {
        let it = &mut self.threads[thread];
        let is_kept = |wait: &SeenWait| !wait.is_over || before == WaitsFor::Answer;
        let kept = it.waits.drain(..).filter(is_kept);
        self.processes[it.process].waits.extend(kept);
    }

    /// A thread does nothing more for its transaction. Unless a request of the transaction is unanswered, its last waits
    /// were for work.
    pub(in crate::replay) fn end_waits(&mut self, thread: ThreadRow) {
        let task = self.threads[thread].task;
        match task.is_some_and(|it| !self.tasks[it].is_over) {
            true => self.keep_waits(thread, WaitsFor::Other),
            false => self.drop_idle_waits(thread),
        }
    }

    /// A thread begins something else, so it waited for that: repeatedly on one condition, and not for others.
    pub(in crate::replay) fn drop_idle_waits(&mut self, thread: ThreadRow) {
        let waits = &self.threads[thread].waits;
        let may_be_idle = |it: &SeenWait| it.recorded.may_be_idle();
        let last = waits.iter().rev().find(|it| may_be_idle(it));
        let first = last.and_then(|last| {
            let mut all = waits.iter();
            all.position(|it| may_be_idle(it) && it.recorded.lock() == last.recorded.lock())
        });
        if let Some(first) = first {
            let from_ns = waits[first].recorded.began_ns;
            self.threads[thread].waits.truncate(first);
            self.rested(thread, from_ns);
        }
        self.keep_waits(thread, WaitsFor::Other);
    }

    /// All waits of a process, added up.
    pub(crate) fn pairs(&mut self, process: usize) -> Pairs<Synopsis, LockId, Synopsis> {
        let mut releases = std::mem::take(&mut self.processes[process].releases);
        for of_lock in releases.values_mut() {
            of_lock.sort_by_key(|it| it.time_ns);
        }
        let mut pairs = Pairs::default();
        for wait in std::mem::take(&mut self.processes[process].waits) {
            let of_lock = releases.get(&wait.recorded.address);
            let releases = of_lock.map_or(&[][..], Vec::as_slice);
            let blamed = self.blamed(process, &wait, releases);
            let is_own = wait.instance.is_some()
                && blamed
                    .as_ref()
                    .is_some_and(|it| it.instance == wait.instance);
            // Work without a request waits until a thread without a transaction gives it something to do.
            let is_for_work = wait.instance.is_none()
                && wait.recorded.may_be_idle()
                && blamed.as_ref().is_some_and(|it| it.context.is_empty());
            if is_own || is_for_work {
                // One part of a transaction waits for another part, or nothing waits.
                continue;
            }
            self.names_lock(process, &wait);
            let summed = self.summed(process, &wait, blamed.as_ref());
            let owned = wait.instance.map(|instance| OwnedWait {
                instance,
                holder_instance: blamed.as_ref().and_then(|it| it.instance),
                context: summed.waiter,
                holder: summed.holder,
                lock: summed.lock,
                path: summed.paths.waiter,
                began_ns: wait.recorded.began_ns,
                ended_ns: wait.ended_ns,
            });
            self.processes[process].owned_waits.extend(owned);
            pairs.add(summed);
        }
        pairs
    }

    /// Remembers what names the lock, if a wait for it has not done so before.
    fn names_lock(&mut self, process: usize, wait: &SeenWait) {
        let (index, resolver) = (self.index, self.resolver);
        let lock = wait.recorded.lock();
        let of_process = &mut self.processes[process];
        if of_process.lock_places.contains_key(&lock) {
            return;
        }
        let place = match wait.recorded.java {
            Some(java) => of_process.java_lock(index, java),
            None => {
                let place = of_process.innermost(index, resolver, wait.path);
                place.map(|it| format!("in {}", of_process.dictionary.names.text(it)))
            }
        };
        if let Some(place) = place {
            of_process.lock_places.insert(lock, place);
        }
    }

    /// A wait as it is added up.
    fn summed(
        &mut self,
        process: usize,
        wait: &SeenWait,
        blamed: Option<&Blamed>,
    ) -> Wait<Synopsis, LockId, Synopsis> {
        let held_at = blamed.and_then(|it| it.at);
        let waited_at = LockedAt {
            path: wait.path,
            method: wait.recorded.java.map_or(0, |it| it.method),
        };
        Wait {
            waiter: wait.context,
            holder: match blamed.map(|it| it.context) {
                None => Holder::Unknown,
                Some(Synopsis::EMPTY) => Holder::NoTransaction,
                Some(context) => Holder::Transaction(context),
            },
            lock: wait.recorded.lock(),
            kind: kind(&wait.recorded),
            wait_ns: wait.ended_ns.saturating_sub(wait.recorded.began_ns),
            paths: Paths {
                waiter: self.locked_at(process, waited_at),
                holder: held_at.map(|it| self.locked_at(process, it)),
            },
        }
    }

    /// Where a thread waited or released, as a context of its own: in Java, the method instead of the machine's own functions.
    fn locked_at(&mut self, process: usize, at: LockedAt) -> Synopsis {
        let Some(method) = self.index.function(process, at.method) else {
            return self.alone(process, at.path);
        };
        let names = &mut self.processes[process].dictionary.names;
        let method = Step::Path(CallPath::new(vec![names.intern(method)]));
        self.append(process, Synopsis::EMPTY, method)
    }

    /// The holder when the wait began, or, if unknown, the last thread to release or signal the lock before the end of the
    /// wait.
    fn blamed(&self, process: usize, wait: &SeenWait, releases: &[Released]) -> Option<Blamed> {
        let RecordedWait {
            began_ns, holder, ..
        } = wait.recorded;
        let known = self.processes[process].thread(holder, began_ns);
        let known = known.filter(|_| holder != 0);
        let after = releases.partition_point(|it| it.time_ns < began_ns);
        let since = &releases[after..];
        let until_ns = wait.ended_ns.saturating_add(LATE_NS);
        let since = &since[..since.partition_point(|it| it.time_ns <= until_ns)];
        if let Some(holder) = known {
            let release = since.iter().find(|it| it.thread == holder);
            return Some(self.blame(holder, began_ns, release.map(|it| it.at)));
        }
        let during = since.partition_point(|it| it.time_ns <= wait.ended_ns);
        let (during, later) = since.split_at(during);
        let by_others = |it: &&Released| it.thread != wait.thread;
        let last = during.iter().rev().find(by_others);
        let soon = || later.iter().find(by_others);
        let release = last.or_else(soon)?;
        Some(self.blame(release.thread, release.time_ns, Some(release.at)))
    }

    fn blame(&self, thread: ThreadRow, time_ns: u64, at: Option<LockedAt>) -> Blamed {
        let moment = self.threads[thread].at(time_ns);
        let moment = moment.filter(|it| !it.is_to_come);
        Blamed {
            context: moment.map(|it| it.context).unwrap_or_default(),
            instance: moment.and_then(|it| it.instance),
            at,
        }
    }
}

fn kind(wait: &RecordedWait) -> crosstalk::LockKind {
    match wait.kind {
        LockKind::Mutex if wait.java.is_some() => crosstalk::LockKind::Monitor,
        LockKind::Mutex => crosstalk::LockKind::Mutex,
        LockKind::ReadWrite => crosstalk::LockKind::ReadWrite,
        LockKind::Condition => crosstalk::LockKind::Condition,
        LockKind::Futex => crosstalk::LockKind::Futex,
        LockKind::Semaphore => crosstalk::LockKind::Semaphore,
    }
}

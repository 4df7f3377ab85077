//! The ledger under a simulated scheduler: threads that run, sample, lock, wait, sleep, spawn, join and meet at barriers
//! in random order, driving their accounts exactly as the hooks do.
//!
//! Time is the simulation's. One selected line is sped up, by placebo hits too; each thread's *own* progress must be
//! delayed by the whole of the global count, once.

use super::*;
use fulcrum_stats::Random;
use std::cell::{Cell, RefCell};
use std::vec::Vec;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    No,
    Mutex(usize),
    Condition(usize, Option<u64>),
    Sleep(u64),
    Join(usize),
    Barrier,
    Ended,
}

/// A simulated thread. Beside the account it keeps, independently, how long it was really held up.
struct Thread {
    ledger: Ledger,
    blocked: Blocked,
    /// When it began to wait, and what was its own time then: the clock's, less what is accounted for.
    blocked_at: u64,
    own_time: i64,
    /// Time it stood still in pauses.
    paused: u64,
    /// Delay that came up while it was kept waiting by a thread that bore it.
    borne_by_waker: u64,
    /// Delay it has earned by its own samples, those of a placebo left out: they spare it no pause.
    earned: u64,
    /// The count when it was made: what its parent had borne.
    inherited: u64,
    /// The count when it last settled, to see that no delay is served twice.
    settled_at: u64,
}

struct Sleep<'a> {
    random: &'a RefCell<Random>,
    slept: Cell<u64>,
    asked: Cell<u64>,
}

impl Sleeper for Sleep<'_> {
    fn sleep(&self, ns: u64) -> Option<u64> {
        let late = self.random.borrow_mut().below(80);
        self.asked.set(self.asked.get() + ns);
        self.slept.set(self.slept.get() + ns + late);
        Some(ns + late)
    }
}

struct World {
    seed: u64,
    random: RefCell<Random>,
    global: Global,
    now: u64,
    threads: Vec<Thread>,
    /// Who holds each mutex.
    mutexes: [Option<usize>; 2],
    at_barrier: Vec<usize>,
    /// All samples' delay, whoever earned it.
    earned: u64,
}

const BARRIER: usize = 3;
const MOST: usize = 12;

impl World {
    fn new(seed: u64) -> World {
        let first = Thread::with(Ledger::default(), 0);
        World {
            seed,
            random: RefCell::new(Random::new(seed)),
            global: Global::default(),
            now: 0,
            threads: std::vec![first],
            mutexes: [None; 2],
            at_barrier: Vec::new(),
            earned: 0,
        }
    }

    fn below(&self, n: usize) -> usize {
        self.random.borrow_mut().below(n as u64) as usize
    }

    /// What the runtime does before a call that may block or wake, and after a sample.
    fn settle(&mut self, at: usize) {
        let sleep = Sleep {
            random: &self.random,
            slept: Cell::new(0),
            asked: Cell::new(0),
        };
        let thread = &mut self.threads[at];
        let (before, count) = (thread.ledger, self.global.now());
        let excess = before.excess();
        let debt = before.debt;
        thread.ledger.settle(&self.global, &sleep);
        thread.paused += sleep.slept.get();
        self.now += sleep.slept.get();
        let (seed, now) = (self.seed, self.global.now());
        assert_eq!(
            thread.ledger.accounted(),
            now,
            "seed {seed}: pauses + credits + hits = global"
        );
        assert_eq!(
            now,
            count.max(before.accounted()),
            "seed {seed}: a pause, however long, is no one else's delay"
        );
        let owed = count.saturating_sub(before.accounted());
        assert_eq!(
            sleep.asked.get(),
            (owed + debt).saturating_sub(excess),
            "seed {seed}: exactly what is owed is slept"
        );
        assert!(
            owed <= now - thread.settled_at.min(now),
            "seed {seed}: delayed twice for the same delay"
        );
        thread.settled_at = now;
        self.check(at);
    }

    /// The real delay of a thread, from what happened to it, is the whole count.
    fn check(&self, at: usize) {
        let thread = &self.threads[at];
        let real = thread.paused - thread.ledger.excess()
            + thread.borne_by_waker
            + thread.earned
            + thread.inherited;
        assert_eq!(
            real,
            thread.ledger.accounted(),
            "seed {}: thread {at} was really held up by another time than its account says",
            self.seed
        );
        assert!(
            self.global.now() <= self.earned,
            "seed {}: more delay than samples have earned",
            self.seed
        );
    }

    fn sample(&mut self, at: usize) {
        if self.below(2) == 0 {
            let delay = self.random.borrow_mut().below(500);
            if self.below(2) == 0 {
                self.threads[at].ledger.hit(delay);
                self.threads[at].earned += delay;
            } else {
                self.threads[at].ledger.hit_placebo(delay);
            }
            self.earned += delay;
        }
        self.settle(at);
    }

    /// Another thread, which has settled, lets this one go on.
    fn wake(&mut self, at: usize, by: usize) {
        assert_eq!(
            self.threads[by].ledger.accounted(),
            self.global.now(),
            "seed {}: whoever wakes another has borne its own delays first",
            self.seed
        );
        let global = self.global.now();
        let waited = self.now - self.threads[at].blocked_at;
        let (seed, now) = (self.seed, self.now as i64);
        let thread = &mut self.threads[at];
        let (before, own_time) = (thread.ledger.accounted(), thread.own_time);
        thread.blocked = Blocked::No;
        thread.ledger.credit_wait(&self.global, waited, u64::MAX);
        let accounted = thread.ledger.accounted();
        thread.borne_by_waker += accounted - before;
        assert_eq!(
            now - accounted as i64,
            own_time.max(now - global as i64),
            "seed {seed}: goes on when it began to wait or when it was woken, whichever is later without delays"
        );
        self.check(at);
    }

    /// Time ended the wait: the thread pays at its next settlement, which comes with its next sample or call.
    fn times_out(&mut self, at: usize) {
        let before = self.threads[at].ledger;
        self.threads[at].blocked = Blocked::No;
        self.settle(at);
        assert_eq!(
            self.threads[at].ledger.credits, before.credits,
            "seed {}: nobody has borne this delay",
            self.seed
        );
    }

    fn block(&mut self, at: usize, why: Blocked) {
        let thread = &mut self.threads[at];
        thread.blocked = why;
        thread.blocked_at = self.now;
        thread.own_time = self.now as i64 - thread.ledger.accounted() as i64;
    }

    fn lock(&mut self, at: usize, mutex: usize) {
        match self.mutexes[mutex] {
            // Free: the hook's `trylock` succeeds and nothing is settled.
            None => self.mutexes[mutex] = Some(at),
            Some(owner) if owner == at => self.unlock(at, mutex),
            Some(_) => {
                self.settle(at);
                self.block(at, Blocked::Mutex(mutex));
            }
        }
    }

    fn unlock(&mut self, at: usize, mutex: usize) {
        self.settle(at);
        self.mutexes[mutex] = None;
        let waiting = self.waiting(|it| it == Blocked::Mutex(mutex));
        if !waiting.is_empty() {
            let next = waiting[self.below(waiting.len())];
            self.mutexes[mutex] = Some(next);
            self.wake(next, at);
        }
    }

    fn waiting(&self, what: impl Fn(Blocked) -> bool) -> Vec<usize> {
        (0..self.threads.len())
            .filter(|at| what(self.threads[*at].blocked))
            .collect()
    }

    fn signal(&mut self, at: usize, condition: usize, all: bool) {
        self.settle(at);
        let waiting =
            self.waiting(|it| matches!(it, Blocked::Condition(which, _) if which == condition));
        for woken in waiting.into_iter().take(if all { MOST } else { 1 }) {
            self.wake(woken, at);
        }
    }

    fn arrive(&mut self, at: usize) {
        self.settle(at);
        self.at_barrier.push(at);
        self.block(at, Blocked::Barrier);
        if self.at_barrier.len() == BARRIER {
            for woken in core::mem::take(&mut self.at_barrier) {
                self.wake(woken, at);
            }
        }
    }

    fn create(&mut self, at: usize) {
        self.settle(at);
        let parent = &self.threads[at];
        let child = Thread::with(Ledger::inherit(&parent.ledger), self.global.now());
        if self.threads.len() < MOST {
            self.threads.push(child);
        } else if let Some(ended) = self.waiting(|it| it == Blocked::Ended).first() {
            // Its joiners are gone already: a slot that is reused.
            self.threads[*ended] = child;
        }
    }

    fn end(&mut self, at: usize) {
        for mutex in 0..self.mutexes.len() {
            if self.mutexes[mutex] == Some(at) {
                self.unlock(at, mutex);
            }
        }
        self.settle(at);
        self.threads[at].blocked = Blocked::Ended;
        for joiner in self.waiting(|it| it == Blocked::Join(at)) {
            self.wake(joiner, at);
        }
    }

    fn step(&mut self) {
        let runnable = self.waiting(|it| it == Blocked::No);
        self.now += 50;
        for at in 0..self.threads.len() {
            match self.threads[at].blocked {
                Blocked::Sleep(end) | Blocked::Condition(_, Some(end)) if end <= self.now => {
                    self.times_out(at)
                }
                _ => {}
            }
        }
        let Some(at) = runnable.get(self.below(runnable.len().max(1))).copied() else {
            return;
        };
        let until = self.now + self.random.borrow_mut().below(2000);
        match self.below(16) {
            0..5 => self.sample(at),
            5..8 => self.lock(at, self.below(2)),
            8 => {
                self.settle(at);
                self.block(at, Blocked::Condition(self.below(2), None));
            }
            9 => {
                self.settle(at);
                self.block(at, Blocked::Condition(self.below(2), Some(until)));
            }
            10 => self.signal(at, self.below(2), false),
            11 => self.signal(at, self.below(2), true),
            12 => {
                self.settle(at);
                self.block(at, Blocked::Sleep(until));
            }
            13 => self.create(at),
            14 => self.arrive(at),
            _ => {
                let other = self.below(self.threads.len());
                if other != at && self.threads[other].blocked == Blocked::No && runnable.len() > 2 {
                    self.settle(at);
                    self.block(at, Blocked::Join(other));
                    self.end(other);
                }
            }
        }
    }
}

impl Thread {
    fn with(ledger: Ledger, inherited: u64) -> Thread {
        Thread {
            ledger,
            blocked: Blocked::No,
            blocked_at: 0,
            own_time: 0,
            paused: 0,
            borne_by_waker: 0,
            earned: 0,
            inherited,
            settled_at: inherited,
        }
    }
}

#[test]
fn every_thread_is_held_up_by_the_count_once_in_any_order() {
    let mut woken = 0;
    for seed in 0..2000 {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.step();
            // A program in which everybody waits is let go on by its own main thread.
            if world.waiting(|it| it == Blocked::No).is_empty() {
                let fresh = Thread::with(Ledger::at(world.global.now()), world.global.now());
                world.threads.push(fresh);
                let last = world.threads.len() - 1;
                world.signal(last, 0, true);
                world.signal(last, 1, true);
                world.threads[last].blocked = Blocked::No;
            }
        }
        // In the end everybody is asked to pay up, and nobody owes more than the count.
        for at in world.waiting(|it| it == Blocked::No) {
            world.settle(at);
        }
        woken += world
            .threads
            .iter()
            .map(|it| it.borne_by_waker)
            .sum::<u64>();
    }
    assert!(
        woken > 0,
        "the simulation has woken threads that owed something"
    );
}

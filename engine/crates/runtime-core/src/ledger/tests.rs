use super::*;
use fulcrum_stats::Random;
use std::cell::{Cell, RefCell};
use std::vec::Vec;

/// Sleeps by moving a clock, `late` nanoseconds too long each time.
struct Clock {
    now: Cell<u64>,
    late: u64,
    on: Cell<bool>,
    slept: RefCell<Vec<u64>>,
}

impl Clock {
    fn new(late: u64) -> Clock {
        Clock {
            now: Cell::new(0),
            late,
            on: Cell::new(true),
            slept: RefCell::default(),
        }
    }
}

impl Sleeper for Clock {
    fn sleep(&self, ns: u64) -> Option<u64> {
        if !self.on.get() {
            return None;
        }
        self.slept.borrow_mut().push(ns);
        self.now.set(self.now.get() + ns + self.late);
        Some(ns + self.late)
    }
}

#[test]
fn a_hit_makes_the_others_pause_and_not_the_hitter() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    a.hit(250);
    a.settle(&global, &clock);
    assert_eq!(global.now(), 250);
    assert_eq!(*clock.slept.borrow(), []);
    b.settle(&global, &clock);
    assert_eq!(*clock.slept.borrow(), [250]);
    assert_eq!(b.accounted(), 250);
}

#[test]
fn a_placebo_hit_makes_everybody_pause() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    a.hit_placebo(250);
    assert!(!a.is_settled(&global));
    a.settle(&global, &clock);
    assert!(a.is_settled(&global) && a.is_balanced(&global));
    b.settle(&global, &clock);
    assert_eq!(*clock.slept.borrow(), [250, 250]);
    assert_eq!(
        (global.now(), a.accounted(), b.accounted()),
        (250, 250, 250)
    );
}

#[test]
fn when_every_thread_has_a_placebo_hit_each_pauses_once() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    a.hit_placebo(100);
    b.hit_placebo(100);
    a.settle(&global, &clock);
    b.settle(&global, &clock);
    assert_eq!(*clock.slept.borrow(), [100, 100]);
    assert_eq!(global.now(), 100);
}

#[test]
fn when_every_thread_hits_nobody_pauses() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    a.hit(100);
    b.hit(100);
    a.settle(&global, &clock);
    b.settle(&global, &clock);
    assert_eq!((global.now(), clock.slept.borrow().len()), (100, 0));
}

#[test]
fn oversleeping_is_taken_off_the_next_pause_and_never_charged_to_others() {
    let (global, clock) = (Global::default(), Clock::new(70));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    for _ in 0..2 {
        a.hit(100);
        a.settle(&global, &clock);
        b.settle(&global, &clock);
    }
    assert_eq!(*clock.slept.borrow(), [100, 30]);
    assert_eq!(global.now(), 200);
    assert_eq!(b.accounted(), 200);
    assert_eq!(b.excess(), 70);
}

#[test]
fn a_woken_thread_is_credited_and_a_timed_out_one_pays() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut runner, mut woken, mut timed_out) =
        (Ledger::default(), Ledger::default(), Ledger::default());
    runner.hit(500);
    runner.settle(&global, &clock);
    woken.credit(&global);
    woken.settle(&global, &clock);
    assert_eq!(clock.slept.borrow().len(), 0);
    timed_out.settle(&global, &clock);
    assert_eq!(*clock.slept.borrow(), [500]);
}

#[test]
fn of_what_others_saved_meanwhile_no_more_is_forgiven_than_the_wait() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut runner, mut woken) = (Ledger::default(), Ledger::default());
    runner.hit(500);
    runner.settle(&global, &clock);
    // A lump of 200, and 300 that were saved while it waited.
    woken.credit_wait(&global, 120, 300);
    assert_eq!(woken.accounted(), 320);
    woken.settle(&global, &clock);
    assert_eq!(*clock.slept.borrow(), [180]);
}

#[test]
fn a_new_thread_starts_with_its_parents_account() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let mut parent = Ledger::default();
    parent.hit(40);
    parent.settle(&global, &clock);
    let mut child = Ledger::inherit(&parent);
    child.settle(&global, &clock);
    assert_eq!((child.accounted(), clock.slept.borrow().len()), (40, 0));
}

#[test]
fn with_delays_off_nothing_is_slept_and_nothing_stays_owed() {
    let (global, clock) = (Global::default(), Clock::new(0));
    let (mut a, mut b) = (Ledger::default(), Ledger::default());
    a.hit(900);
    a.settle(&global, &clock);
    clock.on.set(false);
    b.hit_placebo(50);
    b.settle(&global, &clock);
    assert!(b.is_settled(&global));
    assert_eq!((b.accounted(), clock.now.get()), (900, 0));
}

/// While one thread pauses, another runs in the selected line and earns half of that: the pauses are a geometric series.
#[test]
fn what_is_earned_during_a_pause_is_paid_before_blocking() {
    struct WhileOthersWork<'a> {
        global: &'a Global,
        worker: RefCell<Ledger>,
        slept: Cell<u64>,
    }
    impl Sleeper for WhileOthersWork<'_> {
        fn sleep(&self, ns: u64) -> Option<u64> {
            self.slept.set(self.slept.get() + ns);
            let mut worker = self.worker.borrow_mut();
            worker.hit(ns / 2);
            worker.settle(self.global, &Clock::new(0));
            Some(ns)
        }
    }
    let global = Global::default();
    let mut worker = Ledger::default();
    worker.hit(1024);
    worker.settle(&global, &Clock::new(0));
    let sleeper = WhileOthersWork {
        global: &global,
        worker: RefCell::new(worker),
        slept: Cell::new(0),
    };
    let mut waiter = Ledger::default();
    for _ in 0..MOST_PAUSES {
        waiter.settle(&global, &sleeper);
        if waiter.is_settled(&global) {
            break;
        }
    }
    assert!(waiter.is_settled(&global));
    assert_eq!(sleeper.slept.get(), 2047, "1024 + 512 + … + 1");
}

/// Random interleavings of everything a thread can do: after each settlement the books balance, the count is the
/// largest account, and nobody is delayed for time that nobody earned.
#[test]
fn the_books_balance_under_any_interleaving() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (global, clock) = (Global::default(), Clock::new(random.below(50)));
        let mut threads = std::vec![Ledger::default()];
        let mut earned = 0;
        for _ in 0..400 {
            let at = random.below(threads.len() as u64) as usize;
            match random.below(10) {
                0..4 => {
                    let delay = random.below(1000);
                    earned += delay;
                    if random.below(2) == 0 {
                        threads[at].hit(delay);
                    } else {
                        threads[at].hit_placebo(delay);
                    }
                }
                4..8 => {
                    threads[at].settle(&global, &clock);
                    assert_eq!(threads[at].accounted(), global.now(), "seed {seed}");
                }
                8 => {
                    threads[at].credit(&global);
                    assert!(threads[at].accounted() >= global.now());
                }
                _ if threads.len() < 8 => {
                    let child = Ledger::inherit(&threads[at]);
                    threads.push(child);
                }
                _ => {
                    threads.swap_remove(at);
                    if threads.is_empty() {
                        threads.push(Ledger::at(global.now()));
                    }
                }
            }
            assert!(
                global.now() <= earned,
                "seed {seed}: more delay than was earned"
            );
        }
    }
}

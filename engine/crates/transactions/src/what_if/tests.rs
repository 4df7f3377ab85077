use fulcrum_stats::Random;

use super::replay::Replay;
use super::*;

const A: TypeId = TypeId(0);
const B: TypeId = TypeId(1);
const C: TypeId = TypeId(2);
const PROCESS: ProcessId = ProcessId(1);

/// A database with one lock, `item`, unless another one is named.
struct Shop(Timeline);

impl Shop {
    fn new() -> Self {
        let programs = BTreeMap::from([(PROCESS, "database".to_owned())]);
        Shop(Timeline {
            programs,
            ..Timeline::default()
        })
    }

    fn transaction(&mut self, of: TypeId, began_ns: u64, ended_ns: u64) -> u32 {
        self.0.transactions.push(Timed {
            of,
            began_ns,
            ended_ns,
        });
        self.0.transactions.len() as u32 - 1
    }

    fn waits_at(&mut self, lock: &str, of: u32, holder: Option<u32>, range: (u64, u64)) {
        let type_of = |it: u32| self.0.transactions[it as usize].of;
        let holder_type = holder.map_or(Holder::Unknown, |it| Holder::Transaction(type_of(it)));
        let place = WaitPlace {
            waiter: type_of(of),
            holder: holder_type,
            lock: lock.into(),
            functions: vec!["main".into(), format!("take_{lock}")],
        };
        self.0.waits.push(TimedWait {
            transaction: of,
            process: PROCESS,
            holder,
            place: self.0.places.len() as u32,
            from_ns: range.0,
            to_ns: range.1,
        });
        self.0.places.push(place);
    }

    fn waits(&mut self, of: u32, holder: u32, range: (u64, u64)) {
        self.waits_at("item", of, Some(holder), range);
    }

    fn works(&mut self, transaction: u32, (from_ns, to_ns): (u64, u64)) {
        self.0.work.push(Work {
            transaction,
            process: PROCESS,
            from_ns,
            to_ns,
        });
    }

    /// How long the transactions take if all do without what they may do without.
    fn walls(&self, repair: &Repair) -> Vec<u64> {
        let all = vec![true; self.0.transactions.len()];
        Replay::new(&self.0, repair).walls(&all)
    }
}

fn without(waits: Waits) -> Repair {
    Repair {
        waits: Some(waits),
        work: Vec::new(),
    }
}

fn waits_of(waiter: TypeId) -> Repair {
    without(Waits {
        waiter: Some(waiter),
        ..Waits::default()
    })
}

fn waits_at(at: &str) -> Repair {
    without(Waits {
        at: Some(at.into()),
        ..Waits::default()
    })
}

fn skipped(of: TypeId, share: f64) -> Repair {
    Repair {
        waits: None,
        work: vec![Skipped {
            of,
            program: "database".into(),
            share,
        }],
    }
}

#[test]
fn a_transaction_takes_less_time_by_its_waits_that_vanish() {
    let mut shop = Shop::new();
    let a = shop.transaction(A, 0, 100);
    let b = shop.transaction(B, 0, 60);
    let c = shop.transaction(C, 0, 200);
    shop.waits(a, b, (20, 60));
    shop.waits(a, c, (70, 80));
    shop.waits_at("cart", c, Some(b), (10, 20));
    let by_holder = |holder| Waits {
        waiter: Some(A),
        holder: Some(holder),
        at: None,
    };
    for (repair, expect) in [
        (Repair::default(), [100, 60, 200]),
        (waits_of(A), [50, 60, 200]),
        (without(by_holder(B)), [60, 60, 200]),
        (without(by_holder(A)), [100, 60, 200]),
        (waits_at("item"), [50, 60, 200]),
        (waits_at("take_cart"), [90, 60, 190]),
        (waits_at("main"), [50, 60, 190]),
    ] {
        assert_eq!(shop.walls(&repair), expect, "{repair:?}");
    }
}

/// The way of the bookstore: AdminConfirm waits for a reader of the table, and Home for AdminConfirm.
#[test]
fn whoever_waited_behind_it_waits_less() {
    let mut shop = Shop::new();
    let reader = shop.transaction(B, 0, 60);
    let admin = shop.transaction(A, 0, 100);
    let home = shop.transaction(C, 20, 110);
    shop.waits(admin, reader, (10, 60));
    shop.waits(home, admin, (25, 100));
    // The admin is 50 earlier, so the home page is served at 50 instead of 100.
    assert_eq!(shop.walls(&waits_of(A)), [60, 50, 40]);
    // At 20, the home page finds the admin already gone.
    let late = shop.transaction(C, 80, 110);
    shop.waits(late, admin, (80, 100));
    assert_eq!(shop.walls(&waits_of(A)), [60, 50, 40, 10]);
}

#[test]
fn who_comes_earlier_to_a_lock_waits_longer() {
    let mut shop = Shop::new();
    let a = shop.transaction(A, 0, 100);
    let b = shop.transaction(B, 0, 70);
    shop.waits_at("cart", a, Some(b), (10, 30));
    shop.waits(a, b, (40, 70));
    assert_eq!(shop.walls(&waits_at("cart")), [100, 70]);
    // An unknown end: the wait takes as long as it did.
    shop.0.waits[1].holder = None;
    assert_eq!(shop.walls(&waits_at("cart")), [80, 70]);
}

/// A moment's wait, to which the transaction now comes 40 earlier.
#[test]
fn who_comes_much_earlier_to_a_lock_meets_others() {
    let mut shop = Shop::new();
    let a = shop.transaction(A, 0, 100);
    let b = shop.transaction(B, 0, 70);
    shop.waits_at("cart", a, Some(b), (10, 50));
    shop.waits(a, b, (68, 70));
    assert_eq!(shop.walls(&waits_at("cart")), [60, 70]);
}

/// Two threads of one transaction.
#[test]
fn waits_at_the_same_time_count_once() {
    for (first, second, expect) in [
        ((10, 50), (10, 50), 60),
        ((10, 50), (20, 40), 60),
        // The second thread comes to its wait at 30, and to its end then, too.
        ((10, 50), (30, 70), 60),
        ((10, 50), (60, 70), 50),
    ] {
        let mut shop = Shop::new();
        let a = shop.transaction(A, 0, 100);
        let b = shop.transaction(B, 0, 100);
        shop.waits(a, b, first);
        shop.waits(a, b, second);
        assert_eq!(shop.walls(&waits_of(A))[0], expect, "{first:?} {second:?}");
    }
}

#[test]
fn waits_after_the_answer_delay_nobody() {
    let mut shop = Shop::new();
    let a = shop.transaction(A, 0, 50);
    let b = shop.transaction(B, 0, 80);
    shop.waits(a, b, (60, 80));
    assert_eq!(shop.walls(&waits_of(A)), [50, 80]);
}

/// Work that vanishes takes the waits within it along.
#[test]
fn skipped_work_takes_no_time_and_holds_nothing() {
    let mut shop = Shop::new();
    let list = shop.transaction(B, 0, 100);
    let other = shop.transaction(C, 0, 200);
    let admin = shop.transaction(A, 0, 110);
    shop.works(list, (10, 80));
    shop.works(other, (5, 180));
    shop.works(admin, (20, 110));
    shop.waits(list, other, (20, 50));
    shop.waits(admin, list, (30, 80));
    assert_eq!(shop.walls(&skipped(B, 1.0)), [30, 200, 60]);
    assert_eq!(shop.walls(&Repair::default()), [100, 200, 110]);
}

/// The last of several readers vanishes: the writer waits for the one before.
#[test]
fn who_waited_for_skipped_work_waits_for_others_that_may_hold_the_lock() {
    let mut shop = Shop::new();
    let list = shop.transaction(B, 0, 80);
    let reader = shop.transaction(C, 0, 60);
    let admin = shop.transaction(A, 0, 110);
    shop.works(list, (10, 80));
    shop.works(reader, (5, 60));
    shop.waits(admin, list, (30, 80));
    // Nobody has ever waited for the reader's type.
    assert_eq!(shop.walls(&skipped(B, 1.0))[admin as usize], 60);
    let other = shop.transaction(A, 0, 20);
    shop.waits(other, reader, (5, 10));
    assert_eq!(shop.walls(&skipped(B, 1.0))[admin as usize], 90);
    // The reader began after the admin had begun to wait.
    shop.0.work[1].from_ns = 31;
    assert_eq!(shop.walls(&skipped(B, 1.0))[admin as usize], 60);
    shop.0.work[1].from_ns = 5;
    // The reader waited, too.
    shop.waits(reader, list, (20, 40));
    assert_eq!(shop.walls(&skipped(B, 1.0))[admin as usize], 60);
}

#[test]
fn nothing_is_ever_slower_and_without_a_repair_nothing_changes() {
    let mut random = Random::new(7);
    let mut faster = 0;
    for _ in 0..100 {
        let mut shop = Shop::new();
        for _ in 0..30 {
            let began = random.below(1000);
            let of = TypeId(random.index(3));
            let it = shop.transaction(of, began, began + 1 + random.below(300));
            shop.works(it, (began, began + 1));
        }
        for _ in 0..60 {
            let [of, holder] = [(); 2].map(|()| random.below(30) as u32);
            let began = shop.0.transactions[of as usize].began_ns;
            let from = began + random.below(100);
            let holder = Some(holder).filter(|it| *it != of);
            let lock = ["item", "cart"][random.index(2)];
            shop.waits_at(lock, of, holder, (from, from + random.below(200)));
        }
        let recorded = shop.walls(&Repair::default());
        let timed = shop.0.transactions.iter();
        let walls: Vec<u64> = timed.map(|it| it.ended_ns - it.began_ns).collect();
        assert_eq!(recorded, walls);
        for repair in [waits_of(A), waits_at("cart"), skipped(B, 1.0)] {
            let pairs = shop.walls(&repair).into_iter().zip(&walls);
            for (predicted, &now) in pairs {
                assert!(predicted <= now, "{predicted} > {now}");
                faster += u32::from(predicted < now);
            }
        }
    }
    assert!(faster > 1000, "{faster}");
}

/// Computed by hand: 1,000 transactions of 1 to 1,000, half of each a wait.
#[test]
fn times_of_a_type_have_their_quantiles_and_intervals() {
    let mut shop = Shop::new();
    let b = shop.transaction(B, 0, 10);
    for n in (1..=1000).rev() {
        let it = shop.transaction(A, 0, 2 * n);
        shop.waits(it, b, (0, n));
    }
    let found = predict(&shop.0, &waits_of(A));
    let expect = Vanished {
        count: 1000,
        wait_ns: 500_500,
    };
    assert_eq!(found.waits, expect);
    let [a, b] = &found.types[..] else {
        panic!("{found:?}");
    };
    assert_eq!((a.of, a.count, a.saved_ns), (A, 1000, 500_500.0));
    let of = |it: &Times| [it.mean, it.p50, it.p95, it.p99].map(|it| it.value);
    assert_eq!(of(&a.now), [1001.0, 1000.0, 1900.0, 1980.0]);
    assert_eq!(of(&a.predicted), [500.5, 500.0, 950.0, 990.0]);
    assert!((a.gain.value - 0.5).abs() < 1e-9);
    // Of a uniform distribution, the mean has a standard error of 1000 / √12 / √1000 = 9.1, and the median of 15.8.
    for (estimate, width) in [(a.predicted.mean, 35.8), (a.predicted.p50, 62.0)] {
        let interval = estimate.interval.unwrap();
        assert!(interval.contains(estimate.value));
        assert!(
            (interval.width() / width - 1.0).abs() < 0.15,
            "{interval:?}"
        );
    }
    // Each takes half the time, whichever are drawn.
    let gain = a.gain.interval.unwrap();
    assert!((gain.low - 0.5).abs() < 1e-9 && (gain.high - 0.5).abs() < 1e-9);
    let of_a = Waits {
        waiter: Some(A),
        ..Waits::default()
    };
    assert_eq!(gain_without(&shop.0, A, of_a.clone()), Some(a.gain));
    assert_eq!(gain_without(&shop.0, C, of_a), None);
    // A single transaction has no interval, and nothing to gain.
    assert_eq!((b.of, b.gain.value, b.gain.interval), (B, 0.0, None));
}

/// Half of the transactions find their answers kept: 20 instead of 100 each.
#[test]
fn a_share_of_hits_is_drawn_at_random() {
    let mut shop = Shop::new();
    for n in 0..1000 {
        let it = shop.transaction(B, n, n + 100);
        shop.works(it, (n + 10, n + 90));
    }
    let found = predict(&shop.0, &skipped(B, 0.5));
    let b = found.types[0];
    let interval = b.predicted.mean.interval.unwrap();
    // The mean of a replay has a standard error of 80 / 2 / √1000 = 1.3.
    assert!((58.0..62.0).contains(&b.predicted.mean.value), "{b:?}");
    assert!(interval.contains(60.0), "{interval:?}");
    assert!((3.0..9.0).contains(&interval.width()), "{interval:?}");
    assert_eq!(b.predicted.p95.value, 100.0);
    let most = predict(&shop.0, &skipped(B, 0.99)).types[0];
    assert_eq!(most.predicted.p95.value, 20.0);
    let none = predict(&shop.0, &skipped(B, 0.0)).types[0];
    assert_eq!((none.gain.value, none.saved_ns), (0.0, 0.0));
}

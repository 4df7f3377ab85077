//! Which transactions wait for which (Whodunit §6).

use fulcrum_wire::transactions::{LockKind, NAMED_FUNCTIONS, Record, Via};

use crate::support::script::{Script, Thread};

/// Two threads, each with a request of its own: `AdminConfirm` and `BestSellers`.
fn two_requests(script: &mut Script) -> [Thread; 2] {
    let main = script.process(10, "mysqld");
    let threads = [2, 3].map(|n| script.spawn(main, "main > start", n, "connection"));
    for ((thread, stream), name) in threads.into_iter().zip([1, 2]).zip(["admin", "best"]) {
        let ports = (3306, 4000 + stream as u16);
        script.tcp(thread, "accept", stream, Via::Accepted, ports);
        let request = format!("GET /{name} HTTP/1.1\r\n");
        script.receive(thread, "serve > recv", stream, 10, &request);
    }
    threads
}

/// §6: t_B waits at lock_x while t_A holds it.
#[test]
fn whoever_held_the_mutex_when_the_wait_began_is_waited_for() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(200);
    let holder = best.tid(&script);
    script.release(best, "serve > sort > unlock", LockKind::Mutex);
    // The holder has already turned to another request when the wait is recorded.
    script.receive(best, "serve > recv", 2, 10, "GET /home HTTP/1.1\r\n");
    script.wait(admin, "serve > update > lock", LockKind::Mutex, 150, holder);
    script.send(admin, "serve > send", 1, 10);
    let shown = script.open();
    assert_eq!(
        shown.waits(),
        [
            "GET /admin 150 ms for GET /best, mutex cart_lock, serve > update > lock ← serve > sort > unlock"
        ]
    );
    let types = shown.0.stitched.types();
    let admin = types.iter().find(|it| it.name == "GET /admin").unwrap();
    assert_eq!(admin.wait_ns, 150_000_000);
}

/// If the holder is unknown, the last thread to release or signal before the wait's end counts.
#[test]
fn the_last_to_give_back_or_signal_is_waited_for() {
    for kind in [
        LockKind::ReadWrite,
        LockKind::Condition,
        LockKind::Semaphore,
        LockKind::Futex,
    ] {
        let mut script = Script::default();
        let [admin, best] = two_requests(&mut script);
        script.release(admin, "serve > early", kind);
        script.rest(100);
        script.release(best, "serve > first", kind);
        script.release(best, "serve > last", kind);
        script.wait(admin, "serve > wait", kind, 20, 0);
        script.release(best, "serve > later", kind);
        script.send(admin, "serve > send", 1, 10);
        let waits = script.open().waits();
        assert_eq!(waits.len(), 1);
        assert!(
            waits[0].starts_with("GET /admin 20 ms for GET /best"),
            "{waits:?}"
        );
        assert!(
            waits[0].ends_with("serve > wait ← serve > last"),
            "{waits:?}"
        );
    }
}

/// A signal may be recorded shortly after the waiter has continued.
#[test]
fn a_signal_that_is_told_a_little_late_counts() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(100);
    script.wait(admin, "serve > wait", LockKind::Condition, 20, 0);
    script.now_ns -= 900_000;
    script.release(best, "serve > signal", LockKind::Condition);
    script.send(admin, "serve > send", 1, 10);
    let waits = script.open().waits();
    assert!(
        waits[0].ends_with("serve > wait ← serve > signal"),
        "{waits:?}"
    );
}

/// An unknown holder, a timeout, and a thread that works for no transaction.
#[test]
fn waits_without_an_other_are_unknown_or_none() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(100);
    script.wait(admin, "serve > wait", LockKind::Condition, 20, 0);
    script.say(
        admin,
        "serve > wait",
        Record::Wait {
            lock: 1,
            kind: LockKind::Condition,
            began_ns: script_time(&script),
            holder: 0,
            timed_out: true,
        },
    );
    script.send(admin, "serve > send", 1, 10);
    script.idle(best, "poll");
    script.wait(best, "wait_for_work", LockKind::Condition, 5, 0);
    let shown = script.open();
    assert_eq!(
        shown.waits(),
        ["GET /admin 20 ms for ?, condition in wait, serve > wait ← ?"]
    );
}

fn script_time(script: &Script) -> u64 {
    script.now_ns
}

/// A worker that waits for its next transaction waits for no other transaction, even if the end of its last one was not
/// seen.
#[test]
fn waits_for_work_are_idle_time() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(100);
    script.send(admin, "serve > send", 1, 10);
    script.sample(admin, "serve > log", 3);
    let first = script.now_ns;
    script.rest(50);
    script.release(best, "push", LockKind::Condition);
    script.wait(admin, "pop > wait", LockKind::Condition, 40, 0);
    script.wait(
        admin,
        "pop > wait > lock",
        LockKind::Mutex,
        1,
        best.tid(&script),
    );
    script.release(best, "push", LockKind::Condition);
    script.wait(admin, "pop > wait", LockKind::Condition, 1, 0);
    script.produce(best, "push", 1);
    script.consume(admin, "pop", 1);
    script.sample(admin, "serve > work", 4);
    script.now_ns = first + 20_000_000;
    script.sample(admin, "pop > wait", 1);
    let shown = script.open();
    assert_eq!(shown.waits(), [""; 0]);
    assert_eq!(
        shown.costs(),
        [
            "4 ms of GET /best in mysqld/connection",
            "3 ms of GET /admin in mysqld/connection",
            "1 ms of no transaction in mysqld/connection",
        ]
    );
}

/// A transaction that waits for its own work in another thread waits for no other transaction.
#[test]
fn parts_of_one_transaction_do_not_wait_for_each_other() {
    let mut script = Script::default();
    let [admin, _] = two_requests(&mut script);
    let helper = script.spawn(admin, "serve > help", 9, "helper");
    script.rest(50);
    script.release(helper, "help > done", LockKind::Condition);
    script.wait(admin, "serve > join", LockKind::Condition, 40, 0);
    script.send(admin, "serve > send", 1, 10);
    assert_eq!(script.open().waits(), [""; 0]);
}

/// A holder that works for no transaction is reported as such.
#[test]
fn housekeeping_makes_transactions_wait() {
    let mut script = Script::default();
    let [admin, _] = two_requests(&mut script);
    let purge = Thread {
        process: admin.process,
        number: 1,
    };
    script.rest(50);
    script.release(purge, "purge > unlock", LockKind::Mutex);
    script.wait(
        admin,
        "serve > lock",
        LockKind::Mutex,
        40,
        purge.tid(&script),
    );
    script.send(admin, "serve > send", 1, 10);
    let waits = script.open().waits();
    assert!(
        waits[0].starts_with("GET /admin 40 ms for nobody's thread"),
        "{waits:?}"
    );
}

/// A server is told to end. Its idle threads waited for that, and for no transaction.
#[test]
fn what_ends_idle_threads_is_no_crosstalk() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.send(admin, "serve > send", 1, 10);
    script.rest(500);
    script.release(best, "shut_down", LockKind::Condition);
    script.wait(admin, "pop > wait", LockKind::Condition, 400, 0);
    script.say(admin, "", Record::End);
    // Its transaction was not answered, so this one waits.
    script.rest(500);
    script.wait(best, "serve > wait", LockKind::Condition, 300, 0);
    script.say(best, "", Record::End);
    let waits = script.open().waits();
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert!(waits[0].starts_with("GET /best 300 ms for ?"), "{waits:?}");
}

/// A pool's thread does work that nobody asked for, and waits for more of it, not for a transaction.
#[test]
fn what_nobody_asked_for_waits_for_work() {
    let mut script = Script::default();
    let main = script.process(10, "mysqld");
    let worker = script.spawn(main, "main > start", 2, "pool");
    let filler = script.spawn(main, "main > start", 3, "timer");
    script.produce(filler, "submit", 7);
    script.consume(worker, "take", 7);
    script.rest(500);
    script.release(filler, "wake", LockKind::Condition);
    script.wait(worker, "take > wait", LockKind::Condition, 400, 0);
    script.produce(worker, "take", 8);
    assert_eq!(script.open().waits(), [""; 0]);
}

/// Once its answer is sent, a transaction has ended. Later waits of its thread delay it only if more of the answer follows.
#[test]
fn waits_after_the_answer_count_only_before_more_of_it() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(100);
    let holder = best.tid(&script);
    script.send(admin, "serve > send", 1, 10);
    script.rest(50);
    script.wait(admin, "serve > buffer > lock", LockKind::Mutex, 20, holder);
    script.send(admin, "serve > send", 1, 10);
    script.rest(50);
    script.wait(admin, "pop > lock", LockKind::Mutex, 30, holder);
    script.idle(admin, "poll");
    let waits = script.open().waits();
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert!(
        waits[0].starts_with("GET /admin 20 ms for GET /best"),
        "{waits:?}"
    );
}

/// MariaDB keeps the threads of closed connections. Until the next connection arrives, they wait for no transaction.
#[test]
fn a_thread_that_is_kept_for_the_next_connection_is_idle() {
    let mut script = Script::default();
    let main = script.process(10, "mariadbd");
    let thread = script.spawn(main, "main > start", 2, "connection");
    for stream in [1, 2] {
        let ports = (3306, 4000 + stream as u16);
        script.tcp(thread, "", stream, Via::Accepted, ports);
        script.send(thread, "login > greet", stream, 77);
        script.receive(thread, "login > read", stream, 50, "\x01");
        script.send(thread, "login > send_ok", stream, 7);
        let query = "\x13\0\0\0\x03SELECT * FROM item";
        script.receive(thread, "do_command > read", stream, 23, query);
        script.sample(thread, "do_command > dispatch", 5);
        script.send(thread, "do_command > send_eof", stream, 100);
        // The client says goodbye, and gets no answer.
        script.receive(thread, "do_command > read", stream, 5, "\x01\0\0\0\x01");
        script.close(thread, stream);
        script.rest(500);
        script.release(main, "main > cache > signal", LockKind::Condition);
        script.wait(thread, "cache > wait", LockKind::Condition, 400, 0);
        script.now_ns -= 300_000_000;
        script.sample(thread, "cache > wait", 1);
        script.now_ns += 300_000_000;
    }
    script.say(thread, "", Record::End);
    let shown = script.open();
    assert_eq!(shown.waits(), [""; 0]);
    let costs = [
        "10 ms of SELECT item in mariadbd/connection",
        "2 ms of no transaction in mariadbd/connection",
    ];
    assert_eq!(shown.costs(), costs);
    let walls = shown.0.stitched.types().into_iter();
    let walls: u64 = walls.flat_map(|it| it.stages).map(|it| it.wall_ns).sum();
    assert!(walls < 300_000_000, "{walls}");
}

/// Locks without names are named after the function that waits for them, so that all locks of one place count together.
#[test]
fn locks_without_names_are_told_by_their_place() {
    let mut script = Script::default();
    let [admin, best] = two_requests(&mut script);
    script.rest(500);
    for lock in [0x7000_0008, 0x7000_0f08] {
        let kind = LockKind::Condition;
        script.say(best, "serve > unlock_table", Record::Release { lock, kind });
        let record = Record::Wait {
            lock,
            kind,
            began_ns: script.now_ns - 10_000_000,
            holder: 0,
            timed_out: false,
        };
        script.say(admin, "serve > thr_multi_lock > ?wait_for_lock", record);
    }
    script.send(admin, "serve > send", 1, 10);
    let waits = script.open().waits();
    assert_eq!(waits.len(), 1, "{waits:?}");
    let start = "GET /admin 22 ms for GET /best, condition in thr_multi_lock, serve > ";
    assert!(waits[0].starts_with(start), "{waits:?}");
}

/// Java threads wait at conditions of the virtual machine, one each. The object tells the lock, and a class its name.
#[test]
fn a_java_lock_is_its_object_and_is_held_by_whoever_signals_the_waiter() {
    let name = |script: &mut Script, thread, number: u64, name: &'static str| {
        let function = NAMED_FUNCTIONS | number;
        let name = name.as_bytes();
        script.say(thread, "", Record::Function { function, name });
        function
    };
    let machine = "start > serve > unpark";
    for (class, lock, kind, shown, held_by) in [
        (
            "shop.Cart",
            "shop.Cart",
            LockKind::Mutex,
            "monitor",
            machine,
        ),
        (
            "java.util.concurrent.locks.ReentrantLock$NonfairSync",
            "ReentrantLock in shop.Checkout.pay",
            LockKind::Mutex,
            "monitor",
            "shop.Orders.confirm",
        ),
        (
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
            "Condition in shop.Checkout.pay",
            LockKind::Condition,
            "condition",
            "shop.Orders.confirm",
        ),
    ] {
        let mut script = Script::default();
        let [admin, best] = two_requests(&mut script);
        let class = name(&mut script, admin, 1, class);
        let method = name(&mut script, admin, 2, "shop.Checkout.pay");
        let confirms = name(&mut script, best, 3, "shop.Orders.confirm");
        let condition = 0x7000;
        script.rest(200);
        let began_ns = script.now_ns - 150_000_000;
        script.say(
            best,
            "start > serve > unpark",
            Record::Release {
                lock: condition,
                kind: LockKind::Condition,
            },
        );
        if held_by != machine {
            let method = confirms;
            script.say(best, "", Record::JavaRelease { condition, method });
        }
        script.say(
            admin,
            "start > serve > park",
            Record::JavaWait {
                object: 7,
                class,
                method,
                kind,
                condition,
                began_ns,
                timed_out: false,
            },
        );
        script.send(admin, "serve > send", 1, 10);
        let waits = script.open().waits();
        let [wait] = &waits[..] else {
            panic!("{waits:?}");
        };
        let (_, how) = wait.split_once(" ms for ").expect("it has waited");
        let expected = format!("GET /best, {shown} {lock}, shop.Checkout.pay ← {held_by}");
        assert_eq!(how, expected);
    }
}

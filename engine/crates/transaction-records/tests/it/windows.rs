//! Recordings with pauses: what is in a window counts, and nothing is followed from one window into another.

use fulcrum_wire::transactions::{LockKind, Via};

use crate::messages::two_tiers;
use crate::support::script::{Script, Thread};

const NOTE: &str = "were recorded, in 2 windows";

/// Notes other than that of the windows.
fn others(notes: &[String]) -> Vec<&String> {
    notes.iter().filter(|it| !it.contains(NOTE)).collect()
}

fn call((script, web, db): (&mut Script, Thread, Thread), path: &str) {
    script.send(web, path, 1, 100);
    script.receive(db, "main > service", 1, 100, "");
    script.sample(db, "main > service > work", 10);
    script.send(db, "main > reply", 1, 50);
    script.receive(web, path, 1, 50, "");
}

#[test]
fn calls_are_matched_in_each_window_whatever_passed_in_between() {
    let mut script = Script::default();
    let (web, db) = two_tiers(&mut script);
    call((&mut script, web, db), "main > foo");
    script.switch();
    script.unseen(web, 1, 170, 30);
    script.unseen(db, 1, 30, 170);
    script.rest(100);
    script.switch();
    call((&mut script, web, db), "main > bar");
    call((&mut script, web, db), "main > foo");
    let shown = script.open();
    let expect = [
        "20 ms of web: main > foo in db/db",
        "10 ms of web: main > bar in db/db",
    ];
    assert_eq!(shown.costs(), expect);
    assert_eq!(others(shown.notes()), [""; 0]);
    let note = shown.notes().iter().find(|it| it.contains(NOTE)).unwrap();
    assert!(note.starts_with("0 of 0 s were recorded"), "{note}");
}

/// A request that was sent in one window and received in the next, or sent in the pause, began unseen.
#[test]
fn a_request_on_its_way_in_a_pause_is_left_out() {
    for is_sent_in_pause in [false, true] {
        let mut script = Script::default();
        let (web, db) = two_tiers(&mut script);
        call((&mut script, web, db), "main > foo");
        if is_sent_in_pause {
            script.switch();
            script.unseen(web, 1, 100, 0);
            script.rest(100);
            script.switch();
        } else {
            script.send(web, "main > foo", 1, 100);
            script.pause();
        }
        script.receive(db, "main > service", 1, 100, "");
        script.sample(db, "main > service > work", 10);
        script.send(db, "main > reply", 1, 50);
        script.receive(web, "main > foo", 1, 50, "");
        script.sample(web, "main > print", 1);
        call((&mut script, web, db), "main > bar");
        let shown = script.open();
        let expect = [
            "10 ms of no transaction in db/db",
            "1 ms of no transaction in web/web",
            "10 ms of web: main > bar in db/db",
            "10 ms of web: main > foo in db/db",
        ];
        assert_eq!(shown.costs(), expect, "{is_sent_in_pause}");
        assert_eq!(others(shown.notes()), [""; 0]);
    }
}

/// In the next window, the thread works for something unknown until it turns to something seen.
#[test]
fn a_thread_forgets_its_request_at_the_end_of_a_window() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    for (stream, port) in [(1, 4000), (2, 4001)] {
        script.tcp(server, "main > accept", stream, Via::Accepted, (80, port));
    }
    let ask = |script: &mut Script, stream, head| {
        script.receive(server, "main > read", stream, 100, head);
        script.sample(server, "main > work", 5);
    };
    ask(&mut script, 1, "GET /a HTTP/1.1\r\n");
    script.pause();
    script.sample(server, "main > work", 7);
    script.send(server, "main > write", 1, 10);
    ask(&mut script, 2, "GET /b HTTP/1.1\r\n");
    script.send(server, "main > write", 2, 10);
    let shown = script.open();
    let expect = [
        "7 ms of no transaction in server/server",
        "5 ms of GET /a in server/server",
        "5 ms of GET /b in server/server",
    ];
    assert_eq!(shown.costs(), expect);
    assert_eq!(
        shown.instances(),
        ["GET /a × 1 (1), 0 ms", "GET /b × 1 (0), 2 ms"]
    );
}

#[test]
fn nothing_flows_through_memory_from_one_window_into_the_next() {
    let mut script = Script::default();
    let main = script.process(10, "httpd");
    let worker = script.spawn(main, "main > start", 2, "worker");
    for item in 1..=2 {
        script.produce(main, "main > push", item);
        if item == 1 {
            script.pause();
        }
        script.consume(worker, "work > pop", item);
    }
    let shown = script.open();
    assert_eq!(
        shown.flows(),
        ["memory push → pop × 1", "stage start → worker × 1"]
    );
    assert_eq!(others(shown.notes()), [""; 0]);
}

/// What is produced in one window is waited for by nobody in the next, even if its consumer's record comes first.
#[test]
fn a_consumer_of_another_window_does_not_stop_the_replay() {
    let mut script = Script::default();
    let main = script.process(10, "httpd");
    let worker = script.spawn(main, "main > start", 2, "worker");
    script.consume(worker, "work > pop", 1);
    script.pause();
    script.produce(main, "main > push", 1);
    let shown = script.open();
    assert_eq!(shown.flows(), ["stage start → worker × 1"]);
    assert_eq!(others(shown.notes()), [""; 0]);
}

#[test]
fn a_wait_that_began_in_a_pause_is_left_out() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    let other = script.spawn(server, "main > start", 2, "other");
    for (stream, port) in [(1, 4000), (2, 4001)] {
        script.tcp(server, "main > accept", stream, Via::Accepted, (80, port));
    }
    script.pause();
    let holder = other.tid(&script);
    script.receive(other, "main > read", 1, 100, "GET /a HTTP/1.1\r\n");
    script.receive(server, "main > read", 2, 100, "GET /b HTTP/1.1\r\n");
    script.wait(server, "main > lock", LockKind::Mutex, 50, holder);
    script.wait(server, "main > lock", LockKind::Mutex, 1, holder);
    script.release(other, "main > unlock", LockKind::Mutex);
    script.send(server, "main > write", 2, 10);
    let expect = ["GET /b 1 ms for GET /a, mutex cart_lock, main > lock ← main > unlock"];
    let shown = script.open();
    assert_eq!(shown.waits(), expect);
}

/// A thread that notices a pause late has written a little more.
#[test]
fn records_in_pauses_are_left_out_unless_they_last() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    script.switch();
    script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(main, "main > read", 1, 100, "GET /late HTTP/1.1\r\n");
    let worker = script.spawn(main, "main > start", 2, "worker");
    script.switch();
    script.receive(worker, "work > read", 1, 100, "GET /a HTTP/1.1\r\n");
    script.sample(worker, "work > do", 3);
    script.send(worker, "work > write", 1, 10);
    let shown = script.open();
    assert_eq!(shown.costs(), ["3 ms of GET /a in server/worker"]);
    assert_eq!(shown.flows(), ["stage start → worker × 1"]);
}

//! Transactions that flow through messages (Whodunit §5).

use fulcrum_wire::transactions::{StreamKind, Via};

use crate::support::script::{Script, Thread};

/// A caller and a callee with a connection, which is stream 1 at both.
pub(crate) fn two_tiers(script: &mut Script) -> (Thread, Thread) {
    let web = script.process(10, "web");
    let db = script.process(20, "db");
    script.tcp(web, "main > connect", 1, Via::Connected, (5000, 80));
    script.tcp(db, "main > accept", 1, Via::Accepted, (80, 5000));
    (web, db)
}

/// Figures 6 and 7: the callee's time is split by the caller's path, and the reply restores the caller's context.
#[test]
fn figure_7_the_callee_appears_once_for_each_path_of_the_caller() {
    let mut script = Script::default();
    let (web, db) = two_tiers(&mut script);
    for (path, ms) in [("foo", 30), ("bar", 5), ("foo", 30)] {
        script.send(web, &format!("main > {path} > rpc_call"), 1, 100);
        script.receive(db, "main > service", 1, 100, "");
        script.sample(db, "main > service > work", ms);
        script.send(db, "main > service > reply", 1, 50);
        script.receive(web, &format!("main > {path} > rpc_call"), 1, 50, "");
        script.sample(web, "main > print", 1);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "60 ms of web: main > foo > rpc_call in db/db",
            "5 ms of web: main > bar > rpc_call in db/db",
            "3 ms of no transaction in web/web",
        ]
    );
    assert_eq!(
        shown.flows(),
        [
            "message reply → rpc_call × 3",
            "message rpc_call → service × 3",
        ]
    );
    assert_eq!(shown.notes(), [""; 0]);
    let instances = [
        "web: main > bar > rpc_call × 1 (0), 2 ms",
        "web: main > foo > rpc_call × 2 (0), 2 ms",
    ];
    assert_eq!(shown.instances(), instances);
}

/// However writer and reader split them, bytes belong to the transaction that sent them.
#[test]
fn partial_reads_and_joined_writes_keep_their_transactions() {
    let mut script = Script::default();
    let (web, db) = two_tiers(&mut script);
    for (path, ms) in [("foo", 4), ("bar", 2)] {
        let path = format!("main > {path}");
        script.send(web, &path, 1, 10);
        script.send(web, &path, 1, 90);
        for length in [1, 8, 70, 21] {
            script.receive(db, "main > read", 1, length, "");
            script.sample(db, "main > parse", ms);
        }
        script.send(db, "main > reply", 1, 1000);
        for length in [999, 1] {
            script.receive(web, &path, 1, length, "");
        }
    }
    let shown = script.open();
    let expect = [
        "16 ms of web: main > foo in db/db",
        "8 ms of web: main > bar in db/db",
    ];
    assert_eq!(shown.costs(), expect);
    assert_eq!(
        shown
            .0
            .stitched
            .types()
            .iter()
            .filter(|it| it.latency.is_some())
            .count(),
        2
    );
}

/// A request from outside begins with the call path that receives it, and is named by its first bytes.
#[test]
fn requests_from_outside_have_their_path_and_name() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    script.tcp(web, "main > accept", 1, Via::Accepted, (80, 4000));
    for (request, ms) in [
        ("GET /buy?x=1 HTTP/1.1\r\n", 7),
        ("GET /home HTTP/1.1\r\n", 2),
    ] {
        script.receive(web, "main > serve > recv", 1, 100, request);
        script.sample(web, "main > serve > work", ms);
        script.receive(web, "main > serve > recv", 1, 10, "");
        script.sample(web, "main > serve > work", ms);
        script.send(web, "main > serve > send", 1, 100);
    }
    // The third request is unknown, and has only this path.
    script.receive(web, "main > serve > recv", 1, 100, "\x01");
    script.sample(web, "main > serve > work", 1);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "14 ms of GET /buy in web/web",
            "4 ms of GET /home in web/web",
            "1 ms of main > serve > recv in web/web",
        ]
    );
    let types = shown.0.stitched.types();
    assert_eq!(types[0].context, ["main > serve > recv", "GET /buy"]);
    assert_eq!(types[1].context, ["main > serve > recv", "GET /home"]);
    assert_eq!(
        shown.instances(),
        [
            "GET /buy × 1 (0), 4 ms",
            "GET /home × 1 (0), 4 ms",
            "main > serve > recv × 1 (1), 0 ms",
        ]
    );
    // Clients need not be recorded.
    assert!(shown.notes().is_empty(), "{:?}", shown.notes());
}

/// Three tiers: the last one's time is split by the request to the first, and all connections are persistent.
#[test]
fn three_tiers_are_told_by_the_request_at_the_first() {
    let mut script = Script::default();
    let proxy = script.process(10, "proxy");
    let app = script.process(20, "app");
    let db = script.process(30, "db");
    script.tcp(proxy, "main > accept", 1, Via::Accepted, (80, 4000));
    script.tcp(proxy, "main > connect", 2, Via::Connected, (5000, 8080));
    script.tcp(app, "main > accept", 1, Via::Accepted, (8080, 5000));
    script.tcp(app, "main > connect", 2, Via::Connected, (5001, 3306));
    script.tcp(db, "main > accept", 1, Via::Accepted, (3306, 5001));
    // The asked side greets first.
    script.send(db, "main > greet", 1, 77);
    script.receive(app, "main > connect", 2, 77, "");
    for (name, ms) in [("buy", 40), ("home", 3), ("buy", 2)] {
        let request = format!("GET /{name} HTTP/1.1\r\n");
        script.receive(proxy, "main > read", 1, 100, &request);
        script.send(proxy, "main > forward", 2, 100);
        script.receive(app, "main > read", 1, 100, &request);
        script.sample(app, "main > servlet", 1);
        for _ in 0..2 {
            script.send(app, "main > servlet > query", 2, 50);
            script.receive(db, "main > read", 1, 50, "\x13\0\0\0\x03SELECT * FROM item");
            script.sample(db, "main > sort", ms);
            script.send(db, "main > reply", 1, 500);
            script.receive(app, "main > servlet > query", 2, 500, "");
        }
        script.sample(app, "main > servlet", 1);
        script.send(app, "main > reply", 1, 900);
        script.receive(proxy, "main > read_reply", 2, 900, "");
        script.send(proxy, "main > reply", 1, 900);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "84 ms of GET /buy in db/db",
            "4 ms of GET /buy in app/app",
            "6 ms of GET /home in db/db",
            "2 ms of GET /home in app/app",
        ]
    );
    let instances = ["GET /buy × 2 (0), 17 ms", "GET /home × 1 (0), 17 ms"];
    assert_eq!(shown.instances(), instances);
    let way = &shown.0.ways[0];
    let stays: Vec<_> = way
        .stays
        .iter()
        .map(|it| (&*it.program, &*it.stage))
        .collect();
    assert_eq!(stays[0], ("proxy", "GET /buy"));
    assert!(stays.contains(&("db", "SELECT item")), "{stays:?}");
}

/// The application's clock is a second ahead or behind. Contexts stay the same.
#[test]
fn clocks_that_differ_change_no_context() {
    let costs = |skew_ns: [i64; 2]| {
        let mut script = Script::default();
        let (web, db) = two_tiers(&mut script);
        script.skew(web.process, skew_ns[0]);
        script.skew(db.process, skew_ns[1]);
        for n in 0..40 {
            let path = format!("main > call{} > rpc_call", n % 3);
            script.send(web, &path, 1, 100 + n);
            script.receive(db, "main > service", 1, 100 + n, "");
            script.sample(db, "main > service > work", 1 + n % 3);
            script.send(db, "main > reply", 1, 50);
            script.receive(web, &path, 1, 50, "");
        }
        let shown = script.open();
        assert_eq!(shown.notes(), [""; 0]);
        shown.costs()
    };
    let expect = costs([0, 0]);
    assert_eq!(expect.len(), 3);
    for skew_ns in [
        [900_000_000, 0],
        [0, 900_000_000],
        [-900_000_000, 0],
        [0, -900_000_000],
    ] {
        assert_eq!(costs(skew_ns), expect, "{skew_ns:?}");
    }
}

/// Unix sockets are matched by their inodes, of which one side may not know the other's; pipes by their single inode.
#[test]
fn unix_sockets_and_pipes_carry_transactions() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let db = script.process(20, "db");
    let log = script.process(30, "log");
    script.inode(web, 1, StreamKind::Unix, Via::Connected, (100, 0));
    script.inode(db, 1, StreamKind::Unix, Via::Accepted, (101, 100));
    script.inode(web, 2, StreamKind::Pipe, Via::Made, (7, 0));
    script.inode(log, 1, StreamKind::Pipe, Via::Found, (7, 0));
    script.send(web, "main > foo", 1, 10);
    script.receive(db, "main > service", 1, 10, "");
    script.sample(db, "main > work", 3);
    script.send(db, "main > reply", 1, 10);
    script.receive(web, "main > foo", 1, 10, "");
    script.send(web, "main > note", 2, 10);
    script.receive(log, "main > read", 1, 10, "");
    script.sample(log, "main > store", 2);
    let expect = [
        "3 ms of web: main > foo in db/db",
        "2 ms of web: main > note in log/log",
    ];
    assert_eq!(script.open().costs(), expect);
}

/// Nobody answers on a pipe, so each message begins with the call path that sent it.
#[test]
fn messages_without_answers_have_the_paths_that_sent_them() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let log = script.process(30, "log");
    script.inode(web, 1, StreamKind::Pipe, Via::Made, (7, 0));
    script.inode(log, 1, StreamKind::Pipe, Via::Found, (7, 0));
    for (path, ms) in [("main > foo", 3), ("main > bar", 2), ("main > foo", 1)] {
        script.send(web, path, 1, 10);
        script.receive(log, "main > read", 1, 10, "");
        script.sample(log, "main > store", ms);
    }
    let expect = [
        "4 ms of web: main > foo in log/log",
        "2 ms of web: main > bar in log/log",
    ];
    assert_eq!(script.open().costs(), expect);
}

/// Ports are reused: the n-th connection on one side is the n-th on the other.
#[test]
fn ports_that_are_used_again_are_other_connections() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let db = script.process(20, "db");
    for n in 1..=3 {
        script.tcp(web, "main > connect", n, Via::Connected, (5000, 80));
        script.tcp(db, "main > accept", n, Via::Accepted, (80, 5000));
        script.send(web, &format!("main > call{n}"), n, 10);
        script.receive(db, "main > service", n, 10, "");
        script.sample(db, "main > work", u64::from(n));
        script.close(web, n);
        script.close(db, n);
    }
    assert_eq!(
        script.open().costs(),
        [
            "3 ms of web: main > call3 in db/db",
            "2 ms of web: main > call2 in db/db",
            "1 ms of web: main > call1 in db/db",
        ]
    );
}

/// An unrecorded server's answer belongs to the request that asked it, although the thread did something else meanwhile.
#[test]
fn an_unseen_servers_answer_goes_to_whom_it_was_asked_for() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    script.tcp(web, "main > connect", 9, Via::Connected, (5000, 3306));
    for (stream, port) in [(1, 4001), (2, 4002)] {
        script.tcp(web, "main > accept", stream, Via::Accepted, (80, port));
    }
    script.receive(web, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.send(web, "main > query", 9, 10);
    script.receive(web, "main > recv", 2, 10, "GET /b HTTP/1.1\r\n");
    script.sample(web, "main > work", 5);
    script.receive(web, "main > result", 9, 10, "");
    script.sample(web, "main > work", 2);
    let expect = ["5 ms of GET /b in web/web", "2 ms of GET /a in web/web"];
    assert_eq!(script.open().costs(), expect);
}

/// A lost log leaves everything else intact. The requests of others begin where they arrive.
#[test]
fn a_lost_tier_is_outside() {
    let mut script = Script::default();
    let (web, db) = two_tiers(&mut script);
    script.send(web, "main > foo", 1, 100);
    script.receive(db, "main > service", 1, 100, "GET /x HTTP/1.1\r\n");
    script.sample(db, "main > work", 3);
    script.send(db, "main > reply", 1, 50);
    script.receive(web, "main > foo", 1, 50, "");
    script.sample(web, "main > print", 1);
    let shown = script.open_without(&[0]);
    assert_eq!(shown.costs()[0], "3 ms of GET /x in db/db");
    assert_eq!(
        shown.costs()[1],
        "1 ms of no transaction in an unknown program/an unknown program"
    );
}

/// The sender was killed and its last records are missing. The replay continues without them.
#[test]
fn bytes_that_nobody_is_seen_to_send_hold_nobody_up() {
    let mut script = Script::default();
    let (web, db) = two_tiers(&mut script);
    script.send(web, "main > foo", 1, 100);
    script.receive(db, "main > service", 1, 100, "");
    script.sample(db, "main > work", 3);
    script.send(db, "main > reply", 1, 10);
    // The recorder does not see the following bytes.
    script.receive(db, "main > service", 1, 30, "");
    script.sample(db, "main > work", 1);
    script.is_killed(web.process);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "3 ms of web: main > foo in db/db",
            "1 ms of db: main > service in db/db"
        ]
    );
    let killed = "The record of web (10) is cut off: the rest is missing.";
    assert_eq!(shown.notes()[0], killed);
}

/// A server reads the length of a message first. Its kind comes with the rest.
#[test]
fn a_request_that_is_read_in_parts_has_the_name_of_all() {
    let mut script = Script::default();
    let db = script.process(10, "mariadbd");
    script.tcp(db, "", 1, Via::Accepted, (3306, 4000));
    for (query, ms) in [("SELECT * FROM item", 2), ("SELECT * FROM cart", 5)] {
        script.receive(db, "main > my_real_read", 1, 4, "\x13\0\0\0");
        script.receive(db, "main > my_real_read", 1, 19, &format!("\x03{query}"));
        script.sample(db, "main > dispatch_command", ms);
        script.send(db, "main > send_eof", 1, 10);
    }
    let expect = [
        "5 ms of SELECT cart in mariadbd/mariadbd",
        "2 ms of SELECT item in mariadbd/mariadbd",
    ];
    assert_eq!(script.open().costs(), expect);
}

/// Thread numbers are reused: a sample belongs to the thread that had the number at the time.
#[test]
fn threads_with_the_same_number_one_after_the_other_are_two() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    for (thread, name) in [(2, "a"), (3, "b")] {
        let worker = script.spawn_as(main, thread, 777);
        script.tcp(
            worker,
            "",
            thread,
            Via::Accepted,
            (80, 4000 + thread as u16),
        );
        script.receive(
            worker,
            "serve",
            thread,
            10,
            &format!("GET /{name} HTTP/1.1\r\n"),
        );
        script.sample_as(777, "serve > work", u64::from(thread));
        script.say(worker, "", fulcrum_wire::transactions::Record::End);
    }
    let expect = [
        "3 ms of GET /b in server/worker",
        "2 ms of GET /a in server/worker",
    ];
    assert_eq!(script.open().costs(), expect);
}

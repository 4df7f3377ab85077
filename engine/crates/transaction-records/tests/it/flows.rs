//! Transactions that flow through memory, threads and processes (Whodunit §3.5, §4.2), and where they end.

use fulcrum_wire::transactions::{LockKind, StreamKind, Via, word};

use crate::handlers::event;
use crate::support::script::Script;

/// Figure 8: the listener accepts, and workers continue in its context.
#[test]
fn figure_8_workers_continue_what_the_listener_pushed() {
    let mut script = Script::default();
    let main = script.process(10, "httpd");
    let listener = script.spawn(main, "main > start", 2, "listener");
    let workers = [3, 4].map(|n| script.spawn(main, "main > start", n, "worker"));
    for n in 0..4_u16 {
        let (stream, worker) = (u32::from(n) + 1, workers[usize::from(n % 2)]);
        script.idle(listener, "listener_thread > accept");
        let accept = "listener_thread > accept";
        script.tcp(listener, accept, stream, Via::Accepted, (80, 4000 + n));
        script.sample(listener, "listener_thread > ap_queue_push", 1);
        script.produce(listener, "listener_thread > ap_queue_push", u64::from(n));
        script.consume(worker, "worker_thread > ap_queue_pop", u64::from(n));
        script.sample(worker, "worker_thread > process", 10);
        let request = ["GET /a HTTP/1.1\r\n", "GET /b HTTP/1.1\r\n"][usize::from(n / 2)];
        script.receive(
            worker,
            "worker_thread > process > recv",
            stream,
            100,
            request,
        );
        script.sample(worker, "worker_thread > process > send", 20);
        script.send(worker, "worker_thread > process > send", stream, 100);
        script.close(worker, stream);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "40 ms of GET /a in httpd/worker",
            "40 ms of GET /b in httpd/worker",
            "40 ms of listener_thread > ap_queue_push in httpd/worker",
            "4 ms of no transaction in httpd/listener",
        ]
    );
    assert_eq!(
        shown.flows(),
        [
            "memory ap_queue_push → ap_queue_pop × 4",
            "stage start → listener × 1",
            "stage start → worker × 2",
        ]
    );
    let types = shown.0.stitched.types();
    let context = [
        "listener_thread > ap_queue_push",
        "worker_thread > process > recv",
        "GET /a",
    ];
    assert_eq!(types[0].context, context);
    assert_eq!(types[0].latency.map(|it| it.count), Some(2));
}

/// A thread that consumes what it handed on itself continues where it was, so a free list makes no transactions.
#[test]
fn what_comes_back_is_ones_own() {
    let mut script = Script::default();
    let a = script.process(10, "server");
    script.tcp(a, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(a, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.produce(a, "main > free", 7);
    script.consume(a, "main > allocate", 7);
    script.sample(a, "main > work", 5);
    assert_eq!(script.open().costs(), ["5 ms of GET /a in server/server"]);
}

/// A free list that only some threads have filled so far looks like a queue. Once a thread both fills and empties it,
/// nothing that came through it before was flow either.
#[test]
fn what_turned_out_to_be_no_flow_never_was_one() {
    for is_free_list in [false, true] {
        let mut script = Script::default();
        let main = script.process(10, "server");
        let other = script.spawn(main, "main > start", 2, "other");
        script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
        script.receive(main, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
        script.produce(main, "main > free", 7);
        script.consume(other, "allocate", 7);
        script.sample(other, "work", 5);
        if is_free_list {
            script.demote(other);
        }
        let of = if is_free_list {
            "no transaction"
        } else {
            "GET /a"
        };
        let shown = script.open();
        assert_eq!(shown.costs(), [format!("5 ms of {of} in server/other")]);
        let is_flow = |it: &String| it.starts_with("memory");
        assert_eq!(shown.flows().iter().any(is_flow), !is_free_list);
    }
}

/// A pool that is filled without a request takes no thread away from its request. One product may have several consumers.
#[test]
fn what_was_made_for_nobody_goes_to_idle_threads_alone() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    let filler = script.spawn(main, "main > start", 2, "filler");
    let idle = script.spawn(main, "main > start", 3, "idle");
    script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(main, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.produce(filler, "fill > push", 7);
    script.consume(main, "main > take", 7);
    script.sample(main, "main > work", 5);
    script.consume(idle, "take", 7);
    script.sample(idle, "work", 3);
    assert_eq!(
        script.open().costs(),
        [
            "5 ms of GET /a in server/server",
            "3 ms of fill > push in server/idle",
        ]
    );
}

/// An item is consumed before its producer's record: the clocks of processors differ slightly.
#[test]
fn what_is_consumed_was_produced_before() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    let worker = script.spawn(main, "main > start", 2, "worker");
    let begin = script.now_ns;
    script.now_ns = begin + 1_000_000;
    script.consume(worker, "pop", 1);
    script.sample(worker, "work", 5);
    script.now_ns = begin + 50_000_000;
    script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(main, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.produce(main, "main > push", 1);
    let shown = script.open();
    assert_eq!(shown.costs(), ["5 ms of GET /a in server/worker"]);
    assert!(shown.notes().is_empty(), "{:?}", shown.notes());
}

/// A thread created for a transaction works for it. One created before any starts with its creator's path.
#[test]
fn new_threads_continue_their_makers() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
    let connection = script.spawn(main, "main > handle", 2, "connection");
    script.sample(connection, "idle", 1);
    script.receive(connection, "serve > recv", 1, 10, "");
    script.sample(connection, "serve", 5);
    let helper = script.spawn(connection, "serve > help", 3, "helper");
    script.sample(helper, "help", 7);
    script.send(connection, "serve > send", 1, 10);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "7 ms of main > handle → serve > recv → serve > help in server/helper",
            "5 ms of main > handle → serve > recv in server/connection",
            "1 ms of no transaction in server/connection",
        ]
    );
    let flows = ["stage handle → connection × 1", "stage help → helper × 1"];
    assert_eq!(shown.flows(), flows);
}

/// A server that forks for each connection, and a child that executes another program and reports through a pipe.
#[test]
fn children_continue_their_parents_and_answer_them() {
    let mut script = Script::default();
    let main = script.process(10, "master");
    script.tcp(main, "main > accept", 1, Via::Accepted, (5432, 4000));
    let child = script.fork(main, "main > fork_backend", 11, "backend");
    script.tcp(child, "", 1, Via::Inherited, (5432, 4000));
    script.close(main, 1);
    script.receive(child, "main > backend > recv", 1, 10, "GET /x HTTP/1.1\r\n");
    script.sample(child, "main > backend > work", 5);
    script.inode(child, 2, StreamKind::Pipe, Via::Made, (70, 0));
    let cgi = script.fork(child, "main > backend > popen", 12, "backend");
    script.set(
        cgi.process,
        word::STATE,
        fulcrum_wire::transactions::state::EXECUTED,
    );
    let program = script.program(12, 1, "cgi");
    script.inode(program, 1, StreamKind::Pipe, Via::Found, (70, 0));
    script.sample(program, "main > script", 9);
    script.send(program, "main > print", 1, 30);
    // The child does something else first. The message brings back the context in which it was created.
    script.idle(child, "main > poll");
    script.receive(child, "main > backend > read", 2, 30, "");
    script.sample(child, "main > backend > work", 3);
    script.send(child, "main > backend > send", 1, 10);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "9 ms of GET /x in cgi/cgi",
            "8 ms of GET /x in master/backend",
        ]
    );
    let flows = shown.flows();
    assert!(
        flows.contains(&"stage fork_backend → master × 1".into()),
        "{flows:?}"
    );
    assert!(flows.contains(&"stage popen → cgi × 1".into()), "{flows:?}");
    assert_eq!(shown.instances(), ["GET /x × 1 (0), 11 ms"]);
}

/// A spawned program does not know its parent, but the parent has recorded it.
#[test]
fn spawned_programs_are_found_by_their_makers_record() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    script.tcp(web, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(web, "main > recv", 1, 10, "GET /x HTTP/1.1\r\n");
    let tool = script.process(11, "tool");
    script.sample(tool, "main", 5);
    script.say(
        web,
        "main > posix_spawn",
        fulcrum_wire::transactions::Record::Fork { child: 11 },
    );
    script.say(tool, "", fulcrum_wire::transactions::Record::End);
    script.sample(tool, "main", 5);
    // In the replay's order, the first sample is from before the child's first record.
    let costs = script.open().costs();
    assert!(
        costs
            .iter()
            .any(|it| it.ends_with("ms of GET /x in tool/tool")),
        "{costs:?}"
    );
}

/// Threads that read and answer without having been seen to take anything over.
#[test]
fn whoever_answers_works_for_the_request() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    let worker = script.spawn(main, "main > start", 2, "worker");
    script.idle(worker, "futex");
    script.tcp(main, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(main, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.send(worker, "work > send", 1, 10);
    script.sample(worker, "work > after", 5);
    assert_eq!(script.open().costs(), ["5 ms of GET /a in server/worker"]);
}

/// A call that polls before each read or write waits for its own transaction. The loop around it waits for any.
#[test]
fn a_wait_in_the_midst_of_a_transaction_does_not_end_it() {
    let mut script = Script::default();
    let main = script.process(10, "mariadbd");
    let backend = script.process(20, "storage");
    script.tcp(main, "", 1, Via::Accepted, (3306, 4000));
    for (n, request) in ["GET /a HTTP/1.1\r\n", "GET /b HTTP/1.1\r\n"]
        .iter()
        .enumerate()
    {
        let stream = 2 + n as u32;
        let ports = (5000 + n as u16, 9000);
        script.idle(main, "main > connections > read > io_wait");
        script.receive(main, "main > connections > read", 1, 50, request);
        // Waits until it is connected, and again until it can write.
        script.idle(main, "main > connections > command > connect > io_wait");
        script.idle(main, "main > connections > command > write > io_wait");
        script.tcp(main, "", stream, Via::Connected, ports);
        script.tcp(backend, "", stream, Via::Accepted, (ports.1, ports.0));
        script.sample(main, "main > connections > command > write", 2);
        script.send(main, "main > connections > command > write", stream, 10);
        script.receive(backend, "main > read", stream, 10, "");
        script.sample(backend, "main > work", 3);
        script.send(backend, "main > reply", stream, 10);
        script.idle(main, "main > connections > command > read > io_wait");
        script.receive(main, "main > connections > command > read", stream, 10, "");
        script.send(main, "main > connections > reply", 1, 10);
    }
    assert_eq!(
        script.open().costs(),
        [
            "3 ms of GET /a in storage/storage",
            "2 ms of GET /a in mariadbd/mariadbd",
            "3 ms of GET /b in storage/storage",
            "2 ms of GET /b in mariadbd/mariadbd",
        ]
    );
}

/// A loop that polls without events does not continue its earlier work.
#[test]
fn the_wait_of_a_loop_ends_what_was_done() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let log = script.process(20, "log");
    script.inode(web, 5, StreamKind::Pipe, Via::Made, (7, 0));
    script.inode(log, 5, StreamKind::Pipe, Via::Found, (7, 0));
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.receive(
        web,
        "main > loop > serve > recv",
        1,
        50,
        "GET /a HTTP/1.1\r\n",
    );
    script.send(web, "main > loop > serve > send", 1, 50);
    script.idle(web, "main > loop > wait");
    script.send(web, "main > loop > housekeeping", 5, 50);
    script.receive(log, "main > read", 5, 50, "");
    script.sample(log, "main > store", 3);
    let expect = ["3 ms of web: main > loop > housekeeping in log/log"];
    assert_eq!(script.open().costs(), expect);
}

/// Just-in-time code has no call paths. A poll below it continues an unanswered request.
#[test]
fn a_wait_below_code_without_a_file_ends_no_open_request() {
    let mut script = Script::default();
    let web = script.process(10, "java");
    let base = script.process(20, "mariadbd");
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.tcp(web, "", 2, Via::Connected, (4001, 3306));
    script.tcp(base, "", 1, Via::Accepted, (3306, 4001));
    for (path, ms) in [("?made > read", 3), ("main > loop > read", 5)] {
        script.receive(web, path, 1, 50, "GET /a HTTP/1.1\r\n");
        script.idle(web, &path.replace("read", "poll"));
        script.send(web, &path.replace("read", "write"), 2, 10);
        script.receive(base, "main > read", 1, 10, "");
        script.sample(base, "main > work", ms);
        script.send(web, &path.replace("read", "write"), 1, 50);
        script.idle(web, &path.replace("read", "poll"));
    }
    let costs = script.open().costs();
    assert_eq!(costs.len(), 2, "{costs:?}");
    assert!(
        costs.contains(&"3 ms of GET /a in mariadbd/mariadbd".into()),
        "{costs:?}"
    );
}

/// What threads of a virtual machine exchange at its own locks makes none of them work for another one's request.
#[test]
fn a_virtual_machines_own_queues_carry_no_transaction() {
    for (file, waits_for) in [("/jdk/libjvm.so", "GET /b"), ("/opt/libqueue.so", "GET /a")] {
        let mut script = Script::default();
        let main = script.process(10, "java");
        script.file(main, file, &["push", "push_too"]);
        let other = script.spawn(main, "main > start", 2, "worker");
        script.tcp(main, "", 1, Via::Accepted, (80, 4000));
        script.tcp(main, "", 2, Via::Accepted, (80, 4001));
        script.receive(main, "serve > recv", 1, 10, "GET /a HTTP/1.1\r\n");
        script.receive(other, "serve > recv", 2, 10, "GET /b HTTP/1.1\r\n");
        script.produce(main, "serve > push", 7);
        script.consume(other, "serve > push_too", 7);
        script.sample(other, "serve > work", 4);
        let expect = format!("4 ms of {waits_for} in java/worker");
        assert_eq!(script.open().costs(), [expect]);
    }
}

/// A pool whose hand-overs are not seen: each answer belongs to the open request on its connection.
#[test]
fn workers_of_an_unseen_queue_answer_one_request_after_the_other() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    let worker = script.spawn(main, "main > start", 2, "worker");
    for (stream, name) in [(1, "a"), (2, "b"), (3, "c")] {
        script.tcp(main, "", stream, Via::Accepted, (80, 4000 + stream as u16));
        let request = format!("GET /{name} HTTP/1.1\r\n");
        script.receive(main, "main > recv", stream, 10, &request);
    }
    for (stream, ms) in [(2, 10), (1, 20), (3, 30)] {
        script.wait(worker, "pop > wait", LockKind::Condition, 1, 0);
        script.send(worker, "work > send", stream, 10);
        script.sample(worker, "work > after", ms);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "30 ms of GET /c in server/worker",
            "20 ms of GET /a in server/worker",
            "10 ms of GET /b in server/worker",
        ]
    );
    assert_eq!(shown.waits(), [""; 0]);
}

/// Children write into a pipe of their parent that one of them has already used.
#[test]
fn several_writers_of_one_pipe_are_told_apart() {
    let mut script = Script::default();
    let main = script.process(10, "master");
    script.inode(main, 1, StreamKind::Pipe, Via::Made, (70, 0));
    script.inode(main, 2, StreamKind::Pipe, Via::Made, (71, 0));
    script.send(main, "main > hello", 1, 5);
    let log = script.process(20, "log");
    script.inode(log, 1, StreamKind::Pipe, Via::Found, (70, 0));
    script.receive(log, "main > read", 1, 5, "");
    let children = [11, 12].map(|pid| {
        let child = script.fork(main, "main > fork", pid, "child");
        script.inode(child, 1, StreamKind::Pipe, Via::Inherited, (70, 0));
        child
    });
    for (child, path, ms) in [(0, "one", 3), (1, "two", 5), (0, "one", 3), (1, "three", 7)] {
        script.send(children[child], &format!("main > {path}"), 1, 20);
        script.receive(log, "main > read", 1, 12, "");
        script.receive(log, "main > read", 1, 8, "");
        script.sample(log, "main > store", ms);
    }
    assert_eq!(
        script.open().costs(),
        [
            "7 ms of master: main > three in log/log",
            "6 ms of master: main > one in log/log",
            "5 ms of master: main > two in log/log",
        ]
    );
}

/// Work between an event and the request it announces belongs to the request, and so does the read that waits for it.
#[test]
fn the_time_up_to_a_requests_first_bytes_is_its_own() {
    let mut script = Script::default();
    let redis = script.process(10, "redis");
    script.tcp(redis, "", 1, Via::Accepted, (6379, 4000));
    for (request, ms) in [
        ("*1\r\n$4\r\nPING\r\n", 1),
        ("*2\r\n$3\r\nGET\r\n", 10),
        ("*1\r\n$4\r\nPING\r\n", 100),
    ] {
        event(&mut script, redis, 1);
        script.sample(redis, "main > event_loop > handler > read", ms);
        script.receive(redis, "main > event_loop > handler > read", 1, 10, request);
        script.send(redis, "main > event_loop > handler > write", 1, 10);
    }
    let simple = script.process(20, "simple");
    script.tcp(simple, "", 1, Via::Accepted, (80, 4001));
    for (request, ms) in [("GET /a HTTP/1.1\r\n", 2), ("GET /b HTTP/1.1\r\n", 20)] {
        script.begin_receive();
        script.sample(simple, "main > read", ms);
        script.receive(simple, "main > read", 1, 10, request);
        script.send(simple, "main > write", 1, 10);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "101 ms of redis PING in redis/redis",
            "20 ms of GET /b in simple/simple",
            "10 ms of redis GET in redis/redis",
            "2 ms of GET /a in simple/simple",
        ]
    );
    // Waiting in a read is not part of what it waits for.
    let types = shown.0.stitched.types();
    let b = types.iter().find(|it| it.name == "GET /b").unwrap();
    assert_eq!(b.stages[0].wall_ns, 1_000_000);
}

/// The context of a request that is read in a handler with this call path, after the loop waited at the other one.
fn context_of_event(waiting: &str, path: &str) -> Vec<String> {
    let mut script = Script::default();
    let server = script.process(10, "server");
    let of_program = ["main", "on_read", "?on_read", "?loop", "?loop_2", "?run"];
    script.file(server, "/usr/bin/server", &of_program);
    let of_library = ["base_loop", "wait", "dispatch", "?wait", "?dispatch"];
    script.file(server, "/lib/libevent.so", &of_library);
    script.tcp(server, "", 1, Via::Accepted, (80, 4000));
    script.idle(server, waiting);
    script.event(server, 1);
    script.receive(server, path, 1, 10, "");
    script.sample(server, path, 1);
    let types = script.open().0.stitched.types();
    types[0].context.clone()
}

/// The handler is what the loop calls, even if functions have no names or the loop belongs to a library.
#[test]
fn handlers_are_found_without_names_and_behind_libraries() {
    let check = |waiting: &str, path: &str, expect: &str| {
        assert_eq!(
            context_of_event(waiting, path),
            [expect],
            "{waiting} | {path}"
        );
    };
    check("main > run", "main > run > on_read > recv", "on_read");
    check(
        "main > run > wait_once",
        "main > run > on_read > recv",
        "on_read",
    );
    check("main > run", "main > run", "run");
    // The loop's function at two addresses without names.
    check("main > ?loop", "main > ?loop_2 > on_read > recv", "on_read");
    check(
        "main > ?loop > wait",
        "main > ?loop_2 > on_read > recv",
        "on_read",
    );
    // Its caller is not the waiting function.
    check(
        "?run > main > run",
        "?loop > on_read > recv",
        "server+0x4004",
    );
    // A library that dispatches.
    let waiting = "main > base_loop > wait";
    check(
        waiting,
        "main > base_loop > dispatch > on_read > recv",
        "on_read",
    );
    check(
        "main > base_loop > ?wait",
        "main > base_loop > ?dispatch > on_read > recv",
        "on_read",
    );
    check(
        waiting,
        "main > base_loop > dispatch > ?on_read > recv",
        "server+0x3004",
    );
    check(waiting, "main > base_loop > dispatch", "dispatch");
}

/// The functions that all programs and threads begin with are not part of a context.
#[test]
fn paths_begin_with_the_program() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    script.tcp(server, "", 1, Via::Accepted, (80, 4000));
    let path = "_start > __libc_start_main@@GLIBC_2.34 > __libc_start_call_main > main > recv";
    script.receive(server, path, 1, 10, "");
    script.sample(server, path, 1);
    script.send(server, "main > send", 1, 10);
    script.receive(server, "clone3 > start_thread", 1, 10, "");
    script.sample(server, path, 2);
    assert_eq!(
        script.open().costs(),
        [
            "2 ms of clone3 > start_thread in server/server",
            "1 ms of main > recv in server/server",
        ]
    );
}

/// A proxy that reads everything in one handler, with an upstream of the same program: nginx before nginx.
#[test]
fn one_handler_for_requests_and_answers_keeps_them_apart() {
    let mut script = Script::default();
    let front = script.process(10, "nginx");
    let back = script.process(20, "nginx");
    script.tcp(front, "", 1, Via::Accepted, (80, 4000));
    script.tcp(front, "", 2, Via::Connected, (5000, 90));
    script.tcp(back, "", 1, Via::Accepted, (90, 5000));
    let (read, write) = (
        "main > loop > handler > recv",
        "main > loop > handler > writev",
    );
    for (name, ms) in [("a", 1), ("b", 10), ("a", 100)] {
        let request = format!("GET /{name} HTTP/1.1\r\n");
        event(&mut script, front, 1);
        script.receive(front, read, 1, 10, &request);
        script.send(front, write, 2, 10);
        event(&mut script, back, 1);
        script.receive(back, read, 1, 10, "GET /file HTTP/1.1\r\n");
        script.sample(back, "main > loop > handler", ms);
        script.send(back, write, 1, 10);
        event(&mut script, front, 2);
        script.receive(front, read, 2, 10, "");
        script.sample(front, "main > loop > handler", 2 * ms);
        event(&mut script, front, 1);
        script.send(front, write, 1, 10);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "303 ms of GET /a in nginx/nginx",
            "30 ms of GET /b in nginx/nginx",
        ]
    );
    let instances = ["GET /a × 2 (0), 13 ms", "GET /b × 1 (0), 13 ms"];
    assert_eq!(shown.instances(), instances);
}

/// A pool whose threads were created by the first request. Their work after a wait is attributed to nobody rather than
/// wrongly.
#[test]
fn threads_that_a_request_made_may_be_kept_for_others() {
    let mut script = Script::default();
    let main = script.process(10, "app");
    let redis = script.process(20, "redis");
    script.tcp(main, "", 1, Via::Accepted, (80, 4000));
    script.receive(main, "serve > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    let worker = script.spawn(main, "serve > submit", 2, "worker");
    script.tcp(worker, "", 2, Via::Connected, (5000, 90));
    script.tcp(redis, "", 2, Via::Accepted, (90, 5000));
    for (next, ms) in [("GET /b HTTP/1.1\r\n", 1), ("GET /c HTTP/1.1\r\n", 10)] {
        script.send(worker, "work > ask", 2, 10);
        script.receive(redis, "serve > recv", 2, 10, "");
        script.sample(redis, "serve > work", ms);
        script.send(redis, "serve > send", 2, 10);
        script.receive(worker, "work > ask", 2, 10, "");
        script.wait(worker, "work > get > wait", LockKind::Semaphore, 1, 0);
        script.send(main, "serve > send", 1, 10);
        script.receive(main, "serve > recv", 1, 10, next);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "10 ms of app: work > ask in redis/redis",
            "1 ms of GET /a in redis/redis",
        ]
    );
    assert_eq!(shown.waits(), [""; 0]);
}

/// More of an answer follows after the thread that sent its beginning has waited.
#[test]
fn more_of_an_answer_is_that_of_the_request() {
    let mut script = Script::default();
    let main = script.process(10, "server");
    let worker = script.spawn(main, "main > start", 2, "worker");
    script.tcp(main, "", 1, Via::Accepted, (80, 4000));
    script.receive(main, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    for ms in [1, 10, 100] {
        script.send(worker, "work > send", 1, 10);
        script.sample(worker, "work > compute", ms);
        script.wait(worker, "work > wait", LockKind::Condition, 0, 0);
    }
    let shown = script.open();
    assert_eq!(shown.costs(), ["111 ms of GET /a in server/worker"]);
    assert_eq!(shown.instances(), ["GET /a × 1 (0), 7 ms"]);
}

/// A program invoked through a link, such as redis-server, has the name it was invoked by, and so has its copy.
#[test]
fn programs_are_called_what_they_were_called() {
    let mut script = Script::default();
    let server = script.called(10, 0, ("redis-server", "redis-check-rdb"));
    let child = script.child(server, 11, "redis-rdb-bgsave");
    script.tcp(server, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(server, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
    script.sample(server, "main > work", 5);
    script.sample(child, "main > save", 3);
    assert_eq!(
        script.open().costs(),
        [
            "5 ms of GET /a in redis-server/redis-server",
            "3 ms of no transaction in redis-server/redis-rdb-bgsave",
        ]
    );
}

//! Transactions that flow through event handlers: hand-written loops and event libraries (Whodunit §4.1).

use fulcrum_wire::transactions::{Calling, Interest, StreamKind, Via};

use crate::support::script::{Script, Thread};

/// One event of a loop. The handler's first record reveals its name.
pub(crate) fn event(script: &mut Script, server: Thread, stream: u32) {
    script.idle(server, "main > event_loop");
    script.event(server, stream);
}

/// Figure 9: Squid, whose write handler has two contexts, depending on whether the request was in the cache.
#[test]
fn figure_9_the_write_handler_of_hits_and_of_misses() {
    let mut script = Script::default();
    let squid = script.process(10, "squid");
    // The listening socket belongs to nobody.
    script.inode(squid, 1, StreamKind::Other, Via::Found, (0, 0));
    let in_loop = |name: &str| format!("main > event_loop > {name}");
    for (n, is_hit) in [(1_u16, true), (2, false), (3, false), (4, true)] {
        let (client, origin) = (10 * u32::from(n), 10 * u32::from(n) + 1);
        event(&mut script, squid, 1);
        let accept = in_loop("httpAccept > accept");
        script.tcp(squid, &accept, client, Via::Accepted, (80, 4000 + n));
        event(&mut script, squid, client);
        let read = in_loop("clientReadRequest > recv");
        script.receive(squid, &read, client, 100, "");
        script.sample(squid, &in_loop("clientReadRequest"), 1);
        if !is_hit {
            let ports = (5000 + n, 8080);
            script.tcp(squid, &read, origin, Via::Connected, ports);
            script.send(squid, &read, origin, 100);
            event(&mut script, squid, origin);
            let reply = in_loop("httpReadReply > recv");
            script.receive(squid, &reply, origin, 500, "");
            script.sample(squid, &in_loop("httpReadReply"), 3);
        }
        for _ in 0..3 {
            event(&mut script, squid, client);
            let write = in_loop("commHandleWrite > send");
            script.sample(
                squid,
                &in_loop("commHandleWrite"),
                if is_hit { 10 } else { 20 },
            );
            script.send(squid, &write, client, 200);
        }
        script.close(squid, client);
    }
    let shown = script.open();
    let types = shown.0.stitched.types();
    let write_of_hits = ["httpAccept", "clientReadRequest", "commHandleWrite"];
    let write_of_misses = [
        "httpAccept",
        "clientReadRequest",
        "httpReadReply",
        "commHandleWrite",
    ];
    let cost = |context: &[&str]| {
        let found = types.iter().find(|it| it.context == context);
        found
            .unwrap_or_else(|| panic!("{context:?} in {types:#?}"))
            .cpu
            .cpu_ns
            / 1_000_000
    };
    assert_eq!(cost(&write_of_hits), 60);
    assert_eq!(cost(&write_of_misses), 120);
    assert_eq!(cost(&write_of_hits[..2]), 4);
    assert_eq!(cost(&write_of_misses[..3]), 6);
    let latencies: Vec<_> = types
        .iter()
        .filter_map(|it| Some((it.context.len(), it.latency?.count)))
        .collect();
    assert_eq!(latencies, [(4, 2), (3, 2)]);
    assert!(
        shown
            .flows()
            .contains(&"event httpReadReply → commHandleWrite × 2".into()),
        "{:?}",
        shown.flows()
    );
}

/// On a persistent connection, each request has its own name, and the loop of handlers leads back.
#[test]
fn kept_connections_have_one_request_after_the_other() {
    let mut script = Script::default();
    let nginx = script.process(10, "nginx");
    script.inode(nginx, 1, StreamKind::Other, Via::Found, (0, 0));
    event(&mut script, nginx, 1);
    script.tcp(
        nginx,
        "main > event_loop > accept_handler",
        2,
        Via::Accepted,
        (80, 4000),
    );
    let handlers = ["wait_request", "keepalive", "keepalive", "keepalive"];
    let requests = [
        "GET /a HTTP/1.1\r\n",
        "GET /b HTTP/1.1\r\n",
        "GET /a HTTP/1.1\r\n",
        "",
    ];
    for ((handler, request), ms) in handlers.into_iter().zip(requests).zip([1, 10, 100, 1000]) {
        event(&mut script, nginx, 2);
        let path = format!("main > event_loop > {handler}");
        script.receive(nginx, &format!("{path} > recv"), 2, 100, request);
        script.sample(nginx, &path, ms);
        script.send(nginx, &format!("{path} > send"), 2, 100);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "1000 ms of accept_handler → wait_request → keepalive in nginx/nginx",
            "101 ms of GET /a in nginx/nginx",
            "10 ms of GET /b in nginx/nginx",
        ]
    );
    // The next request does not follow from the one before it.
    let flows = [
        "event accept_handler → wait_request × 1",
        "event wait_request → keepalive × 1",
    ];
    assert_eq!(shown.flows(), flows);
    let unnamed = "accept_handler → wait_request → keepalive × 1 (0), 2 ms";
    let instances = ["GET /a × 2 (0), 2 ms", "GET /b × 1 (0), 2 ms", unnamed];
    assert_eq!(shown.instances(), instances);
}

/// Figure 4: the handlers of an event library, by the contexts in which they were registered. A loop is pruned.
#[test]
fn figure_4_handlers_of_an_event_library() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    script.handler(server, 0, "accept_handler");
    script.sample(server, "main > accept_handler", 1);
    script.produce(server, "main > accept_handler > event_add", 1);
    let rounds = [
        ("read_handler", 1, 2),
        ("write_handler", 2, 3),
        ("write_handler", 3, 4),
        ("read_handler", 4, 5),
    ];
    for (handler, item, next) in rounds {
        script.idle(server, "main > event_base_loop > epoll_dispatch");
        script.handler(server, item, handler);
        script.sample(server, "main > dispatch", item * 10);
        script.produce(server, "main > handler > event_add", next);
    }
    assert_eq!(
        script.open().costs(),
        [
            "50 ms of accept_handler → read_handler in server/server",
            "50 ms of accept_handler → read_handler → write_handler in server/server",
            "1 ms of accept_handler in server/server",
        ]
    );
}

/// A handler that reads belongs to its connection, whatever it was registered for. One that is called within a library's
/// own handler continues that one, under one name.
#[test]
fn handlers_of_an_event_library_read_for_their_connections() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    script.inode(server, 1, StreamKind::Other, Via::Found, (0, 0));
    script.handler(server, 0, "accept_cb");
    script.produce(server, "", 1);
    script.tcp(
        server,
        "main > accept_cb > accept",
        2,
        Via::Accepted,
        (80, 4000),
    );
    for n in [1, 2] {
        script.idle(server, "main > event_base_loop > epoll_dispatch");
        script.event(server, 2);
        let how = if n == 1 {
            Calling::First
        } else {
            Calling::Again
        };
        script.handler_of(server, (1, 2), "read_cb", (1, how));
        script.receive(server, "main > readcb > readv", 2, 100, "");
        script.handler_of(server, (0, 0), "read_cb", (2, Calling::Onward));
        script.sample(server, "main > readcb > read_cb", 10 * n);
        script.produce(server, "", 1 + n);
        script.returned(server, 1);
        script.sample(server, "main > housekeeping", 1);
        script.idle(server, "main > event_base_loop > epoll_dispatch");
        script.handler_of(server, (1 + n, 2), "write_cb", (1, Calling::First));
        script.sample(server, "main > write_cb", 100 * n);
        script.send(server, "main > write_cb > send", 2, 100);
    }
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "300 ms of accept_cb → read_cb → write_cb in server/server",
            "30 ms of accept_cb → read_cb in server/server",
            "2 ms of no transaction in server/server",
        ]
    );
    let flows = [
        "event accept_cb → read_cb × 2",
        "event read_cb → write_cb × 2",
    ];
    assert_eq!(shown.flows(), flows);
}

/// A timer continues the work that set it. A repeating timer does so until that work has been answered, and then works for
/// nothing. A single timer still does so afterwards.
#[test]
fn timers_belong_to_what_set_them_until_that_is_over() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    script.tcp(server, "main > accept", 1, Via::Accepted, (80, 4000));
    script.receive(server, "main > recv", 1, 100, "GET /a HTTP/1.1\r\n");
    script.produce(server, "", 1);
    script.produce(server, "", 2);
    for how in [Calling::First, Calling::Again] {
        script.idle(server, "main > loop > epoll_wait");
        script.handler_of(server, (1, 0), "tick", (1, how));
        script.sample(server, "tick", 5);
        script.returned(server, 1);
    }
    script.handler_of(server, (2, 0), "answer", (1, Calling::First));
    script.send(server, "answer > send", 1, 100);
    script.produce(server, "", 3);
    script.returned(server, 1);
    script.handler_of(server, (1, 0), "tick", (1, Calling::Again));
    script.sample(server, "tick", 100);
    script.handler_of(server, (3, 0), "clean", (1, Calling::First));
    script.sample(server, "clean", 7);
    let costs = script.open().costs();
    assert_eq!(
        costs,
        [
            "100 ms of tick in server/server",
            "17 ms of GET /a in server/server",
        ]
    );
}

/// A loop that runs in a handler calls other handlers. Afterwards the first one continues its work.
#[test]
fn a_handler_goes_on_after_those_that_a_loop_of_its_own_calls() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    for (item, name) in [(1, "GET /a HTTP/1.1\r\n"), (2, "GET /b HTTP/1.1\r\n")] {
        let stream = item as u32;
        script.tcp(
            server,
            "main > accept",
            stream,
            Via::Accepted,
            (80, 4000 + item as u16),
        );
        script.receive(server, "main > recv", stream, 100, name);
        script.produce(server, "", item);
        script.idle(server, "main > loop > poll");
    }
    script.handler_of(server, (1, 0), "outer", (1, Calling::First));
    script.sample(server, "outer", 1);
    script.idle(server, "main > loop > outer > loop > poll");
    script.handler_of(server, (2, 0), "inner", (2, Calling::First));
    script.sample(server, "outer > inner", 10);
    script.returned(server, 2);
    script.sample(server, "outer", 100);
    script.send(server, "outer > send", 1, 10);
    script.returned(server, 1);
    script.sample(server, "loop", 1000);
    assert_eq!(
        script.open().costs(),
        [
            "1000 ms of no transaction in server/server",
            "101 ms of GET /a in server/server",
            "10 ms of GET /b in server/server",
        ]
    );
}

/// A handler that was requested twice and called once serves both, so it works for their common transaction, or for
/// nothing.
#[test]
fn one_call_for_two_transactions_is_for_nobody() {
    for (second, expected) in [
        (1, "5 ms of GET /a in server/server"),
        (2, "5 ms of wake in server/server"),
    ] {
        let mut script = Script::default();
        let server = script.process(10, "server");
        let others = script.spawn(server, "main > spawn", 2, "other");
        let threads = [server, others];
        for (stream, name) in [(1, "GET /a HTTP/1.1\r\n"), (2, "GET /b HTTP/1.1\r\n")] {
            let thread = threads[stream as usize - 1];
            script.tcp(
                thread,
                "main > accept",
                stream,
                Via::Accepted,
                (80, 4000 + stream as u16),
            );
            script.receive(thread, "main > recv", stream, 100, name);
        }
        script.produce(server, "", 9);
        script.produce(threads[second - 1], "", 9);
        let main = script.spawn(server, "main > spawn", 3, "loop");
        script.idle(main, "loop > poll");
        script.handler_of(main, (9, 0), "wake", (1, Calling::First));
        script.sample(main, "wake", 5);
        let costs = script.open().costs();
        assert_eq!(costs, [expected.replace("server/server", "server/loop")]);
    }
}

/// What the loop calls elsewhere goes through its queue, which is not a handler. The handlers are behind the queue.
#[test]
fn what_handlers_put_off_is_named_by_what_comes_behind_the_queue() {
    let mut script = Script::default();
    let squid = script.process(10, "squid");
    let wait = "main > run > run_once > check > select";
    let put_off = |name: &str| format!("main > run > run_once > dispatch > fire > {name}");
    let accept = format!("{wait} > do_accept > accept");
    script.inode(squid, 1, StreamKind::Other, Via::Found, (0, 0));
    for (n, request) in [(1_u16, "GET /a HTTP/1.1\r\n"), (2, "GET /b HTTP/1.1\r\n")] {
        let (client, origin) = (10 * u32::from(n), 10 * u32::from(n) + 1);
        script.idle(squid, wait);
        script.event(squid, 1);
        script.tcp(squid, &accept, client, Via::Accepted, (80, 4000 + n));
        script.idle(squid, wait);
        script.event(squid, client);
        script.receive(squid, &put_off("read_request > recv"), client, 100, request);
        script.tcp(
            squid,
            &put_off("connected > connect"),
            origin,
            Via::Connected,
            (5000 + n, 80),
        );
        script.send(squid, &put_off("connected > send"), origin, 100);
        script.idle(squid, wait);
        script.event(squid, origin);
        script.receive(squid, &put_off("read_reply > recv"), origin, 500, "");
        script.send(squid, &put_off("read_reply > send"), client, 500);
    }
    let shown = script.open();
    let flows = shown.flows();
    for flow in [
        "event do_accept → read_request × 2",
        "event GET /a → read_reply × 1",
        "event GET /b → read_reply × 1",
    ] {
        assert!(flows.contains(&flow.into()), "{flow}: {flows:?}");
    }
}

/// A cache with one connection to its origin, for one miss after the other. A miss registers the connection to write its
/// request when that is possible.
struct Cache {
    script: Script,
    cache: Thread,
}

const LISTENER: u32 = 80;
const ORIGIN: u32 = 90;
const IN_LOOP: &str = "main > event_loop";

impl Cache {
    /// The connection to the origin was opened for a first page, which has been answered.
    fn new() -> Cache {
        let mut script = Script::default();
        let cache = script.process(10, "cache");
        script.inode(cache, LISTENER, StreamKind::Other, Via::Found, (0, 0));
        let mut it = Cache { script, cache };
        it.accepts(1);
        it.asked(1, "first");
        let connect = format!("{IN_LOOP} > read_request > connect");
        it.script
            .tcp(it.cache, &connect, ORIGIN, Via::Connected, (5000, 8080));
        it.writes_to_origin();
        it.answers(1);
        it
    }

    fn accepts(&mut self, client: u32) {
        event(&mut self.script, self.cache, LISTENER);
        let accept = format!("{IN_LOOP} > accept_client > accept");
        let ports = (80, 4000 + client as u16);
        self.script
            .tcp(self.cache, &accept, client, Via::Accepted, ports);
    }

    fn asked(&mut self, client: u32, page: &str) {
        event(&mut self.script, self.cache, client);
        let request = format!("GET /{page} HTTP/1.1\r\n");
        let read = format!("{IN_LOOP} > read_request > recv");
        self.script
            .receive(self.cache, &read, client, 100, &request);
    }

    fn registers(&mut self, interest: Interest) {
        self.script.register(self.cache, ORIGIN, interest);
    }

    /// The origin's connection can be written to.
    fn writes_to_origin(&mut self) {
        event(&mut self.script, self.cache, ORIGIN);
        self.script
            .sample(self.cache, &format!("{IN_LOOP} > write_request"), 1);
        let write = format!("{IN_LOOP} > write_request > send");
        self.script.send(self.cache, &write, ORIGIN, 100);
    }

    /// The origin has answered.
    fn reads_from_origin(&mut self) {
        event(&mut self.script, self.cache, ORIGIN);
        let read = format!("{IN_LOOP} > read_reply > recv");
        self.script.receive(self.cache, &read, ORIGIN, 500, "");
        self.script
            .sample(self.cache, &format!("{IN_LOOP} > read_reply"), 10);
    }

    fn answers(&mut self, client: u32) {
        event(&mut self.script, self.cache, client);
        let write = format!("{IN_LOOP} > write_answer > send");
        self.script.send(self.cache, &write, client, 500);
        self.script
            .sample(self.cache, &format!("{IN_LOOP} > write_answer"), 100);
    }

    /// CPU time by type.
    fn costs(self) -> Vec<String> {
        let mut costs = self.script.open().costs();
        costs.sort();
        let of_type = |it: String| it.replace(" in cache/cache", "");
        costs.into_iter().map(of_type).collect()
    }
}

/// As Squid does: what a page does at the origin counts for that page, although an earlier one has opened the connection.
#[test]
fn a_kept_connection_serves_whoever_registered_it_last() {
    let mut cache = Cache::new();
    cache.accepts(2);
    for page in ["second", "third"] {
        cache.asked(2, page);
        cache.registers(Interest::Nothing);
        cache.registers(Interest::Write);
        cache.writes_to_origin();
        cache.reads_from_origin();
        cache.answers(2);
    }
    assert_eq!(
        cache.costs(),
        [
            "101 ms of GET /first",
            "111 ms of GET /second",
            "111 ms of GET /third"
        ]
    );
}

/// The page before has been read from the origin but not been sent to its client yet.
#[test]
fn a_registration_to_write_is_for_its_page_even_while_another_one_is_open() {
    let mut cache = Cache::new();
    cache.accepts(2);
    cache.accepts(3);
    cache.asked(2, "second");
    cache.registers(Interest::Write);
    cache.writes_to_origin();
    cache.reads_from_origin();
    cache.asked(3, "third");
    cache.registers(Interest::Write);
    cache.writes_to_origin();
    cache.answers(2);
    cache.reads_from_origin();
    cache.answers(3);
    assert_eq!(
        cache.costs(),
        [
            "101 ms of GET /first",
            "111 ms of GET /second",
            "111 ms of GET /third"
        ]
    );
}

/// Before the answer has come, the next page queues its request: the answer is for who has asked.
#[test]
fn an_answer_is_for_who_has_sent_and_not_for_who_has_registered_to_send() {
    let mut cache = Cache::new();
    cache.accepts(2);
    cache.accepts(3);
    cache.asked(2, "second");
    cache.registers(Interest::Write);
    cache.writes_to_origin();
    cache.asked(3, "third");
    cache.registers(Interest::Write);
    cache.reads_from_origin();
    cache.answers(2);
    cache.writes_to_origin();
    assert_eq!(
        cache.costs(),
        [
            "1 ms of GET /third",
            "101 ms of GET /first",
            "111 ms of GET /second"
        ]
    );
}

/// The thread works for nothing when it registers, as in programs that register everything in one place of their loop.
#[test]
fn a_registration_for_nobody_changes_nothing() {
    for interest in [Interest::Read, Interest::Write] {
        let mut cache = Cache::new();
        cache.accepts(2);
        cache.asked(2, "second");
        cache.registers(Interest::Write);
        event(&mut cache.script, cache.cache, LISTENER);
        cache.registers(interest);
        cache.writes_to_origin();
        cache.reads_from_origin();
        assert_eq!(
            cache.costs(),
            ["101 ms of GET /first", "11 ms of GET /second"]
        );
    }
}

/// Without a new request, what comes from a server is for who has registered to read, unless who asked still waits.
#[test]
fn what_comes_without_being_asked_for_is_for_who_registered_to_read() {
    for (is_answered, expected) in [
        (
            true,
            [
                "101 ms of GET /first",
                "101 ms of GET /second",
                "20 ms of GET /third",
            ],
        ),
        (
            false,
            [
                "101 ms of GET /first",
                "21 ms of GET /second",
                "100 ms of GET /third",
            ],
        ),
    ] {
        let mut cache = Cache::new();
        cache.accepts(2);
        cache.accepts(3);
        cache.asked(2, "second");
        cache.registers(Interest::Write);
        cache.writes_to_origin();
        if is_answered {
            cache.answers(2);
        }
        cache.asked(3, "third");
        cache.registers(Interest::Read);
        cache.reads_from_origin();
        cache.reads_from_origin();
        if !is_answered {
            cache.answers(3);
        }
        let mut expected = expected.map(str::to_owned);
        expected.sort();
        assert_eq!(cache.costs(), expected, "{is_answered}");
    }
}

/// A connection on which requests arrive belongs to its requests, whoever arms it again.
#[test]
fn a_connection_of_requests_belongs_to_its_requests() {
    let mut cache = Cache::new();
    cache.accepts(2);
    cache.accepts(3);
    cache.asked(2, "second");
    for client in [1, 3] {
        cache.script.register(cache.cache, client, Interest::Write);
    }
    cache.answers(1);
    cache.asked(3, "third");
    cache.answers(3);
    assert_eq!(
        cache.costs(),
        ["100 ms of GET /third", "201 ms of GET /first"]
    );
}

/// What was registered is forgotten when it is removed, and the connection goes on with its last use.
#[test]
fn a_removed_registration_is_forgotten() {
    let mut cache = Cache::new();
    cache.accepts(2);
    cache.asked(2, "second");
    cache.registers(Interest::Write);
    cache.registers(Interest::Nothing);
    cache.writes_to_origin();
    assert_eq!(cache.costs(), ["102 ms of GET /first"]);
}

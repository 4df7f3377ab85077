//! Tasks run by executors (Whodunit §4.2). A thread that runs one continues its own work afterwards.

use fulcrum_wire::transactions::{Calling, NAMED_FUNCTIONS, Record, Via};

use crate::support::script::{Script, Thread};

/// A request that a thread receives on a connection of its own.
fn request(script: &mut Script, thread: Thread, stream: u32, name: &str) {
    let ports = (80, 4000 + stream as u16);
    script.tcp(thread, "main > accept", stream, Via::Accepted, ports);
    let head = format!("GET /{name} HTTP/1.1\r\n");
    script.receive(thread, "main > recv", stream, 100, &head);
}

/// The thread runs the task of this item, in a function without an address.
fn does(script: &mut Script, thread: Thread, item: u64, depth: u32) {
    let function = NAMED_FUNCTIONS | 7;
    let name = b"shop.Checkout";
    script.say(thread, "", Record::Function { function, name });
    let record = Record::Handler {
        item,
        function,
        stream: 0,
        depth,
        how: Calling::Task,
    };
    script.say(thread, "", record);
}

#[test]
fn a_pools_thread_works_for_whoever_handed_it_the_task_and_then_for_nobody() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    request(&mut script, server, 1, "a");
    // The pool creates its thread when the first task arrives.
    let pool = script.spawn(server, "main > execute", 2, "pool");
    script.idle(pool, "");
    for (item, name) in [(1, "b"), (2, "c")] {
        request(&mut script, server, item as u32 + 1, name);
        script.produce(server, "", item);
        does(&mut script, pool, item, 1);
        script.sample(pool, "start > run", 10 * item);
        script.returned(pool, 1);
        script.sample(pool, "start > getTask", 1);
    }
    assert_eq!(
        script.open().costs(),
        [
            "20 ms of GET /c in server/pool",
            "10 ms of GET /b in server/pool",
            "2 ms of no transaction in server/pool",
        ]
    );
}

#[test]
fn whoever_does_anothers_task_goes_on_with_its_own_request() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    let other = script.spawn(server, "main > spawn", 2, "other");
    request(&mut script, other, 2, "b");
    script.produce(other, "", 1);
    request(&mut script, server, 1, "a");
    does(&mut script, server, 1, 1);
    script.sample(server, "main > complete > accept", 5);
    // Within it, a task that nobody was seen to hand on works for nothing.
    does(&mut script, server, 0, 2);
    script.sample(server, "main > complete > accept > run", 100);
    script.returned(server, 2);
    script.sample(server, "main > complete > accept", 2);
    script.returned(server, 1);
    script.sample(server, "main > complete", 10);
    assert_eq!(
        script.open().costs(),
        [
            "100 ms of no transaction in server/server",
            "10 ms of GET /a in server/server",
            "7 ms of GET /b in server/server",
        ]
    );
}

/// The work of a virtual thread continues on another carrier, without another step in its context.
#[test]
fn what_goes_on_in_another_thread_has_the_context_that_it_had() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    let carriers = [2, 3].map(|it| script.spawn(server, "main > spawn", it, "carrier"));
    for carrier in carriers {
        script.idle(carrier, "");
    }
    request(&mut script, server, 1, "a");
    script.produce(server, "", 1);
    does(&mut script, carriers[0], 1, 1);
    script.sample(carriers[0], "run", 1);
    script.produce(carriers[0], "", 2);
    script.returned(carriers[0], 1);
    let resumed = Record::Handler {
        item: 2,
        function: 0,
        stream: 0,
        depth: 1,
        how: Calling::Task,
    };
    script.say(carriers[1], "", resumed);
    script.sample(carriers[1], "run", 10);
    script.send(carriers[1], "run > send", 1, 10);
    script.returned(carriers[1], 1);
    script.sample(carriers[1], "wait", 100);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "100 ms of no transaction in server/carrier",
            "11 ms of GET /a in server/carrier",
        ]
    );
    // The flow of the request to there is recorded once.
    assert_eq!(
        shown.flows(),
        [
            "event GET /a → shop.Checkout × 1",
            "stage spawn → carrier × 2"
        ]
    );
    assert_eq!(shown.instances(), ["GET /a × 1 (0), 9 ms"]);
}

/// For instance, connections that the program made itself and keeps in a queue.
#[test]
fn what_nobody_left_in_a_queue_takes_no_thread_away() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    script.produce(server, "", 1);
    request(&mut script, server, 1, "a");
    let taken = Record::Handler {
        item: 1,
        function: NAMED_FUNCTIONS | 8,
        stream: 0,
        depth: 1,
        how: Calling::Taken,
    };
    script.say(server, "", taken);
    script.sample(server, "main > use", 10);
    script.returned(server, 1);
    script.sample(server, "main > answer", 1);
    let costs = script.open().costs();
    assert_eq!(costs, ["11 ms of GET /a in server/server"]);
}

/// One thread reads the requests of a connection, and another one answers them. The client may ask again before the
/// answering call has returned.
#[test]
fn the_next_request_may_come_before_the_call_that_answers_is_over() {
    let mut script = Script::default();
    let server = script.process(10, "server");
    let pool = script.spawn(server, "main > execute", 2, "pool");
    script.idle(pool, "");
    request(&mut script, server, 1, "a");
    script.produce(server, "", 1);
    does(&mut script, pool, 1, 1);
    script.sample(pool, "run", 10);
    let began_ns = script.now_ns;
    script.receive(server, "main > recv", 1, 100, "GET /b HTTP/1.1\r\n");
    let answer = Record::Send {
        stream: 1,
        offset: 0,
        length: 10,
        began_ns,
    };
    script.say(pool, "run > send", answer);
    script.returned(pool, 1);
    script.produce(server, "", 2);
    does(&mut script, pool, 2, 1);
    script.sample(pool, "run", 20);
    let shown = script.open();
    assert_eq!(
        shown.costs(),
        [
            "20 ms of GET /b in server/pool",
            "10 ms of GET /a in server/pool",
        ]
    );
    let answered: Vec<String> = shown.instances();
    assert_eq!(answered.len(), 2, "{answered:?}");
    assert!(answered[0].starts_with("GET /a × 1 (0)"), "{answered:?}");
    assert!(answered[1].starts_with("GET /b × 1 (1)"), "{answered:?}");
}

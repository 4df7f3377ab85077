//! Event traces through JSON-RPC: a receiver, a queue, two dispatchers (JPMT, Figs. 10 and 11).

use std::path::Path;

use fulcrum_event_log::{Log, Moment, Options, ThreadWriter};
use fulcrum_wire::log::{Body, DICTIONARY, PayloadBuffer, cpu_clock, kind};
use serde_json::{Value, json};

use super::client::Client;

pub(super) const RUN: &str = ".fulcrum/runs/20261122T050000Z-server";

const ADD: u32 = 1;
const GET: u32 = 2;
const PING: u32 = 3;
const LOCK: u64 = 9;

/// Three requests; times are nanoseconds. `slow` is how long a `ping` takes.
pub(super) fn write_log(root: &Path, run: &str, slow: u64) {
    fn zero() -> Moment {
        Moment::default()
    }
    let options = Options {
        limit: 1 << 20,
        pid: 4711,
        unix_ns: slow,
        cpu_clock: cpu_clock::RUNS,
        version: fulcrum_wire::log::PLAIN_VERSION,
        now: zero,
    };
    std::fs::create_dir_all(root.join(run)).expect("a folder");
    let log = Log::create(&root.join(run).join("events-4711.log"), &options).expect("a log");
    let mut names = log.stream(DICTIONARY);
    let text = |kind: u8, payload: PayloadBuffer, stream: &mut ThreadWriter, at: u64| {
        assert!(stream.write(kind, at, None, 0, Body::Payload(payload.as_bytes())));
    };
    for (id, class, name) in [
        (ADD, "orb.ThreadPool", "add"),
        (GET, "orb.ThreadPool", "get"),
        (PING, "orb.Servant", "ping"),
    ] {
        let payload = PayloadBuffer::default()
            .number(u64::from(id))
            .text(class)
            .text(name)
            .text("()V");
        let file = format!("{}.java", &class[4..]);
        text(
            kind::DEFINE_METHOD,
            payload.text(&file).number(5),
            &mut names,
            0,
        );
    }
    text(
        kind::DEFINE_CLASS,
        PayloadBuffer::default().number(7).text("orb.Lock"),
        &mut names,
        0,
    );
    let thread = |id: u32, name: &str| {
        let mut stream = log.stream(id);
        let payload = PayloadBuffer::default()
            .number(0)
            .number(0)
            .text(name)
            .text("ORBacus");
        text(kind::THREAD_START, payload, &mut stream, 0);
        stream
    };
    let mut receiver = thread(2, "Receiver");
    for at in [1000, 2000, 3000] {
        receiver.write(kind::ENTER, at, None, 0, Body::Method(ADD));
        receiver.write(kind::EXIT, at + 100, None, 0, Body::Method(ADD));
    }
    for (id, requests) in [
        (3, vec![(500, 1200), (1200 + slow, 3200)]),
        (4, vec![(600, 2200)]),
    ] {
        let mut dispatcher = thread(id, &format!("Dispatcher-{}", id - 2));
        for (enter, taken) in requests {
            dispatcher.write(kind::ENTER, enter, None, 0, Body::Method(GET));
            dispatcher.write(kind::EXIT, taken, None, 0, Body::Method(GET));
            dispatcher.write(kind::ENTER, taken, None, 0, Body::Method(PING));
            let lock = PayloadBuffer::default().number(LOCK).number(7);
            for (kind, at) in [
                (kind::CONTENDED_ENTER, taken + 100),
                (kind::CONTENDED_ENTERED, taken + 300),
            ] {
                dispatcher.write(kind, at, None, 0, Body::Payload(lock.as_bytes()));
            }
            dispatcher.write(kind::EXIT, taken + slow, None, 0, Body::Method(PING));
        }
        text(
            kind::THREAD_END,
            PayloadBuffer::default(),
            &mut dispatcher,
            9000,
        );
    }
    drop((names, receiver));
    log.finish();
}

const SERVANT: &str =
    "package orb;\n\nclass Servant {\n    void ping() {\n        sleep();\n    }\n}\n";

fn start() -> (Client, u64) {
    let mut client = Client::start(&[("src/orb/Servant.java", SERVANT)]);
    write_log(&client.root(), RUN, 1000);
    let opened = client.ok("fulcrum/events/open", json!({ "run": client.path(RUN) }));
    let id = opened["id"].as_u64().expect("a number");
    (client, id)
}

fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    client.ok(&format!("fulcrum/events/{method}"), params)
}

fn rows(answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().expect("rows").iter();
    rows.map(|row| {
        format!(
            "{} {} {} {}",
            row["kind"].as_str().unwrap_or(""),
            row["name"].as_str().unwrap_or(""),
            row["startNs"],
            row["wallNs"]
        )
    })
    .collect()
}

#[test]
fn a_trace_is_opened_by_its_run_and_read_row_by_row() {
    let (mut client, id) = start();
    let run = client.path(RUN).join("run.json");
    let opened = ask(&mut client, "open", json!({ "run": run }));
    assert_eq!(opened["id"], id + 1);
    assert_eq!(
        [
            &opened["startNs"],
            &opened["endNs"],
            &opened["events"],
            &opened["lost"]
        ],
        [0, 9000, 29, 0]
    );
    assert_eq!(
        opened["queues"],
        json!([{ "put": "orb.ThreadPool.add", "take": "orb.ThreadPool.get" }])
    );
    assert_eq!(
        (&opened["hasQueues"], &opened["hasCpu"]),
        (&json!(true), &json!(true))
    );
    let dispatcher = &opened["threads"][1];
    assert_eq!(
        [
            &dispatcher["id"],
            &dispatcher["rows"],
            &dispatcher["wallNs"]
        ],
        [3, 6, 9000]
    );
    assert_eq!(dispatcher["name"], "Dispatcher-1");

    let children = |client: &mut Client, params: Value| ask(client, "children", params);
    let top = children(
        &mut client,
        json!({ "id": id, "thread": 3, "from": 1, "count": 2 }),
    );
    assert_eq!(
        rows(&top),
        [
            "call orb.ThreadPool.get 500 700",
            "call orb.Servant.ping 1200 1000"
        ]
    );
    assert_eq!(
        (&top["total"], &top["rows"][1]["selfWallNs"]),
        (&json!(6), &json!(800))
    );
    let node = top["rows"][1]["node"].clone();
    let inside = children(
        &mut client,
        json!({ "id": id, "thread": 3, "node": node, "from": 0, "count": 9 }),
    );
    assert_eq!(rows(&inside), ["contended orb.Lock#9 1300 200"]);
    let dear = children(
        &mut client,
        json!({ "id": id, "thread": 3, "order": "wall", "from": 0, "count": 3 }),
    );
    assert_eq!(
        rows(&dear)[..2],
        [
            "call orb.Servant.ping 1200 1000",
            "call orb.ThreadPool.get 2200 1000"
        ]
        .map(|it| it.to_owned())
    );

    let failure = client.failure(
        "fulcrum/events/children",
        json!({ "id": id, "thread": 3, "node": 4000, "from": 0, "count": 9 }),
    );
    assert!(failure.contains("no node 4000"), "{failure}");
    ask(&mut client, "close", json!({ "id": id }));
    let failure = client.failure(
        "fulcrum/events/children",
        json!({ "id": id, "thread": 3, "from": 0, "count": 9 }),
    );
    assert!(failure.contains("is not open"), "{failure}");
    let failure = client.failure("fulcrum/events/open", json!({ "run": client.root() }));
    assert!(failure.contains("no events-*.log"), "{failure}");
    client.leave().expect("an orderly end");
}

#[test]
fn timelines_searches_and_queries_answer() {
    let (mut client, id) = start();
    let timeline = ask(
        &mut client,
        "timeline",
        json!({ "id": id, "leftNs": 1200, "rightNs": 2200, "width": 10, "threads": [3], "depths": 5 }),
    );
    let lane = &timeline["threads"][0];
    assert_eq!(
        lane["states"]["state"],
        json!(["running", "contended", "running"])
    );
    assert_eq!(lane["states"]["startNs"], json!([1200, 1300, 1500]));
    assert_eq!(lane["calls"]["depth"], json!([0]));
    assert_eq!(timeline["names"], json!(["orb.Servant.ping"]));
    let failure = client.failure(
        "fulcrum/events/timeline",
        json!({ "id": id, "leftNs": 5, "rightNs": 5, "width": 10 }),
    );
    assert!(failure.contains("leftNs before rightNs"), "{failure}");

    let found = ask(
        &mut client,
        "search",
        json!({ "id": id, "text": "PING", "count": 2 }),
    );
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(2));
    assert_eq!(found["hits"][1]["position"], 4);
    let rest = ask(
        &mut client,
        "search",
        json!({ "id": id, "text": "PING", "from": found["next"] }),
    );
    assert_eq!(
        (&rest["hits"][0]["row"]["thread"], &rest["next"]),
        (&json!(4), &Value::Null)
    );
    let found = ask(
        &mut client,
        "search",
        json!({ "id": id, "expression": "kind = contended and tid = 4" }),
    );
    assert_eq!(
        found["hits"][0]["above"],
        json!([{ "node": 3, "position": 2 }])
    );
    assert_eq!(
        ask(&mut client, "search", json!({ "id": id, "text": "p.ng" }))["hits"],
        json!([])
    );
    let failure = client.failure(
        "fulcrum/events/search",
        json!({ "id": id, "expression": "wal > 1ms" }),
    );
    assert!(
        failure.contains("did you mean wall?\n  wal > 1ms\n  ^"),
        "{failure}"
    );

    let query = "kind = call group by method select count, sum(self)";
    let table = ask(
        &mut client,
        "query",
        json!({ "id": id, "query": query, "count": 2 }),
    );
    assert_eq!(
        table["columns"][2],
        json!({ "name": "sum(self)", "unit": "ns" })
    );
    assert_eq!(
        table["rows"],
        json!([
            ["orb.ThreadPool.get", 3, 3300],
            ["orb.Servant.ping", 3, 2400]
        ])
    );
    assert_eq!(table["more"], true);
    client.leave().expect("an orderly end");
}

#[test]
fn a_replayed_queue_fills_the_queueing_column() {
    let (mut client, id) = start();
    let params = json!({ "id": id, "put": "ThreadPool.add", "take": "ThreadPool.get", "from": 0, "count": 10 });
    let queues = ask(&mut client, "queues", params);
    let waits: Vec<_> = (0..3)
        .map(|n| queues["requests"][n]["waitNs"].as_u64())
        .collect();
    assert_eq!(waits, [Some(100), Some(100), Some(100)]);
    assert_eq!(queues["requests"][0]["serviceNs"], 1000);
    assert_eq!(
        (&queues["summary"]["taken"], &queues["notes"]),
        (&json!(3), &json!([]))
    );
    let top = ask(
        &mut client,
        "children",
        json!({ "id": id, "thread": 3, "from": 3, "count": 1 }),
    );
    assert_eq!(
        top["rows"][0]["queue"],
        json!({ "number": 3, "length": 0, "waitNs": 100 })
    );
    let top = ask(
        &mut client,
        "children",
        json!({ "id": id, "thread": 2, "from": 1, "count": 1 }),
    );
    assert_eq!(
        top["rows"][0]["queue"],
        json!({ "number": 1, "length": 1, "waitNs": null })
    );
    let failure = client.failure(
        "fulcrum/events/queues",
        json!({ "id": id, "put": "push", "take": "get", "from": 0, "count": 1 }),
    );
    assert!(failure.contains("no method push"), "{failure}");
    client.leave().expect("an orderly end");
}

#[test]
fn parts_become_call_trees_and_filters_and_methods_have_places() {
    let (mut client, id) = start();
    let opened = ask(
        &mut client,
        "tree",
        json!({ "id": id, "part": { "thread": 3 }, "workDoneToken": "fold" }),
    );
    assert_eq!(opened["view"]["total"], 700 + 1000 + 1000 + 1000);
    assert_eq!(
        (&opened["view"]["value"], &opened["title"]),
        (
            &json!("wall"),
            &json!("20261122T050000Z-server, Dispatcher-1")
        )
    );
    let view = client.ok("fulcrum/navigator/command", json!({ "id": opened["id"], "command": { "kind": "selectPath", "path": ["orb.Servant.ping"] } }));
    assert_eq!(
        [&view["current"]["base"], &view["current"]["cum"]],
        [1600, 2000]
    );
    let found = client.ok(
        "fulcrum/navigator/frame",
        json!({ "id": opened["id"], "name": "orb.Servant.ping" }),
    );
    assert_eq!(found["locations"][0]["line"], 3);

    let found = ask(&mut client, "frame", json!({ "id": id, "method": PING }));
    assert_eq!(
        (
            &found["locations"][0]["line"],
            &found["locations"][0]["uri"]
        ),
        (&json!(3), &json!(client.uri("src/orb/Servant.java")))
    );
    let failure = client.failure("fulcrum/events/frame", json!({ "id": id, "method": 99 }));
    assert!(failure.contains("no method 99"), "{failure}");

    let filter = ask(
        &mut client,
        "filter",
        json!({ "id": id, "part": {}, "selfWallNs": 500 }),
    );
    let text = filter["text"].as_str().expect("a text");
    assert!(text.contains("observe_monitor_contention\nincludemethod orb.Servant ping\nincludemethod orb.ThreadPool get\nexcludemethod * *"), "{text}");
    assert_eq!(
        [&filter["kept"], &filter["dropped"], &filter["droppedCalls"]],
        [2, 1, 3]
    );
    client.leave().expect("an orderly end");
}

#[test]
fn two_traces_are_compared() {
    let (mut client, before) = start();
    let slower = ".fulcrum/runs/20261122T060000Z-server";
    write_log(&client.root(), slower, 1900);
    let run = client.path(slower);
    let after = ask(&mut client, "open", json!({ "run": run }))["id"].clone();
    let found = ask(
        &mut client,
        "compare",
        json!({ "a": after, "b": before, "from": 0, "count": 1 }),
    );
    assert_eq!(found["counts"]["faster"], 0);
    assert_eq!(
        found["roles"][0],
        json!({ "name": "Dispatcher-#", "a": 2, "b": 2 })
    );
    assert_eq!(
        (&found["rows"][0]["path"], &found["rows"][0]["selfWallNs"]),
        (&json!(["orb.Servant.ping"]), &json!(2700))
    );
    // Another page reads nothing again: between its beginning and its end it has no progress to tell.
    let page = json!({ "a": after, "b": before, "from": 1, "count": 1, "workDoneToken": "page" });
    let second = ask(&mut client, "compare", page);
    assert_eq!(second["total"], found["total"]);
    assert_ne!(second["rows"][0]["path"], found["rows"][0]["path"]);
    let mut told = || client.notification_where("$/progress", |it| it["token"] == "page");
    assert_eq!(
        [&told()["value"]["kind"], &told()["value"]["kind"]],
        ["begin", "end"]
    );
    let failure = client.failure(
        "fulcrum/events/compare",
        json!({ "a": after, "b": 77, "from": 0, "count": 1 }),
    );
    assert!(failure.contains("trace 77 is not open"), "{failure}");
    client.leave().expect("an orderly end");
}

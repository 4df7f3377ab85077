//! The examples of `docs/protocol.md` are real messages of one session.
//!
//! `UPDATE_EXPECT=1 cargo test -p fulcrum-server` writes them anew.

use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz};
use super::{compare, events, live, transactions};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/protocol.md");

/// Compares the block after `<!-- example: name -->` with the message.
fn check(document: &mut String, name: &str, message: &str) {
    let marker = format!("<!-- example: {name} -->\n```json\n");
    let start = document
        .find(&marker)
        .unwrap_or_else(|| panic!("docs/protocol.md has no example {name}"))
        + marker.len();
    let end = start + document[start..].find("```").expect("the block ends");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        document.replace_range(start..end, message);
    }
    let end = start + document[start..].find("```").expect("the block ends");
    assert_eq!(
        &document[start..end],
        message,
        "example {name}: run with UPDATE_EXPECT=1 to write it anew"
    );
}

/// The messages of an example whose numbers differ from run to run: those of the document have the same keys, with values of
/// the same kinds. What is null on one side may be anything; of a list its first element counts.
pub(super) fn check_kinds(name: &str, messages: &[Value]) {
    let document = std::fs::read_to_string(DOCUMENT).expect("docs/protocol.md");
    let marker = format!("<!-- example: {name} -->\n```json\n");
    let (_, block) = document.split_once(&marker).expect(name);
    let (block, _) = block.split_once("```").expect("the block ends");
    let shown: Vec<Value> = serde_json::Deserializer::from_str(block)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect(name);
    assert_eq!(shown.len(), messages.len(), "{name}");
    for (shown, message) in shown.iter().zip(messages) {
        compare_kinds(name, shown, message);
    }
}

fn compare_kinds(place: &str, shown: &Value, real: &Value) {
    match (shown, real) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(shown), Value::Object(real)) => {
            let keys = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(shown), keys(real), "{place}");
            for (key, value) in shown {
                compare_kinds(&format!("{place}.{key}"), value, &real[key]);
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            if let (Some(shown), Some(real)) = (shown.first(), real.first()) {
                compare_kinds(&format!("{place}[0]"), shown, real);
            }
        }
        _ => assert_eq!(
            std::mem::discriminant(shown),
            std::mem::discriminant(real),
            "{place}: {shown} and {real}"
        ),
    }
}

/// One result in each list and few points say enough.
fn shortened(mut value: Value) -> Value {
    fn shorten(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.truncate(2);
                items.iter_mut().for_each(shorten);
            }
            Value::Object(fields) => fields.values_mut().for_each(shorten),
            Value::Number(number) if number.is_f64() => {
                let rounded = (number.as_f64().unwrap_or(0.0) * 1e4).round() / 1e4;
                *value = json!(rounded);
            }
            Value::String(text) => {
                if let Some(at) = text.find("base64,") {
                    let end = text[at..].find('|').map_or(text.len(), |n| at + n);
                    text.replace_range(at + 7..end, "PHN2Zy…");
                }
            }
            _ => {}
        }
    }
    shorten(&mut value);
    value
}

/// What the second iteration of a refine loop writes.
fn refine_table() -> String {
    let row = fulcrum_recorder::Iteration {
        number: 2,
        run: "/workspace/.fulcrum/runs/20261122T092828Z-java-refine-2".into(),
        filter: "/workspace/.fulcrum/runs/20261122T092828Z-java-refine-2/filter".into(),
        methods: 2,
        classes: 1,
        fired: 21,
        metered: 21,
        hotspots: 1,
        ..fulcrum_recorder::Iteration::default()
    };
    json!({ "stable": true, "hotspots": ["Main.hot()V"], "notes": [], "iterations": [fulcrum_schema::RefineIteration::from(&row)] }).to_string()
}

#[test]
fn the_documents_examples_are_real() {
    let mut client = Client::start(&[
        ("src/consume.cpp", SOURCE),
        ("consume.coz", &coz("src/consume.cpp", "item")),
        (
            ".fulcrum/runs/20261121T131500Z-consumer/run.json",
            &super::fixtures::manifest("exited", "/app", &[]),
        ),
        (
            ".fulcrum/runs/20261122T092828Z-java-refine-2/refine.json",
            &refine_table(),
        ),
    ]);
    let mut document = std::fs::read_to_string(DOCUMENT).expect("docs/protocol.md");
    let uri = client.uri("src/consume.cpp");
    let profile = client.path("consume.coz");

    let initialized = client.initialized["capabilities"]["experimental"].clone();
    check(&mut document, "initialize", &client.pretty(&initialized));
    let mut exchange = |name: &str, method: &str, params: Value| {
        let answer = client.request(method, params.clone());
        let answer = match answer {
            Ok(result) => json!({ "result": shortened(result) }),
            Err(error) => json!({ "error": error }),
        };
        let request = json!({ "method": method, "params": params });
        let text = format!("{}{}", client.pretty(&request), client.pretty(&answer));
        check(&mut document, name, &text);
    };
    exchange("open", "fulcrum/causal/open", json!({ "path": profile }));
    exchange(
        "lineSpeedups",
        "fulcrum/lineSpeedups",
        json!({ "uri": uri, "progressPoint": null }),
    );
    exchange(
        "ranking",
        "fulcrum/causal/ranking",
        json!({ "progressPoint": "item" }),
    );
    exchange(
        "hover",
        "textDocument/hover",
        json!({ "textDocument": { "uri": uri }, "position": { "line": 5, "character": 9 } }),
    );
    exchange(
        "edit",
        "fulcrum/progressPoint/edit",
        json!({ "uri": uri, "position": { "line": 4, "character": 0 }, "kind": "throughput" }),
    );
    exchange(
        "refused",
        "fulcrum/progressPoint/edit",
        json!({ "uri": uri, "position": { "line": 0, "character": 0 }, "kind": "latencyBegin" }),
    );
    let root = client.root();
    let mut exchange = |name: &str, method: &str, params: Value| {
        let answer = match client.request(method, params.clone()) {
            Ok(result) => json!({ "result": shortened(result) }),
            Err(error) => json!({ "error": error }),
        };
        let request = json!({ "method": method, "params": params });
        let text = format!("{}{}", client.pretty(&request), client.pretty(&answer));
        check(&mut document, name, &text);
    };
    exchange("runs", "fulcrum/runs/list", json!({ "workspace": root }));
    exchange(
        "runsRemove",
        "fulcrum/runs/remove",
        json!({ "workspace": root, "runs": [root.join(".fulcrum/runs/20261121T131500Z-consumer")] }),
    );
    exchange(
        "refineOpen",
        "fulcrum/refine/open",
        json!({ "run": root.join(".fulcrum/runs/20261122T092828Z-java-refine-2") }),
    );
    exchange(
        "error",
        "fulcrum/causal/open",
        json!({ "path": root.join("src/consume.cpp") }),
    );
    exchange("clear", "fulcrum/causal/clear", json!({}));
    client.notification("fulcrum/didChangeResults");
    let params = client.notification("fulcrum/didChangeResults");
    let message = json!({ "method": "fulcrum/didChangeResults", "params": params });
    check(&mut document, "didChangeResults", &client.pretty(&message));
    client.leave().expect("an orderly end");

    let (mut client, script, remotes) = live::start();
    let id = client.send("fulcrum/causal/run", live::params(&client));
    remotes.recv().expect("it starts");
    script.add(&live::counted(23));
    let params = client.notification("fulcrum/causal/live");
    let message = json!({ "method": "fulcrum/causal/live", "params": params });
    check(&mut document, "live", &client.pretty(&message));
    let params = json!({
        "token": "t", "action": "retarget",
        "aim": { "target": "function", "paths": [], "sourceScope": ["src/%"], "binaryScope": [] },
    });
    let answer = client.ok("fulcrum/causal/control", params.clone());
    let request = json!({ "method": "fulcrum/causal/control", "params": params });
    let result = json!({ "result": answer });
    let text = format!("{}{}", client.pretty(&request), client.pretty(&result));
    check(&mut document, "control", &text);
    script.end();
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");

    let mut client = compare::start();
    let params = compare::paths(&client);
    let result = client.ok("fulcrum/causal/compare", params.clone());
    let request = json!({ "method": "fulcrum/causal/compare", "params": params });
    let result = json!({ "result": shortened(result) });
    let text = format!("{}{}", client.pretty(&request), client.pretty(&result));
    check(&mut document, "compare", &text);
    client.leave().expect("an orderly end");

    navigator(&mut document);
    events(&mut document);
    of_transactions(&mut document);

    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(DOCUMENT, document).expect("docs/protocol.md can be written");
    }
}

/// The examples of `fulcrum/navigator/*`: one navigator, from opening to closing.
fn navigator(document: &mut String) {
    let mut client = Client::start(&[
        ("src/consume.cpp", SOURCE),
        (
            "p.folded",
            "main;consume;decode 60\nmain;consume;store 30\nmain 10\n",
        ),
    ]);
    let (profile, uri) = (client.path("p.folded"), client.uri("src/consume.cpp"));
    let tree = json!({ "kind": "tree", "root": null });
    let merged = json!({ "kind": "merged", "path": ["decode"], "side": "callers", "along": [] });
    let flame =
        |what: Value| json!({ "id": 1, "what": what, "left": 0, "right": 1, "minimum": 0.001 });
    let select = json!({ "kind": "selectPath", "path": ["consume"] });
    let label = json!({ "kind": "label", "name": "consumer" });
    let messages = [
        (
            "navigatorOpen",
            "open",
            json!({ "files": [profile], "workDoneToken": "open" }),
        ),
        ("", "command", json!({ "id": 1, "command": select })),
        (
            "navigatorCommand",
            "command",
            json!({ "id": 1, "command": label }),
        ),
        (
            "navigatorRows",
            "rows",
            json!({ "id": 1, "revision": 3, "step": "extendBottom", "from": 0, "count": 20 }),
        ),
        (
            "navigatorAutomatic",
            "automatic",
            json!({ "id": 1, "count": 5 }),
        ),
        ("navigatorFlame", "flame", flame(tree)),
        ("navigatorMerged", "flame", flame(merged)),
        (
            "navigatorFlameSearch",
            "flameSearch",
            json!({ "id": 1, "text": "DECODE" }),
        ),
        (
            "navigatorFrame",
            "frame",
            json!({ "id": 1, "name": "consume" }),
        ),
        ("navigatorLines", "lines", json!({ "id": 1, "uri": uri })),
        ("navigatorNames", "names", json!({ "id": 1, "count": 100 })),
        ("navigatorReport", "report", json!({ "id": 1 })),
        ("navigatorClose", "close", json!({ "id": 1 })),
    ];
    for (name, method, params) in messages {
        let method = format!("fulcrum/navigator/{method}");
        let answer = client.ok(&method, params.clone());
        // Of columns two elements say nothing.
        let answer = match name.contains("Flame") || name.contains("Merged") {
            true => answer,
            false => shortened(answer),
        };
        let request = json!({ "method": method, "params": params });
        let result = json!({ "result": answer });
        let text = format!("{}{}", client.pretty(&request), client.pretty(&result));
        if !name.is_empty() {
            check(document, name, &text);
        }
    }
    client.leave().expect("an orderly end");
}

/// The examples of `fulcrum/events/*`: one trace, from opening to closing.
fn events(document: &mut String) {
    let mut client = Client::start(&[]);
    events::write_log(&client.root(), events::RUN, 1000);
    events::write_log(
        &client.root(),
        ".fulcrum/runs/20261122T060000Z-server",
        1900,
    );
    let [run, after] =
        [events::RUN, ".fulcrum/runs/20261122T060000Z-server"].map(|it| client.path(it));
    let query = "kind = call and wall > 500ns group by method select count, mean(wall), p99(wall) order by count limit 20";
    let messages = [
        (
            "eventsOpen",
            "open",
            json!({ "run": run, "workDoneToken": "open" }),
        ),
        (
            "eventsQueues",
            "queues",
            json!({ "id": 1, "put": "ThreadPool.add", "take": "ThreadPool.get", "from": 0, "count": 100 }),
        ),
        (
            "eventsChildren",
            "children",
            json!({ "id": 1, "thread": 3, "from": 1, "count": 2 }),
        ),
        (
            "eventsTimeline",
            "timeline",
            json!({ "id": 1, "leftNs": 1200, "rightNs": 2200, "width": 10, "threads": [3], "depths": 5 }),
        ),
        (
            "eventsSearch",
            "search",
            json!({ "id": 1, "expression": "kind = contended and wall > 100ns", "count": 1 }),
        ),
        ("eventsQuery", "query", json!({ "id": 1, "query": query })),
        ("eventsFrame", "frame", json!({ "id": 1, "method": 3 })),
        (
            "eventsTree",
            "tree",
            json!({ "id": 1, "part": { "thread": 3, "node": 3 } }),
        ),
        (
            "eventsFilter",
            "filter",
            json!({ "id": 1, "part": {}, "selfWallNs": 500 }),
        ),
        ("", "open", json!({ "run": after })),
        (
            "eventsCompare",
            "compare",
            json!({ "a": 2, "b": 1, "from": 0, "count": 100 }),
        ),
        ("eventsClose", "close", json!({ "id": 1 })),
    ];
    for (name, method, params) in messages {
        let method = format!("fulcrum/events/{method}");
        let answer = client.ok(&method, params.clone());
        let answer = match name {
            "eventsTimeline" => answer,
            _ => shortened(answer),
        };
        let request = json!({ "method": method, "params": params });
        let result = json!({ "result": answer });
        let text = format!("{}{}", client.pretty(&request), client.pretty(&result));
        if !name.is_empty() {
            check(document, name, &text);
        }
    }
    client.leave().expect("an orderly end");
}

/// The examples of `fulcrum/transactions/*` on a recorded run.
fn of_transactions(document: &mut String) {
    let mut client = Client::start(&[("shop.c", transactions::SOURCE)]);
    transactions::write_run(&client.path(transactions::RUN));
    let run = client.path(transactions::RUN);
    let of = |name: &str| json!({ "run": run, "type": name });
    for (name, method, params) in [
        ("transactionsOpen", "open", json!({ "run": run })),
        (
            "transactionsTree",
            "tree",
            json!({ "of": of("GET /buy"), "against": of("GET /list") }),
        ),
        (
            "transactionsCompare",
            "compare",
            json!({ "run": run, "against": run }),
        ),
        (
            "transactionsFrame",
            "frame",
            json!({ "run": run, "name": "sort" }),
        ),
    ] {
        let method = format!("fulcrum/transactions/{method}");
        let result = client.ok(&method, params.clone());
        let request = json!({ "method": method, "params": params });
        let result = json!({ "result": shortened(result) });
        let text = format!("{}{}", client.pretty(&request), client.pretty(&result));
        check(document, name, &text);
    }
    client.leave().expect("an orderly end");
}

//! Transactional profiles, on runs written by hand.

use std::fs;
use std::path::Path;

use fulcrum_model::{Cancelled, Progress};
use fulcrum_test_support::libraries;
use fulcrum_transaction_records::names::{Frame, NameFile, NamesOf, Resolver as _};
use fulcrum_transaction_records::run::symbols_needed;
use fulcrum_wire::transactions::{LockKind, Via};
use serde_json::{Value, json};

use super::client::Client;
use crate::protocol::failure::Failure;
use crate::transactions::OpenRuns;
use support::script::{Script, Thread};

/// How the reader's own tests write logs.
#[path = "../../../transaction-records/tests/it/support/mod.rs"]
#[allow(dead_code)]
pub(super) mod support;

pub(super) const RUN: &str = ".fulcrum/runs/20261125T190000Z-shop";

/// The source of the shop: each function has a line of its own, which runs.
pub(super) const SOURCE: &str = "\
void sort(int rows) {
  compare(rows);
}
void serve_back(int front) {
  sort(front);
}
void parse(int client) {
  read(client);
}
void serve(int client) {
  parse(client);
}
";

/// The line that runs of a function of the source, from 1.
fn line_of(function: &str) -> Option<u32> {
    let mut lines = SOURCE.lines();
    let head = lines.position(|it| it.starts_with(&format!("void {function}(")))?;
    u32::try_from(head + 2).ok()
}

/// A thread of the front with its client, and the thread of the back that it speaks with.
struct Line {
    front: Thread,
    back: Thread,
    /// The streams to the client, and between the two threads.
    client: u32,
    between: u32,
}

impl Line {
    /// The front asks the back for what its client wants.
    fn ask(&self, script: &mut Script, request: &str) {
        let request = format!("GET /{request} HTTP/1.1\r\n");
        script.receive(self.front, "serve > recv", self.client, 100, &request);
        script.sample(self.front, "serve > parse", 1);
        script.send(self.front, "serve > ask_back", self.between, 20);
        script.receive(self.back, "serve_back", self.between, 20, "");
    }

    fn answer(&self, script: &mut Script) {
        script.send(self.back, "serve_back > send", self.between, 30);
        script.receive(self.front, "serve > ask_back", self.between, 30, "");
        script.send(self.front, "serve > send", self.client, 200);
    }
}

fn line(script: &mut Script, main: [Thread; 2], number: u16) -> Line {
    let thread = u32::from(number) + 1;
    let front = script.spawn(main[0], "main > start", thread, "front");
    let back = script.spawn(main[1], "main > start", thread, "back");
    let (client, between) = (thread * 10, thread * 10 + 1);
    let (outside, inside) = (4000 + number, 5000 + number);
    script.tcp(
        front,
        "serve > accept",
        client,
        Via::Accepted,
        (80, outside),
    );
    script.tcp(
        front,
        "serve > dial",
        between,
        Via::Connected,
        (inside, 3306),
    );
    script.tcp(back, "serve_back", between, Via::Accepted, (3306, inside));
    Line {
        front,
        back,
        client,
        between,
    }
}

/// A shop of two processes: `/buy` costs 31 ms each, `/list` 11 and 13, and `/checkout` waits 150 ms at the back for `/report`.
fn shop() -> Script {
    let mut script = Script::default();
    let main = [script.process(10, "shop"), script.process(20, "database")];
    let lines = [1, 2].map(|number| line(&mut script, main, number));
    for (request, ms) in [("buy", 30), ("list", 10), ("buy", 30), ("list", 12)] {
        let at = &lines[usize::from(request == "list")];
        at.ask(&mut script, request);
        script.sample(at.back, "serve_back > sort", ms);
        at.answer(&mut script);
    }
    let [waits, holds] = &lines;
    holds.ask(&mut script, "report");
    waits.ask(&mut script, "checkout");
    script.rest(200);
    script.release(holds.back, "serve_back > report", LockKind::Mutex);
    let holder = holds.back.tid(&script);
    script.wait(
        waits.back,
        "serve_back > checkout",
        LockKind::Mutex,
        150,
        holder,
    );
    holds.answer(&mut script);
    waits.answer(&mut script);
    script
}

/// Writes the run with the names of its functions, as a recorder leaves it.
pub(super) fn write_run(folder: &Path) {
    write_script(folder, shop());
}

/// The same of anything.
pub(super) fn write_script(folder: &Path, script: Script) {
    fs::create_dir_all(folder).expect("a folder");
    let functions = script.write_to(folder, &[]);
    let placed = |frames: Vec<Frame>| -> Vec<Frame> {
        let frames = frames.into_iter().map(|it| Frame {
            line: line_of(&it.name),
            file: line_of(&it.name).map(|_| "shop.c".into()),
            ..it
        });
        frames.collect()
    };
    let mut names = NameFile::default();
    for needed in symbols_needed(folder).expect("a run") {
        let process = needed.processes[0];
        let code = needed.code.iter();
        let data = needed.data.iter();
        names.processes.push(NamesOf {
            code: code
                .filter_map(|&it| Some((it, placed(functions.code(process, it)?))))
                .collect(),
            data: data
                .filter_map(|&it| Some((it, functions.data(process, it)?)))
                .collect(),
            processes: needed.processes,
        });
    }
    names.write(folder).expect("a run that can be written");
    let manifest = json!({
        "schema": 1, "kind": "transactions", "command": "shop", "arguments": [], "cwd": "/app",
        "start": "2026-11-25T19:00:00Z", "end": "2026-11-25T19:00:09Z", "ended": "exited", "exitCode": 0,
        "notes": ["Time in the kernel is not sampled."],
    });
    fs::write(folder.join("run.json"), manifest.to_string()).expect("a manifest");
}

fn opened() -> (Client, Value) {
    let mut client = Client::start(&[]);
    write_run(&client.path(RUN));
    let run = client.path(RUN);
    let opened = client.ok("fulcrum/transactions/open", json!({ "run": run }));
    (client, opened)
}

fn texts<'a>(all: &'a Value, key: &str) -> Vec<&'a str> {
    let all = all.as_array().expect("a list").iter();
    all.filter_map(|it| it[key].as_str()).collect()
}

#[test]
fn a_run_opens_with_its_types_flows_waits_and_ways() {
    let (client, opened) = opened();
    assert_eq!(opened["run"], json!(client.path(RUN)));
    let types = &opened["shown"]["types"];
    let buy = &types[0];
    assert_eq!(
        (&buy["name"], &buy["count"], &buy["cpuNs"]),
        (&json!("GET /buy"), &json!(2), &json!(62_000_000))
    );
    let stages: Vec<_> = texts(&buy["stages"], "process")
        .into_iter()
        .zip(texts(&buy["stages"], "thread"))
        .collect();
    assert_eq!(stages, [("database", "back"), ("shop", "front")]);

    let flows = opened["shown"]["flows"].as_array().expect("a list");
    let asked = flows
        .iter()
        .find(|it| it["kind"] == "message" && it["fromProcess"] == "shop");
    let asked = asked.unwrap_or_else(|| panic!("{flows:#?}"));
    assert_eq!(asked["from"], "ask_back", "{asked}");
    assert_eq!(asked["toProcess"], "database", "{asked}");
    assert_eq!(asked["to"], "serve_back", "{asked}");
    assert_eq!(asked["count"], 6, "{asked}");

    let pairs = opened["crosstalk"]["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 1, "{opened:#}");
    let pair = &pairs[0];
    assert_eq!(
        (&pair["waiter"], &pair["holder"], &pair["lock"]),
        (
            &json!("GET /checkout"),
            &json!("GET /report"),
            &json!("cart_lock")
        )
    );
    assert_eq!(pair["waitNs"], 150_000_000);
    check_gain(&opened, pair);
    let paths = &pair["paths"][0];
    assert_eq!(paths["waiterFunctions"], json!(["serve_back", "checkout"]));
    assert_eq!(paths["holderFunctions"], json!(["serve_back", "report"]));

    let notes = opened["shown"]["notes"].to_string();
    assert!(notes.contains("not sampled"), "{notes}");
    assert_eq!(opened["crosstalk"]["notes"], json!([]));
    client.leave().expect("an orderly end");
}

/// Without its wait, all checkouts together would take so much less time.
fn check_gain(opened: &Value, pair: &Value) {
    let types = opened["shown"]["types"].as_array().expect("a list");
    let checkout = types.iter().find(|it| it["name"] == "GET /checkout");
    let number = |key: &str| checkout.and_then(|it| it[key].as_f64());
    let all_ns = number("count").zip(number("wallMeanNs"));
    let all_ns = all_ns.map(|(count, mean)| count * mean);
    let expect = 150_000_000.0 / all_ns.expect("there are some");
    let gain = pair["gain"]["gain"].as_f64().expect("a number");
    assert!((gain - expect).abs() < 1e-9, "{gain} is not {expect}");
    let sentence = pair["gain"]["sentence"].as_str().expect("a text");
    assert!(
        sentence.starts_with("Without these waits, GET /checkout would be "),
        "{sentence}"
    );
}

/// The way of a request goes through the front and the back, and its times are counted from its beginning.
#[test]
fn ways_go_through_both_processes() {
    let (client, opened) = opened();
    let ways = opened["ways"].as_array().expect("a list");
    let buy: Vec<&Value> = ways.iter().filter(|it| it["type"] == "GET /buy").collect();
    assert_eq!(buy.len(), 2, "{ways:#?}");
    for way in buy {
        assert_eq!(way["replied"], true);
        let stays = &way["stays"];
        let mut processes = texts(stays, "process");
        processes.dedup();
        assert_eq!(processes[..2], ["shop", "database"], "{stays:#}");
        assert_eq!(stays[0]["fromNs"], 0, "{stays:#}");
        assert_eq!(way["leftOut"], 0);
        // The back works for what the front's `serve` asked.
        let mut back = stays.as_array().expect("a list").iter();
        let back = back
            .rfind(|it| it["process"] == "database")
            .expect("a stay");
        assert_eq!(back["source"], "serve", "{stays:#}");
    }
    client.leave().expect("an orderly end");
}

/// A file of the run stands for its folder, and the list of runs tells what it is.
#[test]
fn runs_are_known_by_kind_and_opened_by_their_files() {
    let mut client = Client::start(&[]);
    write_run(&client.path(RUN));
    let manifest = client.path(RUN).join("run.json");
    let list = json!({ "workspace": client.root() });
    let kind = client.ok("fulcrum/runs/list", list)["runs"][0]["kind"].clone();
    assert_eq!(kind, "transactions");
    let opened = client.ok("fulcrum/transactions/open", json!({ "run": manifest }));
    assert_eq!(opened["run"], json!(client.path(RUN)));
    client.leave().expect("an orderly end");
}

#[test]
fn what_is_no_run_or_damaged_has_a_sentence_and_advice() {
    let mut client = Client::start(&[("empty/run.json", "{}")]);
    let damaged = client.path("damaged");
    write_run(&damaged);
    let samples = fulcrum_transaction_records::samples::FILE;
    fs::write(damaged.join(samples), "nothing of the kind").expect("a file");
    let missing = client.path("missing");
    for (run, message, advice) in [
        (
            client.path("empty"),
            "has no logs of transactions",
            "Record one",
        ),
        (missing, "there is no folder", "may have been deleted"),
        (damaged, samples, "without CPU time"),
    ] {
        let error = client
            .request("fulcrum/transactions/open", json!({ "run": run }))
            .expect_err(message);
        assert!(error.message.contains(message), "{}", error.message);
        let data = error.data.expect("blame and advice");
        assert_eq!(data["blame"], "user");
        let said = data["advice"].as_str().unwrap_or_default();
        assert!(said.contains(advice), "{said}");
    }
    client.leave().expect("an orderly end");
}

/// What a request hears of its work, up to its end.
fn phases(client: &mut Client) -> Vec<String> {
    let mut phases: Vec<String> = Vec::new();
    loop {
        let value = client.notification("$/progress")["value"].clone();
        if value["kind"] == "end" {
            return phases;
        }
        let text = value["title"].as_str().or(value["message"].as_str());
        let text = text.unwrap_or_default().to_owned();
        if phases.last() != Some(&text) {
            phases.push(text);
        }
    }
}

#[test]
fn opening_tells_how_far_it_is() {
    let mut client = Client::start(&[]);
    write_run(&client.path(RUN));
    let params = json!({ "run": client.path(RUN), "workDoneToken": "t" });
    let id = client.send("fulcrum/transactions/open", params);
    assert_eq!(
        phases(&mut client),
        [
            "Opening transactions",
            "reading the run",
            "replaying",
            "assigning samples",
            "stitching"
        ]
    );
    client.response(id).expect("a run");
    client.leave().expect("an orderly end");
}

/// What is cancelled is not kept by halves, and what was opened once is there at once until its files change.
#[test]
fn a_run_is_opened_once_and_again_when_its_files_change() {
    let folder = tempfile::tempdir().expect("a folder");
    write_run(folder.path());
    let run = folder.path().to_string_lossy();
    let runs = OpenRuns::default();
    let cancelled = Progress::default();
    cancelled.cancel();
    let refused = runs.open(&run, &cancelled).map(drop);
    assert_eq!(refused, Err(Failure::from(Cancelled)));
    let first = runs.open(&run, &Progress::default()).expect("a run");
    // There is nothing to do that could be cancelled.
    let second = runs.open(&run, &cancelled).expect("the same run");
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    fs::write(folder.path().join("run.json"), "{}").expect("it can be written");
    let third = runs.open(&run, &Progress::default()).expect("a run");
    assert!(!std::sync::Arc::ptr_eq(&first, &third));
    assert!(!third.notes.iter().any(|it| it.contains("not sampled")));
}

/// A client with the shop's source open and its run recorded.
fn with_source() -> Client {
    let mut client = Client::start(&[("shop.c", SOURCE)]);
    write_run(&client.path(RUN));
    client.open_document("shop.c", SOURCE);
    client
}

/// The line of the source with its base and cum, by 0-based lines.
fn hot_lines(client: &mut Client, id: &Value) -> Vec<(u64, i64, i64)> {
    let uri = client.uri("shop.c");
    let lines = client.ok("fulcrum/navigator/lines", json!({ "id": id, "uri": uri }));
    let lines = lines["lines"].as_array().expect("a list").clone();
    let line = |it: &Value| {
        assert_eq!(it["kind"], "line", "{it}");
        let number = |key: &str| it[key].as_i64().expect("a number");
        (
            it["line"].as_u64().expect("a line"),
            number("base"),
            number("cum"),
        )
    };
    lines.iter().map(line).collect()
}

/// A type's call tree is a profile like any other: rows, flame graph, source, hot lines.
#[test]
fn a_type_opens_in_the_navigator_with_hot_lines() {
    let mut client = with_source();
    let of = json!({ "run": client.path(RUN), "type": "GET /buy" });
    let opened = client.ok("fulcrum/transactions/tree", json!({ "of": of }));
    assert_eq!(opened["title"], "GET /buy, 20261125T190000Z-shop");
    assert_eq!(opened["kind"], "tree");
    assert_eq!(texts(&opened["valueTypes"], "name"), ["cpu", "samples"]);
    assert_eq!(opened["view"]["total"], 62_000_000);
    let id = &opened["id"];
    // `serve_back > sort` 60 ms, `serve > parse` 2 ms.
    let ms = 1_000_000;
    assert_eq!(
        hot_lines(&mut client, id),
        [
            (1, 60 * ms, 60 * ms),
            (4, 0, 60 * ms),
            (7, 2 * ms, 2 * ms),
            (10, 0, 2 * ms)
        ]
    );
    let frame = json!({ "id": id, "name": "sort" });
    let found = client.ok("fulcrum/navigator/frame", frame);
    assert_eq!(found["locations"][0]["uri"], json!(client.uri("shop.c")));
    assert_eq!(found["locations"][0]["line"], 0);
    let what = json!({ "kind": "tree", "root": null });
    let flame = json!({ "id": id, "what": what, "left": 0, "right": 1, "minimum": 0.001 });
    let flame = client.ok("fulcrum/navigator/flame", flame).to_string();
    assert!(flame.contains("serve_back"), "{flame}");
    client.leave().expect("an orderly end");
}

/// Two types are compared by what one transaction costs, each being an observation; hot lines too.
#[test]
fn two_types_are_compared_by_single_transactions() {
    let mut client = with_source();
    let run = client.path(RUN);
    let of = |name: &str| json!({ "run": run, "type": name });
    let params = json!({ "of": of("GET /buy"), "against": of("GET /list") });
    let opened = client.ok("fulcrum/transactions/tree", params);
    assert_eq!(opened["title"], "GET /buy \u{2212} GET /list");
    assert_eq!(opened["kind"], "comparison");
    let ms = 1_000_000;
    assert_eq!(
        opened["view"]["sides"],
        json!({ "a": 31 * ms, "b": 12 * ms })
    );
    let notes = opened["notes"].to_string();
    for says in [
        "the mean of 2 of GET /buy (A) and of 2 of GET /list (B)",
        "CPU time of A is 19.0 ms more than that of B",
        "p = 0.0335): may be noise",
        "Wall time of A",
    ] {
        assert!(notes.contains(says), "{says}: {notes}");
    }
    let id = opened["id"].clone();
    let command = json!({ "kind": "selectPath", "path": ["sort"] });
    let params = json!({ "id": id, "command": command });
    let view = client.ok("fulcrum/navigator/command", params);
    let spread = &view["current"]["spread"]["cum"];
    assert_eq!(
        (&spread["a"]["runs"], &spread["b"]["runs"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(spread["significant"], false);
    let lines = hot_lines(&mut client, &id);
    assert_eq!(lines[0], (1, 19 * ms, 19 * ms), "{lines:?}");
    client.leave().expect("an orderly end");
}

/// Of a type with one transaction nothing can be said of noise: whole costs are compared, and that is said.
#[test]
fn types_with_too_few_transactions_are_compared_as_a_whole() {
    let mut client = with_source();
    let run = client.path(RUN);
    let of = |name: &str| json!({ "run": run, "type": name });
    let params = json!({ "of": of("GET /buy"), "against": of("GET /report") });
    let opened = client.ok("fulcrum/transactions/tree", params);
    assert_eq!(opened["view"]["sides"]["a"], 62_000_000);
    let notes = opened["notes"].to_string();
    assert!(notes.contains("A has 2, B 1."), "{notes}");
    let of_none = json!({ "of": of("GET /nothing") });
    let told = client.failure("fulcrum/transactions/tree", of_none);
    assert!(
        told.contains("there is no type GET /nothing; there are GET /buy"),
        "{told}"
    );
    client.leave().expect("an orderly end");
}

/// One type in two runs, and all types of both.
#[test]
fn runs_are_compared_type_by_type() {
    const AFTER: &str = ".fulcrum/runs/20261125T200000Z-shop";
    let mut client = with_source();
    write_run(&client.path(AFTER));
    let (after, before) = (client.path(AFTER), client.path(RUN));
    let params = json!({ "run": after, "against": before });
    let found = client.ok("fulcrum/transactions/compare", params);
    let types = found["types"].as_array().expect("a list");
    let buy = types
        .iter()
        .find(|it| it["name"] == "GET /buy")
        .expect("both have it");
    assert_eq!(
        (&buy["a"]["transactions"], &buy["b"]["transactions"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(buy["a"]["cpuMeanNs"], json!(31_000_000.0));
    assert_eq!(
        (&buy["cpu"]["ns"], &buy["cpu"]["significant"]),
        (&json!(0.0), &json!(false))
    );
    assert!(
        found["notes"].to_string().contains("A: Time in the kernel"),
        "{found}"
    );
    let of = |run| json!({ "run": run, "type": "GET /buy" });
    let params = json!({ "of": of(&after), "against": of(&before) });
    let opened = client.ok("fulcrum/transactions/tree", params);
    let title = "GET /buy (20261125T200000Z-shop) \u{2212} GET /buy (20261125T190000Z-shop)";
    assert_eq!(opened["title"], title);
    assert_eq!(opened["view"]["total"], 0);
    client.leave().expect("an orderly end");
}

#[test]
fn functions_of_paths_lead_to_the_source() {
    let mut client = with_source();
    let frame = |name: &str| json!({ "run": client.path(RUN), "name": name });
    let (known, unknown) = (frame("serve_back"), frame("report"));
    let found = client.ok("fulcrum/transactions/frame", known);
    assert_eq!(found["locations"][0]["line"], 3, "{found}");
    assert_eq!(found["locations"][0]["how"], "recorded");
    let found = client.ok("fulcrum/transactions/frame", unknown);
    assert_eq!(found["locations"], json!([]));
    assert_eq!(
        found["note"],
        "Nothing in the workspace is defined as report."
    );
    client.leave().expect("an orderly end");
}

fn start_params(client: &Client, program: &str, args: &[&str]) -> Value {
    let root = client.root();
    json!({ "program": program, "args": args, "cwd": root, "workspace": root, "workDoneToken": "t" })
}

/// A program without any transaction is a run too, which says so by having none.
#[test]
fn a_program_is_recorded_to_its_end_and_its_run_opens() {
    libraries::all();
    let mut client = Client::start(&[]);
    let given = start_params(&client, "true", &[]);
    let outcome = client.ok("fulcrum/transactions/start", given.clone());
    assert_eq!(outcome["exit"], "true ended normally.");
    assert_eq!(outcome["endedNormally"], true);
    let opened = client.ok(
        "fulcrum/transactions/open",
        json!({ "run": outcome["run"] }),
    );
    assert_eq!(opened["ways"], json!([]));
    assert_eq!(opened["crosstalk"]["pairs"], json!([]));
    let messages = [
        json!({ "method": "fulcrum/transactions/start", "params": given }),
        json!({ "result": outcome }),
    ];
    super::examples::check_kinds("transactionsStart", &messages);
    client.leave().expect("an orderly end");
}

#[test]
fn what_recording_may_cost_can_be_chosen() {
    libraries::all();
    let mut client = Client::start(&[]);
    for (given, kept) in [
        (json!({}), json!(0.03)),
        (json!({ "maxOverhead": 0.1 }), json!(0.1)),
        (json!({ "maxOverhead": 0.1, "pauses": false }), Value::Null),
    ] {
        let mut params = start_params(&client, "true", &[]);
        for (key, value) in given.as_object().expect("an object") {
            params[key] = value.clone();
        }
        let outcome = client.ok("fulcrum/transactions/start", params);
        let run = Path::new(outcome["run"].as_str().expect("a run"));
        let manifest = fs::read_to_string(run.join("run.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        assert_eq!(manifest["options"]["maxOverhead"], kept, "{given}");
    }
    client.leave().expect("an orderly end");
}

#[test]
fn a_recording_that_is_stopped_is_kept_and_one_that_cannot_start_says_why() {
    libraries::all();
    let mut client = Client::start(&[]);
    let params = start_params(&client, "sleep", &["1000"]);
    let id = client.send("fulcrum/transactions/start", params);
    let running = |it: &Value| {
        let message = it["value"]["message"].as_str();
        message.is_some_and(|it| it.contains("1 process, 1 running"))
    };
    client.notification_where("$/progress", running);
    let is_running = |it: &Value| it["running"] == 1;
    let live = client.notification_where("fulcrum/transactions/live", is_running);
    assert_eq!(
        (&live["token"], &live["processes"]),
        (&json!("t"), &json!(1))
    );
    let message = live["message"].as_str().expect("words");
    assert!(message.contains("1 process, 1 running"), "{message}");
    // It can be looked at while it goes on.
    let so_far = client.ok("fulcrum/transactions/open", json!({ "run": live["run"] }));
    assert_eq!(so_far["run"], live["run"]);
    client.notify("window/workDoneProgress/cancel", json!({ "token": "t" }));
    let outcome = client.response(id).expect("an outcome");
    assert_eq!(outcome["run"], live["run"]);
    assert_eq!(outcome["exit"], "sleep was stopped.");
    assert_eq!(outcome["endedNormally"], false);
    let run = outcome["run"].as_str().expect("a run");
    client.ok("fulcrum/transactions/open", json!({ "run": run }));
    for (program, says) in [
        ("", "no program was given"),
        ("no-such-program", "no-such-program"),
    ] {
        let params = start_params(&client, program, &[]);
        let told = client.failure("fulcrum/transactions/start", params);
        assert!(told.contains(says), "{told}");
    }
    let mut params = start_params(&client, "true", &[]);
    params["durationSeconds"] = json!(-1);
    let told = client.failure("fulcrum/transactions/start", params);
    assert!(told.contains("cannot last -1 seconds"), "{told}");
    let mut params = start_params(&client, "true", &[]);
    params["maxOverhead"] = json!(3);
    let told = client.failure("fulcrum/transactions/start", params);
    assert!(told.contains("cannot take 3 of the time"), "{told}");
    client.leave().expect("an orderly end");
}

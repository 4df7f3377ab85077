//! A run while it goes on, by the scripted recorder: results so far, pause, resume, stop, another target.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use expect_test::expect;
use fulcrum_recorder::{EndToEnd, Options, Remote, RunStatus, TargetChoice};
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz, manifest, record_stream};
use crate::{Recorder, Scripted};

/// The script of `build/app`, to which the test adds lines.
pub(super) struct Script(PathBuf);

impl Script {
    pub(crate) fn add(&self, step: &Value) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(&self.0)
            .expect("the script");
        writeln!(file, "{step}").expect("the script can be written");
    }

    pub(crate) fn end(&self) {
        self.add(&json!({ "do": "end" }));
    }
}

/// The counters, and the analysis of a whole recording.
fn analysed() -> Value {
    json!({ "do": "report", "experiments": 120, "lines": 3, "analysed": true })
}

pub(super) fn counted(experiments: u64) -> Value {
    json!({
        "do": "report", "experiments": experiments, "lines": 2, "visits": 400, "elapsedSeconds": 9,
        "fraction": 0.25, "remainingSeconds": 27,
        "best": { "at": "/x/src/a.cpp:5", "gain": 0.2, "interval": [0.1, 0.3] },
    })
}

/// A client, the script of its program, and what each run was started with.
pub(super) fn start() -> (Client, Script, Receiver<(Remote, Options)>) {
    let (started, remotes) = channel();
    let scripted = Scripted::new("script");
    let recorder = move |options: &Options, remote: &Remote, report: &mut dyn FnMut(&RunStatus)| {
        let with = (remote.clone(), options.clone());
        started.send(with).expect("the test listens");
        scripted.record(options, remote, report)
    };
    let client = Client::start_with(
        &[
            ("src/a.cpp", SOURCE),
            ("other.coz", &coz("src/a.cpp", "other")),
            ("build/app.script", ""),
            ("recorded/run.json", &manifest("exited", "@WORKSPACE@", &[])),
            (
                "recorded/causal-9-0.jsonl",
                &record_stream("src/a.cpp", "item"),
            ),
        ],
        json!({}),
        Arc::new(recorder),
    );
    let script = Script(client.root().join("build/app.script"));
    let from = client.root().join("recorded");
    script.add(&json!({ "do": "run", "from": from, "name": "20261121T131500Z-app" }));
    (client, script, remotes)
}

pub(super) fn params(client: &Client) -> Value {
    let root = client.root();
    json!({ "program": "build/app", "cwd": root, "workspace": root, "workDoneToken": "t" })
}

fn control(client: &mut Client, action: &str) -> Value {
    client.ok(
        "fulcrum/causal/control",
        json!({ "token": "t", "action": action }),
    )
}

fn shown(client: &mut Client) -> Value {
    client.notification("fulcrum/didChangeResults")["summary"].take()
}

#[test]
fn results_are_shown_while_the_program_runs() {
    let (mut client, script, remotes) = start();
    let id = client.send("fulcrum/causal/run", params(&client));
    let (remote, _) = remotes.recv().expect("it starts");
    script.add(&counted(23));
    let live = client.notification("fulcrum/causal/live");
    expect![[r#"
        {
          "token": "t",
          "run": "/workspace/.fulcrum/runs/20261121T131500Z-app",
          "elapsedSeconds": 9.0,
          "experiments": 23,
          "targets": 2,
          "visits": 400,
          "best": {
            "label": "a.cpp:5",
            "gain": 0.2,
            "gainLow": 0.1,
            "gainHigh": 0.3
          },
          "fraction": 0.25,
          "remainingSeconds": 27.0,
          "paused": false,
          "aim": {
            "target": "line",
            "paths": [],
            "sourceScope": [],
            "binaryScope": []
          },
          "message": "23 experiments · 2 lines · best a.cpp:5, +20 % if 2× faster · 30 s left"
        }
    "#]]
    .assert_eq(&client.pretty(&live));

    script.add(&analysed());
    let summary = shown(&mut client);
    assert_eq!(
        (&summary["live"], &summary["targets"]),
        (&json!(true), &json!(3))
    );
    assert_eq!(summary["title"], "consumer, 2026-11-21 13:15");
    // Gutter, ranking and hover ask as for any profile; the run is not over.
    let uri = client.uri("src/a.cpp");
    let lines = client.ok("fulcrum/lineSpeedups", json!({ "uri": uri }));
    let texts: Vec<_> = lines["lines"]
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| line["text"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        texts,
        [
            "+3.0\u{a0}% if 2× faster",
            "\u{2212}4.5\u{a0}% if 2× faster: contention",
            "no effect"
        ]
    );
    assert!(!client.has_response(id));

    control(&mut client, "stop");
    assert!(remote.is_cancelled());
    script.end();
    let outcome = client.response(id).expect("an outcome");
    assert_eq!(outcome["exit"], "app was stopped.");
    assert_eq!(outcome["summary"]["live"], false);
    assert_eq!(shown(&mut client)["live"], false);
    client.leave().expect("an orderly end");
}

#[test]
fn pause_and_resume_reach_the_recorder() {
    let (mut client, script, remotes) = start();
    let id = client.send("fulcrum/causal/run", params(&client));
    let (remote, _) = remotes.recv().expect("it starts");
    assert_eq!(control(&mut client, "pause"), json!({ "runs": 1 }));
    assert!(remote.is_paused());
    script.add(&counted(23));
    let live = client.notification("fulcrum/causal/live");
    assert_eq!(live["paused"], true);
    assert_eq!(
        live["message"],
        "paused · 23 experiments · 2 lines · best a.cpp:5, +20\u{a0}% if 2× faster"
    );
    control(&mut client, "resume");
    assert!(!remote.is_paused());
    script.end();
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn another_profile_stays_open_until_the_run_is_asked_for() {
    let (mut client, script, remotes) = start();
    let id = client.send("fulcrum/causal/run", params(&client));
    remotes.recv().expect("it starts");
    script.add(&analysed());
    assert_eq!(shown(&mut client)["live"], true);
    let other = client.path("other.coz");
    client.open_profile(&other);
    assert_eq!(shown(&mut client)["title"], "other.coz");
    script.add(&analysed());
    script.add(&counted(240));
    client.notification_where("fulcrum/causal/live", |live| live["experiments"] == 240);
    let ranking = client.ok("fulcrum/causal/ranking", json!({}));
    assert_eq!(ranking["progressPoint"], "other");
    control(&mut client, "show");
    assert_eq!(shown(&mut client)["live"], true);
    script.end();
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn target_and_scope_go_to_the_recorder_at_the_start_and_later() {
    let (mut client, script, remotes) = start();
    let mut params = params(&client);
    params["aim"] = json!({ "target": "path", "paths": ["main > serve", " a::b > c "], "sourceScope": ["src/%", ""] });
    params["until"] = json!(0.02);
    params["progress"] = json!(["src/a.cpp:7"]);
    params["maxOverhead"] = json!(0.03);
    params["endToEnd"] = json!({ "runs": 40 });
    params["continues"] = json!("/w/.fulcrum/runs/20261121T131500Z-app");
    let id = client.send("fulcrum/causal/run", params);
    let (_, options) = remotes.recv().expect("it starts");
    let path = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(
        options.aim.target,
        TargetChoice::Path(vec![path(&["main", "serve"]), path(&["a::b", "c"])])
    );
    assert_eq!(options.aim.source_scope, ["src/%"]);
    assert_eq!(options.until, Some(0.02));
    assert_eq!(options.progress, ["src/a.cpp:7"]);
    assert_eq!(options.max_overhead, Some(0.03));
    assert_eq!(options.end_to_end, Some(EndToEnd { runs: Some(40) }));
    assert_eq!(
        options.continues.as_deref(),
        Some(Path::new("/w/.fulcrum/runs/20261121T131500Z-app"))
    );
    client.ok(
        "fulcrum/causal/control",
        json!({ "action": "retarget", "aim": { "target": "blocked", "binaryScope": ["MAIN", "%libz%"] } }),
    );
    script.add(&counted(2));
    let live = client.notification("fulcrum/causal/live");
    assert_eq!(live["aim"]["target"], "blocked");
    assert_eq!(live["aim"]["binaryScope"], json!(["MAIN", "%libz%"]));
    script.end();
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let (mut client, script, remotes) = start();
    let mut said = client.failure("fulcrum/causal/control", json!({ "action": "pause" }));
    let mut bad = params(&client);
    bad["until"] = json!(2);
    said += &client.failure("fulcrum/causal/run", bad);
    let id = client.send("fulcrum/causal/run", params(&client));
    remotes.recv().expect("it starts");
    for control in [
        json!({ "action": "stop", "token": "another" }),
        json!({ "action": "retarget" }),
        json!({ "action": "retarget", "aim": { "target": "path", "paths": [" "] } }),
        json!({ "action": "retarget", "aim": { "target": "path", "paths": ["a >  > b"] } }),
    ] {
        said += &client.failure("fulcrum/causal/control", control);
    }
    expect![[r#"
        -32803 no causal run is going on [user] Start one by Run Causal Profiler….
        -32803 results cannot be known to 2: give a fraction between 0 and 1, such as 0.02 [user] -
        -32803 no causal run is going on [user] Start one by Run Causal Profiler….
        -32803 no target and no scope were given [user] -
        -32803 a path as target needs at least one call sequence [user] Name each call sequence, the outermost function first: main > serve > parse.
        -32803 the path "a >  > b" has an empty function name [user] Name each call sequence, the outermost function first: main > serve > parse.
    "#]].assert_eq(&said);
    script.end();
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

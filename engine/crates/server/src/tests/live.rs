//! A run while it goes on, with a stand-in for the recorder: results so far, pause, resume, stop, another target.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use fulcrum_recorder::{EndToEnd, Exit, Options, Progress, Recorded, Remote, TargetChoice};
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz, manifest, record_stream};
use crate::requests::run::Recorder;

/// What the test tells the recorder to do next.
pub(super) enum Next {
    Report(Box<Progress>),
    End,
}

/// A recorder that does as it is told, and its remote once it runs.
pub(super) fn puppet() -> (Recorder, Sender<Next>, Receiver<(Remote, Options)>) {
    let (next, told) = channel();
    let (started, remotes) = channel();
    let told = Mutex::new(told);
    let recorder: Recorder = Arc::new(move |options, remote, report| {
        let run = folder(options);
        std::fs::create_dir_all(&run).expect("a run folder");
        let cwd = options.workspace.clone().expect("the client names it");
        let text = manifest("running", &cwd.to_string_lossy(), &[]);
        std::fs::write(run.join("run.json"), text).expect("a manifest");
        started
            .send((remote.clone(), options.clone()))
            .expect("the test listens");
        let told = told.lock().expect("one run at a time");
        while let Next::Report(progress) = told.recv().expect("the test goes on") {
            report(&Progress {
                run: run.clone(),
                paused: remote.is_paused(),
                ..*progress
            });
        }
        let stream = record_stream("src/a.cpp", "item", false);
        std::fs::write(run.join("causal-9-0.jsonl"), stream).expect("a recording");
        Ok(Recorded {
            run,
            exit: if remote.is_stopped() {
                Exit::Stopped
            } else {
                Exit::Code(0)
            },
            notes: Vec::new(),
        })
    });
    (recorder, next, remotes)
}

fn folder(options: &Options) -> PathBuf {
    let workspace = options.workspace.as_ref().expect("the client names it");
    workspace.join(".fulcrum/runs/20261121T131500Z-app")
}

/// The counters, and the analysis of a whole recording.
fn analysed() -> Next {
    let stream = record_stream("src/a.cpp", "item", false);
    let recording =
        fulcrum_ingest::causal::read(stream.as_bytes(), "stream").expect("a good recording");
    let profile = fulcrum_causal::analyse(&recording, &fulcrum_causal::Options::default());
    Next::Report(Box::new(Progress {
        experiments: 120,
        lines: 3,
        profile: Some(Arc::new(profile)),
        ..Progress::default()
    }))
}

pub(super) fn counted(experiments: u64) -> Next {
    Next::Report(Box::new(Progress {
        experiments,
        lines: 2,
        visits: 400,
        elapsed: Duration::from_secs(9),
        fraction: Some(0.25),
        remaining: Some(Duration::from_secs(27)),
        best: Some((
            "/x/src/a.cpp:5".parse().expect("a target"),
            0.2,
            Some((0.1, 0.3)),
        )),
        ..Progress::default()
    }))
}

pub(super) fn start(recorder: Recorder) -> Client {
    Client::start_with(
        &[
            ("src/a.cpp", SOURCE),
            ("other.coz", &coz("src/a.cpp", "other")),
        ],
        json!({}),
        recorder,
    )
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
    let (recorder, next, remotes) = puppet();
    let mut client = start(recorder);
    let id = client.send("fulcrum/causal/run", params(&client));
    let (remote, _) = remotes.recv().expect("it starts");
    next.send(counted(23)).expect("it runs");
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
            "slope": 0.2,
            "slopeLow": 0.1,
            "slopeHigh": 0.3
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
          "message": "23 experiments · 2 lines · best a.cpp:5 +20 % · 30 s left"
        }
    "#]]
    .assert_eq(&client.pretty(&live));

    next.send(analysed()).expect("it runs");
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
    assert!(remote.is_stopped());
    next.send(Next::End).expect("it runs");
    let outcome = client.response(id).expect("an outcome");
    assert_eq!(outcome["exit"], "app was stopped.");
    assert_eq!(outcome["summary"]["live"], false);
    assert_eq!(shown(&mut client)["live"], false);
    client.leave().expect("an orderly end");
}

#[test]
fn pause_and_resume_reach_the_recorder() {
    let (recorder, next, remotes) = puppet();
    let mut client = start(recorder);
    let id = client.send("fulcrum/causal/run", params(&client));
    let (remote, _) = remotes.recv().expect("it starts");
    assert_eq!(control(&mut client, "pause"), json!({ "runs": 1 }));
    assert!(remote.is_paused());
    next.send(counted(23)).expect("it runs");
    let live = client.notification("fulcrum/causal/live");
    assert_eq!(live["paused"], true);
    assert_eq!(
        live["message"],
        "paused · 23 experiments · 2 lines · best a.cpp:5 +20\u{a0}%"
    );
    control(&mut client, "resume");
    assert!(!remote.is_paused());
    next.send(Next::End).expect("it runs");
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn another_profile_stays_open_until_the_run_is_asked_for() {
    let (recorder, next, remotes) = puppet();
    let mut client = start(recorder);
    let id = client.send("fulcrum/causal/run", params(&client));
    remotes.recv().expect("it starts");
    next.send(analysed()).expect("it runs");
    assert_eq!(shown(&mut client)["live"], true);
    let other = client.path("other.coz");
    client.open_profile(&other);
    assert_eq!(shown(&mut client)["title"], "other.coz");
    next.send(analysed()).expect("it runs");
    next.send(counted(240)).expect("it runs");
    client.notification_where("fulcrum/causal/live", |live| live["experiments"] == 240);
    let ranking = client.ok("fulcrum/causal/ranking", json!({}));
    assert_eq!(ranking["progressPoint"], "other");
    control(&mut client, "show");
    assert_eq!(shown(&mut client)["live"], true);
    next.send(Next::End).expect("it runs");
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn target_and_scope_go_to_the_recorder_at_the_start_and_later() {
    let (recorder, next, remotes) = puppet();
    let mut client = start(recorder);
    let mut start = params(&client);
    start["aim"] = json!({ "target": "path", "paths": ["main > serve", " a::b > c "], "sourceScope": ["src/%", ""] });
    start["until"] = json!(0.02);
    start["progress"] = json!(["src/a.cpp:7"]);
    start["maxOverhead"] = json!(0.03);
    start["endToEnd"] = json!({ "runs": 40 });
    let id = client.send("fulcrum/causal/run", start);
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
    client.ok(
        "fulcrum/causal/control",
        json!({ "action": "retarget", "aim": { "target": "blocked", "binaryScope": ["MAIN", "%libz%"] } }),
    );
    next.send(counted(2)).expect("it runs");
    let live = client.notification("fulcrum/causal/live");
    assert_eq!(live["aim"]["target"], "blocked");
    assert_eq!(live["aim"]["binaryScope"], json!(["MAIN", "%libz%"]));
    next.send(Next::End).expect("it runs");
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let (recorder, next, remotes) = puppet();
    let mut client = start(recorder);
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
    next.send(Next::End).expect("it runs");
    client.response(id).expect("an outcome");
    client.leave().expect("an orderly end");
}

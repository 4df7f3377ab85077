//! Running the profiler from the editor, with a stand-in for the recorder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use fulcrum_model::Interval;
use fulcrum_recorder::{Error, Exit, Options, Recorded, Remote, RunStatus, Stdio};
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, manifest, record_stream};

/// Writes the run that the real one would, then ends as `exit` says.
fn write_run(options: &Options, exit: Exit, stderr: &str) -> Recorded {
    let workspace = options.workspace.clone().expect("the client names it");
    let run = workspace.join(".fulcrum/runs/20261121T131500Z-app");
    std::fs::create_dir_all(&run).expect("a run folder");
    let stream = record_stream("src/a.cpp", "item");
    for (name, text) in [
        (
            "run.json",
            &*manifest("exited", &workspace.to_string_lossy(), &[]),
        ),
        ("causal-9-0.jsonl", &*stream),
        ("stderr.txt", stderr),
    ] {
        std::fs::write(run.join(name), text).expect("a file of the run");
    }
    Recorded {
        run,
        exit,
        notes: vec!["The recorder's own note.".into()],
    }
}

fn start<F>(recorder: F) -> Client
where
    F: Fn(&Options, &Remote, &mut dyn FnMut(&RunStatus)) -> Result<Recorded, Error>
        + Send
        + Sync
        + 'static,
{
    Client::start_with(&[("src/a.cpp", SOURCE)], json!({}), Arc::new(recorder))
}

fn params(client: &Client, token: Value) -> Value {
    let root = client.root();
    json!({
        "program": "build/app", "args": ["--fast", "7"], "cwd": root, "workspace": root,
        "durationSeconds": 2.5, "workDoneToken": token,
    })
}

#[test]
fn a_run_reports_progress_and_is_opened() {
    let seen: Arc<Mutex<Option<Options>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let mut client = start(move |options, _, report| {
        *sink.lock().expect("no panic") = Some(options.clone());
        let at = "/x/src/a.cpp:5".parse().expect("a target");
        report(&RunStatus {
            visits: 2,
            fraction: Some(0.1),
            ..RunStatus::default()
        });
        report(&RunStatus {
            experiments: 23,
            lines: 2,
            best: Some((
                at,
                0.2,
                Some(Interval {
                    low: 0.1,
                    high: 0.3,
                }),
            )),
            fraction: Some(0.5),
            ..RunStatus::default()
        });
        Ok(write_run(options, Exit::Code(0), "chatter\n"))
    });
    let outcome = client.ok("fulcrum/causal/run", params(&client, json!("token")));
    assert_eq!(outcome["exit"], "app ended normally.");
    assert_eq!(outcome["summary"]["targets"], 3);
    assert_eq!(outcome["notes"][0], "The recorder's own note.");
    assert_eq!(
        client.relative(outcome["run"].as_str().expect("a path")),
        "/workspace/.fulcrum/runs/20261121T131500Z-app"
    );
    let progress: Vec<String> = (0..4)
        .map(|_| client.notification("$/progress").to_string() + "\n")
        .collect();
    expect![[r#"
        {"token":"token","value":{"kind":"begin","title":"Profiling app","cancellable":true,"message":"starting"}}
        {"token":"token","value":{"kind":"report","message":"no experiment yet · 2 visits to progress points","percentage":10}}
        {"token":"token","value":{"kind":"report","message":"23 experiments · 2 lines · best a.cpp:5, +20 % if 2× faster","percentage":50}}
        {"token":"token","value":{"kind":"end","message":"app ended normally."}}
    "#]].assert_eq(&progress.concat());
    let change = client.notification("fulcrum/didChangeResults");
    assert_eq!(change["summary"], outcome["summary"]);

    let options = seen
        .lock()
        .expect("no panic")
        .clone()
        .expect("it was called");
    assert_eq!(options.program, "build/app");
    assert_eq!(options.args, ["--fast", "7"]);
    assert_eq!(options.duration, Some(Duration::from_millis(2500)));
    assert_eq!(options.stdio, Stdio::Files);
    assert_eq!(options.cwd, Some(client.root()));
    client.leave().expect("an orderly end");
}

/// Runs until it is cancelled.
fn endless(
    options: &Options,
    remote: &Remote,
    report: &mut dyn FnMut(&RunStatus),
) -> Result<Recorded, Error> {
    report(&RunStatus {
        visits: 1,
        ..RunStatus::default()
    });
    while !remote.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(write_run(options, Exit::Stopped, ""))
}

#[test]
fn a_cancelled_run_keeps_and_shows_what_it_recorded() {
    for by_token in [true, false] {
        let mut client = start(endless);
        let id = client.send("fulcrum/causal/run", params(&client, json!(7)));
        client.notification_where("$/progress", |p| p["value"]["kind"] == "report");
        // It runs, and the server answers meanwhile.
        let ranking = client.ok("fulcrum/causal/ranking", json!({ "progressPoint": null }));
        assert_eq!(ranking["rows"], json!([]));
        if by_token {
            client.notify(
                "window/workDoneProgress/cancel",
                json!({ "token": "another" }),
            );
            client.notify("window/workDoneProgress/cancel", json!({ "token": 7 }));
        } else {
            client.notify("$/cancelRequest", json!({ "id": id }));
        }
        let outcome = client.response(id).expect("an outcome");
        assert_eq!(outcome["exit"], "app was stopped.");
        assert_eq!(outcome["summary"]["targets"], 3);
        client.leave().expect("an orderly end");
    }
}

#[test]
fn the_end_of_the_server_stops_the_program() {
    for orderly in [true, false] {
        let ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ended);
        let mut client = start(move |options, remote, report| {
            let recorded = endless(options, remote, report);
            flag.store(true, Ordering::SeqCst);
            recorded
        });
        client.send("fulcrum/causal/run", params(&client, json!(7)));
        client.notification_where("$/progress", |p| p["value"]["kind"] == "report");
        if orderly {
            client.leave()
        } else {
            client.vanish()
        }
        .expect("an orderly end");
        assert!(ended.load(Ordering::SeqCst), "orderly: {orderly}");
    }
}

#[test]
fn a_program_that_cannot_start_is_the_users_to_fix() {
    let mut said = String::new();
    for error in [
        Error::CannotStart("/app/missing does not exist".into()),
        Error::CannotRecord("the folder /workspace/.fulcrum cannot be written".into()),
    ] {
        let mut client = start(move |_, _, _| Err(error.clone()));
        said += &client.failure("fulcrum/causal/run", params(&client, Value::Null));
        client.leave().expect("an orderly end");
    }
    let mut client = start(|_, _, _| panic!("a bug in the recorder"));
    said += &client.failure("fulcrum/causal/run", params(&client, json!("t")));
    let end = client.notification_where("$/progress", |p| p["value"]["kind"] == "end");
    said += &format!("{}\n", end["value"]["message"]);
    for (key, value) in [
        ("durationSeconds", json!(-1)),
        ("durationSeconds", json!(0)),
        ("program", json!(" ")),
    ] {
        let mut params = params(&client, Value::Null);
        params[key] = value;
        said += &client.failure("fulcrum/causal/run", params);
    }
    client.leave().expect("an orderly end");
    expect![[r#"
        -32803 /app/missing does not exist [user] Correct it in Run Causal Profiler… and run again.
        -32803 the folder /workspace/.fulcrum cannot be written [environment] Nothing was recorded: fix this and run again.
        -32603 fulcrum/causal/run failed inside Fulcrum: a bug in the recorder [fulcrum] Fulcrum keeps working. Please report this with the log.
        "fulcrum/causal/run failed inside Fulcrum: a bug in the recorder"
        -32803 a run cannot last -1 seconds: give a duration above zero, or none [user] -
        -32803 a run cannot last 0 seconds: give a duration above zero, or none [user] -
        -32803 no program was given: name the executable to profile [user] -
    "#]].assert_eq(&said);
}

#[test]
fn a_program_that_failed_says_why() {
    let mut said = String::new();
    for (exit, stderr) in [
        (
            Exit::Code(3),
            "one\ntwo\n\nthree\nfour\nfive\nusage: app FILE\n",
        ),
        (Exit::Code(1), ""),
        (Exit::Signal(11), "about to crash"),
    ] {
        let mut client = start(move |options, _, _| Ok(write_run(options, exit, stderr)));
        let outcome = client.ok("fulcrum/causal/run", params(&client, Value::Null));
        said += &format!(
            "{} ({} lines)\n",
            outcome["exit"].as_str().expect("a sentence"),
            outcome["summary"]["targets"]
        );
        client.leave().expect("an orderly end");
    }
    expect![[r#"
        app ended with status 3. It last wrote to standard error: two
        three
        four
        five
        usage: app FILE (3 lines)
        app ended with status 1. (3 lines)
        app was ended by signal 11. It last wrote to standard error: about to crash (3 lines)
    "#]]
    .assert_eq(&said);
}

#[test]
fn a_run_that_cannot_be_read_is_still_named() {
    let mut client = start(|_, _, _| {
        Ok(Recorded {
            run: PathBuf::from("/no/such/run"),
            exit: Exit::Code(0),
            notes: Vec::new(),
        })
    });
    let outcome = client.ok("fulcrum/causal/run", params(&client, Value::Null));
    assert_eq!(outcome["run"], "/no/such/run");
    assert_eq!(outcome["summary"], Value::Null);
    assert_eq!(outcome["notes"].as_array().map(Vec::len), Some(1));
    client.leave().expect("an orderly end");
}

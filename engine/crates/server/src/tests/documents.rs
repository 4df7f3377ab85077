//! Results stay on their lines while the text changes.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz, cut_record_stream, manifest, record_stream};

fn session() -> Client {
    let mut client = Client::start(&[("src/a.cpp", SOURCE), ("a.coz", &coz("src/a.cpp", "item"))]);
    client.open_profile(&client.path("a.coz"));
    client
}

/// `recorded → current state text` of every result of the document.
fn lines(client: &mut Client, name: &str) -> String {
    let uri = client.uri(name);
    let answer = client.ok(
        "fulcrum/lineSpeedups",
        json!({ "uri": uri, "progressPoint": null }),
    );
    let lines = answer["lines"].as_array().expect("lines");
    lines
        .iter()
        .map(|l| {
            format!(
                "{} → {} {} {}\n",
                l["recordedLine"],
                l["line"],
                l["state"].as_str().unwrap_or("?"),
                l["text"]
            )
        })
        .collect()
}

#[test]
fn lines_follow_the_edits() {
    let mut client = session();
    client.open_document("src/a.cpp", SOURCE);
    expect![[r#"
        5 → 4 exact "+10 % if 2× faster"
        6 → 5 exact "−12 % if 2× faster: contention"
        7 → 6 exact "no effect"
    "#]]
    .assert_eq(&lines(&mut client, "src/a.cpp"));

    // Two lines above, typed in the editor; the file on disk stays.
    let uri = client.uri("src/a.cpp");
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{
                "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 0 } },
                "text": "// new\n// new\n"
            }],
        }),
    );
    expect![[r#"
        5 → 6 moved "+10 % if 2× faster"
        6 → 7 moved "−12 % if 2× faster: contention"
        7 → 8 moved "no effect"
    "#]]
    .assert_eq(&lines(&mut client, "src/a.cpp"));

    client.replace_document(
        "src/a.cpp",
        3,
        &SOURCE.replace("lock(queue);", "std::lock_guard guard(queue);"),
    );
    expect![[r#"
        5 → 4 exact "+10 % if 2× faster"
        6 → 5 stale "−12 % if 2× faster: contention"
        7 → 6 exact "no effect"
    "#]]
    .assert_eq(&lines(&mut client, "src/a.cpp"));

    // Closed without saving: the text on disk counts again.
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": client.uri("src/a.cpp") } }),
    );
    expect![[r#"
        5 → 4 exact "+10 % if 2× faster"
        6 → 5 exact "−12 % if 2× faster: contention"
        7 → 6 exact "no effect"
    "#]]
    .assert_eq(&lines(&mut client, "src/a.cpp"));
    client.leave().expect("an orderly end");
}

#[test]
fn a_runs_snapshot_tells_what_the_lines_were() {
    let mut client = Client::start(&[
        // The code has moved on since.
        (
            "src/a.cpp",
            &format!(
                "// Copyright\n{}",
                SOURCE.replace("store(item);", "store(std::move(item));")
            ),
        ),
        (
            "run/run.json",
            &manifest("exited", "/", &[("/build/src/a.cpp", "sources/0-a.cpp")]),
        ),
        ("run/sources/0-a.cpp", SOURCE),
        (
            "run/causal-9-0.jsonl",
            &record_stream("/build/src/a.cpp", "item"),
        ),
    ]);
    client.open_profile(&client.path("run"));
    expect![[r#"
        5 → 5 moved "+3.0 % if 2× faster"
        6 → 6 moved "−4.5 % if 2× faster: contention"
        7 → 7 stale "no effect"
    "#]]
    .assert_eq(&lines(&mut client, "src/a.cpp"));
    let ranking = client.ok("fulcrum/causal/ranking", json!({ "progressPoint": null }));
    assert_eq!(ranking["rows"][0]["label"], "a.cpp:6");
    assert_eq!(ranking["rows"][0]["location"], "/build/src/a.cpp:5");
    assert_eq!(ranking["rows"][0]["uri"], json!(client.uri("src/a.cpp")));
    assert_eq!(ranking["rows"][0]["state"], "moved");

    let uri = client.uri("src/a.cpp");
    let place =
        json!({ "textDocument": { "uri": uri }, "position": { "line": 7, "character": 0 } });
    let hover = client.ok("textDocument/hover", place);
    let text = hover["contents"]["value"].as_str().expect("markdown");
    assert!(
        text.contains("**The line was changed since the profile was recorded** (it was line 7)"),
        "{text}"
    );
    client.leave().expect("an orderly end");
}

#[test]
fn the_run_of_a_killed_recorder_opens_with_a_note() {
    let mut client = Client::start(&[
        ("src/a.cpp", SOURCE),
        // `running`, but nobody is.
        ("run/run.json", &manifest("running", "/", &[])),
        (
            "run/causal-9-0.jsonl",
            &cut_record_stream("src/a.cpp", "item"),
        ),
    ]);
    let summary = client.open_profile(&client.path("run/run.json"));
    assert_eq!(summary["targets"], 3);
    let notes = summary["notes"].to_string();
    assert!(
        notes.contains("The recorder ended before the program did"),
        "{notes}"
    );
    client.leave().expect("an orderly end");
}

#[test]
fn files_that_are_not_here_have_no_uri_and_a_note() {
    let mut client = Client::start(&[("a.coz", &coz("/elsewhere/b.cpp", "item"))]);
    let summary = client.open_profile(&client.path("a.coz"));
    assert_eq!(
        summary["files"],
        json!([{ "location": "/elsewhere/b.cpp", "uri": null }])
    );
    let notes = summary["notes"].to_string();
    assert!(
        notes.contains("/elsewhere/b.cpp is not in the workspace: open the folder that holds it"),
        "{notes}"
    );
    let ranking = client.ok("fulcrum/causal/ranking", json!({ "progressPoint": null }));
    assert_eq!(ranking["rows"][0]["uri"], Value::Null);
    assert_eq!(ranking["rows"][0]["line"], 4);
    // A file of that name that is opened later takes the results.
    std::fs::write(client.path("b.cpp"), SOURCE).expect("a file");
    assert_eq!(lines(&mut client, "b.cpp").lines().count(), 3);
    client.leave().expect("an orderly end");
}

#[test]
fn another_folder_of_the_workspace_is_searched() {
    let mut client = Client::start(&[("a.coz", &coz("/elsewhere/b.cpp", "item"))]);
    client.open_profile(&client.path("a.coz"));
    client.notification("fulcrum/didChangeResults");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder
        .path()
        .canonicalize()
        .expect("it exists")
        .join("b.cpp");
    std::fs::write(&file, SOURCE).expect("a file");
    let folder = json!({ "uri": crate::protocol::uri::from_path(folder.path()), "name": "more" });
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [folder], "removed": [] } }),
    );
    let change = client.notification("fulcrum/didChangeResults");
    assert_eq!(
        change["summary"]["files"][0]["uri"],
        json!(crate::protocol::uri::from_path(&file))
    );
    client.leave().expect("an orderly end");
}

#[test]
fn contention_is_a_warning_that_follows_the_line_and_goes_with_the_profile() {
    let mut client = session();
    let uri = client.uri("src/a.cpp");
    let published = client.notification("textDocument/publishDiagnostics");
    expect![[r#"
        {
          "uri": "file:///workspace/src/a.cpp",
          "diagnostics": [
            {
              "range": {
                "start": {
                  "line": 5,
                  "character": 8
                },
                "end": {
                  "line": 5,
                  "character": 20
                }
              },
              "severity": 2,
              "code": "contention",
              "source": "Fulcrum",
              "message": "Contention: making this line 2× faster would slow item down by 12 %. Look for the lock or shared data that it competes for, rather than optimising it."
            }
          ]
        }
    "#]].assert_eq(&client.pretty(&published));
    client.open_document("src/a.cpp", SOURCE);
    client.replace_document("src/a.cpp", 2, &format!("\n\n{SOURCE}"));
    let published =
        client.notification_where("textDocument/publishDiagnostics", |p| p["version"] == 2);
    assert_eq!(
        published["diagnostics"][0]["range"]["start"],
        json!({ "line": 7, "character": 8 })
    );
    client.ok("fulcrum/causal/clear", json!({}));
    let cleared = client.notification_where("textDocument/publishDiagnostics", |p| {
        p["diagnostics"] == json!([])
    });
    assert_eq!(cleared["uri"], json!(uri));
    client.leave().expect("an orderly end");
}

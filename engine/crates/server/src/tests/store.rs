//! The run store: listed, deleted from, and refine loops read from it.

use std::path::Path;

use expect_test::expect;
use fulcrum_recorder::{Estimate, Iteration};
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::manifest;

#[test]
fn runs_are_listed_newest_first() {
    let mut client = Client::start(&[
        (
            ".fulcrum/runs/20261121T131500Z-app/run.json",
            &manifest("exited", "/", &[]),
        ),
        (
            ".fulcrum/runs/20261121T140000Z-my-app-2/causal-1-0.jsonl",
            "",
        ),
        (".fulcrum/runs/notes/readme.txt", ""),
    ]);
    let answer = client.ok("fulcrum/runs/list", json!({ "workspace": client.root() }));
    expect![[r#"
        {
          "runs": [
            {
              "path": "/workspace/.fulcrum/runs/20261121T140000Z-my-app-2",
              "folder": "20261121T140000Z-my-app-2",
              "name": "my-app-2",
              "kind": "causal",
              "start": "2026-11-21T14:00:00Z",
              "end": null,
              "program": "",
              "arguments": [],
              "command": "",
              "ended": "lost",
              "exitCode": null,
              "signal": null,
              "options": {},
              "gitRevision": null,
              "bytes": 0,
              "notes": [],
              "iteration": null
            },
            {
              "path": "/workspace/.fulcrum/runs/20261121T131500Z-app",
              "folder": "20261121T131500Z-app",
              "name": "app",
              "kind": "causal",
              "start": "2026-11-21T13:15:00Z",
              "end": null,
              "program": "/app/consumer",
              "arguments": [
                "--fast",
                "a b"
              ],
              "command": "/app/consumer --fast 'a b'",
              "ended": "exited",
              "exitCode": null,
              "signal": null,
              "options": {},
              "gitRevision": null,
              "bytes": 165,
              "notes": [],
              "iteration": null
            }
          ]
        }
    "#]]
    .assert_eq(&client.pretty(&answer));
    client.leave().expect("an orderly end");
}

/// The manifest of a refine loop's run that has ended.
fn iteration(number: usize, previous: Option<&Path>) -> String {
    iteration_manifest(number, previous).to_string()
}

/// The manifest of a refine loop's run that is going on: its recorder is this process.
fn running_iteration(number: usize) -> String {
    let mut manifest = iteration_manifest(number, None);
    manifest["ended"] = json!("running");
    manifest["recorder"] = json!({ "pid": std::process::id(), "started": 0 });
    manifest.to_string()
}

fn iteration_manifest(number: usize, previous: Option<&Path>) -> Value {
    let mut options = json!({ "limit": 1 << 30, "rule": "wall >= 2ms after 20", "iteration": number.to_string() });
    if let Some(previous) = previous {
        options["previous"] = json!(previous);
    }
    json!({
        "kind": "events", "command": "java", "arguments": ["-version"], "options": options,
        "start": format!("2026-11-21T13:15:0{number}Z"), "ended": "signalled", "signal": 11,
        "end": "2026-11-21T13:16:00Z", "gitRevision": "0123abcd", "notes": ["One note."],
    })
}

#[test]
fn what_a_run_says_of_itself_is_listed() {
    let first = Path::new("/elsewhere/.fulcrum/runs/20261121T131501Z-java-refine-1");
    let mut client = Client::start(&[(
        ".fulcrum/runs/20261121T131502Z-java-refine-2/run.json",
        &iteration(2, Some(first)),
    )]);
    let answer = client.ok("fulcrum/runs/list", json!({ "workspace": client.root() }));
    expect![[r#"
        {
          "path": "/workspace/.fulcrum/runs/20261121T131502Z-java-refine-2",
          "folder": "20261121T131502Z-java-refine-2",
          "name": "java-refine-2",
          "kind": "events",
          "start": "2026-11-21T13:15:02Z",
          "end": "2026-11-21T13:16:00Z",
          "program": "java",
          "arguments": [
            "-version"
          ],
          "command": "java -version",
          "ended": "signalled",
          "exitCode": null,
          "signal": 11,
          "options": {
            "iteration": "2",
            "limit": "1073741824",
            "previous": "/elsewhere/.fulcrum/runs/20261121T131501Z-java-refine-1",
            "rule": "wall >= 2ms after 20"
          },
          "gitRevision": "0123abcd",
          "bytes": 344,
          "notes": [
            "One note."
          ],
          "iteration": {
            "number": 2,
            "previous": "/elsewhere/.fulcrum/runs/20261121T131501Z-java-refine-1"
          }
        }
    "#]]
    .assert_eq(&client.pretty(&answer["runs"][0]));
    client.leave().expect("an orderly end");
}

#[test]
fn runs_of_the_store_are_deleted_and_nothing_else() {
    let over = ".fulcrum/runs/20261121T131501Z-java-refine-1";
    let going = ".fulcrum/runs/20261121T131502Z-java-refine-2";
    let precious = "precious/run.json";
    let mut client = Client::start(&[
        (&format!("{over}/run.json"), &iteration(1, None)),
        (&format!("{over}/sources/0-a.cpp"), "int a;"),
        (&format!("{going}/run.json"), &running_iteration(2)),
        (precious, &manifest("exited", "/", &[])),
    ]);
    let root = client.root();
    let params = |runs: &[&str]| {
        let runs: Vec<_> = runs.iter().map(|run| root.join(run)).collect();
        json!({ "workspace": root, "runs": runs })
    };
    let mut said = String::new();
    for runs in [
        &[over, going][..],
        &[over, "precious"],
        &[over, ".fulcrum/runs"],
        &[over, ""],
    ] {
        said += &client.failure("fulcrum/runs/remove", params(runs));
    }
    expect![[r#"
        -32803 cannot delete /workspace/.fulcrum/runs/20261121T131502Z-java-refine-2: it is still being recorded; stop it first. [user] -
        -32803 cannot find the run /workspace/precious: it is not a run in /workspace/.fulcrum/runs; check the path. [user] -
        -32803 cannot find the run /workspace/.fulcrum/runs: it is not a run in /workspace/.fulcrum/runs; check the path. [user] -
        -32803 cannot find the run /workspace/: it is not a run in /workspace/.fulcrum/runs; check the path. [user] -
    "#]].assert_eq(&client.relative(&said));
    assert!(root.join(over).is_dir() && root.join(precious).is_file());

    let answer = client.ok("fulcrum/runs/remove", params(&[over]));
    assert_eq!(answer, Value::Null);
    assert!(!root.join(over).exists() && root.join(going).is_dir());
    client.leave().expect("an orderly end");
}

#[test]
fn a_refine_loop_that_is_over_is_opened_from_any_of_its_runs() {
    let row = Iteration {
        number: 1,
        run: "/elsewhere/java-refine-1".into(),
        methods: 200,
        hotspots: 1,
        wall_ns: Some(1.5e9),
        overhead: Some(Estimate {
            value: 0.02,
            interval: Some(fulcrum_model::Interval {
                low: 0.01,
                high: 0.03,
            }),
        }),
        ..Iteration::default()
    };
    let table = json!({ "stable": true, "hotspots": ["Main.hot()V"], "iterations": [fulcrum_schema::RefineIteration::from(&row)] });
    let (first, second) = (
        ".fulcrum/runs/20261121T131501Z-java-refine-1",
        ".fulcrum/runs/20261121T131502Z-java-refine-2",
    );
    // The workspace was elsewhere when it was recorded, and the second iteration was cut off.
    let previous = Path::new("/elsewhere/.fulcrum/runs/20261121T131501Z-java-refine-1");
    let mut client = Client::start(&[
        (&format!("{first}/run.json"), &iteration(1, None)),
        (&format!("{first}/refine.json"), &table.to_string()),
        (&format!("{second}/run.json"), &iteration(2, Some(previous))),
        (".fulcrum/runs/broken/refine.json", "{"),
    ]);
    let root = client.root();
    let params = |run: &str| json!({ "run": root.join(run) });
    let opened = client.ok("fulcrum/refine/open", params(second));
    assert_eq!(opened, client.ok("fulcrum/refine/open", params(first)));
    // One iteration says nothing about stability, whatever an older table says.
    assert_eq!(
        opened["exit"],
        "One iteration cannot show whether the set is stable: 1 hotspot."
    );
    assert_eq!(opened["hotspots"], json!(["Main.hot()V"]));
    assert_eq!(opened["iterations"][0]["overheadHigh"], 0.03);
    assert_eq!(opened["iterations"][0]["run"], "/elsewhere/java-refine-1");
    let filter = opened["filter"].as_str().expect("a path");
    assert_eq!(
        Path::new(filter),
        root.join(first).join("next.fulcrum-filter")
    );

    let mut said = client.failure("fulcrum/refine/open", params(".fulcrum/runs/broken"));
    said += &client.failure("fulcrum/refine/open", params("missing"));
    expect![[r#"
        -32803 /workspace/.fulcrum/runs/broken/refine.json: EOF while parsing an object at line 1 column 1 [user] -
        -32803 /workspace/missing has no table of a refine loop [user] Open one of its runs as a trace.
    "#]].assert_eq(&client.relative(&said));
    client.leave().expect("an orderly end");
}

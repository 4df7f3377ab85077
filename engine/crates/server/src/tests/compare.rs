//! Two runs lined up: through code changes, into the code as it is now.

use serde_json::{Value, json};

use expect_test::expect;

use super::client::Client;
use super::fixtures::{SOURCE, manifest, record_stream};

/// The stream as it would be had line 5 become half as expensive, which makes the program a tenth faster; with its
/// lines two further down.
fn improved(stream: &str) -> String {
    let mut out = String::new();
    for line in stream.lines() {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        for key in ["duration", "wall", "start", "time"] {
            if let Some(time) = record[key].as_u64() {
                record[key] = json!(time * 9 / 10);
            }
        }
        if record["type"] == "samples" {
            record["lines"]["src/a.cpp:5"] = json!(600);
        }
        out += &format!("{record}\n");
    }
    for (line, moved) in [(7, 9), (6, 8), (5, 7)] {
        out = out.replace(
            &format!("src/a.cpp:{line}\""),
            &format!("src/a.cpp:{moved}\""),
        );
    }
    out
}

pub(super) fn start() -> Client {
    let before = record_stream("src/a.cpp", "item");
    let faster = SOURCE.replace("decode(item);", "decode_quickly(item);");
    let changed = format!("// Two\n// lines more\n{faster}");
    // The code as it is now has another line on top.
    let now = format!("\n{changed}");
    let manifest = manifest("exited", "/app", &[("src/a.cpp", "sources/0-a.cpp")]);
    Client::start(&[
        ("src/a.cpp", &now),
        (".fulcrum/runs/20261121T131500Z-app/run.json", &manifest),
        (
            ".fulcrum/runs/20261121T131500Z-app/causal-1-0.jsonl",
            &before,
        ),
        (".fulcrum/runs/20261121T131500Z-app/sources/0-a.cpp", SOURCE),
        (".fulcrum/runs/20261121T141500Z-app/run.json", &manifest),
        (
            ".fulcrum/runs/20261121T141500Z-app/causal-1-0.jsonl",
            &improved(&before),
        ),
        (
            ".fulcrum/runs/20261121T141500Z-app/sources/0-a.cpp",
            &changed,
        ),
    ])
}

pub(super) fn paths(client: &Client) -> Value {
    json!({
        "before": client.path(".fulcrum/runs/20261121T131500Z-app"),
        "after": client.path(".fulcrum/runs/20261121T141500Z-app"),
    })
}

#[test]
fn predicted_and_actual_stand_side_by_side() {
    let mut client = start();
    let params = paths(&client);
    let compared = client.ok("fulcrum/causal/compare", params);
    let point = &compared["progressPoints"][0];
    let round = |value: &Value| format!("{:.3}", value["value"].as_f64().unwrap_or(f64::NAN));
    let mut said = format!(
        "{} to {}\n{} {}: {:.0} to {:.0} a second, actual {}\n",
        compared["before"]["title"],
        compared["after"]["title"],
        point["name"],
        point["kind"],
        point["beforeRate"].as_f64().unwrap_or(f64::NAN),
        point["afterRate"].as_f64().unwrap_or(f64::NAN),
        round(&point["actual"]),
    );
    for row in point["targets"].as_array().expect("targets") {
        said += &format!(
            "{} now {} ({}, line {} of the file): got {}, predicted {}. {}\n",
            row["target"],
            row["label"],
            row["state"],
            row["line"],
            round(&row["speedup"]),
            round(&row["predicted"]),
            row["verdict"].as_str().unwrap_or_default(),
        );
    }
    expect![[r#"
        "consumer, 2026-11-21 13:15" to "consumer, 2026-11-21 13:15"
        "item" "throughput": 998 to 1108 a second, actual 0.100
        "src/a.cpp:5" now "a.cpp:8" ("moved", line 7 of the file): got 0.500, predicted 0.030. It costs 50.0 % less a visit; the program should take 3.0 % less time and takes 10.0 % less time: more than this change explains.
        "src/a.cpp:7" now "a.cpp:10" ("moved", line 9 of the file): got 0.000, predicted 0.000. Its cost has hardly changed.
        "src/a.cpp:6" now "a.cpp:9" ("moved", line 8 of the file): got 0.000, predicted 0.000. Its cost has hardly changed.
    "#]].assert_eq(&said);
    let row = &point["targets"][0];
    for key in ["costBeforeNs", "costAfterNs", "speedup", "predicted"] {
        let (low, value) = (row[key]["low"].as_f64(), row[key]["value"].as_f64());
        assert!(low.is_some() && low <= value, "{key}: {}", row[key]);
    }
    assert_eq!(row["changed"], true);
    client.leave().expect("an orderly end");
}

#[test]
fn comparing_leaves_the_open_profile_alone() {
    let mut client = start();
    let params = paths(&client);
    let before = client.path(".fulcrum/runs/20261121T131500Z-app");
    client.open_profile(&before);
    client.notification("fulcrum/didChangeResults");
    client.ok("fulcrum/causal/compare", params);
    let ranking = client.ok("fulcrum/causal/ranking", json!({}));
    assert_eq!(ranking["rows"].as_array().map(Vec::len), Some(3));
    client.leave().expect("an orderly end");
}

#[test]
fn what_is_no_run_is_named() {
    let mut client = start();
    let mut params = paths(&client);
    params["after"] = json!(client.path("src/a.cpp"));
    let said = client.failure("fulcrum/causal/compare", params);
    assert!(said.contains("/workspace/src/a.cpp"), "{said}");
    assert!(said.contains("[user]"), "{said}");
    client.leave().expect("an orderly end");
}

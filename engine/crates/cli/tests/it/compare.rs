//! `fulcrum causal compare`: two runs whose numbers are known by construction.
//!
//! Before, a round takes 10 ms, 4 ms of them in `slow(10)` (line 2) and 6 ms in `rest()` (line 3). After, a line was added
//! above, and `slow(5)` takes half: 8 ms a round. The curve before says 0.4 × speedup for `slow`, so 20 %, which came true.

use std::fs;
use std::path::Path;

use crate::common::{check_bad, fixture, fulcrum, json};
use serde_json::{Value, json};

const OLD: &str = "int main() {\n  slow(10);\n  rest();\n}\n";
const NEW: &str = "// faster\nint main() {\n  slow(5);\n  rest();\n}\n";

/// A run folder. `lines`: number, milliseconds a round. Half of the experiments are baselines, as in a real run.
fn write_run(folder: &Path, source: Option<&str>, argument: &str, lines: &[(u32, f64)]) {
    fs::create_dir_all(folder.join("sources")).unwrap();
    let round: f64 = lines.iter().map(|(_, ms)| ms).sum();
    let mut text = String::from(
        "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":1,\"period\":1000000,\"levels\":[0.25,0.5,0.75,1]}\n",
    );
    let (mut time, mut samples) = (0, vec![0.0; lines.len()]);
    for n in 0..160 {
        let (line, ms) = lines[n % 2];
        let speedup = [0.0, 0.25, 0.0, 0.5, 0.0, 0.75, 0.0, 1.0][n / 2 % 8];
        // 100 rounds, give or take one.
        let rounds = 100.0 + f64::from([-1, 1, 0, 1, -1, 0][n % 6]);
        let duration = (100.0 * (round - ms * speedup) * 1e6) as u64;
        time += duration;
        for (sum, (_, ms)) in samples.iter_mut().zip(lines) {
            *sum += ms * rounds;
        }
        text.push_str(&format!(
            "{{\"type\":\"experiment\",\"selected\":\"/w/a.cpp:{line}\",\"speedup\":{speedup},\"duration\":{duration},\
             \"selected_samples\":{},\"start\":0,\"wall\":{duration},\
             \"points\":[{{\"name\":\"round\",\"kind\":\"throughput\",\"delta\":{rounds}}}]}}\n",
            (ms * rounds) as u64
        ));
    }
    let counts: Vec<String> = lines
        .iter()
        .zip(&samples)
        .map(|((line, _), count)| format!("\"/w/a.cpp:{line}\":{}", *count as u64))
        .collect();
    text.push_str(&format!(
        "{{\"type\":\"samples\",\"time\":{time},\"lines\":{{{}}}}}\n{{\"type\":\"end\",\"time\":{time},\"reason\":\"exit\"}}\n",
        counts.join(",")
    ));
    fs::write(folder.join("causal-1-0.jsonl"), text).unwrap();
    let mut sources = json!([]);
    if let Some(source) = source {
        fs::write(folder.join("sources/0-a.cpp"), source).unwrap();
        sources = json!([{"path": "/w/a.cpp", "snapshot": "sources/0-a.cpp"}]);
    }
    let manifest = json!({
        "schema": 1, "kind": "causal", "command": "/w/app", "arguments": [argument], "host": "h", "cpu": "c",
        "start": "2026-11-21T13:15:00Z", "ended": "exited", "sources": sources,
    });
    fs::write(folder.join("run.json"), manifest.to_string()).unwrap();
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} is not {expected}"
    );
}

fn folders() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    write_run(&before, Some(OLD), "7", &[(2, 4.0), (3, 6.0)]);
    write_run(&after, Some(NEW), "7", &[(3, 2.0), (4, 6.0)]);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (before, after) = (text(&before), text(&after));
    (folder, before, after)
}

#[test]
fn what_was_predicted_came_true() {
    let (_folder, before, after) = folders();
    let json = json(&["causal", "compare", &before, &after, "--json"]);
    let point = &json["progressPoints"][0];
    assert_eq!(
        (&point["name"], &point["kind"]),
        (&"round".into(), &"throughput".into())
    );
    near(&point["beforeRate"], 100.0, 1.0);
    near(&point["afterRate"], 125.0, 1.0);
    near(&point["beforeNs"]["value"], 10e6, 0.1e6);
    near(&point["actual"]["value"], 0.2, 0.005);
    let (low, high) = (&point["actual"]["low"], &point["actual"]["high"]);
    assert!(
        low.as_f64() < Some(0.2) && high.as_f64() > Some(0.2),
        "{point}"
    );

    let [slow, rest] = point["targets"].as_array().expect("targets").as_slice() else {
        panic!("two targets: {point}")
    };
    assert_eq!(slow["location"], "/w/a.cpp:2");
    assert_eq!(
        (&slow["kind"], &slow["after"]),
        (&"line".into(), &"/w/a.cpp:3".into())
    );
    near(&slow["costBeforeNs"]["value"], 4e6, 0.1e6);
    near(&slow["costAfterNs"]["value"], 2e6, 0.1e6);
    near(&slow["speedup"]["value"], 0.5, 0.02);
    near(&slow["predicted"]["value"], 0.2, 0.01);
    assert_eq!(
        (&slow["changed"], &slow["extrapolated"]),
        (&true.into(), &false.into())
    );
    let verdict = slow["verdict"].as_str().expect("a sentence");
    assert!(
        verdict.starts_with("It costs 50.") && verdict.contains(": as predicted, to within "),
        "{verdict}"
    );

    assert_eq!(
        (&rest["location"], &rest["after"]),
        (&"/w/a.cpp:3".into(), &"/w/a.cpp:4".into())
    );
    near(&rest["speedup"]["value"], 0.0, 0.02);
    assert_eq!(rest["changed"], false);
    assert_eq!(rest["verdict"], "Its cost has hardly changed.");
    assert_eq!(json["notes"], json!([]));
}

#[test]
fn the_table_has_the_outcome_and_the_verdict() {
    let (_folder, before, after) = folders();
    let run = fulcrum(&["causal", "compare", &before, &after, "--top", "1"])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0));
    let table = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].starts_with("round, throughput, 100 to 125 visits/s (+25.")
            && lines[0].contains(" %), 20."),
        "{table}"
    );
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["cost", "before", "after", "less", "predicted", "actual"]
    );
    assert!(
        lines[2].starts_with("/w/a.cpp:2  ") && lines[2].contains(" 4.00 ms  2.00 ms "),
        "{table}"
    );
    assert!(
        lines[3].starts_with("/w/a.cpp:2: It costs 50.0 % less a visit; the program should take "),
        "{table}"
    );
    assert_eq!(lines[4], "1 more: --top 0 shows all");
}

#[test]
fn what_the_runs_do_not_say_is_said() {
    let (folder, before, _) = folders();
    let after = folder.path().join("other");
    write_run(&after, None, "8", &[(2, 1.0), (3, 6.0)]);
    let after = after.to_string_lossy().into_owned();
    let both = json(&["causal", "compare", &before, &after, "--json"]);
    assert_eq!(
        both["notes"],
        json!([
            "The run after has no copies of the source: lines are assumed to have kept their numbers.",
            "The arguments differ: \"7\" and \"8\"."
        ])
    );
    near(
        &both["progressPoints"][0]["targets"][0]["speedup"]["value"],
        0.75,
        0.02,
    );

    // coz files: no source, no period, no manifest.
    let coz = fixture("three-lines.coz");
    let same = json(&["causal", "compare", &coz, &coz, "--json"]);
    let notes: Vec<&str> = same["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes[0].starts_with("The runs have no copies of the source"));
    assert!(notes[1].starts_with("A recording does not name its program and machine"));
    assert!(notes[2].starts_with("The run before does not say how often it was sampled"));
    let point = &same["progressPoints"][0];
    near(&point["actual"]["value"], 0.0, 1e-12);
    for target in point["targets"].as_array().expect("targets") {
        near(&target["speedup"]["value"], 0.0, 1e-12);
        assert_eq!(target["changed"], false);
    }
}

#[test]
fn code_that_is_gone_counts_as_free() {
    let (folder, before, _) = folders();
    let after = folder.path().join("gone");
    write_run(
        &after,
        Some("int main() {\n  rest();\n}\n"),
        "7",
        &[(2, 6.0), (1, 0.001)],
    );
    let after = after.to_string_lossy().into_owned();
    let both = json(&["causal", "compare", &before, &after, "--json"]);
    let slow = &both["progressPoints"][0]["targets"][0];
    assert_eq!(
        (&slow["location"], &slow["after"]),
        (&"/w/a.cpp:2".into(), &Value::Null)
    );
    near(&slow["speedup"]["value"], 1.0, 0.0);
    near(&slow["predicted"]["value"], 0.4, 0.02);
    let verdict = slow["verdict"].as_str().expect("a sentence");
    assert!(
        verdict.starts_with("Its code is gone, which counts as 100 % faster"),
        "{verdict}"
    );
    assert!(
        verdict.contains("; the program should take 41.8 % less time and takes 40.0 % less time: "),
        "{verdict}"
    );
}

#[test]
fn an_unvisited_progress_point_is_no_comparison() {
    let (folder, before, _) = folders();
    let path = folder.path().join("empty.coz");
    fs::write(&path, "startup\ttime=1\nexperiment\tselected=/w/a.cpp:2\tspeedup=0\tduration=5\tselected-samples=1\n").unwrap();
    let after = path.to_string_lossy().into_owned();
    let run = fulcrum(&["causal", "compare", &before, &after, "--json"])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
    let both: Value = serde_json::from_slice(&run.stdout).unwrap();
    let notes = both["notes"].to_string();
    assert!(
        notes.contains("The run after has no baseline for the progress point round"),
        "{notes}"
    );
    check_bad(
        &["causal", "compare", &before, "nowhere.coz"],
        3,
        "nowhere.coz",
    );
}

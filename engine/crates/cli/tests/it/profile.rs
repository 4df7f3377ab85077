//! `fulcrum profile`: what the commands print about profiles whose contents are known.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{check_bad, fulcrum, json};
use serde_json::{Value, json};

/// What real profilers wrote, beside the readers' tests.
fn sample(name: &str) -> String {
    format!(
        "{}/../ingest/tests/samples/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a new file");
    path.to_string_lossy().into_owned()
}

fn stdout(args: &[&str]) -> String {
    let run = fulcrum(args).env("LC_ALL", "C").output().expect("it runs");
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(run.stdout).expect("text")
}

/// Names, own and cumulative costs.
fn functions(json: &Value) -> Vec<(String, i64, i64)> {
    let rows = json["functions"].as_array().expect("a list").iter();
    let row = |it: &Value| {
        let number = |key: &str| it[key].as_i64().expect("a whole number");
        (
            it["name"].as_str().expect("a name").to_owned(),
            number("base"),
            number("cum"),
        )
    };
    rows.map(row).collect()
}

#[test]
fn top_lists_functions_with_both_costs() {
    let found = json(&[
        "profile",
        "top",
        &sample("work.pb.gz"),
        "--json",
        "--top",
        "3",
    ]);
    assert_eq!(found["unit"], "ns");
    assert_eq!(found["value"], "cpu");
    // As `pprof -top` prints them.
    let leaf = functions(&found).into_iter().next().expect("three");
    assert_eq!(leaf.0, "main.leaf");
    assert_eq!(functions(&found).len(), 3);
    let all = functions(&json(&["profile", "top", &sample("work.pb.gz"), "--json"]));
    let bases: i64 = all.iter().map(|it| it.1).sum();
    assert_eq!(Some(bases), found["total"].as_i64());
}

#[test]
fn top_chooses_values_and_orders() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = file(
        &folder,
        "trace.json",
        r#"[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"g","pid":1,"tid":1,"ts":1,"dur":8}]"#,
    );
    let top = |more: &[&str]| {
        functions(&json(
            &[&["profile", "top", &trace, "--json"], more].concat(),
        ))
    };
    let (f, g) = (("f".to_owned(), 2000, 10000), ("g".to_owned(), 8000, 8000));
    assert_eq!(top(&[]), [g.clone(), f.clone()]);
    assert_eq!(top(&["--sort", "cum"]), [f, g]);
    for calls in ["calls", "2"] {
        let rows = top(&["--value", calls]);
        assert_eq!(rows, [("f".to_owned(), 1, 2), ("g".to_owned(), 1, 1)]);
    }
    check_bad(
        &["profile", "top", &trace, "--value", "bytes"],
        1,
        "has no value type \"bytes\"; choose one of time, calls",
    );
}

#[test]
fn top_compares_two_profiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = file(&folder, "now.folded", "main;f 5\nmain;g 1\n");
    let before = file(&folder, "before.folded", "main;f 2\nmain;h 3\n");
    let found = json(&["profile", "top", &now, "--against", &before, "--json"]);
    let row = |name: &str, base: [i64; 2], cum: [i64; 2]| {
        json!({
            "name": name, "base": base[0] - base[1], "cum": cum[0] - cum[1],
            "sides": { "base": { "a": base[0], "b": base[1] }, "cum": { "a": cum[0], "b": cum[1] } },
        })
    };
    let rows = json!([
        row("f", [5, 2], [5, 2]),
        row("h", [0, 3], [0, 3]),
        row("g", [1, 0], [1, 0]),
        row("main", [0, 0], [6, 5]),
    ]);
    assert_eq!(found["functions"], rows);
    assert_eq!(found["total"], 1);
    assert_eq!(found["sides"], json!({ "a": 6, "b": 5 }));
    let text = stdout(&["profile", "top", &now, "--against", &before]);
    assert!(
        text.starts_with("samples, 6 less 5 is 1; shares are of 5, 4 functions\n"),
        "{text}"
    );
    assert!(text.contains("  -3  -60.0 %   -3  -60.0 %  h\n"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = file(&folder, "samples.folded", "main 5\n");
    check_bad(
        &[
            "profile",
            "top",
            &samples,
            "--value",
            "samples",
            "--against",
            &sample("work.callgrind"),
        ],
        1,
        "has no value type \"samples\"; choose one of Ir",
    );
    let graph = file(&folder, "graph", "events: samples\nfn=main\n1 5\n");
    check_bad(
        &["profile", "top", &samples, "--against", &graph],
        3,
        "is a call graph, and only call trees can be compared",
    );
}

#[test]
fn info_says_what_a_profile_holds() {
    let found = json(&[
        "profile",
        "info",
        &sample("shop-mangled.perf.txt"),
        "--json",
    ]);
    assert_eq!(found["format"], "perf script");
    assert_eq!(found["kind"], "tree");
    let types: Vec<_> = found["valueTypes"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!(types.len(), 2);
    assert_eq!(types[1]["unit"], "ns");
    assert_eq!(found["defaultValue"], "cpu-clock");
    let renamed = found["names"]["renamed"].as_array().expect("a list");
    assert!(renamed.contains(&json!({
        "raw": "_ZNK4shop4CartIdE5totalEi", "name": "shop::Cart<double>::total", "rules": ["demangle"],
    })));
    let graph = json(&["profile", "info", &sample("work.callgrind"), "--json"]);
    assert_eq!(
        (&graph["kind"], &graph["format"]),
        (&json!("graph"), &json!("callgrind"))
    );
}

#[test]
fn rules_of_names_are_shown_and_chosen() {
    let path = sample("shop-mangled.perf.txt");
    let text = stdout(&["profile", "info", &path]);
    assert!(
        text.contains("4 names are changed by rules: --renamed lists them"),
        "{text}"
    );
    let text = stdout(&["profile", "info", &path, "--renamed"]);
    assert!(text.contains("_ZNK4shop4CartIiE5totalEi"), "{text}");
    let names = |rules: &str| {
        let found = json(&["profile", "top", &path, "--json", "--names", rules]);
        functions(&found).into_iter().next().expect("some").0
    };
    assert_eq!(names("default"), "shop::Cart<double>::total");
    for rules in ["none", "rust-hash,jvm-lambda"] {
        assert_eq!(names(rules), "_ZNK4shop4CartIdE5totalEi");
    }
    let run = fulcrum(&["profile", "top", &path, "--names", "pretty"])
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn conversions_hold_the_same_costs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = sample("work.perf.txt");
    let top = |path: &str, value: &str| {
        let mut rows = functions(&json(&["profile", "top", path, "--json", "--value", value]));
        rows.sort();
        rows
    };
    let before = top(&path, "cpu-clock");
    assert!(
        before.iter().any(|it| it.0 == "leaf" && it.1 > 0),
        "{before:?}"
    );
    for (format, value) in [
        ("folded", "samples"),
        ("pprof", "cpu-clock"),
        ("speedscope", "time"),
    ] {
        let out = folder.path().join(format).to_string_lossy().into_owned();
        stdout(&["profile", "convert", &path, "--to", format, "-o", &out]);
        assert_eq!(top(&out, value), before, "{format}");
    }
    // pprof has all value types.
    let pprof = folder.path().join("pprof").to_string_lossy().into_owned();
    assert_eq!(top(&pprof, "samples"), top(&path, "samples"));
    // Another value type, and standard output.
    let text = stdout(&[
        "profile", "convert", &path, "--to", "folded", "--value", "samples",
    ]);
    let counts = text
        .lines()
        .map(|line| line.rsplit_once(' ').expect("a count").1);
    let sum: i64 = counts
        .map(|count| count.parse::<i64>().expect("a number"))
        .sum();
    let info = json(&["profile", "info", &path, "--json"]);
    assert_eq!(
        info["valueTypes"][0],
        json!({ "name": "samples", "unit": "", "total": sum })
    );
}

#[test]
fn a_call_graph_is_not_converted_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out").to_string_lossy().into_owned();
    check_bad(
        &[
            "profile",
            "convert",
            &sample("work.callgrind"),
            "--to",
            "pprof",
            "-o",
            &out,
        ],
        3,
        "this profile is a call graph",
    );
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn standard_input_is_a_profile_too() {
    let mut run = fulcrum(&["profile", "top", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    run.stdin
        .take()
        .expect("a pipe")
        .write_all(b"main;f 2\n")
        .expect("it listens");
    let output = run.wait_with_output().expect("it ends");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let row = |name: &str, base, cum| (name.to_owned(), base, cum);
    assert_eq!(functions(&found), [row("f", 2, 2), row("main", 0, 2)]);
}

#[test]
fn bad_files_are_named_with_the_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder, "bad.folded", "main 1\nno count here\nmain 2\n");
    check_bad(
        &["profile", "info", &path],
        3,
        "bad.folded:2: expected a stack and a count",
    );
    check_bad(
        &["profile", "top", "/nonexistent"],
        3,
        "cannot read /nonexistent",
    );
}

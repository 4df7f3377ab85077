//! `fulcrum profile`: what the commands print about profiles whose contents are known.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{check_bad, fulcrum, json};
use serde_json::{Value, json};

/// What real profilers wrote, beside the readers' tests.
fn sample(name: &str) -> String {
    format!(
        "{}/../profile-formats/tests/samples/{name}",
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
        text.starts_with("samples, 6 minus 5 is 1; shares are of 5, 4 functions\n"),
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
        "is a call graph, which can only be compared with another call graph",
    );
}

#[test]
fn call_graphs_are_compared_function_by_function() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = |name: &str, f: u32| {
        let main = format!("events: Ir\nfn=main\n1 10\ncfn=f\ncalls=1 5\n1 {f}\n");
        file(&folder, name, &format!("{main}\nfn=f\n5 {f}\n"))
    };
    let (now, before) = (graph("now", 90), graph("before", 50));
    let found = json(&["profile", "top", &now, "--against", &before, "--json"]);
    let rows = functions(&found);
    assert_eq!(rows, [("f".to_owned(), 40, 40), ("main".to_owned(), 0, 40)]);
    assert_eq!(found["sides"], json!({ "a": 100, "b": 60 }));
    let cum = &found["functions"][1]["sides"]["cum"];
    assert_eq!(cum, &json!({ "a": 100, "b": 60 }));
    let text = stdout(&["profile", "top", &now, "--against", &before]);
    assert!(
        text.starts_with("Ir, 100 minus 60 is 40; shares are of 60, 2 functions\n"),
        "{text}"
    );
    // One of Python's with itself: nothing differs.
    let python = sample("work.pstats");
    let found = json(&["profile", "top", &python, "--against", &python, "--json"]);
    let rows = functions(&found);
    assert!(rows.len() > 5 && rows.iter().all(|it| (it.1, it.2) == (0, 0)));
    let alone = json(&["profile", "top", &python, "--json"]);
    assert_eq!(found["sides"]["a"], alone["total"]);
}

#[test]
fn a_difference_is_read_as_a_comparison() {
    let folder = tempfile::tempdir().expect("a folder");
    let folded = file(
        &folder,
        "difference.folded",
        "main;grew 70\nmain;shrank -50\n",
    );
    let pprof = folder.path().join("heap.pb.gz");
    let pprof = pprof.to_str().expect("UTF-8");
    stdout(&["profile", "convert", &folded, "--to", "pprof", "-o", pprof]);
    for profile in [&*folded, pprof] {
        let found = json(&["profile", "top", profile, "--json"]);
        assert_eq!(found["sides"], json!({ "a": 70, "b": 50 }), "{profile}");
        let rows = [("grew", 70, 70), ("shrank", -50, -50), ("main", 0, 20)];
        let rows = rows.map(|(name, base, cum)| (name.to_owned(), base, cum));
        assert_eq!(functions(&found), rows);
        let text = stdout(&["profile", "top", profile]);
        assert!(
            text.starts_with("samples, 70 minus 50 is 20; shares are of 70, 3 functions\n"),
            "{text}"
        );
        let note = "has values below 0, so it is read as a comparison";
        assert!(text.contains(note), "{text}");
        let found = json(&["suggest", profile, "--json"]);
        assert_eq!(found["sides"], json!({ "a": 70, "b": 50 }));
        assert_eq!(found["of"], "costlier");
    }
}

/// As `cProfile` writes it: `f` costs 1.5 s itself and 2 s with its calls, of which there are none.
const MORE_THAN_ALL: &[u8] =
    b"{)\x03z\x04a.pyi\x07\0\0\0z\x01f)\x05i\x01\0\0\0i\x01\0\0\0g\0\0\0\0\0\0\xf8\x3fg\0\0\0\0\0\0\0\x40{00";

#[test]
fn shares_above_100_percent_have_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("more.pstats");
    std::fs::write(&path, MORE_THAN_ALL).expect("a new file");
    let path = path.to_str().expect("UTF-8");
    let note = "1 function has more than 100 % of the total, which is what all functions cost themselves, `f (a.py:7)` the \
                most: the profiler counted more for it than all functions cost themselves.";
    let text = stdout(&["profile", "top", path]);
    assert!(text.contains("133.3 %") && text.contains(note), "{text}");
    let run = fulcrum(&["suggest", path]).output().expect("it runs");
    let (out, said) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(said.contains(note), "{said}");
    let why = "more than 100 %, because the profiler counted more for it";
    assert!(out.contains("133.3 %") && out.contains(why), "{out}");
}

#[test]
fn an_option_raises_the_limit_on_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = file(&folder, "large.folded", &"main;work 1\n".repeat(200_000));
    for command in [
        &["profile", "info"][..],
        &["profile", "top"],
        &["suggest"],
        &["navigate", "--script", "suggest"],
    ] {
        let of = |more: &[&'static str]| -> Vec<String> {
            let all = [command, more].concat();
            all.into_iter().map(str::to_owned).collect()
        };
        let limited = [of(&["--max-size", "2M"]), vec![large.clone()]].concat();
        let limited: Vec<&str> = limited.iter().map(String::as_str).collect();
        check_bad(
            &limited,
            3,
            "it has more than 2 MiB, the most that is read; if you trust it, allow more with --max-size",
        );
        let allowed = [of(&["--max-size", "3MiB"]), vec![large.clone()]].concat();
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        stdout(&allowed);
    }
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

#[test]
fn a_folder_is_no_profile_and_a_run_is_opened_by_another_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    let top = ["profile", "top", &path];
    check_bad(&top, 3, "is a folder; name a profile in it");
    for (kind, command) in [
        ("causal", "causal show"),
        ("events", "events stats"),
        ("transactions", "transactions show"),
    ] {
        let run = tempfile::tempdir().expect("a folder");
        let manifest = json!({"version": 1, "kind": kind, "command": "program"});
        std::fs::write(run.path().join("run.json"), manifest.to_string()).expect("a new file");
        let path = run.path().to_str().expect("UTF-8");
        let part = format!("is a run, not a profile; `fulcrum {command} {path}` opens it");
        check_bad(&["profile", "top", path], 3, &part);
    }
}

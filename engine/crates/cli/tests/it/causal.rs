//! `fulcrum causal`: the real binary on a profile whose slopes are known by construction.
//!
//! In `data/three-lines.coz` the time per visit falls by 20 % of the line speedup for `hot.c:10`, not at all for
//! `flat.c:20`, and rises by 30 % for `lock.c:30`. Each speedup has six experiments.

use crate::common::{check_bad, fixture, fulcrum, json};
use serde_json::Value;
use std::path::Path;

fn targets(json: &Value) -> &Vec<Value> {
    json["progressPoints"][0]["targets"]
        .as_array()
        .expect("targets")
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn json_has_the_designs_keys_and_the_constructed_slopes() {
    let path = fixture("three-lines.coz");
    let json = json(&["causal", "show", &path, "--json", "--no-phase-correction"]);
    assert_eq!(json["progressPoints"][0]["name"], "requests");
    assert_eq!(json["progressPoints"][0]["kind"], "throughput");
    assert_eq!(json["phaseCorrection"], false);
    let expected = [
        ("/app/src/hot.c:10", 0.2, "gain2", false),
        ("/app/src/flat.c:20", 0.0, "flat", false),
        ("/app/src/lock.c:30", -0.3, "harm3", true),
    ];
    assert_eq!(targets(&json).len(), expected.len());
    for (target, (location, slope, shape, contention)) in targets(&json).iter().zip(expected) {
        assert_eq!(target["location"], location);
        assert_eq!(target["kind"], "line");
        assert_eq!(target["shape"], shape);
        assert_eq!(target["contention"], contention);
        assert_eq!(target["experiments"], 30);
        near(&target["slope"], slope);
        near(&target["slopeLow"], slope);
        near(&target["slopeHigh"], slope);
        let points = target["points"].as_array().expect("points");
        assert_eq!(points.len(), 5);
        for (point, speedup) in points.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]) {
            near(&point["speedup"], speedup);
            near(&point["programSpeedup"], slope * speedup);
            // These experiments do not scatter, so what no experiment shows is all that is left.
            let allowance = if speedup > 0.0 { 0.01 } else { 0.0 };
            near(&point["low"], slope * speedup - allowance);
            near(&point["high"], slope * speedup + allowance);
            assert_eq!(point["visits"], 600);
            let duration = (6e9 * (1.0 - slope * speedup)).round();
            assert_eq!(point["durationNs"].as_f64(), Some(duration));
        }
    }
}

/// Eq. 8 by hand: t_obs = 6·(5 − 0.2·2.5) s, s_obs = s = 3000, T = 100 s.
#[test]
fn the_phase_correction_is_on_by_default() {
    let json = json(&["causal", "show", &fixture("three-lines.coz"), "--json"]);
    assert_eq!(json["phaseCorrection"], true);
    near(
        &targets(&json)[0]["slope"],
        0.2 * (27.0 / 3000.0) * (3000.0 / 100.0),
    );
}

#[test]
fn the_table_names_the_best_line_first() {
    let path = fixture("three-lines.coz");
    let run = fulcrum(&["causal", "show", &path, "--no-phase-correction"])
        .env("LC_ALL", "C")
        .output();
    let run = run.expect("it runs");
    assert_eq!(run.status.code(), Some(0));
    let table = String::from_utf8(run.stdout).expect("text");
    let expected = "\
requests, throughput, 3 lines
        line                if 2x faster                   slope                    experiments  visits
1  ++   /app/src/hot.c:10        +10.0 %  (+9.0..+11.0)   +0.200  (+0.200..+0.200)           30    3000
2  =    /app/src/flat.c:20        +0.0 %  (-1.0..+1.0)    +0.000  (+0.000..+0.000)           30    3000  no effect
3  ---  /app/src/lock.c:30       -15.0 %  (-16.0..-14.0)  -0.300  (-0.300..-0.300)           30    3000  contention: a faster target makes the program slower
";
    assert_eq!(table, expected);
}

#[test]
fn utf8_terminals_get_glyphs_and_real_minus_signs() {
    let path = fixture("three-lines.coz");
    let run = fulcrum(&["causal", "show", &path, "--no-phase-correction"])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("it runs");
    let table = String::from_utf8(run.stdout).expect("text");
    assert!(
        table.contains("▲▲") && table.contains("▼▼") && table.contains('\u{2212}'),
        "{table}"
    );
    assert!(!table.contains('\x1b'), "colours in a pipe: {table}");
}

#[test]
fn options_narrow_the_answer() {
    let path = fixture("three-lines.coz");
    let one = json(&["causal", "show", &path, "--json", "--top", "1"]);
    assert_eq!(targets(&one).len(), 1);
    let named = json(&[
        "causal",
        "show",
        &path,
        "--json",
        "--progress-point",
        "requests",
    ]);
    assert_eq!(targets(&named).len(), 3);
    let run = fulcrum(&["causal", "show", &path, "--top", "2"])
        .output()
        .expect("it runs");
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 more: --top 0 shows all"));
    // More points than there are: nothing is found, and the notes say why.
    let run = fulcrum(&["causal", "show", &path, "--json", "--min-points", "6"])
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert!(targets(&json).is_empty() && !json["notes"].as_array().expect("notes").is_empty());
    let other = ["causal", "show", &path, "--progress-point", "other"];
    check_bad(
        &other,
        1,
        "has no progress point \"other\"; choose one of requests",
    );
}

#[test]
fn bad_input_ends_with_3_and_one_sentence() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let whole = std::fs::read(fixture("three-lines.coz")).expect("the fixture");
    let missing = dir.path().join("missing.coz");
    let table = [
        (missing.to_str().expect("UTF-8").to_owned(), "No such file"),
        (
            dir.path().to_str().expect("UTF-8").to_owned(),
            "is not a run",
        ),
        (write("empty.coz", b""), "empty"),
        (
            write("foreign.json", b"{\"traceEvents\":[]}"),
            "foreign.json",
        ),
        (
            write("binary.coz", b"\x7fELF\x02\x01\x01\0\0\0"),
            "binary.coz",
        ),
        (
            write(
                "damaged.coz",
                &[b"startup\ttime=1\nexperiment\tselected=x\n", &whole[..200]].concat(),
            ),
            "damaged.coz",
        ),
    ];
    for (path, part) in &table {
        check_bad(&["causal", "show", path], 3, part);
        check_bad(&["causal", "export", path, "--format", "coz"], 3, part);
    }
}

/// A file that was cut while it was written still gives what it holds.
#[test]
fn a_truncated_profile_is_read_up_to_the_cut() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = std::fs::read_to_string(fixture("three-lines.coz")).expect("the fixture");
    let cut = whole
        .find("lock.c:30\tspeedup=0.5")
        .expect("the third line's experiments");
    let path = dir.path().join("cut.coz");
    std::fs::write(&path, &whole[..cut + 6]).expect("a file");
    let json = json(&["causal", "show", path.to_str().expect("UTF-8"), "--json"]);
    let locations: Vec<_> = targets(&json)
        .iter()
        .map(|t| t["location"].clone())
        .collect();
    assert_eq!(locations, ["/app/src/hot.c:10", "/app/src/flat.c:20"]);
    assert!(!json["notes"].as_array().expect("notes").is_empty());
}

#[test]
fn exports_read_back_as_the_same_profile() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = fixture("three-lines.coz");
    let expected = json(&["causal", "show", &path, "--json"]);
    for (format, name) in [("coz", "text.coz"), ("coz-json", "lines.coz")] {
        let out = dir.path().join(name);
        let out = out.to_str().expect("UTF-8");
        let to_file = ["causal", "export", &path, "--format", format, "-o", out];
        assert_eq!(fulcrum(&to_file).status().expect("it runs").code(), Some(0));
        assert_eq!(
            json(&["causal", "show", out, "--json"])["progressPoints"],
            expected["progressPoints"]
        );
        let printed = fulcrum(&["causal", "export", &path, "--format", format])
            .output()
            .expect("it runs");
        assert_eq!(printed.stdout, std::fs::read(out).expect("the export"));
    }
    let nowhere = dir.path().join("no/such/folder.coz");
    let nowhere = nowhere.to_str().expect("UTF-8");
    check_bad(
        &["causal", "export", &path, "--format", "coz", "-o", nowhere],
        3,
        "choose another file with -o",
    );
}

/// `fulcrum … | head -1` ends quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let path = fixture("three-lines.coz");
    for args in [
        &["causal", "show", &path][..],
        &["causal", "export", &path, "--format", "coz"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let run = fulcrum(args).stdout(writer).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "{args:?}");
        assert_eq!(run.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn disturbed_experiments_are_left_out_unless_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("causal-1-0.jsonl");
    let mut text = String::from(
        "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"levels\":[0.5]}\n",
    );
    // Thirty quiet experiments of each kind, and one baseline that shared the machine with a compiler.
    for i in 0..61 {
        let (speedup, others) = (
            if i % 2 == 0 { 0.0 } else { 0.5 },
            if i == 60 { 900 } else { 0 },
        );
        text += &format!(
            "{{\"type\":\"experiment\",\"selected\":\"/a.c:1\",\"speedup\":{speedup},\"duration\":1000,\
             \"selected_samples\":10,\"wall\":1000,\"others\":{others},\
             \"points\":[{{\"name\":\"p\",\"kind\":\"throughput\",\"delta\":100}}]}}\n"
        );
    }
    std::fs::write(&file, text).expect("a recording");
    let path = file.to_str().expect("UTF-8");
    let experiments = |options: &[&str]| {
        let show = ["causal", "show", path, "--json", "--no-phase-correction"];
        targets(&json(&[&show, options].concat()))[0]["experiments"].as_u64()
    };
    assert_eq!(experiments(&[]), Some(60));
    assert_eq!(experiments(&["--keep-disturbed"]), Some(61));
}

/// Functions, a path and a blocked call, each with the gain that its line number says in percent.
fn other_targets(folder: &Path) -> String {
    let mut text = String::from(
        "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":1,\"target\":\"function\",\"levels\":[0.5,1]}\n",
    );
    let targets = [
        ("function:f(int)@/a.c:40", 0.4),
        ("inclusive:main@/a.c:30", 0.3),
        ("path:main > f@/a.c:20", 0.2),
        ("blocked:read@/a.c:10", 0.1),
    ];
    for (target, gain) in targets {
        for speedup in [0.0, 0.5, 1.0] {
            let duration = (1e9_f64 * (1.0 - gain * speedup)).round();
            text.push_str(&format!(
                "{{\"type\":\"experiment\",\"selected\":\"{target}\",\"speedup\":{speedup},\"duration\":{duration},\
                 \"selected_samples\":10,\"points\":[{{\"name\":\"p\",\"kind\":\"throughput\",\"delta\":100}}]}}\n"
            ));
        }
    }
    let path = folder.join("causal-1-0.jsonl");
    std::fs::write(&path, text).expect("a writable folder");
    path.to_string_lossy().into_owned()
}

#[test]
fn targets_that_are_no_lines_say_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = other_targets(folder.path());
    let json = json(&["causal", "show", &path, "--json"]);
    let expected = [
        ("/a.c:40", "function", "f(int)", false, 0.4),
        ("/a.c:30", "function", "main", true, 0.3),
        ("/a.c:20", "path", "main > f", false, 0.2),
        ("/a.c:10", "blocked", "read", false, 0.1),
    ];
    assert_eq!(targets(&json).len(), expected.len());
    for (target, (location, kind, name, inclusive, slope)) in targets(&json).iter().zip(expected) {
        assert_eq!(
            (&target["location"], &target["kind"]),
            (&location.into(), &kind.into())
        );
        assert_eq!(target["name"], name);
        let said = target.get("inclusive").cloned().unwrap_or(false.into());
        assert_eq!(said, inclusive, "{target}");
        near(&target["slope"], slope);
        assert_eq!(target["flags"], serde_json::json!([]));
        assert!(target["minimumEffect"].as_f64() > Some(0.0), "{target}");
    }

    let run = fulcrum(&["causal", "show", &path])
        .env("LC_ALL", "C")
        .output();
    let table = String::from_utf8(run.expect("it runs").stdout).expect("text");
    assert!(table.starts_with("p, throughput, 4 targets\n"), "{table}");
    for label in [
        "f(int) (/a.c:40) ",
        "main with its callees (/a.c:30) ",
        "main > f (/a.c:20) ",
        "read at /a.c:10 ",
    ] {
        assert!(table.contains(label), "{label}: {table}");
    }
}

/// What a program of a run recorded: experiments on `hot.c:10`, whose visits grow with the speedup by this fraction.
fn recorded_by(program: &str, gain: f64) -> String {
    let mut text = format!(
        "{{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"program\":\"/w/{program}\",\"period\":1000000,\
         \"levels\":[0.25,0.5,0.75,1.0]}}\n"
    );
    let mut start = 0;
    for speedup in [0.0, 0.25, 0.5, 0.75, 1.0].repeat(6) {
        let visits = (100.0 / (1.0 - gain * speedup)).round();
        text += &format!(
            "{{\"type\":\"experiment\",\"selected\":\"/w/hot.c:10\",\"speedup\":{speedup},\"duration\":1000,\"wall\":1000,\
             \"start\":{start},\"selected_samples\":100,\"points\":[{{\"name\":\"served\",\"kind\":\"throughput\",\
             \"delta\":{visits}}}]}}\n"
        );
        start += 1000;
    }
    text + &format!(
        "{{\"type\":\"samples\",\"time\":{start},\"lines\":{{\"/w/hot.c:10\":3000}}}}\n{{\"type\":\"end\",\"time\":{start}}}\n"
    )
}

#[test]
fn programs_of_a_run_have_tables_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, program, gain) in [("7", "client", 0.4), ("8", "server", 0.0)] {
        let stream = folder.path().join(format!("causal-{name}-0.jsonl"));
        std::fs::write(stream, recorded_by(program, gain)).expect("room");
    }
    let path = folder.path().to_str().expect("UTF-8");
    let both = json(&["causal", "show", path, "--json", "--no-phase-correction"]);
    let slopes = |json: &Value| -> Vec<(String, f64)> {
        let points = json["progressPoints"].as_array().expect("points");
        let slope = |it: &Value| it["targets"][0]["slope"].as_f64().expect("a slope");
        let name = |it: &Value| it["name"].as_str().expect("a name").to_owned();
        points.iter().map(|it| (name(it), slope(it))).collect()
    };
    let [(client, gains), (server, nothing)] = &slopes(&both)[..] else {
        panic!("{both}")
    };
    assert_eq!((&**client, &**server), ("client: served", "server: served"));
    assert!((gains - 0.4).abs() < 0.02, "{gains}");
    assert!(nothing.abs() < 0.02, "{nothing}");
    let apart = "Results of 2 programs are kept apart, each under progress points of its own: client, server.";
    let notes = both["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note == apart), "{notes:?}");
    let one = [
        "causal",
        "show",
        path,
        "--json",
        "--no-phase-correction",
        "--program",
        "client",
    ];
    let one = json(&one);
    assert_eq!(slopes(&one), [("served".to_owned(), *gains)]);
    let table = fulcrum(&["causal", "show", path])
        .output()
        .expect("it runs");
    let table = String::from_utf8_lossy(&table.stdout);
    let heads = table
        .lines()
        .filter(|line| line.contains("served") && line.contains("throughput"));
    let heads: Vec<&str> = heads.collect();
    assert_eq!(heads.len(), 2, "{table}");
    check_bad(
        &["causal", "show", path, "--program", "other"],
        1,
        "choose one of client, server",
    );
}

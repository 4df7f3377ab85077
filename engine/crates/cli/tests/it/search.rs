//! `fulcrum navigate` and `fulcrum suggest`, by running them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{check_bad, fulcrum, json};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The tree of the paper's Figure 2.
const FIGURE_2: &str = "a 1\na;b 2\na;b;c 5\na;b;c;d 40\na;c 10\na;c;e 42\n";

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("UTF-8").into()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.path().join(name), text).expect("it can be written");
        self.path(name)
    }
}

/// What a script answers as JSON, an object a command, and the exit code.
fn script(args: &[&str], commands: &str) -> (Vec<Value>, Option<i32>) {
    let all = [&["navigate", "--json", "--script", commands], args].concat();
    let run = fulcrum(&all).output().expect("it runs");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let objects = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    (objects.collect(), run.status.code())
}

fn rows(of: &Value) -> Vec<(String, i64)> {
    let rows = of.as_array().expect("rows").iter();
    rows.map(|row| {
        let path = row["path"].as_array().expect("a path").iter();
        let path: String = path.map(|name| name.as_str().expect("a name")).collect();
        (path, row["cum"].as_i64().expect("a cum"))
    })
    .collect()
}

fn named(all: &[(&str, i64)]) -> Vec<(String, i64)> {
    all.iter()
        .map(|&(name, cum)| (name.to_owned(), cum))
        .collect()
}

#[test]
fn the_papers_commands_find_figure_2s_numbers() {
    let files = Files::new();
    let profile = files.write("figure2.folded", FIGURE_2);
    let (said, code) = script(
        &[&profile],
        "set suggester HighBase; suggest; select 2; label ``middle''; select 0; zoom on; path [c; d]; overlap; labels",
    );
    assert_eq!(code, Some(0));
    assert_eq!(said.len(), 9);
    assert_eq!(said[0]["suggester"], "HighBase");
    let bases: Vec<_> = said[1]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["base"])
        .collect();
    assert_eq!(bases, [42, 40, 15, 2, 1]);
    assert_eq!(
        (&said[2]["base"], &said[2]["cum"], &said[2]["total"]),
        (&json!(15), &json!(97), &json!(100))
    );
    assert_eq!(
        rows(&said[2]["nearby"]),
        named(&[("ac", 53), ("bc", 47), ("ce", 52), ("cd", 45)])
    );
    assert_eq!(said[3]["labels"], json!(["middle"]));
    assert_eq!(said[4]["path"], json!(["a", "c"]));
    // Zooming passes through [bcd] to [abcd].
    assert_eq!(rows(&said[6]["nearby"]), named(&[("abcd", 48), ("c", 97)]));
    assert_eq!(
        said[7]["overlaps"],
        json!([{ "label": "middle", "base": 5, "cum": 45 }])
    );
    assert_eq!(
        (&said[8]["base"], &said[8]["cum"]),
        (&json!(15), &json!(97))
    );
    assert_eq!(said[8]["command"], "labels");
}

#[test]
fn the_history_has_numbers_and_costs_and_recursion_is_folded() {
    let files = Files::new();
    let deep = "walk;".repeat(17);
    let profile = files.write(
        "deep.folded",
        &format!("main;{deep}leaf 60\nmain;walk 40\n"),
    );
    let typed = "path [leaf]; path [main; walk \u{d7}17; leaf]; history; history 0; history 7";
    let (said, code) = script(&[&profile], typed);
    assert_eq!(code, Some(1));
    assert_eq!(said[1]["path"].as_array().map(Vec::len), Some(19));
    assert_eq!(said[2]["current"], 1);
    let costs = json!([{ "base": 60, "cum": 60 }, { "base": 100, "cum": 100 }]);
    assert_eq!(said[2]["costs"], costs);
    assert_eq!(said[3]["path"], json!(["leaf"]));
    assert_eq!(said[4]["error"], "there is nothing more in the history");
    let run = fulcrum(&["navigate", &profile, "--script", typed])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("it runs");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "path main",
        "walk \u{d7}17",
        "0 cum 60 60.0 % base 60 60.0 % [leaf]",
        "* 1 cum 100 100.0 % base 100 100.0 % [main; walk \u{d7}17; leaf]",
    ] {
        assert!(text.lines().any(|it| words(it) == line), "{line}\n{text}");
    }
}

#[test]
fn people_read_the_same_numbers() {
    let files = Files::new();
    let profile = files.write("figure2.folded", FIGURE_2);
    let run = fulcrum(&[
        "navigate",
        &profile,
        "--script",
        "path [a]; label top; path [c]; estimate",
    ]);
    let out = { run }.output().expect("it runs").stdout;
    let text = String::from_utf8(out).expect("UTF-8");
    let after = text
        .split("[a] is labelled top\n")
        .nth(1)
        .expect("the label is told");
    let expected = "\
path  c
base  15  15.0 %  of 100
cum   97  97.0 %  of 100

shared with labelled paths
  top  cum 97  97.0 %  base 0  0.0 %

callers: top extensions
  0  cum 53  53.0 %  base 11  11.0 %  [a; ...]
  1  cum 47  47.0 %   base 7   7.0 %  [b; ...]

callees: bottom extensions
  2  cum 52  52.0 %  base 52  52.0 %  [...; e]
  3  cum 45  45.0 %  base 45  45.0 %  [...; d]
without top: 100 less, 100.0 % of 100; overlap counts once
that is the whole cost, so there is no estimate
";
    assert_eq!(after, expected);
}

#[test]
fn commands_come_by_a_pipe_and_a_wrong_one_stops_nothing() {
    let files = Files::new();
    let profile = files.write("figure2.folded", FIGURE_2);
    let mut run = fulcrum(&["navigate", &profile, "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let commands = b"jump\nselect 0\n# a comment\n\nsuggest\nquit\nsuggest\n";
    run.stdin
        .take()
        .expect("a pipe")
        .write_all(commands)
        .expect("it reads");
    let done = run.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "something was refused");
    let lines: Vec<Value> = String::from_utf8(done.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0]["error"]
            .as_str()
            .unwrap()
            .contains("no command \"jump\"")
    );
    assert_eq!(
        lines[1]["error"],
        "nothing is numbered yet: `suggest` first"
    );
    assert_eq!(lines[2]["rows"].as_array().unwrap().len(), 5);
}

#[test]
fn labels_go_to_a_file_and_come_back_with_what_is_odd() {
    let files = Files::new();
    let profile = files.write("figure2.folded", FIGURE_2);
    let labels = files.path("labels.json");
    let commands = files.write(
        "commands",
        &format!("path [a; c]\nlabel right\nsave {labels}\n"),
    );
    let (said, code) = script(&[&profile], &commands);
    assert_eq!((said.len(), code), (3, Some(0)));
    let written: Value = serde_json::from_str(&fs::read_to_string(&labels).unwrap()).unwrap();
    assert_eq!(written["profile"]["sources"][0]["file"], "figure2.folded");
    assert_eq!(
        written["labels"],
        json!([{ "name": "right", "paths": [["a", "c"]] }])
    );

    let (said, _) = script(&[&profile, "--label-file", &labels], "labels");
    assert_eq!(said[0]["cum"], 53);

    let other = files.write("other.folded", "a;b 3\n");
    let (said, _) = script(&[&other], &format!("load {labels}"));
    assert_eq!(
        said[0]["notes"],
        json!([
            "0 paths are labelled.",
            "The labels are from another profile.",
            "\"right\": this profile does not have [a; c].",
        ])
    );
    let broken = files.write("broken.json", "{}");
    check_bad(
        &["suggest", &profile, "--label-file", &broken],
        3,
        "expected labels that `save` wrote",
    );
}

#[test]
fn the_automatic_search_has_the_documented_shape() {
    let files = Files::new();
    let profile = files.write(
        "p.folded",
        "main;load;parse 50\nmain;serve;hash 30\nmain;serve;write 15\nmain 5\n",
    );
    let labels = files.path("found.json");
    let found = json(&[
        "suggest",
        &profile,
        "--auto",
        "--json",
        "--save-labels",
        &labels,
    ]);
    assert_eq!(
        (&found["total"], &found["coverage"]),
        (&json!(100), &json!(1.0))
    );
    let all = found["suggestions"].as_array().unwrap();
    let paths: Vec<_> = all.iter().map(|it| &it["path"]).collect();
    assert_eq!(
        paths,
        [
            &json!(["main", "load", "parse"]),
            &json!(["main", "serve", "hash"]),
            &json!(["main", "serve", "write"]),
        ]
    );
    // Each has what `main` costs itself in its cum, and only the first adds it.
    let numbers: Vec<_> = all.iter().map(|it| (&it["cum"], &it["marginal"])).collect();
    assert_eq!(numbers[0], (&json!(55), &json!(0.55)));
    assert_eq!(numbers[1], (&json!(35), &json!(0.3)));
    assert!(
        all[0]["why"]
            .as_str()
            .unwrap()
            .starts_with("These calls cost 55.0 %")
    );
    // What is labelled is not suggested again: the answer is no.
    let again = fulcrum(&["suggest", &profile, "--auto", "--label-file", &labels])
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1));

    let plain = json(&[
        "suggest",
        &profile,
        "--json",
        "--suggester",
        "HighBase",
        "--top",
        "2",
    ]);
    assert_eq!(plain["suggestions"][0]["path"], json!(["parse"]));
    assert_eq!(plain["suggestions"].as_array().unwrap().len(), 2);
}

#[test]
fn two_profiles_are_compared_with_both_sides() {
    let files = Files::new();
    let a = files.write("a.folded", "main;f 30\nmain;g 10\n");
    let b = files.write("b.folded", "main;f 10\nmain;g 12\n");
    let (said, _) = script(&[&a, "--against", &b], "suggest; path [g]");
    assert_eq!(said[0]["rows"][0]["path"], json!(["f"]));
    assert_eq!(
        said[0]["rows"][0]["sides"]["cum"],
        json!({ "a": 30, "b": 10 })
    );
    assert_eq!(
        (&said[1]["cum"], &said[1]["total"]),
        (&json!(-2), &json!(18))
    );
    assert_eq!(
        said[1]["paradox"],
        "Base and cum are negative: this path costs less in A than in B."
    );
    let (said, _) = script(&[&a, "--against", &b, "--normalise", "totals"], "path [f]");
    // A's 40 become 22.
    assert_eq!(said[0]["sides"]["cum"], json!({ "a": 17, "b": 10 }));

    let automatic = |more: &[&str]| {
        let found = json(&[&["suggest", &a, "--against", &b, "--auto", "--json"], more].concat());
        json!([found["of"], found["total"], found["suggestions"][0]["path"]])
    };
    let path = ["main", "f"];
    assert_eq!(automatic(&[]), json!(["difference", 18, path]));
    let scaled = automatic(&["--normalise", "totals"]);
    assert_eq!(scaled, json!(["costlier", 7, path]));
}

#[test]
fn runs_are_compared_with_runs_and_noise_is_named() {
    let files = Files::new();
    let run = |n: usize, side: &str, slow: u32, noisy: u32| {
        let text = format!("main;slow {slow}\nmain;noisy {noisy}\nmain 500\n");
        files.write(&format!("{side}{n}.folded"), &text)
    };
    let a = [
        run(1, "a", 100, 300),
        run(2, "a", 102, 100),
        run(3, "a", 98, 200),
    ];
    let b = [
        run(1, "b", 50, 210),
        run(2, "b", 52, 90),
        run(3, "b", 48, 150),
    ];
    let mut args: Vec<&str> = a.iter().map(String::as_str).collect();
    for base in &b {
        args.extend(["--against", base]);
    }
    let (said, _) = script(&args, "path [slow]; path [noisy]");
    let cum = |n: usize| said[n]["spread"]["cum"].clone();
    assert_eq!(cum(0)["a"]["mean"], 100.0);
    assert_eq!(cum(0)["a"]["deviation"], 2.0);
    assert!(cum(0)["p"].as_f64().unwrap() < 0.001 && cum(1)["p"].as_f64().unwrap() > 0.3);
    let all = [&["suggest", "--auto", "--json"], &args[..]].concat();
    let found = json(&all);
    let paths: Vec<_> = found["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["path"])
        .collect();
    assert_eq!(paths, [&json!(["main", "slow"])]);
    let all = [&["navigate", "--script", "path [noisy]"], &args[..]].concat();
    let text = String::from_utf8(fulcrum(&all).output().unwrap().stdout).unwrap();
    assert!(text.contains(", noise\n"), "{text}");
}

#[test]
fn call_graphs_say_how_far_they_go() {
    let files = Files::new();
    let graph = "events: Ir\nfn=main\n1 10\ncfn=f\ncalls=1 5\n1 90\n\nfn=f\n5 90\n";
    let graph = files.write("graph.callgrind", graph);
    let (said, code) = script(&[&graph], "path [main; f]; path [x; main; f]");
    assert_eq!(said[0]["cum"], 90);
    assert!(said[0]["limit"].as_str().unwrap().contains("up to 2 names"));
    assert!(said[1]["error"].as_str().unwrap().contains("up to 2 names"));
    assert_eq!(code, Some(1));
    let tree = files.write("p.folded", "main;f 3\n");
    check_bad(
        &["suggest", &graph, "--against", &tree],
        3,
        "holds a call graph, which can only be compared with another call graph",
    );
}

#[test]
fn what_cannot_be_searched_is_said_with_its_exit_code() {
    let files = Files::new();
    let profile = files.write("p.folded", FIGURE_2);
    check_bad(&["suggest", &files.path("gone")], 3, "cannot read");
    let junk = files.write("junk", "\u{1}\u{2}\u{3}");
    check_bad(&["suggest", &junk], 3, &junk);
    check_bad(
        &["suggest", &profile, "--value", "alloc"],
        1,
        "has no value type \"alloc\"; choose one of",
    );
    check_bad(
        &["suggest", &profile, &profile],
        3,
        "say with what to compare them",
    );
    let usage = fulcrum(&["suggest", &profile, "--normalise", "totals"])
        .output()
        .unwrap();
    assert_eq!(usage.status.code(), Some(2), "--normalise needs --against");
    assert!(Path::new(&profile).exists());
}

#[test]
fn files_are_opened_as_fulcrum_profile_opens_them() {
    let files = Files::new();
    // Standard input.
    let mut run = fulcrum(&["suggest", "-", "--json"]);
    let mut run = run
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = run.stdin.take().expect("a pipe");
    input.write_all(FIGURE_2.as_bytes()).expect("it reads");
    drop(input);
    let said = run.wait_with_output().expect("it ends");
    let said: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(said["suggestions"][0]["path"], json!(["a"]));
    assert_eq!(said["total"], 100);
    // Rules for names: as they are by default, and without any.
    let hashed = files.write(
        "h.folded",
        "main;f::h0123456789abcdef 3\nmain;f::hfedcba9876543210 4\n",
    );
    let names = |rules: &[&str]| {
        let args = [&["suggest", "--json", &hashed], rules].concat();
        let all = json(&args)["suggestions"].clone();
        let all = all.as_array().expect("a list").iter();
        all.map(|it| {
            (
                it["path"][0].as_str().unwrap().to_owned(),
                it["cum"].as_i64().unwrap(),
            )
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), named(&[("f", 7), ("main", 7)]));
    assert_eq!(names(&["--names", "none"]).len(), 3);
    // A value type by its number.
    let default = json(&["suggest", &hashed, "--json"])["value"].clone();
    let numbered = json(&["suggest", &hashed, "--json", "--value", "1"]);
    assert_eq!(numbered["value"], default);
    check_bad(
        &["suggest", &hashed, "--value", "2"],
        1,
        "has no value type \"2\"",
    );
}

#[test]
fn numbers_of_a_list_hold_until_the_next_list() {
    let files = Files::new();
    let profile = files.write("p", "main;a 10\nmain;b 5\n");
    let (answers, _) = script(
        &[&profile],
        "suggest; select 0; label x; suggest; overlap; select 1; auto; select 0",
    );
    assert_eq!(answers[5]["path"], json!(["a"]), "overlap lists no paths");
    assert_eq!(answers[7]["path"], answers[6]["suggestions"][0]["path"]);
}

#[test]
fn names_with_brackets_commas_and_semicolons_can_be_typed() {
    let files = Files::new();
    let names = "main;[unknown] 5\n[libc.so.6];[unknown] 3\nmain;std::map<int, int>::find 2\n";
    let profile = files.write("p", names);
    let (answers, code) = script(
        &[&profile],
        "path [unknown]; path [[unknown]]\npath \"[libc.so.6]\"; label 'x; y'\npath std::map<int, int>::find; \
         label std::map<int, int>::find; estimate std::map<int, int>::find; estimate \"std::map<int, int>::find\", 'x; y'",
    );
    assert_eq!(code, Some(0), "{answers:?}");
    assert_eq!(answers[0]["path"], json!(["[unknown]"]));
    assert_eq!(answers[0]["path"], answers[1]["path"]);
    let removable = |n: usize| answers[n]["estimate"]["cum"].as_i64();
    assert_eq!(
        (removable(6), removable(7)),
        (Some(2), Some(5)),
        "{answers:?}"
    );
}

#[test]
fn what_says_nothing_says_why() {
    let files = Files::new();
    let profile = files.write("p", "main;a 10\nmain;b 5\n");
    let other = files.write("q", "main;a 5\nmain;b 10\n");
    let nothing = files.write("zero", "a 0\n");
    let evil = files.write("evil", "main;e\x1b[2Jvil 10\n");
    let compared = |commands: &'static str| {
        let sides = ["navigate", &profile, "--against", &other];
        [&sides[..], &["--script", commands]].concat()
    };
    for (args, code, stdout, stderr) in [
        (
            vec!["navigate", &profile, "--script", "estimate"],
            1,
            "",
            "nothing is labelled",
        ),
        (
            vec![
                "navigate",
                &nothing,
                "--script",
                "path a; label x; estimate",
            ],
            0,
            "the profile costs nothing",
            "",
        ),
        (
            vec!["suggest", &profile, "--auto", "--against", &profile],
            1,
            "every function's own cost is the same on both sides",
            "",
        ),
        (
            vec!["suggest", &profile, "--auto", "--against", &other],
            0,
            "1 path covers 100.0 % of what became costlier, 5\n",
            "",
        ),
        (
            compared("auto"),
            0,
            "0. a  cum 5 (100.0 %), adds 100.0 %",
            "",
        ),
        (
            compared("path a; label x; estimate"),
            0,
            "without x: 5 less, 100.0 % of what became costlier, 5; overlap counts once",
            "",
        ),
        (vec!["suggest", &evil], 0, "e\\u{1b}[2Jvil  cum 10", ""),
        (
            vec!["navigate", "-"],
            2,
            "",
            "give the commands with --script",
        ),
        (
            vec!["suggest", "-", "--against", "-"],
            2,
            "",
            "standard input can be only one profile",
        ),
    ] {
        let run = fulcrum(&args)
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        assert_eq!(run.status.code(), Some(code), "{args:?}");
        for (said, part) in [(run.stdout, stdout), (run.stderr, stderr)] {
            let said = String::from_utf8(said).expect("UTF-8");
            assert!(said.contains(part), "{args:?}: {said}");
            assert!(!said.contains('\x1b'), "{args:?}: {said}");
        }
    }
}

#[test]
fn scaled_runs_cost_the_same_and_their_last_digits_are_no_difference() {
    let files = Files::new();
    let [a, b, c] = [
        files.write("a", "main;a 35\nmain;b 35\n"),
        files.write("b", "main;a 66\nmain;b 10\n"),
        files.write("c", "main;a 67\nmain;b 10\n"),
    ];
    let args = [
        &*a,
        &a,
        "--against",
        &b,
        "--against",
        &c,
        "--normalise",
        "totals",
    ];
    let (answers, _) = script(&args, "path main");
    assert_eq!(answers[0]["cum"], 0, "the mean of B ends in a half");
    let [c1, d1] = [
        files.write("c1", "main;a 40\nmain;b 33\n"),
        files.write("d1", "main;a 41\nmain;b 34\n"),
    ];
    let args = [
        &*c1,
        &c1,
        "--against",
        &d1,
        "--against",
        &d1,
        "--normalise",
        "totals",
    ];
    let (answers, _) = script(&args, "path main");
    assert_eq!(answers[0]["spread"]["cum"]["p"], 1.0, "{answers:?}");
}

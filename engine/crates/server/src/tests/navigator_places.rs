//! From names of a profile to the source, and back; and the report.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use super::navigator::Navigator;

const CART: &str = "namespace shop {\n\nint Cart::total(int n) {\n  return n;\n}\n\nint helper() { return 1; }\n}\n";
const APP: &str = "class App:\n    def run(self):\n        pass\n\ndef helper():\n    pass\n";

fn start(profile: &str) -> Navigator {
    Navigator::open(client(profile), &["p"], &[])
}

fn client(profile: &str) -> Client {
    Client::start(&[
        ("src/cart.cpp", CART),
        ("app.py", APP),
        ("web/cart.ts", "export const pay = () => 1;\n"),
        ("node_modules/x/pay.ts", "export function pay() {}\n"),
        ("p", profile),
    ])
}

/// The places of a name: file, line, character, how it was found.
fn places(it: &mut Navigator, name: &str) -> Vec<String> {
    let found = it.ask("frame", json!({ "name": name }));
    let root = it.client.uri("");
    let all = found["locations"].as_array().expect("places").iter();
    all.map(|place| {
        let uri = place["uri"].as_str().expect("a uri").replace(&root, "");
        let how = place["how"].as_str().expect("a word");
        format!("{uri}:{}:{} {how}", place["line"], place["character"])
    })
    .collect()
}

#[test]
fn names_are_found_where_they_are_defined() {
    let mut it = start(
        "main;shop::Cart::total(int) 5\nmain;App.run;helper 3\nmain;web::pay 2\nmain;std::vector<int>::total(int) 1\nmain;[unknown] 1\n",
    );
    assert_eq!(
        places(&mut it, "shop::Cart::total(int)"),
        ["src/cart.cpp:2:4 definition"]
    );
    assert_eq!(places(&mut it, "App.run"), ["app.py:1:8 definition"]);
    assert_eq!(
        places(&mut it, "helper"),
        ["app.py:4:4 definition", "src/cart.cpp:6:4 definition"]
    );
    assert_eq!(places(&mut it, "web::pay"), ["web/cart.ts:0:13 definition"]);
    // Somebody else's function of the same name is none.
    assert_eq!(places(&mut it, "std::vector<int>::total(int)"), [""; 0]);
    for (name, part) in [
        ("main", "Nothing in the workspace is defined as main."),
        ("[unknown]", "no definition"),
    ] {
        let note = it.ask("frame", json!({ "name": name }))["note"].clone();
        assert!(note.as_str().expect("a note").contains(part), "{note}");
    }
    let params = json!({ "id": it.id, "name": "nobody" });
    let said = it.client.failure("fulcrum/navigator/frame", params);
    assert!(said.contains("[nobody] does not occur"), "{said}");
    // What is on the screen counts, not what is on disk.
    it.client
        .open_document("src/cart.cpp", &format!("// one more line\n{CART}"));
    assert_eq!(
        places(&mut it, "shop::Cart::total(int)"),
        ["src/cart.cpp:3:4 definition"]
    );
    it.leave();
}

const RECORDED: &str = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[
    {"name":"main"},{"name":"shop::Cart::total(int)","file":"/build/src/cart.cpp","line":3},
    {"name":"gone","file":"/build/src/cart.cpp","line":90},{"name":"far","file":"/build/other.cpp","line":5},
    {"name":"helper","file":"/build/src/cart.cpp","line":5}]},
    "profiles":[{"type":"sampled","name":"p","unit":"milliseconds","startValue":0,"endValue":100,
    "samples":[[0,1],[0,1,4],[0,2],[0,3]],"weights":[40,30,20,10]}]}"#;

#[test]
fn recorded_places_come_first_and_follow_the_definition() {
    let mut it = start(RECORDED);
    assert_eq!(
        places(&mut it, "shop::Cart::total(int)"),
        ["src/cart.cpp:2:4 recorded"]
    );
    assert_eq!(places(&mut it, "helper"), ["src/cart.cpp:6:4 recorded"]);
    assert_eq!(places(&mut it, "gone"), ["src/cart.cpp:89:0 recorded"]);
    let far = it.ask("frame", json!({ "name": "far" }));
    assert_eq!(far["locations"], json!([]));
    let note = far["note"].as_str().expect("a note");
    assert!(
        note.contains("/build/other.cpp:5, which is not in the workspace"),
        "{note}"
    );
    it.leave();
}

/// The lines of a document: line, recorded line, state, name, heat.
fn lines(it: &mut Navigator, file: &str) -> Vec<String> {
    let uri = it.client.uri(file);
    let found = it.ask("lines", json!({ "uri": uri }));
    let all = found["lines"].as_array().expect("lines").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.map(|line| {
        format!(
            "{} {} {} {} {}: {}",
            line["line"],
            line["recordedLine"],
            text(&line["state"]),
            text(&line["name"]),
            text(&line["heat"]),
            text(&line["text"])
        )
    })
    .collect()
}

#[test]
fn functions_cost_at_the_lines_that_declare_them_now() {
    let mut it = start(RECORDED);
    let expect = expect![[r#"
        2 3 exact shop::Cart::total(int) hot4: 40.0 ms (40.0 %) here, 70.0 ms (70.0 %) with calls
        6 5 moved helper hot4: 30.0 ms (30.0 %) here, 30.0 ms (30.0 %) with calls
        7 90 stale gone hot4: 20.0 ms (20.0 %) here, 20.0 ms (20.0 %) with calls"#]];
    expect.assert_eq(&lines(&mut it, "src/cart.cpp").join("\n"));
    // Edits move them.
    it.client
        .open_document("src/cart.cpp", &format!("//\n{CART}"));
    assert!(lines(&mut it, "src/cart.cpp")[0].starts_with("3 3 moved shop::Cart::total"));
    // Another file's function of the same name is none of these.
    assert_eq!(lines(&mut it, "app.py"), [""; 0]);
    // With names only, definitions tell.
    let mut it = start("main;App.run 1\nmain 999\n");
    assert_eq!(
        lines(&mut it, "app.py"),
        ["1 null moved App.run cold: 1 (0.1 %) here, 1 (0.1 %) with calls"]
    );
    assert_eq!(lines(&mut it, "nowhere.py"), [""; 0]);
    it.leave();
}

#[test]
fn lines_of_a_function_are_one_when_the_rule_says_so() {
    let profile =
        "main;helper (app.py:6) 30\nmain;helper (app.py:5) 10\nmain;App.run (app.py:3) 60\n";
    let client = client(profile);
    let params = json!({ "files": [client.path("p")], "names": "default,source-line" });
    let mut it = Navigator::with(client, params);
    it.command(json!({ "kind": "suggest" }));
    assert_eq!(
        it.rows("suggestion"),
        ["main 100", "App.run (app.py) 60", "helper (app.py) 40"]
    );
    assert_eq!(
        places(&mut it, "helper (app.py)"),
        ["app.py:4:4 recordedFile"]
    );
    let names = it.ask("names", json!({ "count": 2 }));
    let rules = names["rules"].as_array().expect("a list");
    let rule = rules.iter().find(|it| it["name"] == "source-line");
    let rule = rule.expect("the rule");
    assert_eq!(
        (&rule["applied"], &rule["byDefault"], &rule["names"]),
        (&json!(true), &json!(false), &json!(3))
    );
    assert_eq!(
        (&names["renamed"], &names["more"]),
        (
            &json!([
                { "raw": "App.run (app.py:3)", "name": "App.run (app.py)", "rules": ["source-line"] },
                { "raw": "helper (app.py:5)", "name": "helper (app.py)", "rules": ["source-line"] }
            ]),
            &json!(1)
        )
    );
    it.leave();
}

#[test]
fn the_setting_knows_the_rules() {
    let mut it = start("main 1\n");
    let names = it.ask("names", json!({ "count": 0 }));
    let rules = names["rules"].as_array().expect("a list").iter();
    let known: Vec<_> = ["default", "all", "none"]
        .into_iter()
        .chain(rules.filter_map(|it| it["name"].as_str()))
        .collect();
    let manifest = include_str!("../../../../../package.json");
    let manifest: Value = serde_json::from_str(manifest).expect("JSON");
    let pages = manifest["contributes"]["configuration"]
        .as_array()
        .expect("pages");
    let setting = pages
        .iter()
        .find_map(|page| page["properties"].get("fulcrum.profile.names"))
        .expect("the setting");
    assert_eq!(setting["items"]["enum"], json!(known));
    let described = setting["items"]["markdownEnumDescriptions"].as_array();
    assert_eq!(described.map(Vec::len), Some(known.len()));
    it.leave();
}

#[test]
fn lines_that_ran_cost_and_are_where_frames_open() {
    let mut it =
        start("main;helper (app.py:6) 30\nmain;helper (app.py:5) 10\nmain;helper (gone.py:1) 60\n");
    assert_eq!(
        places(&mut it, "helper (app.py:6)"),
        ["app.py:5:0 recorded"]
    );
    // Each line; not that of another file.
    assert_eq!(
        lines(&mut it, "app.py"),
        [
            "4 5 exact helper (app.py:5) hot3: 10 (10.0 %) here",
            "5 6 exact helper (app.py:6) hot4: 30 (30.0 %) here"
        ]
    );
    let uri = it.client.uri("app.py");
    let hover = it.ask("lines", json!({ "uri": uri }))["lines"][1]["hover"].clone();
    let expect = expect![[r#"
        **Cost in p** · `helper (app.py:6)`

        - 30 (30.0 %) here
        - 30 (30.0 %) with what it calls

        Shares are of 100 in all, `samples`. This is where cost was measured, not what a speedup would gain.
    "#]];
    expect.assert_eq(hover.as_str().expect("text"));
    assert_eq!(lines(&mut it, "src/cart.cpp"), [""; 0]);
    it.leave();
}

#[test]
fn lines_that_ran_move_with_the_text() {
    let profile = "main;helper (app.py:6) 30\nmain;helper (app.py:5) 10\n";
    let mut it = start(profile);
    let mut place_of = |text: Option<&str>| -> Vec<String> {
        if let Some(text) = text {
            it.client.open_document("app.py", text);
        }
        let cut = |line: &String| line.split(" helper").next().unwrap_or_default().to_owned();
        lines(&mut it, "app.py").iter().map(cut).collect()
    };
    assert_eq!(place_of(None), ["4 5 exact", "5 6 exact"]);
    let with = |head: &str| format!("{head}{APP}");
    assert_eq!(place_of(Some(&with("#\n"))), ["5 5 moved", "6 6 moved"]);
    assert_eq!(
        place_of(Some(&with("#\n#\n#\n"))),
        ["7 5 moved", "8 6 moved"]
    );
    // A line that was changed has its cost no more.
    let line = APP.lines().nth(4).expect("five lines");
    let changed = APP.replacen(line, &format!("{line} + 1"), 1);
    assert_eq!(place_of(Some(&changed)), ["4 5 stale", "5 6 exact"]);
    assert_eq!(place_of(Some(APP)), ["4 5 exact", "5 6 exact"]);
    it.leave();
    // In a text whose function begins further down than its lines, they were never right.
    let mut it = start(profile);
    let path = it.client.path("app.py");
    std::fs::write(path, with("#\n#\n")).expect("the file is written");
    assert!(lines(&mut it, "app.py")[0].starts_with("4 5 stale helper"));
    it.leave();
}

#[test]
fn comparisons_say_what_became_dearer_and_cheaper() {
    let client = Client::start(&[
        ("app.py", APP),
        ("a", "App.run 90\nhelper 10\n"),
        ("b", "App.run 50\nhelper 50\n"),
    ]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    let found = lines(&mut it, "app.py");
    assert!(
        found[0].ends_with("App.run hot4: +40 here (A 90 \u{2212} B 50)"),
        "{found:?}"
    );
    assert!(
        found[1].ends_with("helper less3: \u{2212}40 here (A 10 \u{2212} B 50)"),
        "{found:?}"
    );
    it.leave();
}

/// In place of lines that ran, the functions of the document, whose hovers say why.
fn only_functions(it: &mut Navigator) {
    let uri = it.client.uri("app.py");
    let found = it.ask("lines", json!({ "uri": uri }));
    let note = "No costs of lines: A and B seem to have run different code of app.py, so its functions are compared instead.";
    assert_eq!(found["note"], note);
    let all = found["lines"].as_array().expect("lines");
    assert!(!all.is_empty(), "{found}");
    for line in all {
        assert_eq!(line["kind"], "function");
        assert!(
            line["hover"]
                .as_str()
                .expect("text")
                .ends_with(&format!("{note}\n")),
            "{line}"
        );
    }
}

#[test]
fn comparisons_know_lines_where_both_sides_ran_the_same_code() {
    let before = "main;helper (app.py:5) 50\nmain;helper (app.py:6) 30\n";
    let client = Client::start(&[
        ("app.py", APP),
        (
            "a",
            "main;helper (app.py:5) 20\nmain;helper (app.py:6) 30\n",
        ),
        ("b", before),
    ]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    let expect = expect![[r#"
        4 5 exact helper (app.py:5) less3: −30 here (A 20 − B 50)
        5 6 exact helper (app.py:6) cold: 0 here (A 30 − B 30)"#]];
    expect.assert_eq(&lines(&mut it, "app.py").join("\n"));
    let uri = it.client.uri("app.py");
    let hover = it.ask("lines", json!({ "uri": uri }))["lines"][0]["hover"].clone();
    let expect = expect![[r#"
        **Difference in a − b** · `helper (app.py:5)`

        - −30 here (A 20 − B 50)
        - −30 with what it calls (A 20 − B 50)

        The cost of A minus that of B, `samples`; −30 in all (A 50 − B 80). This is where cost was measured, not what a speedup would gain.
    "#]];
    expect.assert_eq(hover.as_str().expect("text"));
    it.leave();

    // Lines were inserted between the two: no line of one side is a line of the other.
    let moved = "main;helper (app.py:8) 50\nmain;helper (app.py:9) 30\n";
    let client = Client::start(&[("app.py", APP), ("a", moved), ("b", before)]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    only_functions(&mut it);
    it.leave();

    // A ran the function, and knows lines of another file only.
    let with = |frames: &str| {
        format!(
            r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{frames}]}},
            "profiles":[{{"type":"sampled","name":"","unit":"none","startValue":0,"endValue":3,"samples":[[0],[1],[2]],"weights":[1,1,1]}}]}}"#
        )
    };
    let a = with(
        r#"{"name":"helper"},{"name":"x","file":"util.py","line":1},{"name":"x","file":"util.py","line":2}"#,
    );
    let b = with(
        r#"{"name":"main"},{"name":"helper","file":"app.py","line":5},{"name":"helper","file":"app.py","line":6}"#,
    );
    let client = Client::start(&[("app.py", APP), ("a", &a), ("b", &b)]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    only_functions(&mut it);
    it.leave();
    // B alone has lines.
    let client = Client::start(&[("app.py", APP), ("b", &b)]);
    let mut it = Navigator::open(client, &["b"], &[]);
    assert!(lines(&mut it, "app.py")[0].starts_with("4 5 exact helper"));
    it.leave();
}

#[test]
fn the_report_reads_well_in_a_pull_request() {
    let mut it = Navigator::figure_2();
    let empty = it.ask("report", json!({}))["markdown"].clone();
    assert!(
        empty
            .as_str()
            .expect("text")
            .contains("Nothing is labelled.")
    );
    it.go("cd");
    it.command(json!({ "kind": "label", "name": "slow | part" }));
    it.go("c");
    it.command(json!({ "kind": "label", "name": "all of c" }));
    let report = it.ask("report", json!({}))["markdown"].clone();
    let expect = expect![[r#"
        ## Bottlenecks in p.folded

        `samples`, 100 in all.

        2 labels together cover 97 (97.0 %). Without that cost, the program is at most 33.3 times as fast, by Amdahl's law.

        | label | with calls | itself | not covered above |
        | --- | ---: | ---: | ---: |
        | slow \| part | 45 (45.0 %) | 45 (45.0 %) | 45 (45.0 %) |
        | all of c | 97 (97.0 %) | 15 (15.0 %) | 52 (52.0 %) |

        ### slow \| part

        - `c` → `d`: 45 (45.0 %) with calls, 45 (45.0 %) itself; 100.0 % of the last function's cost

        Shares 45 (45.0 %) with all of c.

        ### all of c

        - `c`: 97 (97.0 %) with calls, 15 (15.0 %) itself

        Shares 45 (45.0 %) with slow \| part.
    "#]];
    expect.assert_eq(report.as_str().expect("text"));
    it.leave();
}

#[test]
fn the_report_of_sides_that_cost_the_same_has_shares_of_what_became_costlier() {
    let client = Client::start(&[("a", "m;r 70\nm;w 30\n"), ("b", "m;r 20\nm;w 80\n")]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    it.go("r");
    it.command(json!({ "kind": "label", "name": "reading" }));
    let report = it.ask("report", json!({}))["markdown"].clone();
    let expect = expect![[r#"
        ## Bottlenecks in a − b

        `samples`: A 100 − B 100 = 0. Costs are differences; shares are of what became costlier, 50.

        One label covers 50 (100.0 %). Without that cost, A is at most 2.0 times as fast, by Amdahl's law. It is 50.0 % of what B costs.

        | label | with calls | itself | not covered above |
        | --- | ---: | ---: | ---: |
        | reading | 50 (100.0 %) | 50 (100.0 %) | 50 (100.0 %) |

        ### reading

        - `r`: 50 (100.0 %) with calls, 50 (100.0 %) itself; A 70, B 20
    "#]];
    expect.assert_eq(report.as_str().expect("text"));
    it.leave();
}

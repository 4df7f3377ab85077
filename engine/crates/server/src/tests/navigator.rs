//! Bottleneck search through JSON-RPC: the paper's example, comparison, labels, value types.

use serde_json::{Value, json};

use super::client::Client;

/// The tree of the paper's Figure 2.
pub(super) const FIGURE_2: &str = "a 1\na;b 2\na;b;c 5\na;b;c;d 40\na;c 10\na;c;e 42\n";

pub(super) struct Navigator {
    pub client: Client,
    pub id: Value,
    pub view: Value,
    pub opened: Value,
}

impl Navigator {
    pub(crate) fn open(client: Client, files: &[&str], against: &[&str]) -> Navigator {
        let path = |name: &&str| client.path(name);
        let files: Vec<_> = files.iter().map(path).collect();
        let against: Vec<_> = against.iter().map(path).collect();
        Navigator::with(client, json!({ "files": files, "against": against }))
    }

    pub(crate) fn with(mut client: Client, params: Value) -> Navigator {
        let opened = client.ok("fulcrum/navigator/open", params);
        Navigator {
            client,
            id: opened["id"].clone(),
            view: opened["view"].clone(),
            opened,
        }
    }

    pub(crate) fn figure_2() -> Navigator {
        let client = Client::start(&[("p.folded", FIGURE_2)]);
        Navigator::open(client, &["p.folded"], &[])
    }

    /// Does a command that must succeed.
    pub(crate) fn command(&mut self, command: Value) -> &Value {
        let params = json!({ "id": self.id, "command": command });
        let view = self.client.ok("fulcrum/navigator/command", params);
        let before = self.view["revision"].as_u64();
        assert!(view["revision"].as_u64() > before, "{view}");
        self.view = view;
        &self.view
    }

    pub(crate) fn refused(&mut self, command: Value) -> String {
        let params = json!({ "id": self.id, "command": command });
        self.client.failure("fulcrum/navigator/command", params)
    }

    pub(crate) fn go(&mut self, path: &str) -> &Value {
        let path: Vec<_> = path.chars().map(String::from).collect();
        self.command(json!({ "kind": "selectPath", "path": path }))
    }

    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["id"] = self.id.clone();
        let method = format!("fulcrum/navigator/{method}");
        self.client.ok(&method, params)
    }

    /// The rows of a sort, `names cum`.
    pub(crate) fn rows(&mut self, step: &str) -> Vec<String> {
        let revision = self.view["revision"].clone();
        let params = json!({ "revision": revision, "step": step, "from": 0, "count": 100 });
        let rows = self.ask("rows", params)["rows"].clone();
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| format!("{} {}", joined(&row["names"]), row["cum"]))
            .collect()
    }

    /// The current path, its base and cum.
    pub(crate) fn current(&self) -> String {
        let current = &self.view["current"];
        let frames = current["frames"].as_array().expect("frames").iter();
        let path: String = frames.filter_map(|it| it["name"].as_str()).collect();
        format!("{path} {} {}", current["base"], current["cum"])
    }

    pub(crate) fn leave(self) {
        self.client.leave().expect("an orderly end");
    }
}

pub(super) fn joined(names: &Value) -> String {
    let names = names.as_array().expect("names").iter();
    names.filter_map(Value::as_str).collect()
}

#[test]
fn the_papers_example_is_walked_through() {
    let mut it = Navigator::figure_2();
    assert_eq!(it.opened["kind"], "tree");
    assert_eq!(it.opened["title"], "p.folded");
    assert_eq!(it.opened["names"], 5);
    assert_eq!(it.opened["nodes"], 6);
    assert_eq!(it.view["total"], 100);
    assert_eq!(it.view["current"], Value::Null);
    assert_eq!(
        it.rows("suggestion"),
        ["a 100", "c 97", "b 47", "e 42", "d 40"]
    );
    it.command(json!({ "kind": "setSuggester", "suggester": "HighBase" }));
    assert_eq!(it.view["suggester"], "HighBase");
    assert_eq!(
        it.rows("suggestion"),
        ["e 42", "d 40", "c 97", "b 47", "a 100"]
    );
    // The third is [c]: base 15, cum 97 (§2.2).
    it.command(json!({ "kind": "select", "number": 2 }));
    assert_eq!(it.current(), "c 15 97");
    assert_eq!(it.view["listing"]["kind"], "nearby");
    assert_eq!(it.rows("extendTop"), ["a 53", "b 47"]);
    assert_eq!(it.rows("extendBottom"), ["e 52", "d 45"]);
    assert_eq!(it.rows("trimTop"), [""; 0]);
    // [cd] zooms to [abcd] at the top: nothing is lost on the way.
    it.command(json!({ "kind": "setZoom", "on": true }));
    it.go("cd");
    assert_eq!(it.rows("extendTop"), ["ab 48"]);
    let number = json!({ "kind": "select", "number": 0 });
    it.command(number);
    assert_eq!(it.current(), "abcd 48 48");
    // Labels, and what they share: [c] has 45 of [abcd]'s 48.
    it.command(json!({ "kind": "label", "name": "bottleneck" }));
    assert_eq!(it.view["current"]["labels"], json!(["bottleneck"]));
    assert_eq!(it.view["coverage"]["cum"], 48);
    assert_eq!(it.view["coverage"]["share"], 0.48);
    it.go("c");
    assert_eq!(
        it.view["current"]["overlaps"],
        json!([{ "label": "bottleneck", "base": 5, "cum": 45 }])
    );
    assert_eq!(
        it.view["current"]["overlap"],
        json!({ "base": 5, "cum": 45 })
    );
    // The history, back and forward and to any place.
    let paths: Vec<_> = it.view["history"]["paths"]
        .as_array()
        .expect("paths")
        .iter()
        .map(joined)
        .collect();
    assert_eq!(paths, ["c", "cd", "abcd", "c"]);
    assert_eq!(it.view["history"]["at"], 3);
    it.command(json!({ "kind": "back" }));
    assert_eq!(it.current(), "abcd 48 48");
    it.command(json!({ "kind": "goTo", "at": 0 }));
    assert_eq!(it.current(), "c 15 97");
    it.command(json!({ "kind": "forward" }));
    it.command(json!({ "kind": "trim", "end": "top" }));
    assert_eq!(it.current(), "d 40 40");
    it.command(json!({ "kind": "find", "text": "B" }));
    assert_eq!(it.view["listing"], json!({ "kind": "found", "text": "B" }));
    assert_eq!(it.rows("suggestion"), ["b 47"]);
    it.leave();
}

#[test]
fn zooming_says_what_it_leaves_out() {
    let mut it = Navigator::figure_2();
    it.go("c");
    it.command(json!({ "kind": "setZoom", "on": true }));
    it.command(json!({ "kind": "setCutoff", "cutoff": 0.5 }));
    assert_eq!(it.view["cutoff"], 0.5);
    assert_eq!(it.view["current"]["hidden"]["top"]["count"], 1);
    let share = it.view["current"]["hidden"]["top"]["share"]
        .as_f64()
        .expect("a share");
    assert!(share > 0.3 && share < 0.6, "{share}");
    it.command(json!({ "kind": "setZoom", "on": false }));
    assert_eq!(it.view["current"]["hidden"]["top"]["count"], 0);
    it.leave();
}

#[test]
fn labels_are_kept_and_found_again() {
    let mut it = Navigator::figure_2();
    it.go("abc");
    it.command(json!({ "kind": "label", "name": " slow part " }));
    it.go("e");
    it.command(json!({ "kind": "label", "name": "slow part" }));
    it.command(json!({ "kind": "label", "name": "other" }));
    let labels = std::fs::read_dir(it.client.path(".fulcrum/labels")).expect("a folder");
    assert_eq!(labels.count(), 1);
    it.ask("close", json!({}));
    let path = it.client.path("p.folded");
    let again = it
        .client
        .ok("fulcrum/navigator/open", json!({ "files": [path] }));
    assert_eq!(again["notes"], json!(["3 paths are labelled as before."]));
    assert_ne!(again["id"], it.id);
    it.id = again["id"].clone();
    it.view = again["view"].clone();
    let labels = it.view["labels"].clone();
    assert_eq!(labels[0]["name"], "slow part");
    assert_eq!(labels[0]["paths"], json!([["a", "b", "c"], ["e"]]));
    assert_eq!(
        (&labels[0]["cum"], &labels[1]["marginal"]),
        (&json!(90), &json!(0))
    );
    // Rows know their labels.
    let params =
        json!({ "revision": it.view["revision"], "step": "suggestion", "from": 3, "count": 1 });
    let row = it.ask("rows", params)["rows"][0].clone();
    assert_eq!(row["labels"], json!(["slow part", "other"]));
    it.command(json!({ "kind": "removeLabel", "name": "slow part" }));
    it.go("e");
    it.command(json!({ "kind": "unlabel", "name": "other" }));
    assert_eq!(it.view["labels"], json!([]));
    let labels = std::fs::read_dir(it.client.path(".fulcrum/labels")).expect("a folder");
    assert_eq!(labels.count(), 0);
    it.leave();
}

#[test]
fn labels_that_cannot_be_kept_are_said_and_the_search_goes_on() {
    let client = Client::start(&[
        ("p.folded", FIGURE_2),
        (".fulcrum/labels", "a file, not a folder"),
    ]);
    let mut it = Navigator::open(client, &["p.folded"], &[]);
    it.go("c");
    it.command(json!({ "kind": "label", "name": "x" }));
    let note = it.view["notes"][0].as_str().expect("a note").to_owned();
    assert!(
        note.starts_with("Labels could not be saved: cannot make"),
        "{note}"
    );
    assert_eq!(it.view["labels"][0]["name"], "x");
    it.leave();
}

#[test]
fn comparisons_have_both_sides_and_several_runs_their_certainty() {
    let client = Client::start(&[
        ("a1.folded", "m;f 100\nm;g 50\n"),
        ("a2.folded", "m;f 102\nm;g 58\n"),
        ("b1.folded", "m;f 40\nm;g 52\n"),
        ("b2.folded", "m;f 42\nm;g 56\n"),
    ]);
    let mut it = Navigator::open(
        client,
        &["a1.folded", "a2.folded"],
        &["b1.folded", "b2.folded"],
    );
    assert_eq!(it.opened["kind"], "comparison");
    assert_eq!(
        it.opened["title"],
        "a1.folded + a2.folded \u{2212} b1.folded + b2.folded"
    );
    assert_eq!(it.view["sides"], json!({ "a": 155, "b": 95 }));
    assert_eq!(it.view["total"], 60);
    let params = json!({ "revision": 1, "step": "suggestion", "from": 0, "count": 9 });
    let rows = it.ask("rows", params)["rows"].clone();
    let row = |name: &str| {
        let mut rows = rows.as_array().expect("rows").iter();
        rows.find(|row| row["names"][0] == name)
            .expect("a row")
            .clone()
    };
    assert_eq!(row("f")["cum"], 60);
    assert_eq!(row("f")["sides"]["cum"], json!({ "a": 101, "b": 41 }));
    assert_eq!(row("f")["spread"]["cum"]["significant"], true);
    assert_eq!(row("g")["spread"]["cum"]["significant"], false);
    it.command(json!({ "kind": "selectPath", "path": ["g"] }));
    assert_eq!(it.view["current"]["spread"]["cum"]["significant"], false);
    // Swapped, what A lost is negative, and explained.
    let client = Client::start(&[("a", "m;f 40\n"), ("b", "m;f 100\n")]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    it.command(json!({ "kind": "selectPath", "path": ["f"] }));
    let paradox = it.view["current"]["paradox"]
        .as_str()
        .expect("it looks wrong")
        .to_owned();
    assert!(paradox.contains("less in A than in B"), "{paradox}");
    it.leave();
}

#[test]
fn normalisation_is_asked_for_and_checked() {
    let mut client = Client::start(&[("a", "f 40\ng 40\n"), ("b", "f 100\ng 60\n")]);
    let params = |how: Value| json!({ "files": [], "against": [], "normalisation": how });
    let mut open = |how: Value| {
        let mut params = params(how);
        params["files"] = json!([client.path("a")]);
        params["against"] = json!([client.path("b")]);
        client.request("fulcrum/navigator/open", params)
    };
    let total = |opened: Result<Value, _>| {
        let opened: Result<Value, lsp_server::ResponseError> = opened;
        let view = &opened.expect("it opens")["view"];
        json!([view["sides"], view["of"], view["total"]])
    };
    let expected = |a: i64, of: &str, total: i64| json!([{ "a": a, "b": 160 }, of, total]);
    assert_eq!(total(open(Value::Null)), expected(80, "difference", -80));
    assert_eq!(total(open(json!("totals"))), expected(160, "costlier", 20));
    let scaled = open(json!({ "factor": 2.5 }));
    assert_eq!(total(scaled), expected(200, "difference", 40));
    let refused = open(json!({ "factor": 0 })).expect_err("0 is no factor");
    assert!(refused.message.contains("above 0"), "{}", refused.message);
    client.leave().expect("an orderly end");
}

#[test]
fn the_automatic_search_finds_and_its_paths_are_accepted() {
    let mut it = Navigator::figure_2();
    let found = it.ask("automatic", json!({ "count": 3, "workDoneToken": "auto" }));
    let begun = it.client.notification("$/progress");
    assert_eq!(
        (&begun["token"], &begun["value"]["kind"]),
        (&json!("auto"), &json!("begin"))
    );
    let all = found["suggestions"].as_array().expect("suggestions");
    assert!(!all.is_empty() && all.len() <= 3);
    assert!(found["coverage"].as_f64().expect("a fraction") > 0.5);
    assert!(all[0]["why"].as_str().expect("a sentence").ends_with('.'));
    // Nothing is labelled by finding alone.
    it.command(json!({ "kind": "suggest" }));
    assert_eq!(it.view["labels"], json!([]));
    let accepted = json!([{ "label": all[0]["label"], "path": all[0]["path"] }]);
    it.command(json!({ "kind": "accept", "suggestions": accepted }));
    assert_eq!(it.view["labels"][0]["paths"][0], all[0]["path"]);
    let again = it.ask("automatic", json!({}));
    assert!(again["labelled"].as_f64().expect("a fraction") > 0.0);
    // All or none.
    let both = json!([{ "label": "x", "path": ["a"] }, { "label": "y", "path": ["zz"] }]);
    let refused = it.refused(json!({ "kind": "accept", "suggestions": both }));
    assert!(refused.contains("[zz] does not occur"), "{refused}");
    it.command(json!({ "kind": "suggest" }));
    assert_eq!(it.view["labels"].as_array().map(Vec::len), Some(1));
    it.leave();
}

#[test]
fn value_types_can_be_switched() {
    let speedscope = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{"frames":[{"name":"a","file":"src/a.c","line":3},{"name":"b"}]},"profiles":[
        {"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":3,"samples":[[0,1],[0]],"weights":[1,2]}]}"#;
    let client = Client::start(&[("p.json", speedscope)]);
    let mut it = Navigator::open(client, &["p.json"], &[]);
    let value = it.opened["valueTypes"][0]["name"].clone();
    assert_eq!(it.view["value"], value);
    it.go("ab");
    assert_eq!(it.view["current"]["frames"][0]["recorded"], "src/a.c:3");
    assert_eq!(it.view["current"]["frames"][1]["recorded"], Value::Null);
    it.command(json!({ "kind": "label", "name": "x" }));
    it.command(json!({ "kind": "value", "name": "1" }));
    assert_eq!(it.current(), "ab 3 3");
    assert_eq!(it.view["labels"][0]["name"], "x");
    let refused = it.refused(json!({ "kind": "value", "name": "bytes" }));
    assert!(refused.contains("has no value type \"bytes\""), "{refused}");
    it.leave();
}

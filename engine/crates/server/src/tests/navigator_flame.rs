//! Flame graphs through JSON-RPC.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::client::Client;
use super::navigator::Navigator;

/// What a flame graph asks for when nothing is zoomed.
fn whole(what: Value, minimum: f64) -> Value {
    json!({ "what": what, "left": 0, "right": 1, "minimum": minimum })
}

fn tree(root: Value) -> Value {
    json!({ "kind": "tree", "root": root })
}

fn merged(path: &[&str], side: &str, along: &[&str]) -> Value {
    json!({ "kind": "merged", "path": path, "side": side, "along": along })
}

/// The boxes, `depth name cost at x to x+width`.
fn boxes(flame: &Value) -> Vec<String> {
    let column = |name: &str| flame[name].as_array().expect("a column").clone();
    let (depth, x, width) = (column("depth"), column("x"), column("width"));
    let (name, cost, names) = (column("name"), column("cost"), column("names"));
    let number = |value: &Value| value.as_f64().expect("a number");
    (0..depth.len())
        .map(|n| {
            let name = names[name[n].as_u64().expect("a name") as usize].as_str();
            let (left, right) = (number(&x[n]), number(&x[n]) + number(&width[n]));
            format!(
                "{} {} {} {left:.2}-{right:.2}",
                depth[n],
                name.expect("text"),
                cost[n]
            )
        })
        .collect()
}

#[test]
fn the_papers_example_is_drawn_whole_and_zoomed() {
    let mut it = Navigator::figure_2();
    let flame = it.ask("flame", whole(tree(Value::Null), 0.01));
    assert_eq!(
        boxes(&flame),
        [
            "0 all 100 0.00-1.00",
            "1 a 100 0.00-1.00",
            "2 c 52 0.00-0.52",
            "3 e 42 0.00-0.42",
            "2 b 47 0.52-0.99",
            "3 c 45 0.52-0.97",
            "4 d 40 0.52-0.92",
        ]
    );
    assert_eq!(flame["own"], json!([0, 1, 10, 42, 2, 5, 40]));
    assert_eq!(flame["parent"], json!([-1, 0, 1, 2, 1, 4, 5]));
    assert_eq!(
        (&flame["levels"], &flame["total"]),
        (&json!(5), &json!(100))
    );
    assert_eq!(flame["against"], Value::Null);
    // Nothing narrower than a half, and only that part.
    let wide = it.ask("flame", whole(tree(Value::Null), 0.5));
    assert_eq!(boxes(&wide).len(), 3);
    let mut part = whole(tree(Value::Null), 0.01);
    part["left"] = json!(0.6);
    part["fromDepth"] = json!(2);
    part["depths"] = json!(2);
    let part = it.ask("flame", part);
    assert_eq!(boxes(&part), ["2 b 47 0.52-0.99", "3 c 45 0.52-0.97"]);
    assert_eq!(part["parent"], json!([-1, 0]));
    assert_eq!(part["levels"], 5);
    // A zoom into b.
    let b = flame["node"][4].clone();
    let zoomed = it.ask("flame", whole(tree(b.clone()), 0.01));
    assert_eq!(boxes(&zoomed)[0], "0 b 47 0.00-1.00");
    assert_eq!(zoomed["trail"], json!(["all", "a", "b"]));
    assert_eq!(zoomed["trailNodes"], json!([null, flame["node"][1], b]));
    it.leave();
}

#[test]
fn a_merged_path_has_callers_above_and_callees_below() {
    let mut it = Navigator::figure_2();
    let callees = it.ask("flame", whole(merged(&["c"], "callees", &[]), 0.01));
    assert_eq!(
        boxes(&callees),
        ["0 c 97 0.00-1.00", "1 e 42 0.00-0.43", "1 d 40 0.43-0.85"]
    );
    assert_eq!(callees["own"], json!([15, 42, 40]));
    assert_eq!(callees["node"], json!([]));
    let callers = it.ask("flame", whole(merged(&["c"], "callers", &[]), 0.01));
    assert_eq!(
        boxes(&callers),
        [
            "0 c 97 0.00-1.00",
            "1 a 52 0.00-0.54",
            "1 b 45 0.54-1.00",
            "2 a 45 0.54-1.00",
        ]
    );
    let along = it.ask("flame", whole(merged(&["c"], "callers", &["b"]), 0.01));
    assert_eq!(boxes(&along), ["0 b 45 0.00-1.00", "1 a 45 0.00-1.00"]);
    assert_eq!(along["trail"], json!(["c", "b"]));
    it.leave();
}

#[test]
fn labels_colour_what_they_cover_and_the_innermost_counts() {
    let mut it = Navigator::figure_2();
    it.go("c");
    it.command(json!({ "kind": "label", "name": "outer" }));
    it.go("ce");
    it.command(json!({ "kind": "label", "name": "inner" }));
    let flame = it.ask("flame", whole(tree(Value::Null), 0.01));
    assert_eq!(flame["labels"], json!(["outer", "inner"]));
    // all, a, c, e, b, c, d: of the first c the path [c; e] goes on.
    assert_eq!(flame["label"], json!([-1, -1, 0, 1, -1, 0, 0]));
    it.command(json!({ "kind": "removeLabel", "name": "outer" }));
    let flame = it.ask("flame", whole(tree(Value::Null), 0.01));
    assert_eq!(flame["label"], json!([-1, -1, 0, 0, -1, -1, -1]));
    it.leave();
}

#[test]
fn comparisons_draw_a_b_or_the_change() {
    let client = Client::start(&[("a", "m;f 60\nm;g 40\n"), ("b", "m;f 20\nm;h 80\n")]);
    let mut it = Navigator::open(client, &["a"], &["b"]);
    let mut ask = |width: &str| {
        let mut params = whole(tree(Value::Null), 0.01);
        params["width"] = json!(width);
        it.ask("flame", params)
    };
    let flame = ask("a");
    assert_eq!(boxes(&flame)[2..], ["2 f 60 0.00-0.60", "2 g 40 0.60-1.00"]);
    assert_eq!(flame["against"], json!([100, 100, 20, 0]));
    assert_eq!(flame["sides"], json!({ "a": 100, "b": 100 }));
    let flame = ask("b");
    assert_eq!(boxes(&flame)[2..], ["2 h 0 0.00-0.80", "2 f 60 0.80-1.00"]);
    let flame = ask("change");
    assert_eq!(
        boxes(&flame)[2..],
        ["2 h 0 0.00-0.50", "2 f 60 0.50-0.75", "2 g 40 0.75-1.00"]
    );
    let found = it.ask("flameSearch", json!({ "text": "f" }));
    // The sides cost the same: of what became costlier, as the Navigator's shares are.
    let view = it.command(json!({ "kind": "suggest" }));
    assert_eq!(
        (&view["of"], &view["total"]),
        (&json!("costlier"), &json!(80))
    );
    assert_eq!((&found["cost"], &found["share"]), (&json!(40), &json!(0.5)));
    assert_eq!(found["sides"], json!({ "a": 60, "b": 20 }));
    it.leave();
}

#[test]
fn searches_count_what_lies_within_another_match_once() {
    let mut it = Navigator::figure_2();
    let found = it.ask("flameSearch", json!({ "text": "C" }));
    assert_eq!(
        (&found["cost"], &found["share"]),
        (&json!(97), &json!(0.97))
    );
    let client = Client::start(&[("p", "get;set;get_all 5\nget 2\nset 3\n")]);
    let mut it = Navigator::open(client, &["p"], &[]);
    let found = it.ask("flameSearch", json!({ "text": "get" }));
    assert_eq!((&found["count"], &found["cost"]), (&json!(2), &json!(7)));
    assert_eq!(found["names"], json!(["get", "get_all"]));
    let none = it.ask("flameSearch", json!({ "text": "zz" }));
    assert_eq!((&none["count"], &none["cost"]), (&json!(0), &json!(0)));
    it.leave();
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let mut it = Navigator::figure_2();
    let mut backwards = whole(tree(Value::Null), 0.1);
    backwards["left"] = json!(1);
    for (params, part) in [
        (
            whole(tree(json!(99)), 0.1),
            "there is no node 99: the tree has 6",
        ),
        (
            whole(merged(&["a", "d"], "callers", &[]), 0.1),
            "[a; d] does not occur",
        ),
        (whole(merged(&[], "callers", &[]), 0.1), "does not occur"),
        (
            whole(merged(&["c"], "callees", &["b"]), 0.1),
            "[c; b] does not occur",
        ),
        (backwards, "expected a part between 0 and 1"),
    ] {
        let mut params = params;
        params["id"] = it.id.clone();
        let said = it.client.failure("fulcrum/navigator/flame", params);
        assert!(said.contains(part), "{said}");
    }
    it.leave();
}

#[test]
fn as_many_boxes_are_sent_as_can_be_seen() {
    // Ten thousand siblings, each deeper than the next: far more boxes than pixels.
    let mut folded = String::new();
    for n in 0..10_000 {
        let _ = writeln!(folded, "m;f{n} {}\nm;f{n};x;y 1", 10_000 - n);
    }
    let client = Client::start(&[("p", &folded)]);
    let mut it = Navigator::open(client, &["p"], &[]);
    let count = |flame: &Value| flame["depth"].as_array().expect("boxes").len();
    for minimum in [0.0, 1e-5, 1e-4, 1e-3] {
        let flame = it.ask("flame", whole(tree(Value::Null), minimum));
        let least: f64 = if minimum == 0.0 {
            1.0 / 20_000.0
        } else {
            minimum
        };
        let widths = flame["width"].as_array().expect("widths").iter();
        let narrowest = widths.filter_map(Value::as_f64).fold(1.0, f64::min);
        assert!(
            narrowest >= least.max(1.0 / 20_000.0) - 1e-12,
            "{minimum}: {narrowest}"
        );
        assert!(
            count(&flame) as f64 <= 2.0 + 3.0 / least,
            "{minimum}: {}",
            count(&flame)
        );
    }
    // Nearer, there is more to see.
    let mut near = whole(tree(Value::Null), 0.0);
    near["left"] = json!(0.99);
    let near = it.ask("flame", near);
    let x = near["x"]
        .as_array()
        .expect("x")
        .iter()
        .filter_map(Value::as_f64);
    assert!(x.filter(|&x| x > 0.99).count() > 500);
    it.leave();
}

#[test]
fn processes_and_threads_are_told_from_functions() {
    let threads = r#"{"shared":{"frames":[{"name":"main"},{"name":"work"}]},"profiles":[
        {"type":"sampled","name":"main","unit":"none","samples":[[0,1]],"weights":[3]},
        {"type":"sampled","name":"worker","unit":"none","samples":[[1]],"weights":[1]}]}"#;
    let client = Client::start(&[("p", threads)]);
    let mut it = Navigator::open(client, &["p"], &[]);
    let flame = it.ask("flame", whole(tree(Value::Null), 0.0));
    let names = flame["names"].as_array().expect("names");
    let containers = flame["containers"].as_array().expect("positions").iter();
    let containers: Vec<_> = containers
        .map(|at| &names[at.as_u64().expect("a position") as usize])
        .collect();
    // A function and a thread may have the same name.
    assert_eq!(containers, ["main", "worker"]);
    assert_eq!(names.iter().filter(|it| *it == "main").count(), 2);
    // Merged paths begin at functions, whoever runs them, and look the same the second time.
    let work = json!({ "kind": "merged", "path": ["work"], "side": "callers", "along": [] });
    let first = it.ask("flame", whole(work.clone(), 0.0));
    assert_eq!(first["total"], 4);
    assert_eq!(it.ask("flame", whole(work, 0.0)), first);
    it.leave();
}

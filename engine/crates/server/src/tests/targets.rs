//! Targets other than lines: they stand at their location with their name.

use expect_test::expect;
use serde_json::json;

use super::client::Client;
use super::fixtures::{SOURCE, record_stream};

#[test]
fn every_kind_of_target_is_shown_where_it_is() {
    let mut said = String::new();
    for target in [
        "function:consume",
        "inclusive:consume",
        "path:main > consume",
        "blocked:read",
    ] {
        let stream = record_stream(&format!("{target}@src/a.cpp"), "item");
        let mut client = Client::start(&[("src/a.cpp", SOURCE), ("causal-1-0.jsonl", &stream)]);
        let profile = client.path("causal-1-0.jsonl");
        client.open_profile(&profile);
        let uri = client.uri("src/a.cpp");
        let ranking = client.ok("fulcrum/causal/ranking", json!({}));
        let row = &ranking["rows"][0];
        for key in [
            "target", "kind", "name", "location", "label", "line", "text",
        ] {
            said += &format!("{key} {}\n", row[key]);
        }
        let lines = client.ok("fulcrum/lineSpeedups", json!({ "uri": uri }));
        said += &format!("beside the code {}\n", lines["lines"][0]["text"]);
        let hover = client.ok(
            "textDocument/hover",
            json!({ "textDocument": { "uri": uri }, "position": { "line": 4, "character": 9 } }),
        );
        let text = hover["contents"]["value"].as_str().expect("Markdown");
        let first = text.lines().next().expect("a headline");
        said += &format!("{first}\n\n");
        client.leave().expect("an orderly end");
    }
    expect![[r#"
        target "function:consume@src/a.cpp:5"
        kind "function"
        name "consume"
        location "src/a.cpp:5"
        label "consume (a.cpp:5)"
        line 4
        text "+3.0 % if 2× faster"
        beside the code "consume: +3.0 % if 2× faster"
        **`consume`: +3.0 % if 2× faster** · rank 1 of 3 for `item`

        target "inclusive:consume@src/a.cpp:5"
        kind "function"
        name "consume"
        location "src/a.cpp:5"
        label "consume with its callees (a.cpp:5)"
        line 4
        text "+3.0 % if 2× faster"
        beside the code "consume with its callees: +3.0 % if 2× faster"
        **`consume` with its callees: +3.0 % if 2× faster** · rank 1 of 3 for `item`

        target "path:main > consume@src/a.cpp:5"
        kind "path"
        name "main > consume"
        location "src/a.cpp:5"
        label "main > consume (a.cpp:5)"
        line 4
        text "+3.0 % if 2× faster"
        beside the code "main > consume: +3.0 % if 2× faster"
        **`main > consume`: +3.0 % if 2× faster** · rank 1 of 3 for `item`

        target "blocked:read@src/a.cpp:5"
        kind "blocked"
        name "read"
        location "src/a.cpp:5"
        label "read at a.cpp:5"
        line 4
        text "+3.0 % if it waits half as long"
        beside the code "read: +3.0 % if it waits half as long"
        **`read`: +3.0 % if it waits half as long** · rank 1 of 3 for `item`

    "#]]
    .assert_eq(&said);
}

#[test]
fn a_line_and_a_function_on_it_are_both_in_the_hover() {
    let line = record_stream("src/a.cpp", "item");
    let function = record_stream("function:consume@src/a.cpp", "item");
    let mut client = Client::start(&[
        ("src/a.cpp", SOURCE),
        ("run/causal-1-0.jsonl", &line),
        ("run/causal-1-1.jsonl", &function),
    ]);
    let run = client.path("run");
    client.open_profile(&run);
    let uri = client.uri("src/a.cpp");
    let hover = client.ok(
        "textDocument/hover",
        json!({ "textDocument": { "uri": uri }, "position": { "line": 4, "character": 9 } }),
    );
    let text = hover["contents"]["value"].as_str().expect("Markdown");
    assert_eq!(text.matches("| Line faster by |").count(), 1, "{text}");
    assert_eq!(text.matches("| Function faster by |").count(), 1, "{text}");
    client.leave().expect("an orderly end");
}

//! One whole session, message by message.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz};

fn session(capabilities: Value) -> Client {
    let recorder = std::sync::Arc::new(crate::Real);
    let files = [("src/a.cpp", SOURCE), ("a.coz", &*coz("src/a.cpp", "item"))];
    let mut client = Client::start_with(&files, capabilities, recorder);
    client.open_profile(&client.path("a.coz"));
    client
}

fn marked() -> Value {
    json!({ "general": { "markdown": { "parser": "marked" } } })
}

fn hover(client: &mut Client, line: u32) -> Value {
    let uri = client.uri("src/a.cpp");
    client.ok(
        "textDocument/hover",
        json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 2 } }),
    )
}

#[test]
fn the_server_says_what_it_can() {
    let client = Client::start(&[]);
    expect![[r#"
        {
          "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {
              "openClose": true,
              "change": 2
            },
            "completionProvider": {
              "triggerCharacters": [
                " ",
                "."
              ]
            },
            "hoverProvider": true,
            "codeActionProvider": {
              "codeActionKinds": [
                "quickfix",
                "refactor.rewrite.progressPoint"
              ]
            },
            "inlayHintProvider": true,
            "workspace": {
              "workspaceFolders": {
                "supported": true,
                "changeNotifications": true
              }
            },
            "experimental": {
              "fulcrum": {
                "version": 2,
                "requests": [
                  "fulcrum/causal/open",
                  "fulcrum/causal/run",
                  "fulcrum/causal/control",
                  "fulcrum/causal/compare",
                  "fulcrum/causal/clear",
                  "fulcrum/causal/ranking",
                  "fulcrum/lineSpeedups",
                  "fulcrum/progressPoint/edit",
                  "fulcrum/runs/list",
                  "fulcrum/runs/remove",
                  "fulcrum/navigator/open",
                  "fulcrum/navigator/command",
                  "fulcrum/navigator/rows",
                  "fulcrum/navigator/automatic",
                  "fulcrum/navigator/flame",
                  "fulcrum/navigator/flameSearch",
                  "fulcrum/navigator/frame",
                  "fulcrum/navigator/lines",
                  "fulcrum/navigator/names",
                  "fulcrum/navigator/report",
                  "fulcrum/navigator/close",
                  "fulcrum/trace/start",
                  "fulcrum/refine/start",
                  "fulcrum/refine/open",
                  "fulcrum/refine/frame",
                  "fulcrum/events/open",
                  "fulcrum/events/children",
                  "fulcrum/events/timeline",
                  "fulcrum/events/search",
                  "fulcrum/events/query",
                  "fulcrum/events/frame",
                  "fulcrum/events/tree",
                  "fulcrum/events/queues",
                  "fulcrum/events/compare",
                  "fulcrum/events/filter",
                  "fulcrum/events/close",
                  "fulcrum/transactions/start",
                  "fulcrum/transactions/open",
                  "fulcrum/transactions/tree",
                  "fulcrum/transactions/compare",
                  "fulcrum/transactions/price",
                  "fulcrum/transactions/frame"
                ]
              }
            }
          },
          "serverInfo": {
            "name": "fulcrum",
            "version": "0.1.0"
          }
        }
    "#]]
    .assert_eq(&client.pretty(&client.initialized));
    client.leave().expect("an orderly end");
}

#[test]
fn a_profile_opens_and_everyone_is_told() {
    let mut client = session(marked());
    let change = client.notification("fulcrum/didChangeResults");
    expect![[r#"
        {
          "summary": {
            "path": "/workspace/a.coz",
            "title": "a.coz",
            "kind": "causal",
            "progressPoints": [
              {
                "name": "item",
                "kind": "throughput"
              }
            ],
            "targets": 3,
            "files": [
              {
                "location": "src/a.cpp",
                "uri": "file:///workspace/src/a.cpp"
              }
            ],
            "live": false,
            "notes": []
          }
        }
    "#]]
    .assert_eq(&client.pretty(&change));
    client.ok("fulcrum/causal/clear", json!({}));
    assert_eq!(
        client.notification("fulcrum/didChangeResults"),
        json!({ "summary": null })
    );
    client.leave().expect("an orderly end");
}

#[test]
fn the_ranking_is_by_slope() {
    let mut client = session(marked());
    let ranking = client.ok(
        "fulcrum/causal/ranking",
        json!({ "progressPoint": "no such point" }),
    );
    assert_eq!(ranking["progressPoint"], "item");
    let rows: Vec<String> = ranking["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let number = |key: &str| format!("{:.2}", row[key].as_f64().expect("a number"));
            format!(
                "{} {} slope {} in {}..{} experiments {} contention {} {}\n",
                row["label"],
                row["shape"],
                number("slope"),
                number("slopeLow"),
                number("slopeHigh"),
                row["experiments"],
                row["contention"],
                row["text"]
            )
        })
        .collect();
    expect![[r#"
        "a.cpp:5" "gain2" slope 0.20 in 0.19..0.20 experiments 40 contention false "+10 % if 2× faster"
        "a.cpp:7" "flat" slope 0.00 in -0.00..0.00 experiments 40 contention false "no effect"
        "a.cpp:6" "harm2" slope -0.24 in -0.25..-0.23 experiments 40 contention true "−12 % if 2× faster: contention"
    "#]].assert_eq(&rows.concat());
    client.leave().expect("an orderly end");
}

#[test]
fn line_speedups_carry_the_curve() {
    let mut client = session(marked());
    let uri = client.uri("src/a.cpp");
    let answer = client.ok(
        "fulcrum/lineSpeedups",
        json!({ "uri": uri, "progressPoint": null }),
    );
    assert_eq!(answer["progressPoint"], "item");
    let lines = answer["lines"].as_array().expect("lines");
    let places: Vec<_> = lines
        .iter()
        .map(|l| (l["line"].as_u64(), l["rank"].as_u64()))
        .collect();
    assert_eq!(
        places,
        [(Some(4), Some(1)), (Some(5), Some(3)), (Some(6), Some(2))]
    );
    let curve: Vec<(f64, f64)> = lines[0]["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|p| {
            (
                p["speedup"].as_f64().expect("a number"),
                p["programSpeedup"].as_f64().expect("a number"),
            )
        })
        .collect();
    for (measured, truth) in curve.iter().zip([
        (0.0, 0.0),
        (0.25, 0.05),
        (0.5, 0.10),
        (0.75, 0.15),
        (1.0, 0.20),
    ]) {
        assert!(
            (measured.0 - truth.0).abs() < 1e-9 && (measured.1 - truth.1).abs() < 0.01,
            "{curve:?}"
        );
    }
    assert_eq!(lines[0]["largest"]["speedup"], 1.0);
    assert_eq!(lines[0]["largest"]["visits"], 800);
    client.leave().expect("an orderly end");
}

#[test]
fn a_hover_has_the_meaning_then_the_plot_and_the_numbers() {
    let mut client = session(marked());
    let answer = hover(&mut client, 5);
    let text = answer["contents"]["value"].as_str().expect("markdown");
    let alternative =
        "![Plot of program speedup over line speedup: \u{2212}24\u{a0}% at 100\u{a0}%]";
    let (meaning, plot) = text
        .split_once(&format!("{alternative}(data:image/svg+xml;base64,"))
        .unwrap_or_else(|| panic!("{text}"));
    let (data, numbers) = plot
        .split_once("|width=340,height=190)\n\n")
        .unwrap_or_else(|| panic!("{plot}"));
    assert!(
        data.len() < 8_000 && data.len().is_multiple_of(4),
        "{}",
        data.len()
    );
    expect![[r#"
        **−12 % if 2× faster: contention** · rank 3 of 3 for `item`

        If this line took half the time, the time between two visits to `item` would grow by 12 %. The slope is −0.24 (95 % interval −0.25 to −0.23).

        **Contention:** the program gets slower when this gets faster. Faster arrivals at a lock, a cache line or another shared resource make everyone wait longer there. Look at what this code competes for; do not optimise the code itself.

        | Line faster by | Program faster by | 95 % interval | Visits |
        |---:|---:|:---:|---:|
        | 0 % | 0.0 % | 0.0 % to 0.0 % | 800 |
        | 25 % | −5.5 % | −6.5 % to −4.5 % | 800 |
        | 50 % | −12.0 % | −13.1 % to −11.0 % | 800 |
        | 75 % | −17.4 % | −18.5 % to −16.3 % | 800 |
        | 100 % | −24.0 % | −25.1 % to −22.8 % | 800 |

        40 experiments on this line.

        [Show Ranking](command:fulcrum.ranking.open) · [Run Again…](command:fulcrum.causal.run) · [Clear Results](command:fulcrum.clearResults)"#]].assert_eq(&format!("{meaning}{numbers}"));
    assert_eq!(
        answer["range"],
        json!({ "start": { "line": 5, "character": 8 }, "end": { "line": 5, "character": 20 } })
    );
    assert_eq!(hover(&mut client, 0), Value::Null);
    client.leave().expect("an orderly end");
}

#[test]
fn an_editor_that_shows_no_images_gets_text_alone() {
    for capabilities in [
        json!({}),
        json!({ "experimental": { "fulcrum": { "richHover": false } } }),
    ] {
        let mut client = session(capabilities);
        let answer = hover(&mut client, 4);
        let text = answer["contents"]["value"].as_str().expect("markdown");
        assert!(
            text.starts_with("**+10\u{a0}% if 2× faster** · rank 1 of 3 for `item`"),
            "{text}"
        );
        assert!(
            !text.contains("data:") && !text.contains("command:"),
            "{text}"
        );
        client.leave().expect("an orderly end");
    }
}

#[test]
fn a_file_newer_than_its_profile_is_said_to_be() {
    let mut client = session(marked());
    let file = std::fs::File::options()
        .append(true)
        .open(client.path("src/a.cpp"))
        .expect("the source");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    file.set_modified(later).expect("the time can be set");
    client.open_profile(&client.path("a.coz"));
    let answer = hover(&mut client, 4);
    let text = answer["contents"]["value"].as_str().expect("markdown");
    assert!(
        text.contains("The source was not recorded with this profile, and the file is newer"),
        "{text}"
    );
    client.leave().expect("an orderly end");
}

#[test]
fn inlay_hints_stand_at_the_end_of_their_lines() {
    let mut client = session(marked());
    let uri = client.uri("src/a.cpp");
    let mut hints = |from: u32, to: u32| {
        let range = json!({ "start": { "line": from, "character": 0 }, "end": { "line": to, "character": 0 } });
        let answer = client.ok(
            "textDocument/inlayHint",
            json!({ "textDocument": { "uri": uri }, "range": range }),
        );
        let hints = answer.as_array().cloned().unwrap_or_default();
        hints
            .iter()
            .map(|h| {
                format!(
                    "{}:{} {}\n",
                    h["position"]["line"], h["position"]["character"], h["label"]
                )
            })
            .collect::<String>()
    };
    expect![[r#"
        4:21 "+10 % if 2× faster"
        5:20 "−12 % if 2× faster: contention"
        6:20 "no effect"
    "#]]
    .assert_eq(&hints(0, 99));
    assert_eq!(hints(7, 99), "");
    client.leave().expect("an orderly end");
}

#[test]
fn positions_are_in_bytes_when_both_sides_want_it() {
    let capabilities = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
    let mut client = session(capabilities);
    assert_eq!(
        client.initialized["capabilities"]["positionEncoding"],
        "utf-8"
    );
    client.open_document(
        "src/a.cpp",
        &SOURCE.replace("decode(item);", "decode(item); // ü😀"),
    );
    let uri = client.uri("src/a.cpp");
    let range =
        json!({ "start": { "line": 4, "character": 0 }, "end": { "line": 4, "character": 0 } });
    let answer = client.ok(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": uri }, "range": range }),
    );
    assert_eq!(answer[0]["position"], json!({ "line": 4, "character": 31 }));
    client.leave().expect("an orderly end");
}

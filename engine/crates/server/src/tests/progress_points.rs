//! Progress points go in where the cursor is, on the text that is on the screen.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, manifest, unvisited_stream};

#[test]
fn a_run_without_visits_offers_to_insert_a_progress_point() {
    let mut client = Client::start(&[
        ("src/a.cpp", SOURCE),
        ("run/run.json", &manifest("exited", "/", &[])),
        ("run/causal-9-0.jsonl", &unvisited_stream("src/a.cpp")),
    ]);
    let summary = client.open_profile(&client.path("run"));
    assert_eq!(summary["targets"], 0);
    let published = client.notification("textDocument/publishDiagnostics");
    expect![[r#"
        {
          "uri": "file:///workspace/src/a.cpp",
          "diagnostics": [
            {
              "range": {
                "start": {
                  "line": 4,
                  "character": 8
                },
                "end": {
                  "line": 4,
                  "character": 21
                }
              },
              "severity": 2,
              "code": "noProgressPoint",
              "source": "Fulcrum",
              "message": "The last run visited no progress point, so nothing could be measured. Insert one into the loop whose pace matters (most time was spent near here), build again and run again."
            }
          ]
        }
    "#]].assert_eq(&client.pretty(&published));
    let diagnostic = &published["diagnostics"][0];
    let actions = client.ok(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": client.uri("src/a.cpp") },
            "range": diagnostic["range"],
            "context": { "diagnostics": [diagnostic], "only": ["quickfix"] },
        }),
    );
    expect![[r##"
        [
          {
            "title": "Insert Progress Point",
            "kind": "quickfix",
            "diagnostics": [
              {
                "range": {
                  "start": {
                    "line": 4,
                    "character": 8
                  },
                  "end": {
                    "line": 4,
                    "character": 21
                  }
                },
                "severity": 2,
                "code": "noProgressPoint",
                "source": "Fulcrum",
                "message": "The last run visited no progress point, so nothing could be measured. Insert one into the loop whose pace matters (most time was spent near here), build again and run again."
              }
            ],
            "isPreferred": true,
            "edit": {
              "changes": {
                "file:///workspace/src/a.cpp": [
                  {
                    "range": {
                      "start": {
                        "line": 1,
                        "character": 0
                      },
                      "end": {
                        "line": 1,
                        "character": 0
                      }
                    },
                    "newText": "#include \"fulcrum.h\"\n"
                  },
                  {
                    "range": {
                      "start": {
                        "line": 7,
                        "character": 0
                      },
                      "end": {
                        "line": 7,
                        "character": 0
                      }
                    },
                    "newText": "        FULCRUM_PROGRESS;\n"
                  }
                ]
              }
            }
          }
        ]
    "##]].assert_eq(&client.pretty(&actions));
    client.leave().expect("an orderly end");
}

fn titles(client: &mut Client, name: &str, line: u32, only: Value) -> String {
    let uri = client.uri(name);
    let place = json!({ "line": line, "character": 0 });
    let mut context = json!({ "diagnostics": [] });
    if !only.is_null() {
        context["only"] = only;
    }
    let actions = client.ok(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": uri }, "range": { "start": place, "end": place }, "context": context }),
    );
    let titles: Vec<_> = actions
        .as_array()
        .into_iter()
        .flatten()
        .map(|action| {
            format!(
                "{} ({})",
                action["title"].as_str().unwrap_or("?"),
                action["kind"].as_str().unwrap_or("?")
            )
        })
        .collect();
    titles.join(", ")
}

#[test]
fn code_actions_fit_the_place() {
    let with_point = SOURCE.replace("store(item);", "store(item);\n        FULCRUM_PROGRESS;");
    let rust = "fn f() {\n    fulcrum_progress::progress!();\n    g();\n}\n";
    let mut client = Client::start(&[
        ("a.cpp", &with_point),
        ("a.rs", rust),
        ("a.py", "for x in y:\n  pass\n"),
    ]);
    let kind = "refactor.rewrite.progressPoint";
    let insert = format!(
        "Insert Progress Point ({kind}), Mark as Latency Begin ({kind}), Mark as Latency End ({kind})"
    );
    for (name, line, only, expect) in [
        ("a.cpp", 4, Value::Null, insert.clone()),
        (
            "a.cpp",
            7,
            Value::Null,
            format!("Remove Progress Point ({kind})"),
        ),
        ("a.cpp", 0, Value::Null, String::new()),
        ("a.rs", 2, Value::Null, insert.clone()),
        (
            "a.rs",
            1,
            Value::Null,
            format!("Remove Progress Point ({kind})"),
        ),
        ("a.cpp", 4, json!(["refactor"]), insert),
        ("a.cpp", 4, json!(["refactor.extract"]), String::new()),
        ("a.cpp", 4, json!(["source"]), String::new()),
        ("a.py", 1, Value::Null, String::new()),
        ("missing.cpp", 1, Value::Null, String::new()),
    ] {
        assert_eq!(
            titles(&mut client, name, line, only.clone()),
            expect,
            "{name}:{line} {only}"
        );
    }
    client.leave().expect("an orderly end");
}

fn check_edit(client: &mut Client, name: &str, at: (u32, u32), kind: &str, expect: Expect) {
    let answer = client.ok(
        "fulcrum/progressPoint/edit",
        json!({ "uri": client.uri(name), "position": { "line": at.0, "character": at.1 }, "kind": kind }),
    );
    expect.assert_eq(&client.pretty(&answer));
}

#[test]
fn edits_are_made_on_the_text_on_the_screen() {
    let mut client = Client::start(&[("a.cpp", "int x;\n"), ("a.txt", "text\n")]);
    client.open_document(
        "a.cpp",
        "#include \"fulcrum.h\"\nvoid f() {\n    g(\"😀\"); h();\n}\n",
    );
    // Position 13 is behind the emoji's two UTF-16 units.
    check_edit(
        &mut client,
        "a.cpp",
        (2, 13),
        "latencyBegin",
        expect![[r#"
            {
              "edit": {
                "changes": {
                  "file:///workspace/a.cpp": [
                    {
                      "range": {
                        "start": {
                          "line": 2,
                          "character": 13
                        },
                        "end": {
                          "line": 2,
                          "character": 13
                        }
                      },
                      "newText": "FULCRUM_BEGIN(\"f\"); "
                    }
                  ]
                }
              },
              "message": null
            }
        "#]],
    );
    check_edit(
        &mut client,
        "a.cpp",
        (2, 13),
        "remove",
        expect![[r#"
        {
          "edit": null,
          "message": "There is no progress point on line 3: put the cursor on a line with a FULCRUM_ or COZ_ macro."
        }
    "#]],
    );
    check_edit(
        &mut client,
        "a.txt",
        (0, 0),
        "throughput",
        expect![[r#"
        {
          "edit": null,
          "message": "Progress points can be inserted into C, C++ and Rust files: open one of those."
        }
    "#]],
    );
    check_edit(
        &mut client,
        "gone.cpp",
        (0, 0),
        "throughput",
        expect![[r#"
            {
              "edit": null,
              "message": "file:///workspace/gone.cpp could not be read: save the file and try again."
            }
        "#]],
    );
    client.leave().expect("an orderly end");
}

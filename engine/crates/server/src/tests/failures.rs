//! Bad input, broken requests, cancellation, the end.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use super::fixtures::{SOURCE, coz};

#[test]
fn what_cannot_be_opened_is_said_in_one_sentence() {
    let mut client = Client::start(&[
        ("notes.txt", "nothing of the kind\n"),
        ("empty.coz", ""),
        ("folder/readme", ""),
    ]);
    let mut said = String::new();
    for name in ["missing.coz", "notes.txt", "empty.coz", "folder"] {
        said += &client.failure("fulcrum/causal/open", json!({ "path": client.path(name) }));
    }
    expect![[r#"
        -32803 cannot read /workspace/missing.coz: No such file or directory (os error 2); check the path. [user] -
        -32803 /workspace/notes.txt:1: the first record is "nothing of the kind", expected a causal profile; open a .coz file, a causal-*.jsonl or a run folder, or record one with `fulcrum run -- PROGRAM`. [user] -
        -32803 /workspace/empty.coz: the file is empty, expected a causal profile; check that the profiled program ran to its end, or record again with `fulcrum run -- PROGRAM`. [user] -
        -32803 /workspace/folder is not a run: there is no run.json and no causal-*.jsonl in it; choose a folder in .fulcrum/runs, or a .coz file. [user] -
    "#]].assert_eq(&said);
    client.leave().expect("an orderly end");
}

#[test]
fn a_failed_open_leaves_what_was_open() {
    let mut client = Client::start(&[("src/a.cpp", SOURCE), ("a.coz", &coz("src/a.cpp", "item"))]);
    let summary = client.open_profile(&client.path("a.coz"));
    client.failure("fulcrum/causal/open", json!({ "path": "/no/such.coz" }));
    let ranking = client.ok("fulcrum/causal/ranking", json!({ "progressPoint": null }));
    assert_eq!(ranking["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(ranking["notes"], summary["notes"]);
    client.leave().expect("an orderly end");
}

#[test]
fn a_panic_in_one_request_is_one_failed_request() {
    let mut client = Client::start(&[]);
    for (tier, message) in [
        ("mutating", "on the loop, with the state"),
        ("immediate", "on the loop, with a snapshot"),
        ("pooled", "on the pool"),
        // The pool has two threads: a lost one would show here.
        ("pooled", "on the pool"),
        ("pooled", "on the pool"),
    ] {
        let method = format!("test/panic/{tier}");
        let failure = client.failure(&method, json!({}));
        assert_eq!(
            failure,
            format!(
                "-32603 {method} failed inside Fulcrum: {message} [fulcrum] Fulcrum keeps working. Please report this with the log.\n"
            )
        );
    }
    let answer = client.ok("fulcrum/runs/list", json!({ "workspace": "/nowhere" }));
    assert_eq!(answer, json!({ "runs": [] }));
    client.leave().expect("an orderly end");
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_only_once() {
    let mut client = Client::start(&[]);
    let file = client.path("go");
    let id = client.send("test/wait", json!({ "file": file }));
    client.notify("$/cancelRequest", json!({ "id": id }));
    let error = client.response(id).expect_err("it was cancelled");
    assert_eq!(error.code, lsp_server::ErrorCode::RequestCanceled as i32);
    std::fs::write(file, "").expect("a file");
    // The other thread answers meanwhile; the late answer of the first is dropped.
    client.ok("test/wait", json!({ "file": client.path("go") }));
    assert!(!client.has_response(id));
    client.leave().expect("an orderly end");
}

#[test]
fn a_request_that_is_cancelled_in_the_queue_is_not_worked_on() {
    let mut client = Client::start(&[]);
    let [first, second, never] = ["first", "second", "never"].map(|name| client.path(name));
    let busy =
        [first, second].map(|file| (client.send("test/wait", json!({ "file": file })), file));
    // Would wait for ever.
    let queued = client.send("test/wait", json!({ "file": never }));
    client.notify("$/cancelRequest", json!({ "id": queued }));
    client.response(queued).expect_err("it was cancelled");
    for (id, file) in busy {
        std::fs::write(file, "").expect("a file");
        client.response(id).expect("it ends");
    }
    // Both threads are free again.
    for _ in 0..2 {
        client.failure("test/panic/pooled", json!({}));
    }
    let files = ["third", "fourth"].map(|name| client.path(name));
    let both = files
        .clone()
        .map(|file| client.send("test/wait", json!({ "file": file })));
    for (id, file) in both.into_iter().zip(files).rev() {
        std::fs::write(file, "").expect("a file");
        client.response(id).expect("it ends");
    }
    client.leave().expect("an orderly end");
}

#[test]
fn a_slow_request_holds_up_no_other() {
    let mut client = Client::start(&[("a.cpp", "void f() {\n    a();\n}\n")]);
    let (first, second) = (client.path("first"), client.path("second"));
    let waiting = [
        client.send("test/wait", json!({ "file": first })),
        client.send("test/wait", json!({ "file": second })),
    ];
    // Both threads of the pool are taken. Edits are made on the loop.
    let edit = client.ok(
        "fulcrum/progressPoint/edit",
        json!({ "uri": client.uri("a.cpp"), "position": { "line": 1, "character": 0 }, "kind": "throughput" }),
    );
    assert_eq!(edit["message"], Value::Null);
    for (id, file) in waiting.into_iter().zip([first, second]) {
        std::fs::write(file, "").expect("a file");
        assert_eq!(client.response(id).expect("it ends"), Value::Null);
    }
    client.leave().expect("an orderly end");
}

#[test]
fn unknown_methods_and_bad_parameters_are_refused() {
    let mut client = Client::start(&[]);
    let mut said = client.failure("fulcrum/no/such", json!({}));
    said += &client.failure("fulcrum/lineSpeedups", json!({ "uri": 5 }));
    said += &client.failure("fulcrum/causal/open", Value::Null);
    expect![[r#"
        -32601 fulcrum/no/such is not a request that this server answers [fulcrum] -
        -32602 the parameters of fulcrum/lineSpeedups could not be read: invalid type: integer `5`, expected a string [fulcrum] -
        -32602 the parameters of fulcrum/causal/open could not be read: missing field `path` [fulcrum] -
    "#]].assert_eq(&said);
    // Nothing is open: no request is an error.
    assert_eq!(
        client.ok(
            "fulcrum/lineSpeedups",
            json!({ "uri": "file:///a.cpp", "progressPoint": null })
        ),
        json!({ "progressPoint": null, "lines": [] })
    );
    assert_eq!(client.ok("fulcrum/causal/clear", json!({})), Value::Null);
    let place = json!({ "textDocument": { "uri": "file:///a.cpp" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.ok("textDocument/hover", place), Value::Null);
    client.leave().expect("an orderly end");
}

#[test]
fn after_shutdown_there_is_only_exit() {
    let mut client = Client::start(&[]);
    assert_eq!(client.ok("shutdown", Value::Null), Value::Null);
    let failure = client.failure("fulcrum/causal/clear", json!({}));
    assert_eq!(
        failure,
        "-32600 fulcrum/causal/clear came after shutdown [fulcrum] -\n"
    );
    client.leave_after_shutdown().expect("an orderly end");
}

#[test]
fn a_client_that_vanishes_ends_the_server() {
    Client::start(&[]).vanish().expect("an orderly end");
}

#[test]
fn exit_without_shutdown_is_an_error() {
    let mut client = Client::start(&[]);
    client.notify("exit", Value::Null);
    let error = client.vanish().expect_err("not orderly");
    assert_eq!(error.to_string(), "the client sent exit without shutdown");
}

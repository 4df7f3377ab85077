//! What navigators cannot do: wrong numbers, stale views, bad files, cancelled requests.

use serde_json::{Value, json};

use super::client::Client;
use super::navigator::{FIGURE_2, Navigator};

#[test]
fn what_cannot_be_done_changes_nothing_and_is_said() {
    let mut it = Navigator::figure_2();
    for (command, part) in [
        (
            json!({ "kind": "select", "number": 9 }),
            "expected a number from 0 to 4, got 9",
        ),
        (
            json!({ "kind": "label", "name": "x" }),
            "nothing is selected",
        ),
        (json!({ "kind": "back" }), "nothing more in the history"),
        (
            json!({ "kind": "goTo", "at": 0 }),
            "nothing more in the history",
        ),
        (
            json!({ "kind": "setCutoff", "cutoff": 0 }),
            "cutoff above 0 and at most 1",
        ),
        (
            json!({ "kind": "selectPath", "path": ["a", "d"] }),
            "[a; d] does not occur",
        ),
        (
            json!({ "kind": "selectPath", "path": [] }),
            "does not occur",
        ),
        (
            json!({ "kind": "removeLabel", "name": "x" }),
            "nothing here is labelled \"x\"",
        ),
        (json!({ "kind": "jump" }), "unknown variant `jump`"),
    ] {
        let refused = it.refused(command.clone());
        assert!(refused.contains(part), "{command}: {refused}");
    }
    assert_eq!(
        it.rows("suggestion").len(),
        5,
        "the revision is still the first"
    );
    // Rows of a view that is gone.
    it.command(json!({ "kind": "suggest" }));
    let params = json!({ "id": it.id, "revision": 1, "step": "suggestion", "from": 0, "count": 1 });
    let stale = it
        .client
        .request("fulcrum/navigator/rows", params)
        .expect_err("it is stale");
    assert_eq!(stale.code, lsp_server::ErrorCode::ContentModified as i32);
    // A navigator that is not there, or is no more.
    let absent = |it: &mut Navigator, id: Value| {
        let mut said = Vec::new();
        for (method, more) in [
            ("command", json!({ "command": { "kind": "suggest" } })),
            (
                "rows",
                json!({ "revision": 1, "step": "suggestion", "from": 0, "count": 1 }),
            ),
            ("automatic", json!({})),
            (
                "flame",
                json!({ "what": { "kind": "tree", "root": null }, "left": 0, "right": 1, "minimum": 0.1 }),
            ),
            ("flameSearch", json!({ "text": "a" })),
            ("frame", json!({ "name": "a" })),
            ("lines", json!({ "uri": "file:///a.c" })),
            ("report", json!({})),
            ("close", json!({})),
        ] {
            let mut params = more;
            params["id"] = id.clone();
            said.push(
                it.client
                    .failure(&format!("fulcrum/navigator/{method}"), params),
            );
        }
        said
    };
    for said in absent(&mut it, json!(77)) {
        assert!(said.contains("navigator 77 is not open"), "{said}");
    }
    it.ask("close", json!({}));
    let id = it.id.clone();
    assert_eq!(absent(&mut it, id).len(), 9);
    it.leave();
}

#[test]
fn bad_files_are_one_failed_request_each() {
    let mut client = Client::start(&[
        ("p.folded", FIGURE_2),
        ("junk", "\u{1}\u{2}\u{3}"),
        ("g.callgrind", "events: Ir\nfn=main\n1 10\n"),
    ]);
    let path = |client: &Client, name: &str| client.path(name).to_string_lossy().into_owned();
    for (files, against, part) in [
        (vec!["gone"], vec![], "/workspace/gone"),
        (vec!["junk"], vec![], "/workspace/junk"),
        (vec![], vec![], "expected a profile, got none"),
        (
            vec!["p.folded", "p.folded"],
            vec![],
            "say with what to compare",
        ),
        (
            vec!["p.folded"],
            vec!["g.callgrind"],
            "can only be compared with another call graph",
        ),
        (vec!["-"], vec![], "standard input"),
    ] {
        let names = |all: Vec<&str>| -> Vec<String> {
            let name = |it: &str| {
                if it == "-" {
                    it.into()
                } else {
                    path(&client, it)
                }
            };
            all.into_iter().map(name).collect()
        };
        let params = json!({ "files": names(files), "against": names(against) });
        let said = client.failure("fulcrum/navigator/open", params);
        assert!(said.contains(part) && said.contains("[user]"), "{said}");
    }
    let rules = json!({ "files": [path(&client, "p.folded")], "names": "tidy" });
    let said = client.failure("fulcrum/navigator/open", rules);
    assert!(said.contains("there is no rule \"tidy\""), "{said}");
    Navigator::open(client, &["p.folded"], &[]).leave();
}

#[test]
fn call_graphs_are_searched_as_far_as_they_know_and_have_no_flame_graph() {
    let graph = "events: Ir\nfn=main\n1 10\ncfn=f\ncalls=1 5\n1 90\n\nfn=f\n5 90\n";
    let client = Client::start(&[("g.callgrind", graph)]);
    let mut it = Navigator::open(client, &["g.callgrind"], &[]);
    assert_eq!(it.opened["kind"], "graph");
    it.command(json!({ "kind": "selectPath", "path": ["main", "f"] }));
    assert!(
        it.view["current"]["limit"]
            .as_str()
            .expect("a limit")
            .contains("up to 2 names")
    );
    let params = json!({ "id": it.id, "what": { "kind": "tree", "root": null }, "left": 0, "right": 1, "minimum": 0.1 });
    let said = it.client.failure("fulcrum/navigator/flame", params);
    assert!(said.contains("no contexts"), "{said}");
    it.leave();
}

#[test]
fn opening_reports_progress_and_can_be_cancelled() {
    let mut client = Client::start(&[("p.folded", FIGURE_2)]);
    let params = json!({ "files": [client.path("p.folded")], "workDoneToken": "open" });
    client.ok("fulcrum/navigator/open", params.clone());
    let said = |client: &mut Client| -> Vec<Value> {
        let next = std::iter::repeat_with(|| client.notification("$/progress")["value"].clone());
        let mut said: Vec<Value> = Vec::new();
        for value in next {
            let end = value["kind"] == "end";
            said.push(value);
            if end {
                break;
            }
        }
        said
    };
    let percentages = |said: &[Value]| -> Vec<u64> {
        let all = said.iter().filter_map(|it| it["percentage"].as_u64());
        all.collect()
    };
    let opening = said(&mut client);
    assert_eq!(opening[0]["kind"], "begin");
    // Begun, read, made a tree, prepared.
    assert_eq!(percentages(&opening), [0, 0, 42, 50, 100]);
    let params = json!({ "id": 1, "workDoneToken": "automatic" });
    client.ok("fulcrum/navigator/automatic", params);
    let searching = percentages(&said(&mut client));
    let grows = searching.windows(2).all(|it| it[0] <= it[1]);
    assert!(grows && searching.len() > 2, "{searching:?}");
    // A pipe that nobody writes to keeps it reading until it is cancelled, by the request or by the token.
    for by_token in [false, true] {
        let token = format!("pipe {by_token}");
        let pipe = client.path(&token);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let params = json!({ "files": [pipe], "workDoneToken": token });
        let id = client.send("fulcrum/navigator/open", params);
        let of = |kind: &'static str| {
            let token = token.clone();
            move |it: &Value| it["token"] == token.as_str() && it["value"]["kind"] == kind
        };
        client.notification_where("$/progress", of("report"));
        match by_token {
            true => client.notify("window/workDoneProgress/cancel", json!({ "token": token })),
            false => client.notify("$/cancelRequest", json!({ "id": id })),
        }
        let cancelled = client.response(id).expect_err("it is cancelled");
        assert_eq!(
            cancelled.code,
            lsp_server::ErrorCode::RequestCanceled as i32
        );
        // If it reads already, it goes on when the pipe ends, and what it opened is dropped. If not, nobody reads.
        std::thread::spawn(move || std::fs::write(&pipe, FIGURE_2));
        client.notification_where("$/progress", of("end"));
    }
    let next = client.ok(
        "fulcrum/navigator/open",
        json!({ "files": [client.path("p.folded")] }),
    );
    assert_eq!(next["id"], 2, "cancelled ones have no number");
    client.leave().expect("an orderly end");
}

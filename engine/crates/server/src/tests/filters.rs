//! Filters of event traces: completion, diagnostics and hover know what earlier runs saw.

use std::sync::atomic::{AtomicU64, Ordering};

use expect_test::{Expect, expect};
use fulcrum_event_log::{Log, Moment, Options};
use fulcrum_wire::log::{Body, DICTIONARY, PayloadBuffer, cpu_clock, kind};
use serde_json::{Value, json};

use super::client::Client;

/// Class, method, descriptor, calls.
const METHODS: [(&str, &str, &str, u32); 6] = [
    ("shop.Cart", "<init>", "()V", 2),
    ("shop.Cart", "add", "(I)V", 30),
    ("shop.Cart", "add", "(J)V", 1),
    ("shop.Cart", "total", "()J", 0),
    ("shop.tax.Rates", "of", "(I)D", 31),
    ("Main", "main", "([Ljava/lang/String;)V", 1),
];

fn now() -> Moment {
    static TICKS: AtomicU64 = AtomicU64::new(1_000_000);
    let ns = TICKS.fetch_add(1, Ordering::Relaxed);
    Moment {
        ticks: ns,
        ns,
        cpu_ns: ns,
    }
}

/// A run with a log of those calls, and of a class whose methods were not observed.
fn record(client: &Client, name: &str, filter: &str) {
    let folder = client.path(&format!(".fulcrum/runs/{name}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("filter"), filter).expect("a file");
    std::fs::write(folder.join("agent.options"), "").expect("a file");
    std::fs::write(folder.join("run.json"), "{}").expect("a file");
    let options = Options {
        limit: 1 << 24,
        pid: 9,
        unix_ns: 1_700_000_000_000_000_000,
        cpu_clock: cpu_clock::RUNS,
        version: fulcrum_wire::log::PLAIN_VERSION,
        now,
    };
    let log = Log::create(&folder.join("events-9.log"), &options).expect("a log");
    let mut dictionary = log.stream(DICTIONARY);
    let mut thread = log.stream(2);
    let mut write = |kind, payload: &PayloadBuffer| {
        let body = Body::Payload(payload.as_bytes());
        assert!(dictionary.write(kind, now().ticks, None, 0, body));
    };
    let class = PayloadBuffer::default().number(1).text("shop.Closed");
    write(kind::DEFINE_CLASS, &class);
    for (n, (class, method, descriptor, calls)) in METHODS.into_iter().enumerate() {
        let number = n as u32 + 1;
        let defined = PayloadBuffer::default()
            .number(u64::from(number))
            .text(class)
            .text(method)
            .text(descriptor)
            .text("Shop.java")
            .number(10);
        write(kind::DEFINE_METHOD, &defined);
        for _ in 0..calls {
            for kind in [kind::ENTER, kind::EXIT] {
                assert!(thread.write(kind, now().ticks, None, 0, Body::Method(number)));
            }
        }
    }
    log.finish();
}

const OBSERVE: &str = "observe_method_invocations\n";

/// A client with a run, and the filter as an open document.
fn open(text: &str) -> Client {
    let mut client = Client::start(&[]);
    record(&client, "20261121T131500Z-java", OBSERVE);
    let uri = client.uri("a.fulcrum-filter");
    let document =
        json!({ "uri": uri, "languageId": "fulcrum-filter", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    client
}

/// `line: code: message` of what is published.
fn published(client: &mut Client) -> String {
    let params = client.notification("textDocument/publishDiagnostics");
    let lines = params["diagnostics"]
        .as_array()
        .expect("diagnostics")
        .iter();
    lines
        .map(|it| {
            let line = it["range"]["start"]["line"].as_u64().expect("a line") + 1;
            let (code, message) = (it["code"].as_str(), it["message"].as_str());
            format!(
                "{line}: {}: {}\n",
                code.expect("a code"),
                message.expect("a text")
            )
        })
        .collect()
}

fn check(text: &str, expect: &Expect) {
    let mut client = open(text);
    expect.assert_eq(&published(&mut client));
    client.leave().expect("an orderly end");
}

#[test]
fn diagnostics_say_what_a_rule_cannot_do() {
    check(
        "observe_method_invocations\nincludemethod shop.* *\nexcludemethod Main main\n",
        &expect![""],
    );
    check(
        "observe_method_invocations\nobserve everything\nincludemethod shop.Cart\n",
        &expect![[r#"
            2: syntax: `observe everything` is not a directive: observe_method_invocations, observe_monitor_contention, observe_object_allocation [CLASS], observe_garbage_collection, observe_class_loading, includemethod CLASS METHOD [DESCRIPTOR], identifymethod CLASS METHOD [DESCRIPTOR], excludemethod CLASS METHOD [DESCRIPTOR], maximum_depth CALLS, observe_values CLASS METHOD [DESCRIPTOR], maximum_values ARGUMENTS, maximum_text BYTES, or output FILE.
            3: syntax: `includemethod shop.Cart` is not a rule: includemethod CLASS METHOD [DESCRIPTOR].
        "#]],
    );
    check(
        "includemethod shop.* *\n",
        &expect![[r#"
            1: noMethods: Rules for methods do nothing without a line `observe_method_invocations`.
        "#]],
    );
    check(
        "observe_method_invocations\nexcludemethod * <init>\nexcludemethod shop.* *\nincludemethod shop.Cart add # too late\n",
        &expect![[r#"
            4: shadowedRule: Line 3 matches every method that this rule matches, and the first rule that matches decides.
        "#]],
    );
    // No rule above says so alone, all together do, as far as earlier runs know.
    check(
        "observe_method_invocations\nexcludemethod shop.Cart add (I)V\nexcludemethod * * (J)V\nincludemethod shop.Cart add\n",
        &expect![[r#"
            4: shadowedRule: Of the methods that earlier runs saw, it matches 2, and rules above it (line 2, 3) decide about all of them.
        "#]],
    );
    check(
        "observe_method_invocations\nincludemethod shop.Card *\nincludemethod shop.Cart remove*\nincludemethod shop.Closed close\nincludemethod shop.Cart *\n",
        &expect![[r#"
            2: neverMatches: No class that the run that is kept here saw matches `shop.Card`: this rule never matched.
            3: neverMatches: No method of `shop.Cart` that the run that is kept here saw matches `remove*`: this rule never matched.
            4: neverMatches: No method of `shop.Closed` that the run that is kept here saw matches `close`: this rule never matched.
        "#]],
    );
}

#[test]
fn what_a_runs_own_filter_left_out_may_be_there() {
    let mut client = Client::start(&[]);
    let narrow = "observe_method_invocations\nexcludemethod shop.Closed *\n";
    record(&client, "20261121T131500Z-java", narrow);
    let text = "observe_method_invocations\nincludemethod shop.Closed close\n";
    let uri = client.uri("a.fulcrum-filter");
    let document =
        json!({ "uri": uri, "languageId": "fulcrum-filter", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(published(&mut client), "");
    // Another run shows it, and the next look at the text knows.
    record(&client, "20261121T131600Z-java", OBSERVE);
    client.replace_document("a.fulcrum-filter", 2, text);
    assert!(published(&mut client).starts_with("2: neverMatches: No method of `shop.Closed`"));
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": uri } }),
    );
    assert_eq!(published(&mut client), "");
    client.leave().expect("an orderly end");
}

/// Completes at the `|`; `label: detail` each, and what the edit replaces.
fn complete(text: &str, expect: &Expect) {
    let at = text.find('|').expect("a cursor");
    let mut client = open(&text.replace('|', ""));
    let line = text[..at].matches('\n').count();
    let character = at - text[..at].rfind('\n').map_or(0, |it| it + 1);
    let items = client.ok(
        "textDocument/completion",
        json!({
            "textDocument": { "uri": client.uri("a.fulcrum-filter") },
            "position": { "line": line, "character": character },
        }),
    );
    let items = items.as_array().expect("items");
    let mut said: String = items
        .iter()
        .map(|it| {
            let detail = it["detail"].as_str().map(|it| format!(": {it}"));
            format!(
                "{}{}\n",
                it["label"].as_str().expect("a label"),
                detail.unwrap_or_default()
            )
        })
        .collect();
    if let Some(first) = items.first() {
        let range = &first["textEdit"]["range"];
        said += &format!(
            "replaces {} to {}\n",
            range["start"]["character"], range["end"]["character"]
        );
    }
    expect.assert_eq(&said);
    client.leave().expect("an orderly end");
}

#[test]
fn completion_knows_directives_classes_methods_and_descriptors() {
    complete(
        "inc|",
        &expect![[r#"
            observe_method_invocations
            observe_monitor_contention
            observe_garbage_collection
            observe_class_loading
            observe_object_allocation: [CLASS]
            includemethod: CLASS METHOD [DESCRIPTOR]
            identifymethod: CLASS METHOD [DESCRIPTOR]
            excludemethod: CLASS METHOD [DESCRIPTOR]
            maximum_depth: CALLS
            observe_values: CLASS METHOD [DESCRIPTOR]
            maximum_values: ARGUMENTS
            maximum_text: BYTES
            output: FILE
            bytecode_rewriting
            replaces 0 to 3
        "#]],
    );
    complete(
        "includemethod sho|p.C *",
        &expect![[r#"
            *: all classes that are not the Java platform's
            shop.*: 2 classes
            shop.tax.*: 1 class
            Main: 1 method
            shop.Cart: 4 methods
            shop.tax.Rates: 1 method
            shop.Closed
            replaces 14 to 20
        "#]],
    );
    complete(
        "excludemethod shop.* |",
        &expect![[r#"
            *: all methods
            <init>: shop.Cart
            add: shop.Cart
            of: shop.tax.Rates
            total: shop.Cart
            replaces 21 to 21
        "#]],
    );
    complete(
        "excludemethod shop.* add (|",
        &expect![[r#"
            (I)V
            (J)V
            replaces 25 to 26
        "#]],
    );
    complete("excludemethod shop.* add (I)V |", &expect![""]);
    complete("# incl|", &expect![""]);
}

fn hover(client: &mut Client, line: u32) -> String {
    let uri = client.uri("a.fulcrum-filter");
    let hover = client.ok(
        "textDocument/hover",
        json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 3 } }),
    );
    let value = hover["contents"]["value"].as_str();
    value.map_or_else(|| hover.to_string(), str::to_owned) + "\n"
}

#[test]
fn hover_says_how_many_methods_and_calls_a_rule_selects() {
    let mut client = open(
        "observe_method_invocations\n\nexcludemethod * <init>\nincludemethod shop.* *\nexcludemethod Main main\n",
    );
    expect![[r#"
        `includemethod CLASS METHOD [DESCRIPTOR]`

        Observes these methods. The first rule that matches a method decides; `*` stands for anything.

        Of 6 methods that the newest run saw, this rule **selects 4**; rules above decide about 1 more that it matches.

        **62 calls** in `20261121T131500Z-java`:

        | Calls | Method |
        |---:|---|
        | 31 | `shop.tax.Rates.of` |
        | 30 | `shop.Cart.add` |
        | 1 | `shop.Cart.add` |

    "#]]
    .assert_eq(&hover(&mut client, 3));
    expect![[r#"
        `observe_method_invocations`

        Observes entry and exit of methods. The rules below it say of which.

        Of 6 methods that the newest run saw, this filter **selects 4**.

        **62 calls** in `20261121T131500Z-java`:

        | Calls | Method |
        |---:|---|
        | 31 | `shop.tax.Rates.of` |
        | 30 | `shop.Cart.add` |
        | 1 | `shop.Cart.add` |

    "#]]
    .assert_eq(&hover(&mut client, 0));
    assert!(hover(&mut client, 4).contains("**leaves out 1**."));
    assert_eq!(hover(&mut client, 1), "null\n");
    client.leave().expect("an orderly end");
}

#[test]
fn without_runs_a_filter_can_still_be_written() {
    let mut client = Client::start(&[]);
    let uri = client.uri("b.txt");
    let text = "observe_method_invocations\nincludemethod a.B *\n";
    // The language can be chosen by hand.
    let document =
        json!({ "uri": uri, "languageId": "fulcrum-filter", "version": 1, "text": text });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(published(&mut client), "");
    let hover = client.ok(
        "textDocument/hover",
        json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 0 } }),
    );
    let value = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(value.contains("No run is kept here yet"), "{value}");
    // Another language's document has none of this.
    client.open_document("a.cpp", "int main() {}\n");
    let place = json!({ "textDocument": { "uri": client.uri("a.cpp") }, "position": { "line": 0, "character": 0 } });
    assert_eq!(client.ok("textDocument/completion", place), Value::Null);
    client.leave().expect("an orderly end");
}

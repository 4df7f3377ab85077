//! `fulcrum events` and the Python reader on logs of real programs: `tests/data/events`, with the programs beside them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fulcrum_events::{Event, Returned, Trace, Value as CallValue, What};
use serde_json::{Value, json};

/// JDK 17: exceptions, `wait` and `notify`, recursion. JDK 17: contention, allocation, release, collections, a name that is
/// not ASCII. JDK 25: virtual threads. JDK 17: objects of calls (`Pools.java` of the agent's tests), and values
/// (`Values.java`).
const LOGS: [&str; 5] = [
    "jdk17-queue",
    "jdk17-monitors",
    "jdk25-virtual-threads",
    "jdk17-pools",
    "jdk17-values",
];

fn log(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/events");
    data.join(format!("{name}.log"))
}

fn fulcrum(args: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args(args)
        .output();
    command.expect("the command runs")
}

fn text(args: &[&str]) -> String {
    let output = fulcrum(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"));
    lines.collect()
}

fn value(trace: &Trace, it: &CallValue) -> Value {
    let kind = match it {
        CallValue::Unknown => "unknown",
        CallValue::Integer(_) | CallValue::Unsigned(_) => "integer",
        CallValue::Boolean(_) => "boolean",
        CallValue::Character(_) => "character",
        CallValue::Single(_) | CallValue::Double(_) => "real",
        CallValue::Text { .. } => "text",
        CallValue::Null => "null",
        CallValue::Object { .. } => "object",
        CallValue::Address(_) => "address",
        CallValue::Named { .. } => "named",
    };
    let cut = matches!(it, CallValue::Text { cut: true, .. });
    json!({ "kind": kind, "value": it.plain(trace), "cut": cut })
}

/// What the Rust API gives, in the words of the documents.
fn told(trace: &Trace, event: &Event) -> Value {
    let with = |mut told: Value, more: Value| {
        let more = more.as_object().unwrap().clone();
        told.as_object_mut().unwrap().extend(more);
        told
    };
    let mut told =
        json!({ "timeNs": event.wall_ns, "cpuNs": event.cpu_ns, "thread": event.thread });
    if event.skipped > 0 {
        told = with(told, json!({ "skipped": event.skipped }));
    }
    let class = |class: &u32| trace.classes[class].name.clone();
    let method = |event: &str, method: &u32| {
        let method = &trace.methods[method];
        json!({ "event": event, "class": method.class, "method": method.name, "descriptor": method.descriptor })
    };
    let what = match &event.what {
        What::Enter { method: it } => method("enter", it),
        What::Exit {
            method: it,
            thrown: false,
        } => method("exit", it),
        What::Exit {
            method: it,
            thrown: true,
        } => method("thrown", it),
        What::Objects {
            method: it,
            receiver,
            argument,
        } => with(
            method("objects", it),
            json!({ "receiver": receiver, "argument": argument }),
        ),
        What::Result { method: it, value } => with(
            method("result", it),
            match value {
                Returned::Object(object) => json!({ "object": object }),
                Returned::Boolean(value) => json!({ "value": value }),
            },
        ),
        What::Arguments { method: it, given } => {
            let arguments: Vec<Value> = given.values.iter().map(|it| value(trace, it)).collect();
            let more = given.all as usize - given.values.len();
            let told = json!({ "arguments": arguments, "moreArguments": more });
            with(method("arguments", it), told)
        }
        What::Returned {
            method: it,
            value: of,
        } => with(
            method("returned", it),
            json!({ "returned": value(trace, of) }),
        ),
        What::ThreadStart {
            name,
            group,
            parent,
            daemon,
            virtual_thread,
            earlier,
        } => json!({
            "event": "threadStart", "name": name, "group": group, "parent": parent, "daemon": daemon,
            "virtual": virtual_thread, "earlier": earlier,
        }),
        What::ThreadEnd => json!({ "event": "threadEnd" }),
        What::ContendedEnter { object, class: it } => {
            json!({ "event": "contendedEnter", "object": object, "class": class(it) })
        }
        What::ContendedEntered { object, class: it } => {
            json!({ "event": "contendedEntered", "object": object, "class": class(it) })
        }
        What::Wait {
            object,
            class: it,
            timeout_ms,
        } => {
            json!({ "event": "wait", "object": object, "class": class(it), "timeoutMs": timeout_ms })
        }
        What::Waited {
            object,
            class: it,
            timed_out,
        } => {
            json!({ "event": "waited", "object": object, "class": class(it), "timedOut": timed_out })
        }
        What::Allocation {
            object,
            class: it,
            bytes,
            interval,
        } => {
            json!({ "event": "allocation", "object": object, "class": class(it), "bytes": bytes, "intervalBytes": interval })
        }
        What::Release { object } => json!({ "event": "release", "object": object }),
        What::GcStart => json!({ "event": "gcStart" }),
        What::GcEnd => json!({ "event": "gcEnd" }),
        What::ClassLoad { class: it, probed } => {
            json!({ "event": "classLoad", "class": class(it), "probed": probed })
        }
        What::ClassUnload { class: it } => json!({ "event": "classUnload", "class": class(it) }),
        What::VmStart { machine } => json!({ "event": "vmStart", "machine": machine }),
        What::VmEnd => json!({ "event": "vmEnd" }),
    };
    with(told, what)
}

#[test]
fn the_python_reader_and_the_rust_api_give_the_events_that_are_listed() {
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/python");
    for name in LOGS {
        let log = log(name);
        let path = log.to_str().unwrap();
        let listed = lines(&text(&["events", "list", path, "--json"]));
        assert!(listed.len() > 400, "{name}: {}", listed.len());
        let trace = Trace::open(&log).unwrap();
        let rust: Vec<Value> = trace.events().map(|event| told(&trace, &event)).collect();
        let python = Command::new("python3")
            .args(["-m", "fulcrum_events", path])
            .env("PYTHONPATH", &bindings)
            .env("PYTHONIOENCODING", "utf-8")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .expect("python3, 3.8 or newer, tests the Python reader: install it (apt-get install python3)");
        let errors = String::from_utf8_lossy(&python.stderr);
        assert!(python.status.success(), "{name}: {errors}");
        let python = lines(&String::from_utf8(python.stdout).unwrap());
        for (at, listed) in listed.iter().enumerate() {
            // Keys have no order.
            assert_eq!(
                rust.get(at),
                Some(listed),
                "{name}, event {at}: the Rust API"
            );
            assert_eq!(python.get(at), Some(listed), "{name}, event {at}: Python");
        }
        assert_eq!([rust.len(), python.len()], [listed.len(); 2], "{name}");
    }
}

#[test]
fn queries_answer_on_real_traces_and_say_where_they_are_wrong() {
    let queue = log("jdk17-queue");
    let queue = queue.to_str().unwrap();
    let query = "kind = call and thread = \"Dispatcher*\" group by name select count, max(depth) order by name";
    let rows = lines(&text(&["events", "query", query, queue, "--json"]));
    let count = |name: &str| {
        rows.iter()
            .find(|row| row["name"] == name)
            .map(|row| row["count"].clone())
    };
    assert_eq!(count("serve"), Some(json!(60)));
    assert_eq!(count("take"), Some(json!(62)));
    let thrown = text(&[
        "events",
        "query",
        "ended = thrown select count",
        queue,
        "--format",
        "csv",
    ]);
    assert_eq!(thrown, "count\n20\n");
    let output = fulcrum(&["events", "query", "wall > 3 and kind = call", queue]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        error,
        "fulcrum: wall is a time: give it a unit, as in 1ms\n  wall > 3 and kind = call\n         ^\n"
    );
    let nothing = fulcrum(&["events", "query", "wall > 1min", queue]);
    assert_eq!(
        (nothing.status.code(), nothing.stdout.is_empty()),
        (Some(1), true)
    );
    let table = text(&["events", "query", "kind = wait group by class", queue]);
    assert!(
        table
            .lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("java.util.ArrayDeque") && line.contains(" 24 ")),
        "{table}"
    );
}

#[test]
fn a_real_queue_is_replayed() {
    let log = log("jdk17-queue");
    let path = log.to_str().unwrap();
    let queue: Value = serde_json::from_str(&text(&[
        "events",
        "queues",
        path,
        "--put",
        "Main.put",
        "--take",
        "Main.take",
        "--json",
    ]))
    .unwrap();
    let requests = queue["requests"].as_array().unwrap();
    assert_eq!(
        (requests.len(), &queue["summary"]["taken"]),
        (62, &json!(62))
    );
    for request in requests {
        let number = |key: &str| request[key].as_u64().unwrap();
        assert_eq!(
            number("waitNs"),
            number("dispatchNs") - number("enqueueNs"),
            "{request}"
        );
        assert!(
            request["sure"] == true && number("putLength") <= 62,
            "{request}"
        );
    }
    let shown = text(&[
        "events",
        "queues",
        path,
        "--put",
        "Main.put",
        "--take",
        "Main.take",
        "--top",
        "3",
    ]);
    assert!(
        shown.contains("59 more: --top 0 shows all") && shown.contains("Dispatcher-"),
        "{shown}"
    );
    let absent = fulcrum(&[
        "events",
        "queues",
        path,
        "--put",
        "Pool.add",
        "--take",
        "Main.take",
    ]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("the log has no method Pool.add"));
}

#[test]
fn traces_are_written_for_other_tools() {
    let folder = tempfile::tempdir().unwrap();
    let log = log("jdk17-monitors");
    let path = log.to_str().unwrap();
    let export = |to: &str, more: &[&str]| -> Vec<u8> {
        let file = folder.path().join(to);
        let args = [
            &[
                "events",
                "export",
                path,
                "--format",
                to,
                "-o",
                file.to_str().unwrap(),
            ],
            more,
        ]
        .concat();
        let output = fulcrum(&args);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{to}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        std::fs::read(file).unwrap()
    };
    let csv = String::from_utf8(export(
        "csv",
        &[
            "--where",
            "kind = contended",
            "--columns",
            "thread, what, wall, object",
        ],
    ))
    .unwrap();
    let rows: Vec<_> = csv.lines().collect();
    assert_eq!((rows.len(), rows[0]), (4, "thread,what,wall,object"));
    assert!(
        rows[2].starts_with("Größe-") && rows[2].contains(",java.lang.Object#"),
        "{csv}"
    );
    let parquet = export("parquet", &["--where", "kind = contended"]);
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let tsv = String::from_utf8(export("tsv", &[])).unwrap();
    let json = lines(&String::from_utf8(export("json", &[])).unwrap());
    assert_eq!(tsv.lines().count(), json.len() + 1);
    assert_eq!(json.iter().filter(|row| row["kind"] == "call").count(), 420);

    let chrome: Value = serde_json::from_slice(&export("chrome", &[])).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let phase = |wanted: &str| events.iter().filter(|it| it["ph"] == wanted).count();
    assert_eq!(phase("B"), phase("E"));
    assert_eq!(
        phase("B"),
        json.iter().filter(|row| !row["wall"].is_null()).count()
    );

    let folded = String::from_utf8(export("folded", &["--value", "calls"])).unwrap();
    let calls = folded
        .lines()
        .filter_map(|it| it.rsplit_once(' ')?.1.parse::<u64>().ok());
    assert_eq!(calls.sum::<u64>(), phase("B") as u64);
    // Our own readers know these formats.
    for to in ["pprof", "speedscope"] {
        export(to, &[]);
        let top: Value = serde_json::from_str(&text(&[
            "profile",
            "top",
            folder.path().join(to).to_str().unwrap(),
            "--json",
        ]))
        .unwrap();
        assert!(top.to_string().contains("Main.hold"), "{top}");
    }
    let wrong = fulcrum(&[
        "events",
        "export",
        path,
        "--format",
        "chrome",
        "--where",
        "wall > 1ms",
    ]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn two_real_traces_are_compared() {
    let [a, b] = ["jdk17-queue", "jdk17-monitors"].map(log);
    let args = [
        "events",
        "compare",
        a.to_str().unwrap(),
        b.to_str().unwrap(),
        "--json",
    ];
    let found: Value = serde_json::from_str(&text(&args)).unwrap();
    let rows = found["rows"].as_array().unwrap();
    let change = |path: &[&str]| {
        rows.iter()
            .find(|row| row["path"] == json!(path))
            .map(|row| row["change"].clone())
    };
    assert_eq!(change(&["Main.put"]), None, "put is inside of main");
    assert_eq!(change(&["Main.main", "Main.put"]), Some(json!("appeared")));
    assert_eq!(change(&["Main.main", "Main.make"]), Some(json!("vanished")));
    let roles: Vec<_> = found["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert!(
        roles.contains(&json!("Dispatcher-#")) && roles.contains(&json!("Größe-#")),
        "{roles:?}"
    );
    let same: Value =
        serde_json::from_str(&text(&["events", "compare", args[2], args[2], "--json"])).unwrap();
    assert!(
        same["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["change"] == "same")
    );
}

#[test]
fn a_filter_works_on_a_recorded_trace() {
    let folder = tempfile::tempdir().unwrap();
    let filter = folder.path().join("only.fulcrum-filter");
    std::fs::write(
        &filter,
        "observe_method_invocations\nincludemethod Main fib\n",
    )
    .unwrap();
    let log = log("jdk17-queue");
    let (path, filter) = (log.to_str().unwrap(), filter.to_str().unwrap());
    let events = lines(&text(&[
        "events", "list", path, "--filter", filter, "--json",
    ]));
    let kinds = |wanted: &str| events.iter().filter(|it| it["event"] == wanted).count();
    assert_eq!(
        (kinds("wait"), kinds("classLoad"), kinds("threadStart")),
        (0, 0, 6)
    );
    assert!(
        events
            .iter()
            .filter(|it| it["event"] == "enter")
            .all(|it| it["method"] == "fib")
    );
    let stats: Value = serde_json::from_str(&text(&[
        "events", "stats", path, "--filter", filter, "--json",
    ]))
    .unwrap();
    assert_eq!(stats["methods"].as_array().map(Vec::len), Some(1));
    let tree = text(&[
        "events",
        "tree",
        path,
        "--filter",
        filter,
        "--thread",
        "Dispatcher-*",
    ]);
    assert!(
        tree.contains("Main.fib") && !tree.contains("Main.take"),
        "{tree}"
    );
}

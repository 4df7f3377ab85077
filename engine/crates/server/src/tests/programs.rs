//! Java programs that are recorded and refined by the server: real ones.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use fulcrum_test_support::jdk::main_class;
use fulcrum_test_support::{libraries, programs};
use serde_json::{Value, json};

use super::client::Client;

const MAIN: &str = "public class Main {
  static byte[] kept;
  static void hot() { kept = new byte[2 << 20]; }
  static void work() { for (int i = 0; i < 20; i++) hot(); }
  public static void main(String[] a) {
    if (a.length > 0) System.out.println(\"ready\");
    do work(); while (a.length > 0);
    System.out.println(\"done\");
  }
}";

/// A workspace with the program, compiled.
fn start() -> Client {
    libraries::all();
    let client = Client::start(&[]);
    programs::copy(&main_class(MAIN), &client.root());
    std::fs::write(client.root().join("Main.java"), MAIN)
        .expect("the workspace can be written into");
    client
}

fn params(client: &Client, more: Value) -> Value {
    let root = client.root();
    let mut params = json!({ "program": "java", "args": ["Main"], "cwd": root, "workspace": root });
    let all = params.as_object_mut().expect("an object");
    all.extend(more.as_object().expect("an object").clone());
    params
}

#[test]
fn a_trace_is_recorded_and_a_cancelled_one_is_kept() {
    let mut client = start();
    let given = json!({ "filter": "observe_method_invocations\n", "workDoneToken": "t" });
    let given = params(&client, given);
    let outcome = client.ok("fulcrum/trace/start", given.clone());
    assert_eq!(outcome["exit"], "java ended normally.");
    assert_eq!(outcome["endedNormally"], true);
    let run = std::path::PathBuf::from(outcome["run"].as_str().expect("a run"));
    let output = std::fs::read_to_string(run.join("stdout.txt")).expect("its output");
    assert_eq!(output, "done\n");
    let log = outcome["logs"][0].as_str().expect("a log").to_owned();
    let trace = fulcrum_events::Trace::open(log.as_ref()).expect("a log");
    let names: Vec<_> = trace.methods.values().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"hot"), "{names:?}");
    let ended = |it: &Value| it["value"]["kind"] == "end";
    client.notification_where("$/progress", ended);

    // One that goes on for ever.
    let endless = json!({ "args": ["Main", "x"], "workDoneToken": "u" });
    let id = client.send("fulcrum/trace/start", params(&client, endless));
    let live = client.notification("fulcrum/trace/live");
    let messages = [
        json!({ "method": "fulcrum/trace/start", "params": given }),
        json!({ "method": "fulcrum/trace/live", "params": live }),
        json!({ "result": outcome }),
    ];
    super::examples::check_kinds("traceStart", &messages);
    assert!(live["bytes"].as_u64() > Some(0) && live["elapsedSeconds"].as_f64() > Some(0.0));
    client.notify("window/workDoneProgress/cancel", json!({ "token": "u" }));
    let outcome = client.response(id).expect("an outcome");
    assert_eq!(outcome["exit"], "java was stopped.");
    assert_eq!(outcome["endedNormally"], false);
    client.leave().expect("an orderly end");
}

#[test]
fn the_refine_loop_tells_its_iterations() {
    let mut client = start();
    let given = json!({
        // Memory, which is the same on a busy machine.
        "rule": "allocation >= 1MiB after 20", "runs": 1, "iterations": 2, "recheck": 0, "workDoneToken": "t",
        "unit": "Main.work",
    });
    let given = params(&client, given);
    let outcome = client.ok("fulcrum/refine/start", given.clone());
    let live = client.notification("fulcrum/refine/live");
    let messages = [
        json!({ "method": "fulcrum/refine/start", "params": given }),
        json!({ "method": "fulcrum/refine/live", "params": live }),
        json!({ "result": outcome }),
    ];
    super::examples::check_kinds("refineStart", &messages);
    let rows = outcome["iterations"].as_array().expect("rows");
    let methods: Vec<_> = rows.iter().map(|row| row["methods"].as_u64()).collect();
    // All but the constructor are called; then the hotspot and the unit of work are left.
    assert_eq!(methods, [Some(4), Some(2)]);
    assert_eq!(rows[1]["metered"], 21);
    assert!(rows[1]["overhead"].is_f64() && rows[1]["overheadLow"].is_null());
    assert_eq!(outcome["hotspots"], json!(["Main.hot()V"]));
    assert_eq!(
        (&outcome["stable"], &outcome["exit"]),
        (&true.into(), &"The set is stable: 1 hotspot.".into())
    );
    let live = client.notification_where("fulcrum/refine/live", |it| {
        it["iterations"]
            .as_array()
            .is_some_and(|rows| rows.len() == 1)
    });
    assert_eq!(live["iterations"][0]["methods"], 4);
    let frame = json!({ "run": rows[1]["run"], "method": "Main.hot()V" });
    let found = client.ok("fulcrum/refine/frame", frame.clone());
    let messages = [
        json!({ "method": "fulcrum/refine/frame", "params": frame }),
        json!({ "result": found }),
    ];
    super::examples::check_kinds("refineFrame", &messages);
    let location = &found["locations"][0];
    assert!(
        location["uri"]
            .as_str()
            .expect("a file")
            .ends_with("/Main.java")
    );
    assert_eq!(location["line"], 2, "{found}");
    let frame = json!({ "run": rows[1]["run"], "method": "Main.gone()V" });
    let found = client.ok("fulcrum/refine/frame", frame);
    assert_eq!(found["locations"], json!([]), "{found}");
    let filter = std::fs::read_to_string(outcome["filter"].as_str().expect("a file")).expect("it");
    assert!(filter.contains("includemethod Main hot ()V\n"), "{filter}");
    client.leave().expect("an orderly end");
}

/// A program that ends with its test, whatever becomes of that.
struct Endless(Child);

impl Drop for Endless {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_running_program_is_refined_in_sessions_and_goes_on() {
    let mut client = start();
    let mut java = Command::new("java");
    java.args(["Main", "x"]).current_dir(client.root());
    java.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut program = Endless(java.spawn().expect("java"));
    let mut ready = [0; 6];
    let output = program.0.stdout.as_mut().expect("a pipe");
    output.read_exact(&mut ready).expect("its first line");
    let given = json!({
        "rule": "allocation >= 64KiB after 5", "runs": 1, "recheck": 0, "attach": program.0.id(),
        "keepRunningSeconds": 2.0, "unit": "Main.work",
    });
    let outcome = client.ok("fulcrum/refine/start", params(&client, given));
    assert_eq!(outcome["hotspots"], json!(["Main.hot()V"]));
    assert_eq!(outcome["stable"], true);
    assert_eq!(program.0.try_wait().expect("it is ours"), None);
    client.leave().expect("an orderly end");
}

#[test]
fn wrong_parameters_are_said_at_once() {
    let mut client = Client::start(&[("p.folded", "main;[a] 1\n")]);
    let mut refine = |more: Value| {
        let params = params(&client, more);
        client.failure("fulcrum/refine/start", params)
    };
    let told = refine(json!({ "rule": "wall > 5us" }));
    assert!(
        told.contains("the rule is wrong: at character 6, \">\" is not >= or +"),
        "{told}"
    );
    let told = refine(json!({ "program": " " }));
    assert!(told.contains("no program was given"), "{told}");
    let told = refine(json!({ "from": { "kind": "navigator", "id": 7 } }));
    assert!(told.contains("navigator 7 is not open"), "{told}");
    let told = refine(json!({ "durationSeconds": -1.0 }));
    assert!(told.contains("a run cannot last -1 seconds"), "{told}");
    let path = client.path("p.folded");
    client.ok("fulcrum/navigator/open", json!({ "files": [path] }));
    let command = json!({ "kind": "selectPath", "path": ["main"] });
    client.ok(
        "fulcrum/navigator/command",
        json!({ "id": 1, "command": command }),
    );
    let command = json!({ "kind": "label", "name": "l" });
    client.ok(
        "fulcrum/navigator/command",
        json!({ "id": 1, "command": command }),
    );
    let labels = params(&client, json!({ "from": { "kind": "navigator", "id": 1 } }));
    let told = client.failure("fulcrum/refine/start", labels);
    assert!(
        told.contains("no labelled name is a Java method's"),
        "{told}"
    );
    let wrong = params(&client, json!({ "filter": "observe" }));
    let told = client.failure("fulcrum/trace/start", wrong);
    assert!(told.contains("the filter is wrong at line 1"), "{told}");
    client.leave().expect("an orderly end");
}

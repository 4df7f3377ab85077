//! `fulcrum/transactions/price`, with a stand-in for the recorder.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulcrum_recorder::{Error, Exit, Options, Recorded, Remote, RunStatus, Stdio, TargetChoice};
use fulcrum_runs::{Manifest, RunFolder};
use fulcrum_wire::transactions::{LockKind, Via};
use serde_json::{Value, json};

use super::client::Client;
use super::transactions::support::script::Script;
use super::transactions::{RUN, write_run, write_script};

/// One process whose checkout waits 150 ms for a report.
fn till() -> Script {
    let mut script = Script::default();
    let main = script.process(10, "till");
    let [waits, holds] = [1, 2].map(|number: u16| {
        let thread = script.spawn(main, "main > start", u32::from(number) + 1, "worker");
        let ports = (80, 4000 + number);
        script.tcp(
            thread,
            "serve > accept",
            u32::from(number),
            Via::Accepted,
            ports,
        );
        thread
    });
    script.receive(holds, "serve > recv", 2, 100, "GET /report HTTP/1.1\r\n");
    script.receive(
        waits,
        "serve > recv",
        1,
        100,
        "GET /checkout?id=7 HTTP/1.1\r\n",
    );
    script.rest(200);
    script.release(holds, "serve > report", LockKind::Mutex);
    let holder = holds.tid(&script);
    script.wait(waits, "serve > checkout", LockKind::Mutex, 150, holder);
    script.send(holds, "serve > send", 2, 200);
    script.send(waits, "serve > send", 1, 200);
    script
}

/// Ten experiments, of which half let the section take half the time: then a checkout takes 8 ms instead of 10.
fn stream() -> String {
    let mut lines = vec![json!({
        "type": "header", "format": "fulcrum-causal", "version": 1, "pid": 9, "program": "/app/till", "time": 0,
        "period": 1_500_000, "levels": [0.5], "sampler": "perf", "target": "path", "shared": [],
    })];
    let target = "path:report@/app/till.c:30";
    for number in 0..10_u64 {
        let speedup = if number % 2 == 0 { 0.0 } else { 0.5 };
        let requests = 100 + number / 2;
        // Little's law: so many are in progress when each takes 10 ms, or 8.
        let takes_s = if speedup == 0.0 { 0.010 } else { 0.008 };
        lines.push(json!({
            "type": "experiment", "selected": target, "speedup": speedup, "duration": 1_000_000_000, "selected_samples": 200,
            "start": number * 2_000_000_000, "wall": 1_000_000_000, "pauses": 0, "weight": 1.0,
            "points": [{
                "name": "GET /checkout", "kind": "latency", "arrivals": requests, "departures": requests,
                "difference": requests as f64 * takes_s, "pending": [1, 1],
            }],
        }));
    }
    lines.push(json!({
        "type": "samples", "time": 20_000_000_000_u64, "delay": 0, "rested": 0, "total": 4000, "in_scope": 4000,
        "lines": { target: 4000 },
    }));
    lines.push(json!({ "type": "end", "time": 20_000_000_000_u64, "delay": 0, "rested": 0, "reason": "exit" }));
    let lines = lines.iter().map(Value::to_string);
    lines.map(|line| line + "\n").collect()
}

/// Writes the run that the real one would.
fn measured(options: &Options) -> Recorded {
    let run = options.output.clone().expect("beside the transactions");
    let folder = RunFolder::create_at(&run).expect("a new folder");
    std::fs::write(run.join("causal-9-0.jsonl"), stream()).expect("a stream");
    let mut manifest = Manifest::begin(&options.program, &options.args, Path::new("/app"));
    manifest.section.clone_from(&options.section);
    folder.write_manifest(&manifest).expect("a manifest");
    Recorded {
        run,
        exit: Exit::Stopped,
        notes: Vec::new(),
    }
}

fn params(run: &Path, waiter: &str) -> Value {
    json!({
        "run": run, "waiter": waiter, "holder": "GET /report", "lock": "cart_lock", "durationSeconds": 60,
    })
}

#[test]
fn a_section_is_measured_and_its_price_is_told_with_the_run() {
    let seen: Arc<Mutex<Option<Options>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let recorder = move |options: &Options, _: &Remote, _: &mut dyn FnMut(&RunStatus)| {
        *sink.lock().expect("no panic") = Some(options.clone());
        Ok::<_, Error>(measured(options))
    };
    let mut client = Client::start_with(&[], json!({}), Arc::new(recorder));
    let run = client.path(RUN);
    write_script(&run, till());
    let price = "fulcrum/transactions/price";
    let found = client.ok(price, params(&run, "GET /checkout"));
    let options = seen.lock().expect("no panic").take().expect("it was run");
    check_asked(&options, &run);
    let gain = found["gain"].as_f64().expect("a number");
    assert!((0.15..0.25).contains(&gain), "{found:#}");
    let sentence = found["sentence"].as_str().expect("a sentence");
    assert!(
        sentence.starts_with("GET /checkout waits 150 ms behind GET /report on cart_lock; if that section took half the time"),
        "{sentence}"
    );
    let opened = client.ok("fulcrum/transactions/open", json!({ "run": run }));
    assert_eq!(opened["crosstalk"]["pairs"][0]["price"], found);
    client.leave().expect("an orderly end");
}

fn check_asked(options: &Options, run: &Path) {
    assert_eq!(options.program, "shop");
    assert_eq!(options.cwd.as_deref(), Some(Path::new("/app")));
    assert_eq!(options.output, Some(run.join("prices/001")));
    assert_eq!(options.duration, Some(Duration::from_secs(60)));
    assert_eq!(
        (options.fixed_speedup, options.stdio),
        (Some(0.5), Stdio::Files)
    );
    assert_eq!(
        options.aim.target,
        TargetChoice::Path(vec![vec!["report".into()]])
    );
    let section = options.section.as_ref().expect("one");
    assert_eq!((&*section.lock, section.any_lock), ("cart_lock", false));
    assert_eq!(section.request.as_deref(), Some("GET /checkout"));
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_runs() {
    let mut client = Client::start(&[]);
    let run = client.path(RUN);
    write_run(&run);
    for (waiter, why) in [
        ("GET /buy", "GET /buy never waited for GET /report"),
        // In the shop of two processes, the lock is in the other one.
        (
            "GET /checkout",
            "GET /checkout arrives at shop but waits in database: give a line of database that each such request passes",
        ),
    ] {
        let told = client.failure("fulcrum/transactions/price", params(&run, waiter));
        assert!(told.contains(why), "{told}");
    }
    assert!(!run.join("prices").exists());
    client.leave().expect("an orderly end");
}

//! `samples/dispatcher`, small: what its replayed queue says is what the program did, request by request.

use std::path::{Path, PathBuf};

use crate::common::{fulcrum, json};
use fulcrum_test_support::jdk::classes;
use fulcrum_test_support::libraries;
use serde_json::Value;

/// What happened to a request in the queue, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Put(u64),
    Take(u64),
}

/// The order of puts and takes, from number, enqueue and dispatch of each request.
fn order(requests: &[[u64; 3]]) -> Vec<Step> {
    let puts = requests.iter().map(|it| (it[1], Step::Put(it[0])));
    let takes = requests.iter().map(|it| (it[2], Step::Take(it[0])));
    let mut all: Vec<_> = puts.chain(takes).collect();
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|it| it.1).collect()
}

#[test]
fn the_replayed_queue_is_the_programs_own() {
    libraries::all();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../samples/dispatcher");
    let folder = tempfile::tempdir().unwrap();
    let sources = std::fs::read_dir(sample.join("src/dispatcher")).unwrap();
    let mut sources: Vec<PathBuf> = sources.map(|it| it.unwrap().path()).collect();
    sources.sort();
    let classes = classes(&sources);
    let run = folder.path().join("run");
    let mut trace = fulcrum(&["trace", "--quiet", "--filter"]);
    trace
        .arg(sample.join("dispatcher.fulcrum-filter"))
        .arg("--output")
        .arg(&run);
    // At a five-hundredth of the paper's time, 120 requests come within 60 ms, many of them at once.
    trace.args(["--", "java", "-cp"]).arg(classes);
    trace.args([
        "dispatcher.Main",
        "--requests",
        "120",
        "--scale",
        "0.002",
        "--truth",
    ]);
    let output = trace.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let own: Vec<[u64; 3]> = text
        .lines()
        .skip(2)
        .map(|line| {
            let mut numbers = line.split('\t').map(|it| it.parse().unwrap());
            std::array::from_fn(|_| numbers.next().unwrap())
        })
        .collect();

    let run = run.to_str().unwrap();
    let queue = json(&[
        "events",
        "queues",
        run,
        "--put",
        "ThreadPool.add",
        "--take",
        "ThreadPool.get",
        "--json",
    ]);
    let number =
        |it: &Value, key: &str| it[key].as_u64().unwrap_or_else(|| panic!("{key} of {it}"));
    let replayed = queue["requests"].as_array().unwrap();
    for request in replayed {
        let waited = number(request, "dispatchNs") - number(request, "enqueueNs");
        assert_eq!(number(request, "waitNs"), waited, "{request}");
    }
    let replayed: Vec<_> = replayed
        .iter()
        .map(|it| ["number", "enqueueNs", "dispatchNs"].map(|key| number(it, key)))
        .collect();
    // Both monitors are held to the end, so what happened has one order, which both tell.
    assert_eq!((own.len(), replayed.len()), (120, 120));
    let steps = order(&own);
    assert_eq!(order(&replayed), steps);
    let mut lengths = Vec::new();
    let mut length = 0_u64;
    for step in &steps {
        match step {
            Step::Put(_) => length += 1,
            Step::Take(_) => length -= 1,
        }
        lengths.push((*step, length));
    }
    for request in queue["requests"].as_array().unwrap() {
        let n = number(request, "number");
        let told = [
            (Step::Put(n), number(request, "putLength")),
            (Step::Take(n), number(request, "takeLength")),
        ];
        assert!(told.iter().all(|it| lengths.contains(it)), "{request}");
    }
    let summary = &queue["summary"];
    assert_eq!(
        (&summary["put"], &summary["taken"]),
        (&120.into(), &120.into())
    );
    // Every request was received, put, taken and served by threads of these roles.
    let query = "kind = call group by role, method select count order by method";
    let output = fulcrum(&["events", "query", query, run, "--json"])
        .output()
        .unwrap();
    let rows = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<Value> = rows
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    for (role, method, count) in [
        ("Receiver-#", "dispatcher.ThreadPool.add", 120),
        ("Dispatcher-#", "dispatcher.DispatchRequest.invoke", 120),
    ] {
        let found = rows
            .iter()
            .find(|it| it["role"] == role && it["method"] == method);
        assert_eq!(found.map(|it| number(it, "count")), Some(count), "{rows:?}");
    }
}

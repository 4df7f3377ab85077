//! What a record stream of ours says beyond the first version: targets, weights, queueing, several streams.

use fulcrum_causal_records::read;
use fulcrum_model::causal::{CallTime, Count, Holder, Recording, Stream};
use fulcrum_model::{TargetId, TargetKind};

fn at(text: &str) -> TargetId {
    text.parse().unwrap()
}

fn stream(lines: &[&str]) -> Recording {
    let text = lines.join("\n") + "\n";
    read(text.as_bytes(), "causal-1-0.jsonl").unwrap()
}

const FUNCTIONS: &str = r#"{"type":"header","format":"fulcrum-causal","version":1,"pid":1,"period":1000000,"levels":[0.5],"target":"function","budget":0.03,"shared":["function:g@/w/a.c:9"]}"#;
const ON_F: &str = r#"{"type":"experiment","selected":"function:f(int)@/w/a.c:7","speedup":0.5,"duration":500,"selected_samples":7,"start":100,"wall":600,"weight":0.25,"queued":900,"points":[{"name":"iter","kind":"throughput","delta":9},{"name":"never","kind":"throughput","delta":0}]}"#;

#[test]
fn an_experiment_says_its_target_weight_and_queueing() {
    let recording = stream(&[
        FUNCTIONS,
        ON_F,
        r#"{"type":"experiment","selected":"blocked:read@/w/a.c:9","speedup":0,"duration":500,"selected_samples":1,"points":[{"name":"r","kind":"latency","arrivals":9,"departures":8,"difference":2.5,"pending":[2,3]}]}"#,
        r#"{"type":"samples","time":800,"lines":{"function:f(int)@/w/a.c:7":3,"path:main > f@/w/a.c:7":1}}"#,
        r#"{"type":"end","time":1000,"reason":"retargeted"}"#,
    ]);
    let [first, second] = recording.experiments.as_slice() else {
        panic!("two experiments: {recording:?}")
    };
    assert_eq!(first.selected, at("function:f(int)@/w/a.c:7"));
    assert_eq!((first.weight, first.queued_ns), (0.25, Some(900)));
    assert_eq!(second.selected.kind, TargetKind::Blocked);
    assert_eq!((second.weight, second.queued_ns), (1.0, None));
    assert_eq!(
        second.points[0].count,
        Count::Latency {
            arrivals: 9,
            departures: 8,
            difference: 2.5
        }
    );
    assert_eq!(recording.period_ns, Some(1_000_000));
    assert_eq!(recording.shared, [at("function:g@/w/a.c:9")]);
    assert_eq!(
        recording.streams,
        [Stream {
            runtime_ns: 900, // less the 100 ns of delay in the experiment that says how long it really took
            samples: vec![
                (at("function:f(int)@/w/a.c:7"), 3),
                (at("path:main > f@/w/a.c:7"), 1)
            ],
            points: vec!["iter".into(), "r".into()],
            target: Some(TargetKind::Function),
            program: None,
            ..Stream::default()
        }]
    );
    // It ended in order.
    assert_eq!(recording.notes, [""; 0]);
}

#[test]
fn time_without_samples_is_no_run_time() {
    let samples = r#"{"type":"samples","time":800,"delay":50,"rested":300,"lines":{"/w/a.c:7":3}}"#;
    let end = r#"{"type":"end","time":1000,"delay":50,"rested":400,"reason":"exit"}"#;
    let ended = stream(&[FUNCTIONS, samples, end]);
    assert_eq!(ended.streams[0].runtime_ns, 550);
    let running = stream(&[FUNCTIONS, samples]);
    assert_eq!(running.streams[0].runtime_ns, 450, "up to the samples");
}

#[test]
fn streams_add_up_and_stay_apart() {
    let lines = FUNCTIONS.replace("\"function\"", "\"line\"");
    let recording = stream(&[
        &lines,
        r#"{"type":"samples","time":800,"lines":{"/w/a.c:7":3}}"#,
        r#"{"type":"end","time":1000,"reason":"retargeted"}"#,
        FUNCTIONS,
        ON_F,
        r#"{"type":"samples","time":400,"lines":{"function:f(int)@/w/a.c:7":5}}"#,
        r#"{"type":"end","time":700,"reason":"exit"}"#,
    ]);
    assert_eq!(recording.runtime_ns, 1000 + 600);
    let streams: Vec<_> = recording
        .streams
        .iter()
        .map(|it| (it.runtime_ns, it.samples[0].1, it.points.len(), it.target))
        .collect();
    assert_eq!(
        streams,
        [
            (1000, 3, 0, Some(TargetKind::Line)),
            (600, 5, 1, Some(TargetKind::Function))
        ]
    );
}

#[test]
fn end_to_end_repetitions_are_experiments_with_one_visit() {
    let one = |pid: u32, speedup: f64| {
        format!(
            "{{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":{pid}}}\n\
             {{\"type\":\"experiment\",\"selected\":\"/w/a.c:7\",\"speedup\":{speedup},\"duration\":500,\"selected_samples\":7,\
             \"points\":[{{\"name\":\"end-to-end\",\"kind\":\"throughput\",\"delta\":1}}]}}\n\
             {{\"type\":\"end\",\"time\":500,\"reason\":\"exit\"}}\n"
        )
    };
    let recording = read((one(1, 0.0) + &one(2, 0.5)).as_bytes(), "x").unwrap();
    assert_eq!(
        (recording.experiments.len(), recording.streams.len()),
        (2, 2)
    );
    for experiment in &recording.experiments {
        assert_eq!(experiment.points[0].count, Count::Throughput { delta: 1 });
    }
}

#[test]
fn wrong_additions_are_errors() {
    for (from, to, problem) in [
        (
            "\"weight\":0.25",
            "\"weight\":0",
            "expected a weight above 0, got 0",
        ),
        (
            "\"weight\":0.25",
            "\"weight\":-1",
            "expected a weight above 0, got -1",
        ),
        (
            "\"function\"",
            "\"module\"",
            "expected a target of line, function, inclusive, path or blocked, got \"module\"",
        ),
        (
            "function:f(int)@/w/a.c:7",
            "function:f(int)",
            "bad selected: expected function:NAME@FILE:LINE, got \"function:f(int)\"",
        ),
        (
            "function:g@/w/a.c:9",
            "nowhere",
            "bad shared: expected FILE:LINE, got \"nowhere\"",
        ),
    ] {
        let text = format!("{FUNCTIONS}\n{ON_F}\n").replace(from, to);
        let error = read(text.as_bytes(), "s").expect_err(to).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn samples_say_what_lines_do_in_calls() {
    let recording = stream(&[
        FUNCTIONS,
        r#"{"type":"samples","time":800,"lines":{"/w/a.c:7":30},"kernel":false,"calls":[{"at":"/w/a.c:7","function":"sendmsg","processor":3,"whole":4}]}"#,
        r#"{"type":"samples","time":900,"total":60,"queued":30000000,"lines":{"/w/a.c:7":40},"calls":[{"at":"/w/a.c:7","function":"sendmsg","processor":20,"whole":22},{"at":"/w/a.c:9","function":"pthread_mutex_lock","processor":0,"whole":9}],"holders":[{"at":"/w/a.c:9","by":"/w/b.c:3","count":8}]}"#,
    ]);
    let [stream] = recording.streams.as_slice() else {
        panic!("one stream: {recording:?}")
    };
    let call = |target, function: &str, processor, whole| CallTime {
        target: at(target),
        function: function.into(),
        processor,
        whole,
    };
    // They are counted from the beginning: the last record has everything.
    let calls = [
        call("/w/a.c:7", "sendmsg", 20, 22),
        call("/w/a.c:9", "pthread_mutex_lock", 0, 9),
    ];
    assert_eq!(stream.calls, calls);
    let holder = Holder {
        waiter: at("/w/a.c:9"),
        holder: at("/w/b.c:3"),
        count: 8,
    };
    assert_eq!(
        (&stream.holders[..], stream.kernel_unseen),
        (&[holder][..], false)
    );
    // 30 ms in run queues, 60 samples of 1 ms.
    assert_eq!(stream.queued, 0.5);
    let bad = r#"{"type":"samples","time":800,"calls":[{"at":"nowhere","function":"read","processor":3,"whole":4}]}"#;
    let text = [FUNCTIONS, bad, ""].join("\n");
    let error = read(text.as_bytes(), "causal-1-0.jsonl").expect_err("no target");
    assert!(error.to_string().contains("bad call"), "{error}");
}

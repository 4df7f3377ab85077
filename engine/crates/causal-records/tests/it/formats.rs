//! What each format reads as.

use fulcrum_causal_records::{Format, detect, read, write_json_lines, write_text};
use fulcrum_model::TargetId;
use fulcrum_model::causal::{Count, Experiment, Recording, Stream, Visits};

fn at(text: &str) -> TargetId {
    text.parse().unwrap()
}

fn throughput(name: &str, delta: u64) -> Visits {
    Visits {
        name: name.into(),
        count: Count::Throughput { delta },
        half: None,
    }
}

fn latency(name: &str, arrivals: u64, departures: u64, difference: f64) -> Visits {
    Visits {
        name: name.into(),
        count: Count::Latency {
            arrivals,
            departures,
            difference,
        },
        half: None,
    }
}

/// One experiment of 500 ms on `a.c:1` at 25 %, with 7 samples.
fn experiment(points: Vec<Visits>) -> Experiment {
    Experiment {
        speedup: 0.25,
        duration_ns: 500,
        selected_samples: 7,
        points,
        ..Experiment::on(at("a.c:1"))
    }
}

const EXPERIMENT: &str =
    "experiment\tselected=a.c:1\tspeedup=0.25\tduration=500\tselected-samples=7\n";

#[test]
fn every_spelling_of_a_record_reads_the_same() {
    let text = |line: &str| format!("startup\ttime=1\n{EXPERIMENT}{line}\n");
    let json = |line: &str| {
        format!(
            "{{\"type\":\"startup\",\"time\":1}}\n{{\"type\":\"experiment\",\"selected\":\"a.c:1\",\"speedup\":0.25,\"duration\":500,\"selected_samples\":7}}\n{line}\n"
        )
    };
    let p = throughput("x y", 9);
    let l = latency("r", 9, 8, 2.5);
    let cases = [
        (text("progress-point\tname=x y\ttype=source\tdelta=9"), &p),
        (text("progress_point\tname=x y\tdelta=9"), &p),
        (text("throughput-point\tname=x y\tdelta=9"), &p),
        (text("throughput_point\tname=x y\tdelta=9\tnew=1"), &p),
        (text("throughput-point\tdelta=9\tname=x y\r"), &p),
        (
            text("latency-point\tname=r\tarrivals=9\tdepartures=8\tdifference=2.5"),
            &l,
        ),
        (
            text("latency_point\tname=r\tarrivals=9\tdepartures=8\tdifference=2.5"),
            &l,
        ),
        (
            json(r#"{"type":"throughput-point","name":"x y","delta":9}"#),
            &p,
        ),
        (
            json(r#"{"type":"throughput_point","name":"x y","delta":9}"#),
            &p,
        ),
        (
            json(r#"{"name":"x y","delta":9.0,"type":"progress-point"}"#),
            &p,
        ),
        (
            json(r#"{"type":"throughput-point","name":"x y","delta":"9"}"#),
            &p,
        ),
        (
            json(
                r#"{"type":"latency_point","name":"r","arrivals":9,"departures":8,"difference":2.5}"#,
            ),
            &l,
        ),
        (
            json("{\"type\":\"throughput-point\",\"name\":\"x y\",\"delta\":9}\r"),
            &p,
        ),
        (
            format!("\u{feff}{}", text("throughput-point\tname=x y\tdelta=9")),
            &p,
        ),
        (
            text("").replace("selected-samples", "selected_samples")
                + "throughput-point\tname=x y\tdelta=9\n",
            &p,
        ),
        (
            json(r#"{"type":"throughput-point","name":"x y","delta":9}"#)
                .replace("selected_samples", "selected-samples"),
            &p,
        ),
    ];
    for (input, point) in cases {
        let expected = Recording {
            experiments: vec![experiment(vec![point.clone()])],
            ..Recording::default()
        };
        assert_eq!(
            read(input.as_bytes(), "x.coz").as_ref(),
            Ok(&expected),
            "{input}"
        );
    }
}

#[test]
fn formats_are_told_apart_by_content() {
    let ours = r#"{"type":"header","format":"fulcrum-causal","version":1,"pid":1}"#;
    let cases = [
        ("startup\ttime=1\n", "x.jsonl", Some(Format::CozText)),
        ("\r\n\nstartup\ttime=1\n", "", Some(Format::CozText)),
        ("experiment\tsel", "x", Some(Format::CozText)), // cut short in its first line
        (
            r#"{"type":"startup","time":1}"#,
            "x.coz",
            Some(Format::CozJsonLines),
        ),
        (
            r#"{"time":1,"type":"experiment"}"#,
            "x.coz",
            Some(Format::CozJsonLines),
        ),
        (
            r#"{"type":"startup","ti"#,
            "x.coz",
            Some(Format::CozJsonLines),
        ),
        (ours, "x.coz", Some(Format::Fulcrum)),
        (&ours[..30], "x.coz", Some(Format::Fulcrum)),
        ("{\"ty", "/r/causal-12-0.jsonl", Some(Format::Fulcrum)),
        ("{\"ty", "x.coz", None),
        (r#"{"$schema":"speedscope"}"#, "x.json", None),
        ("main;f;g 12\n", "x.folded", None),
        ("", "x.coz", None),
    ];
    for (input, name, expected) in cases {
        assert_eq!(detect(input.as_bytes(), name).ok(), expected, "{input:?}");
    }
}

#[test]
fn samples_and_run_time_are_those_of_the_processes_that_ended() {
    let e = "experiment\tselected=a.c:1\tspeedup=0.00\tduration=100\tselected-samples=7\nthroughput-point\tname=x\tdelta=9\n";
    let start = "startup\ttime=1000\n";
    let saved = |n: u64| {
        format!(
            "runtime\ttime=101\nsamples\tlocation=a.c:1\tcount={n}\nsamples\tlocation=b.c:2\tcount=1\n"
        )
    };
    let end = |n: u64| {
        format!(
            "shutdown\ttime=1900\tsamples=3\nruntime\ttime=901\nsamples\tlocation=a.c:1\tcount={n}\nsamples\tlocation=b.c:2\tcount=2\n"
        )
    };
    let cases = [
        // Saved counts repeat: the last ones count, and the short run time of a saved block is no run time.
        (
            format!("{start}{e}{e}{}{e}{e}{}{e}{}", saved(3), saved(5), end(9)),
            901,
            [9, 2],
        ),
        // Two runs in one file add up, each with its last counts.
        (
            format!("{start}{e}{e}{}{e}{}{start}{e}{}", saved(3), end(9), end(4)),
            1802,
            [13, 4],
        ),
        // A killed run beside one that ended: only the latter knows s and T.
        (
            format!("{start}{e}{e}{e}{}{e}{start}{e}{}", saved(50), end(4)),
            901,
            [4, 2],
        ),
        // Only a killed run: its experiments up to the last saved block are its time.
        (format!("{start}{e}{e}{e}{}{e}", saved(50)), 300, [50, 1]),
        // No startup records at all.
        (format!("{e}{}{e}{}", end(9), end(4)), 1802, [13, 4]),
        // Samples and shutdown, but no runtime record.
        (
            format!(
                "{start}{e}shutdown\ttime=1800\nsamples\tlocation=a.c:1\tcount=6\nsamples\tlocation=b.c:2\tcount=1\n"
            ),
            800,
            [6, 1],
        ),
        // Samples alone: s is known, T is not.
        (
            format!("{e}samples\tlocation=a.c:1\tcount=6\nsamples\tlocation=b.c:2\tcount=1\n"),
            0,
            [6, 1],
        ),
    ];
    for (input, runtime, [a, b]) in cases {
        let recording = read(input.as_bytes(), "x.coz").unwrap();
        assert_eq!(recording.runtime_ns, runtime, "{input}");
        assert_eq!(
            recording.samples,
            [(at("a.c:1"), a), (at("b.c:2"), b)],
            "{input}"
        );
    }
}

#[test]
fn our_own_stream() {
    let lines = [
        r#"{"type":"header","format":"fulcrum-causal","version":1,"pid":123,"program":"/p","time":1,"period":1000000,"levels":[0.5,0.25],"sampler":"perf"}"#,
        r#"{"type":"experiment","selected":"/w/a b.cpp:12","speedup":0.25,"duration":500,"selected_samples":7,"start":100,"wall":600,"points":[{"name":"iter","kind":"throughput","delta":9},{"name":"req","kind":"latency","arrivals":9,"departures":8,"difference":2.5}]}"#,
        r#"{"type":"samples","time":800,"total":5,"in_scope":4,"lines":{"/w/a b.cpp:12":3}}"#,
        r#"{"type":"gossip"}"#,
        r#"{"type":"samples","time":1500,"total":9,"in_scope":8,"lines":{"/w/a b.cpp:12":6,"/w/z.cpp:1":2}}"#,
        r#"{"type":"end","time":2000,"delay":150,"reason":"exit"}"#,
    ];
    let text = lines.join("\n") + "\n";
    let expected = Recording {
        experiments: vec![Experiment {
            selected: at("/w/a b.cpp:12"),
            program: Some("/p".into()),
            ..experiment(vec![throughput("iter", 9), latency("req", 9, 8, 2.5)])
        }],
        samples: vec![(at("/w/a b.cpp:12"), 6), (at("/w/z.cpp:1"), 2)],
        // Like an experiment's duration, without the delays that were inserted.
        runtime_ns: 1850,
        period_ns: Some(1_000_000),
        levels: vec![0.25, 0.5],
        streams: vec![Stream {
            runtime_ns: 1850,
            samples: vec![(at("/w/a b.cpp:12"), 6), (at("/w/z.cpp:1"), 2)],
            points: vec!["iter".into(), "req".into()],
            target: None,
            program: Some("/p".into()),
            ..Stream::default()
        }],
        notes: vec!["Skipped 1 record of the unknown type \"gossip\".".into()],
        ..Recording::default()
    };
    assert_eq!(
        read(text.as_bytes(), "causal-123-0.jsonl"),
        Ok(expected.clone())
    );

    // Killed: samples and run time are those of the last count, less the delay until then, whatever came after.
    let killed = lines[..3].join("\n") + "\n" + lines[1] + "\n" + &lines[4][..40];
    let recording = read(killed.as_bytes(), "causal-123-0.jsonl").unwrap();
    assert_eq!(
        (recording.runtime_ns, &recording.samples[..]),
        (700, &[(at("/w/a b.cpp:12"), 3)][..])
    );
    assert_eq!(recording.notes.len(), 2, "{:?}", recording.notes);

    // A machine that did something else meanwhile: one and a half processors' time.
    let shared = text.replace("\"wall\":600,", "\"wall\":600,\"others\":900,");
    let recording = read(shared.as_bytes(), "causal-123-0.jsonl").unwrap();
    assert_eq!(recording.experiments[0].others, Some(1.5));

    // Two processes in one file.
    let twice = read(format!("{text}{text}").as_bytes(), "causal-123-0.jsonl").unwrap();
    assert_eq!(
        (
            twice.runtime_ns,
            twice.experiments.len(),
            twice.samples[0].1
        ),
        (3700, 2, 12)
    );
    assert_eq!(twice.levels, expected.levels);
}

#[test]
fn what_is_written_reads_back() {
    let recording = Recording {
        experiments: vec![
            experiment(vec![throughput("x y=z", 9), latency("r", 9, 8, 0.1 + 0.2)]),
            Experiment {
                speedup: 1.0 / 3.0,
                duration_ns: -5,
                ..experiment(vec![])
            },
            Experiment {
                speedup: 0.0,
                duration_ns: i64::MAX,
                ..experiment(vec![throughput("x", u64::MAX)])
            },
        ],
        samples: vec![(at("C:/a b.c:1"), 6), (at("z.c:9"), u64::MAX)],
        runtime_ns: 12,
        ..Recording::default()
    };
    for (text, first) in [
        (
            write_text(&recording),
            "startup\ttime=0\nexperiment\tselected=a.c:1\tspeedup=0.25\tduration=500\tselected-samples=7\nthroughput-point\tname=x y=z\tdelta=9\n",
        ),
        (
            write_json_lines(&recording),
            "{\"type\":\"startup\",\"time\":0}\n{\"type\":\"experiment\",\"selected\":\"a.c:1\",\"speedup\":0.25,\"duration\":500,\"selected_samples\":7}\n",
        ),
    ] {
        assert!(text.starts_with(first), "{text}");
        let again = read(text.as_bytes(), "written").unwrap();
        assert_eq!(
            Recording {
                notes: vec![],
                ..again
            },
            recording
        );
    }
}

#[test]
fn names_that_the_text_format_cannot_hold_stay_one_record() {
    let recording = Recording {
        experiments: vec![experiment(vec![throughput("a\tb\nc", 9)])],
        ..Recording::default()
    };
    let text = read(write_text(&recording).as_bytes(), "x").unwrap();
    assert_eq!(text.experiments[0].points, [throughput("a b c", 9)]);
    let json = read(write_json_lines(&recording).as_bytes(), "x").unwrap();
    assert_eq!(json.experiments, recording.experiments);
}

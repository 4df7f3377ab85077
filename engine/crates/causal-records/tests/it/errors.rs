//! What is wrong in a file: an error with its place, or a note when it can be read around.

use fulcrum_causal_records::read;
use fulcrum_model::causal::{Count, Visits};

const EXPERIMENT: &str =
    "experiment\tselected=a.c:1\tspeedup=0.25\tduration=500\tselected-samples=7\n";

#[test]
fn what_is_not_a_profile_gets_one_sentence() {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("startup".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let cases: [(&[u8], &str); 9] = [
        (b"", "p.coz: the file is empty, expected"),
        (b" \n\n", "p.coz: the file is empty, expected"),
        (
            b"\x7fELF\x02\x01\x01\0",
            "p.coz, byte 0: this is a program or library (ELF), expected",
        ),
        (
            b"\x1f\x8b\x08\0",
            "p.coz, byte 0: this is gzip-compressed data, such as a pprof profile, expected",
        ),
        (&utf16, "p.coz, byte 0: this is UTF-16 text, expected"),
        (b"ab\0c", "p.coz, byte 2: this is binary data, expected"),
        (
            b"main;f;g 12\nmain 3\n",
            "p.coz:1: these are folded stacks, which say where time went but hold no experiments",
        ),
        (
            b"{\"nodes\":[]}",
            "p.coz:1: this is JSON but not the records of a causal profile",
        ),
        (
            b"hello world\n",
            "p.coz:1: the first record is \"hello world\", expected",
        ),
    ];
    for (input, start) in cases {
        let text = read(input, "p.coz").expect_err("not a profile").to_string();
        assert!(text.starts_with(start), "{text}");
        assert!(
            text.contains("; ") && text.ends_with('.') && !text.contains('\n'),
            "{text}"
        );
    }
}

#[test]
fn a_wrong_record_is_an_error_at_its_line() {
    let cases = [
        (
            "experiment\tselected=a.c:1\tspeedup=fast\tduration=5\tselected-samples=7\n",
            "expected a number for speedup, got \"fast\"",
        ),
        (
            "experiment\tselected=a.c:1\tspeedup=NaN\tduration=5\tselected-samples=7\n",
            "expected a number for speedup, got \"NaN\"",
        ),
        (
            "experiment\tselected=a.c:1\tspeedup=1.5\tduration=5\tselected-samples=7\n",
            "expected a speedup from 0 to 1, got 1.5",
        ),
        (
            "experiment\tselected=a.c\tspeedup=0\tduration=5\tselected-samples=7\n",
            "expected FILE:LINE, got \"a.c\"",
        ),
        (
            "experiment\tselected=a.c:1\tspeedup=0\tduration=5ms\tselected-samples=7\n",
            "expected whole nanoseconds for duration, got \"5ms\"",
        ),
        (
            "experiment\tselected=a.c:1\tspeedup=0\tduration=5\n",
            "the experiment record has no selected-samples",
        ),
        (
            "throughput-point\tname=x\tdelta=-1\n",
            "expected a whole number for delta, got \"-1\"",
        ),
        (
            "throughput-point\tname=x\tdelta=1.5\n",
            "expected a whole number for delta, got \"1.5\"",
        ),
        (
            "throughput-point\tname=x\tdelta\n",
            "expected a field KEY=VALUE, got \"delta\"",
        ),
        (
            "latency-point\tname=x\tarrivals=1\tdepartures=1\tdifference=inf\n",
            "expected a number for difference, got \"inf\"",
        ),
        (
            "samples\tlocation=a.c:1\tcount=many\n",
            "expected a whole number for count, got \"many\"",
        ),
        (
            "runtime\ttime=\n",
            "expected a whole number for time, got \"\"",
        ),
    ];
    for (line, problem) in cases {
        let error = read(
            format!("startup\ttime=1\n\n{EXPERIMENT}{line}{EXPERIMENT}").as_bytes(),
            "dir/x.coz",
        );
        let text = error.expect_err(line).to_string();
        assert!(
            text.starts_with("dir/x.coz:4: ") && text.contains(problem),
            "{text}"
        );
    }
    let json = "{\"type\":\"startup\"}\n{\"type\":\"experiment\",}\n{\"type\":\"startup\"}\n";
    let text = read(json.as_bytes(), "x.json").unwrap_err().to_string();
    assert!(
        text.starts_with("x.json:2: expected a JSON object on one line, column 22 is wrong"),
        "{text}"
    );
    let ours = concat!(
        r#"{"type":"header","format":"fulcrum-causal","version":1}"#,
        "\n",
        r#"{"type":"experiment","selected":"/a.c:1","speedup":0.5,"duration":"x","selected_samples":1}"#,
        "\n\n"
    );
    let text = read(ours.as_bytes(), "c.jsonl").unwrap_err().to_string();
    assert!(
        text.starts_with("c.jsonl:2: the experiment record is not as expected"),
        "{text}"
    );
    let newer = "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":2}\n";
    assert!(
        read(newer.as_bytes(), "c.jsonl")
            .unwrap_err()
            .to_string()
            .contains("use a newer Fulcrum")
    );
}

#[test]
fn what_can_be_read_around_is_a_note() {
    let cases = [
        (
            format!(
                "{EXPERIMENT}future\ta=1\nfuture\ta=2\nother\tb=1\nthroughput-point\tname=x\tdelta=9\n"
            ),
            vec![
                "Skipped 2 records of the unknown type \"future\".",
                "Skipped 1 record of the unknown type \"other\".",
            ],
        ),
        (
            format!(
                "{EXPERIMENT}throughput-point\tname=x\tdelta=9\nexperiment\tselected=a.c:1\tspe"
            ),
            vec!["The file ends in the middle of line 3; everything before it was read."],
        ),
        (
            format!("{EXPERIMENT}throughput-point\tname=x\tdelta=9"),
            vec![
                "Line 2 is the last and has no line end; if the file was cut short there, its last number may be too small.",
            ],
        ),
        (
            format!(
                "throughput-point\tname=early\tdelta=1\n{EXPERIMENT}throughput-point\tname=x\tdelta=9\nstartup\ttime=2\nthroughput-point\tname=late\tdelta=1\n"
            ),
            vec!["Skipped 2 progress-point records that belong to no experiment."],
        ),
        (
            format!(
                "{EXPERIMENT}throughput-point\tname=x\tdelta=9\nexperiment\tselected=/usr/include/coz.h:20\tspeedup=0.50\tduration=5\tselected-samples=1\nthroughput-point\tname=x\tdelta=1\nsamples\tlocation=/usr/include/coz.h:20\tcount=5\n"
            ),
            vec!["Skipped 2 records of lines inside coz.h."],
        ),
    ];
    for (input, notes) in cases {
        let recording = read(input.as_bytes(), "x.coz").unwrap();
        let point = Visits {
            name: "x".into(),
            count: Count::Throughput { delta: 9 },
            half: None,
        };
        assert_eq!(recording.experiments.len(), 1, "{input}");
        assert_eq!(recording.experiments[0].points, [point], "{input}");
        assert_eq!(recording.notes, notes, "{input}");
    }
}

#[test]
fn durations_below_zero_come_back_from_unsigned_numbers() {
    let input = "experiment\tselected=a.c:1\tspeedup=1.00\tduration=18446744073705875774\tselected-samples=2099\n";
    let recording = read(input.as_bytes(), "x.coz").unwrap();
    assert_eq!(recording.experiments[0].duration_ns, -3_675_842);
    assert_eq!(
        recording.notes,
        ["1 experiment has no duration left, because more delay was inserted than time passed."]
    );
}

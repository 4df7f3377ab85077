//! Nothing that a disk or a crash does to a file makes a reader panic, and a file cut short keeps what it had.

use std::fmt::Write;

use fulcrum_causal_records::read;
use fulcrum_stats::Random;

/// A small recording in each format, with a latency point, a saved block of samples and two processes.
fn samples() -> [(&'static str, String); 3] {
    let mut text = String::new();
    let mut json = String::new();
    let mut ours = String::from(
        "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":1,\"levels\":[0.5],\"sampler\":\"perf\"}\n",
    );
    for process in 0..2 {
        writeln!(text, "startup\ttime={process}").unwrap();
        writeln!(json, "{{\"type\":\"startup\",\"time\":{process}}}").unwrap();
        for i in 0..4_u64 {
            let (speedup, delta) = (i % 2 * 5, 90 + i);
            writeln!(
                text,
                "experiment\tselected=sr\u{e7}/a b.cpp:12\tspeedup=0.{speedup}0\tduration=10012{i}\tselected-samples=1{i}\nthroughput-point\tname=iter\tdelta={delta}\nlatency-point\tname=req\tarrivals=9\tdepartures=8\tdifference=2.5"
            )
            .unwrap();
            writeln!(
                json,
                "{{\"type\":\"experiment\",\"selected\":\"sr\u{e7}/a b.cpp:12\",\"speedup\":0.{speedup},\"duration\":10012{i},\"selected_samples\":1{i}}}\n{{\"type\":\"throughput_point\",\"name\":\"iter\",\"delta\":{delta}}}"
            )
            .unwrap();
            writeln!(
                ours,
                "{{\"type\":\"experiment\",\"selected\":\"/sr\u{e7}/a.cpp:12\",\"speedup\":0.{speedup},\"duration\":10012{i},\"selected_samples\":1{i},\"start\":1{i}00,\"wall\":90,\"points\":[{{\"name\":\"iter\",\"kind\":\"throughput\",\"delta\":{delta}}}]}}\n{{\"type\":\"samples\",\"time\":1{i}95,\"total\":9,\"in_scope\":5,\"lines\":{{\"/sr\u{e7}/a.cpp:12\":5}}}}"
            )
            .unwrap();
        }
        text.push_str(
            "shutdown\ttime=900000\nruntime\ttime=800000\nsamples\tlocation=a b.cpp:12\tcount=33\n",
        );
        json.push_str("{\"type\":\"runtime\",\"time\":800000}\n{\"type\":\"samples\",\"location\":\"a b.cpp:12\",\"count\":33}\n");
    }
    ours.push_str("{\"type\":\"end\",\"time\":900,\"reason\":\"exit\"}\n");
    [
        ("x.coz", text),
        ("x.json", json),
        ("causal-1-0.jsonl", ours),
    ]
}

#[test]
fn a_file_cut_anywhere_keeps_its_whole_records() {
    for (name, text) in samples() {
        let bytes = text.as_bytes();
        let mut experiments = 0;
        // A few bytes of the first line are not yet recognisable, except by the name of our own files.
        let recognisable = bytes
            .iter()
            .position(|&b| b == b'\t' || b == b'\n')
            .unwrap();
        for end in 1..=bytes.len() {
            let result = read(&bytes[..end], name);
            let recording = match result {
                Ok(recording) => recording,
                Err(error) => {
                    assert!(end < recognisable, "{name} cut at {end}: {error}");
                    continue;
                }
            };
            let whole = text.as_bytes()[..end]
                .split_inclusive(|&b| b == b'\n')
                .filter(|line| {
                    let kind = line.starts_with(b"experiment\t")
                        || line.starts_with(b"{\"type\":\"experiment\"");
                    kind && line.ends_with(b"\n")
                });
            let whole = whole.count();
            let found = recording.experiments.len();
            assert!(
                found == whole || found == whole + 1,
                "{name} cut at {end}: {found} of {whole}"
            );
            assert!(found >= experiments, "{name} cut at {end}");
            experiments = found;
        }
        assert_eq!(experiments, 8, "{name}");
    }
}

#[test]
fn flipped_bytes_never_panic_and_errors_are_sentences() {
    let mut random = Random::new(20_261_121);
    let (mut good, mut bad) = (0, 0);
    for (name, text) in samples() {
        for _ in 0..4000 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=random.below(4) {
                let at = random.index(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.bits() as u8,
                    1 => bytes[at] ^= 1 << random.below(8),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"0123456789-.:=\t\n\r{}[]\",\0\xff"[random.index(25)]),
                }
            }
            match read(&bytes, name) {
                Ok(_) => good += 1,
                Err(error) => {
                    bad += 1;
                    let text = error.to_string();
                    assert!(
                        text.starts_with(name) && text.ends_with('.') && !text.contains('\n'),
                        "{text:?}"
                    );
                }
            }
        }
    }
    assert!(
        good > 500 && bad > 500,
        "both ways were tried: {good} {bad}"
    );
}

#[test]
fn absurd_numbers_and_nesting_are_taken_or_refused() {
    let deep = format!(
        "{{\"type\":\"startup\",\"x\":{}1{}}}\n",
        "[".repeat(9000),
        "]".repeat(9000)
    );
    let huge = "runtime\ttime=18446744073709551615\nruntime\ttime=18446744073709551615\nsamples\tlocation=a:1\tcount=18446744073709551615\nshutdown\ttime=1\nruntime\ttime=5\nsamples\tlocation=a:1\tcount=18446744073709551615\n";
    assert!(read(deep.as_bytes(), "x").is_err());
    let recording = read(huge.as_bytes(), "x").unwrap();
    assert_eq!(recording.runtime_ns, u64::MAX);
    assert!(read(b"samples\tlocation=a:99999999999\tcount=1\n\n", "x").is_err());
}

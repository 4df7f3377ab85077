//! Nothing that a disk, a crash or a stranger does to a profile makes a reader panic; errors are sentences.

use fulcrum_ingest::IngestError;
use fulcrum_ingest::profile::{Format, Profile, detect, read};

/// A protobuf field: length-delimited, or a number.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("a short field");
    assert!(length < 128);
    [&[(number << 3) | 2, length], content].concat()
}

fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// Two types; `main` calls `f`, into which `g` is inlined.
fn pprof() -> Vec<u8> {
    let strings = [
        "",
        "cpu",
        "nanoseconds",
        "samples",
        "count",
        "main",
        "f",
        "g",
        "a.c",
        "/bin/app",
    ];
    let mut file = Vec::new();
    file.extend(bytes(1, &[number(1, 3), number(2, 4)].concat()));
    file.extend(bytes(1, &[number(1, 1), number(2, 2)].concat()));
    file.extend(bytes(2, &[bytes(1, &[2, 1]), bytes(2, &[3, 90])].concat()));
    file.extend(bytes(
        2,
        &[
            number(1, 3),
            number(2, 1),
            number(2, 7),
            bytes(3, &number(1, 3)),
        ]
        .concat(),
    ));
    file.extend(bytes(3, &[number(1, 1), number(5, 9)].concat()));
    file.extend(bytes(
        4,
        &[
            number(1, 1),
            bytes(4, &[number(1, 1), number(2, 5)].concat()),
        ]
        .concat(),
    ));
    let inlined = [bytes(4, &number(1, 3)), bytes(4, &number(1, 2))].concat();
    file.extend(bytes(4, &[number(1, 2), number(2, 1), inlined].concat()));
    file.extend(bytes(
        4,
        &[number(1, 3), number(2, 1), number(3, 64)].concat(),
    ));
    for (id, name) in [(1, 5), (2, 6), (3, 7)] {
        let function = [number(1, id), number(2, name), number(4, 8), number(5, 2)];
        file.extend(bytes(5, &function.concat()));
    }
    for text in strings {
        file.extend(bytes(6, text.as_bytes()));
    }
    file.extend(number(7, 6));
    file.extend(number(14, 1));
    file
}

fn samples() -> Vec<(Format, Vec<u8>)> {
    let text = |format, text: &str| (format, text.as_bytes().to_vec());
    vec![
        (Format::Pprof, pprof()),
        text(Format::Folded, "# c\nmain;f x;g 12\nmain;h 3.5\n"),
        text(
            Format::PerfScript,
            "app 61/62 [002] 20.377019:    1001 cpu-clock:u: \n\t 6f1 leaf+0x14 (/bin/app)\n\t 789 main (/bin/app)\n\napp 61/63 21.5: cycles: \n\t 6f1 [unknown] ([kernel.kallsyms])\n",
        ),
        text(
            Format::CpuProfile,
            r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","lineNumber":-1},"children":[2]},
            {"id":2,"callFrame":{"functionName":"f","url":"a.js","lineNumber":4},"hitCount":2}],
            "startTime":100,"endTime":200,"samples":[1,2,2],"timeDeltas":[5,10,20]}"#,
        ),
        text(
            Format::ChromeTrace,
            r#"[{"ph":"B","name":"f","pid":1,"tid":2,"ts":1},{"ph":"X","name":"g","pid":1,"tid":2,"ts":2,"dur":3},
            {"ph":"E","pid":1,"tid":2,"ts":9.5},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"t"}}]"#,
        ),
        text(
            Format::ChromeTrace,
            r#"{"traceEvents":[{"ph":"P","name":"Profile","id":"1","pid":1,"tid":2,"args":{"data":{"startTime":1}}},
            {"ph":"P","name":"ProfileChunk","id":"1","pid":1,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{
            "functionName":"f"}},{"id":2,"parent":1,"callFrame":{}}],"samples":[1,2]},"timeDeltas":[1,2]}}}]}"#,
        ),
        text(
            Format::Speedscope,
            r#"{"shared":{"frames":[{"name":"a"},{"name":"b","file":"b.rs","line":3}]},"profiles":[
            {"type":"evented","name":"e","unit":"none","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},
            {"type":"O","frame":1,"at":2.5},{"type":"C","frame":1,"at":3},{"type":"C","frame":0,"at":9}]},
            {"type":"sampled","name":"s","unit":"seconds","samples":[[0,1],[0]],"weights":[1.5,2]}]}"#,
        ),
        text(
            Format::Firefox,
            r#"{"meta":{"version":9},"threads":[{"name":"t","pid":1,"tid":2,"stringTable":["(root)","f (a.js:3)"],
            "frameTable":{"schema":{"location":0},"data":[[0],[1]]},"stackTable":{"schema":{"prefix":0,"frame":1},
            "data":[[null,0],[0,1]]},"samples":{"schema":{"stack":0,"threadCPUDelta":1},"data":[[1,5],[0],[null]]}}]}"#,
        ),
        text(
            Format::Firefox,
            r#"{"meta":{"preprocessedProfileVersion":48},"threads":[{"name":"t","pid":"1","tid":2,"stringArray":["f","a.rs"],
            "funcTable":{"name":[0],"fileName":[1],"lineNumber":[7]},"frameTable":{"func":[0]},"stackTable":{"prefix":[null,0],
            "frame":[0,0]},"samples":{"stack":[1,0,null],"weight":[2,1,9],"weightType":"samples"}}]}"#,
        ),
        text(
            Format::Stackprof,
            r#"{"mode":"wall","interval":500,"missed_samples":1,"frames":{"70":{"name":"m","file":"a.rb","line":1},
            "71":{"name":"gc"}},"raw":[1,70,3,2,70,71,1]}"#,
        ),
        text(
            Format::Callgrind,
            "version: 1\nevents: Ir Dr\nfl=(1) a.c\nfn=(1) main\n16 20 5\ncfn=(2) f\ncalls=1 50\n+2 400\nfn=(2)\n* 100\nsummary: 120\n",
        ),
        text(
            Format::Gprof,
            "index % time    self  children    called     name\n[1]    100.0    0.00    0.05                 main [1]\n                0.03    0.02       7/9           f(int, char) [2]\n-----\n                0.03    0.02       7/9           main [1]\n[2]     80.0    0.03    0.02       9         f(int, char) [2]\n",
        ),
        (
            Format::Pstats,
            [
                &b"\xfb\xa9\x03\xda\x04a.pyi\x07\0\0\0\xda\x01f)\x05\xe9\x01\0\0\0r\x04\0\0\0g\0\0\0\0\0\0\xf8\x3f"[..],
                b"g\0\0\0\0\0\0\0\x40{)\x03\xda\x01~i\0\0\0\0z\x04exec)\x04i\x01\0\0\0i\x01\0\0\0",
                b"g\0\0\0\0\0\0\xe0\x3fg\0\0\0\0\0\0\xf0\x3f00",
            ]
            .concat(),
        ),
    ]
}

/// Panics unless an error is one sentence that begins with the file's name.
fn check(result: Result<Profile, IngestError>) -> bool {
    if let Err(error) = &result {
        let text = error.to_string();
        assert!(
            text.starts_with("x.prof") && text.ends_with('.') && !text.contains('\n'),
            "{text:?}"
        );
    }
    result.is_ok()
}

#[test]
fn every_format_is_known_by_its_content() {
    for (format, bytes) in samples() {
        assert_eq!(detect(&bytes, "x.prof"), Ok(format));
        let profile = read(&bytes, "x.prof").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.format, format);
    }
}

#[test]
fn a_profile_cut_anywhere_is_read_or_refused() {
    for (format, bytes) in samples() {
        let mut refused = 0;
        for end in 0..bytes.len() {
            refused += usize::from(!check(read(&bytes[..end], "x.prof")));
        }
        assert!(refused > 0, "{format:?}");
    }
}

#[test]
fn flipped_bytes_never_panic_and_errors_are_sentences() {
    let mut state = 20_261_121_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    for (format, whole) in samples() {
        let (mut good, mut bad) = (0, 0);
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            for _ in 0..=next() % 4 {
                let at = next() % bytes.len();
                match next() % 4 {
                    0 => bytes[at] = next() as u8,
                    1 => bytes[at] ^= 1 << (next() % 8),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"0123456789-.:=\t\n\r{}[]\",\0\xff"[next() % 25]),
                }
            }
            if check(read(&bytes, "x.prof")) {
                good += 1;
            } else {
                bad += 1;
            }
        }
        assert!(
            good > 20 && bad > 20,
            "{format:?}: both ways were tried: {good} {bad}"
        );
    }
}

#[test]
fn what_is_no_profile_gets_one_sentence() {
    for (bytes, expect) in [
        (&b""[..], "x: the file is empty, expected a profile; "),
        (b" \n", "x: the file is empty, expected a profile; "),
        (
            b"\x7fELF\x02\x01\x01\0",
            "x, byte 0: this is a program or library (ELF), expected",
        ),
        (
            b"PERFILE2\0\0",
            "x, byte 0: this is a perf.data file, expected a profile; run `perf script",
        ),
        (
            b"FLR\0\0\x02",
            "x, byte 0: this is a Java flight recording, expected a profile; ",
        ),
        (
            b"{\"a\":1}",
            "x:1: this is JSON with the keys \"a\", expected a profile; ",
        ),
        (
            b"[]",
            "x:1: this is JSON without keys, expected a profile; ",
        ),
        (
            b"\nhello world\n",
            "x:2: the first record is \"hello world\", expected a profile; ",
        ),
        (
            b"startup\ttime=1\n",
            "x:1: this is a causal profile, expected a profile of calls; ",
        ),
        (
            b"ab\0\x01\x02",
            "x, byte 0: this is binary data of an unknown kind, expected a profile; ",
        ),
        (
            b"\x1f\x8b\x08\0",
            "x, byte 4: the gzip data ends too early; ",
        ),
    ] {
        let text = read(bytes, "x").expect_err(expect).to_string();
        assert!(text.starts_with(expect), "{text}");
    }
}

#[test]
fn nesting_and_claims_cost_nothing() {
    let deep = format!(
        "{{\"nodes\":{}1{}}}",
        "[".repeat(90_000),
        "]".repeat(90_000)
    );
    assert!(!check(read(deep.as_bytes(), "x.prof")));
    let claim = b"\x0a\xff\xff\xff\xff\x0f\x01";
    assert!(!check(read(claim, "x.prof")));
    let rows = "{\"mode\":\"cpu\",\"interval\":1,\"frames\":{},\"raw\":[18446744073709551615]}";
    assert!(!check(read(rows.as_bytes(), "x.prof")));
    // A chain of eight thousand calls, each its parent's only child.
    let mut nodes = String::new();
    for id in 1..8000 {
        nodes += &format!(
            "{{\"id\":{id},\"hitCount\":1,\"callFrame\":{{}},\"children\":[{}]}},",
            id + 1
        );
    }
    let chain =
        format!("{{\"nodes\":[{nodes}{{\"id\":8000,\"callFrame\":{{}}}}],\"startTime\":0}}");
    let profile = read(chain.as_bytes(), "x.prof").expect("deep, but well formed");
    assert!(profile.notes[0].ends_with("their innermost ones are under [truncated]."));
}

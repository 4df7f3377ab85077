//! A small profile of every format, for tests that damage it.

use fulcrum_profile_formats::Format;

/// A length-delimited protobuf field.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("a short field");
    assert!(length < 128);
    [&[(number << 3) | 2, length], content].concat()
}

fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// A profile with two value types: `main` calls `f`, into which `g` is inlined.
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

/// Output of `perf record -o -`: an event, a map and two samples.
fn perf_pipe() -> Vec<u8> {
    let record = |kind: u32, words: &[u64]| {
        let size = 8 + 8 * words.len() as u64;
        let head = u64::from(kind) | 2 << 32 | size << 48;
        [&[head], words]
            .concat()
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<_>>()
    };
    let user = (-512_i64).cast_unsigned();
    [
        b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec(),
        record(64, &[1 | 64 << 32, 0, 4000, 0x127, 0, 1 << 10, 0, 0, 7, 8]),
        record(1, &[1 | 1 << 32, 1000, 100, 0, 0x70_7061]),
        record(9, &[1005, 1 | 1 << 32, 9, 500, 3, user, 1005, 1050]),
        record(9, &[1005, 1 | 2 << 32, 8, 500, 0]),
    ]
    .concat()
}

/// The same of a big-endian machine.
fn perf_pipe_big_endian() -> Vec<u8> {
    let record = |kind: u64, words: &[u64]| {
        let head = kind << 32 | 2 << 16 | (8 + 8 * words.len() as u64);
        [&[head], words]
            .concat()
            .into_iter()
            .flat_map(u64::to_be_bytes)
            .collect::<Vec<_>>()
    };
    let user = (-512_i64).cast_unsigned();
    let (by_frequency, name) = (1 << 53, u64::from_be_bytes(*b"app\0\0\0\0\0"));
    [
        b"2ELIFREP\0\0\0\0\0\0\0\x10".to_vec(),
        record(
            64,
            &[1 << 32 | 64, 0, 4000, 0x127, 0, by_frequency, 0, 0, 7, 8],
        ),
        record(1, &[1 << 32 | 1, 1000, 100, 0, name]),
        record(9, &[1005, 1 << 32 | 1, 9, 500, 3, user, 1005, 1050]),
        record(9, &[1005, 1 << 32 | 2, 8, 500, 0]),
    ]
    .concat()
}

/// A small profile of each format; of some formats several.
pub(crate) fn samples() -> Vec<(Format, Vec<u8>)> {
    let text = |format, text: &str| (format, text.as_bytes().to_vec());
    vec![
        (Format::Pprof, pprof()),
        (Format::PerfData, perf_pipe()),
        (
            Format::PerfData,
            include_bytes!("../../samples/shop.perf.data").to_vec(),
        ),
        (Format::PerfData, perf_pipe_big_endian()),
        (
            Format::Jfr,
            include_bytes!("../../../../../fuzz/corpus/jfr/two-threads").to_vec(),
        ),
        (
            Format::Otlp,
            include_bytes!("../../../../../fuzz/corpus/otlp/two-types").to_vec(),
        ),
        (
            Format::Otlp,
            include_bytes!("../../../../../fuzz/corpus/otlp/two-types.json").to_vec(),
        ),
        (
            Format::Gperftools,
            include_bytes!("../../../../../fuzz/corpus/gperftools/words-of-eight").to_vec(),
        ),
        (
            Format::PprofText,
            include_bytes!("../../../../../fuzz/corpus/pprof_text/heap").to_vec(),
        ),
        (
            Format::HeapProfile,
            include_bytes!("../../../../../fuzz/corpus/heapprofile/tree").to_vec(),
        ),
        (
            Format::DTrace,
            include_bytes!("../../../../../fuzz/corpus/dtrace/stacks").to_vec(),
        ),
        (
            Format::GoTrace,
            include_bytes!("../../../../../fuzz/corpus/go_trace/generations").to_vec(),
        ),
        (
            Format::Bpftrace,
            include_bytes!("../../../../../fuzz/corpus/bpftrace/maps").to_vec(),
        ),
        (
            Format::Safari,
            include_bytes!("../../../../../fuzz/corpus/safari/timeline").to_vec(),
        ),
        (
            Format::V8Log,
            include_bytes!("../../../../../fuzz/corpus/v8_log/ticks").to_vec(),
        ),
        (
            Format::Pyinstrument,
            include_bytes!("../../../../../fuzz/corpus/pyinstrument/tree").to_vec(),
        ),
        (
            Format::Scalene,
            include_bytes!("../../../../../fuzz/corpus/scalene/lines").to_vec(),
        ),
        (
            Format::Massif,
            include_bytes!("../../../../../fuzz/corpus/massif/snapshots").to_vec(),
        ),
        (
            Format::Dhat,
            include_bytes!("../../../../../fuzz/corpus/dhat/heap").to_vec(),
        ),
        (
            Format::Haskell,
            include_bytes!("../../../../../fuzz/corpus/haskell/trees").to_vec(),
        ),
        (
            Format::Instruments,
            include_bytes!("../../../../../fuzz/corpus/instruments/time").to_vec(),
        ),
        (
            Format::Simpleperf,
            include_bytes!("../../../../../fuzz/corpus/simpleperf/two-threads").to_vec(),
        ),
        (
            Format::Perfetto,
            include_bytes!("../../../../../fuzz/corpus/perfetto/samples").to_vec(),
        ),
        (
            Format::Gprof2dot,
            include_bytes!("../../../../../fuzz/corpus/gprof2dot/three-costs").to_vec(),
        ),
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
        text(
            Format::CpuProfile,
            r#"{"head":{"functionName":"(root)","url":"","lineNumber":-1,"id":1,"hitCount":0,"children":[
            {"functionName":"f","url":"a.js","lineNumber":4,"id":2,"hitCount":2,"children":[]}]},"startTime":7,"endTime":7,
            "samples":[1,2,2],"timestamps":[7000005,7000015,7000035]}"#,
        ),
        text(
            Format::Firefox,
            r#"{"meta":{"preprocessedProfileVersion":70,"symbolicated":false},"libs":[{"path":"/lib/a.so","codeId":"0a"}],
            "shared":{"stringArray":["f","0x1f"],"resourceTable":{"name":[0]},"funcTable":{"name":[0,1],"resource":[-1,0]},
            "frameTable":{"func":[0,1],"address":[-1,31],"lib":[-1,0]},"stackTable":{"prefixOffset":[0,1],"frame":[0,1]}},
            "threads":[{"name":"t","pid":1,"tid":2,"samples":{"stack":[1,0],"weight":null}}]}"#,
        ),
    ]
}

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::testing::{check, check_fault, text};
use crate::{At, Code, Limits, NoSymbols, Symbols, read_lines, read_with};

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [
        varint(number << 3 | 2),
        varint(content.len() as u64),
        content.to_vec(),
    ]
    .concat()
}

fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn packet(sequence: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    let head = [number(8, 1000), number(10, sequence)].concat();
    field(1, &[head, parts.concat()].concat())
}

fn interned(kind: u64, id: u64, text: &str) -> Vec<u8> {
    field(kind, &[number(1, id), field(2, text.as_bytes())].concat())
}

/// Names, files, frames and two stacks: `main` calls `work`, and `main` calls code of a library.
fn names() -> Vec<u8> {
    let mapping = [
        number(1, 1),
        number(2, 1),
        number(6, 0x1000),
        number(7, 1),
        number(7, 2),
    ]
    .concat();
    field(
        12,
        &[
            interned(5, 1, "main"),
            interned(5, 2, "work"),
            interned(17, 1, "system"),
            interned(17, 2, "libc.so"),
            interned(16, 1, "\u{1}\u{2}"),
            interned(18, 1, "a.cc"),
            field(19, &mapping),
            field(6, &[number(1, 1), number(2, 1)].concat()),
            field(
                6,
                &[number(1, 2), number(2, 2), number(5, 1), number(6, 12)].concat(),
            ),
            field(6, &[number(1, 3), number(3, 1), number(4, 0x1800)].concat()),
            field(7, &[number(1, 1), number(2, 1), number(2, 2)].concat()),
            field(7, &[number(1, 2), field(2, &[1, 3])].concat()),
        ]
        .concat(),
    )
}

fn sample(thread: u64, stack: u64) -> Vec<u8> {
    field(
        66,
        &[
            number(2, 7),
            number(3, thread),
            number(4, stack),
            number(6, 99),
        ]
        .concat(),
    )
}

fn tree() -> Vec<u8> {
    let process = field(
        1,
        &[
            number(1, 7),
            number(2, 1),
            field(3, b"/bin/app"),
            field(3, b"-v"),
        ]
        .concat(),
    );
    let thread = field(
        2,
        &[number(1, 8), field(2, b"worker"), number(3, 7)].concat(),
    );
    field(2, &[process, thread].concat())
}

/// Two samples of one thread.
fn trace() -> Vec<u8> {
    [
        packet(1, &[tree()]),
        packet(2, &[number(41, 1), names(), sample(7, 1)]),
        packet(2, &[sample(7, 2)]),
    ]
    .concat()
}

const NOTE: &str = "note: Only the trace's samples are read, not its spans, counters and times.";

#[test]
fn samples_are_read_with_their_interned_names() {
    check(
        trace(),
        &format!(
            "samples* 2
             main 0
             main;[libc.so] 1
             main;work 1
             {NOTE}"
        ),
    );
    let lines = read_lines(trace(), "x", Limits::default(), &NoSymbols).expect("a trace");
    let lines = lines.expect("it tells lines");
    let crate::Calls::Tree(tree) = &lines.calls else {
        panic!("a tree");
    };
    assert_eq!(
        (0..tree.len())
            .filter_map(|it| tree.frame(it).line)
            .collect::<Vec<_>>(),
        [12]
    );
}

struct Named;

impl Symbols for Named {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        assert_eq!(
            (file, build_id, at),
            ("/system/libc.so", Some(&[1, 2][..]), At::Byte(0x800))
        );
        let code = |name: &str| Code {
            name: name.to_owned(),
            ..Code::default()
        };
        vec![code("printf"), code("inlined")]
    }
}

#[test]
fn files_and_later_symbols_name_addresses() {
    let profile = read_with(trace(), "x", Limits::default(), &Named).expect("a trace");
    let expect = "samples* 2\nmain 0\nmain;printf 0\nmain;printf;inlined 1\nmain;work 1\n";
    assert_eq!(text(&profile), format!("{expect}{NOTE}\n"));
    // What `traceconv symbolize` adds.
    let line = |name: &[u8]| {
        field(
            2,
            &[field(1, name), field(2, b"p.c"), number(3, 4)].concat(),
        )
    };
    let address = field(
        3,
        &[number(1, 0x1800), line(b"inlined"), line(b"printf")].concat(),
    );
    let symbols = field(61, &[field(1, b"/system/libc.so"), address].concat());
    check(
        [trace(), packet(3, &[symbols])].concat(),
        &format!("{expect}{NOTE}"),
    );
}

/// What a build tool says of a package: two methods of one class, `a.b` and the overloaded `a.c`.
fn deobfuscation(package: &str, class: &str) -> Vec<u8> {
    let method = |short: &str, name: &str, lines: &[Vec<u8>]| {
        let names = [field(1, short.as_bytes()), field(2, name.as_bytes())].concat();
        field(4, &[names, lines.concat()].concat())
    };
    let lines = |from, to, source| [number(3, from), number(4, to), number(5, source)];
    let class = [
        field(1, b"a"),
        field(2, class.as_bytes()),
        method("b", "draw", &[]),
        method("c", "org.Other.inlined", &lines(1, 3, 70)),
        method("c", "layout", &lines(1, 5, 40)),
        method("c", "measure", &lines(6, 9, 50)),
    ];
    let mapping = [field(1, package.as_bytes()), field(3, &class.concat())].concat();
    packet(3, &[field(64, &mapping)])
}

/// Frames `a.b` and `a.c` of a file, the latter at a line.
fn shortened(path: &[&str], line: u64) -> Vec<u8> {
    let parts = (1..).zip(path).map(|(id, part)| interned(17, id, part));
    let mapping = [
        number(1, 1),
        (1..=path.len())
            .flat_map(|id| number(7, id as u64))
            .collect(),
    ];
    let frame = |id, line| {
        let parts = [number(1, id), number(2, id), number(3, 1), number(6, line)];
        field(6, &parts.concat())
    };
    let all = [
        parts.flatten().collect(),
        interned(5, 1, "a.b"),
        interned(5, 2, "a.c"),
        field(19, &mapping.concat()),
        frame(1, 0),
        frame(2, line),
        field(7, &[number(1, 1), number(2, 1), number(2, 2)].concat()),
    ];
    field(12, &all.concat())
}

#[test]
fn shortened_names_are_those_of_the_source() {
    let mappings = [
        deobfuscation("com.app", "com.app.View"),
        deobfuscation("com.other", "com.other.Page"),
    ];
    let list = packet(
        3,
        &[field(
            47,
            &field(1, &[field(1, b"com.other"), number(2, 10_038)].concat()),
        )],
    );
    let process = |id: u64, user: u64, name: &str| {
        let parts = [number(1, id), field(3, name.as_bytes()), number(5, user)];
        field(2, &field(1, &parts.concat()))
    };
    let of = |process: Vec<u8>, path: &[&str], line: u64| {
        let sampled = packet(2, &[shortened(path, line), sample(7, 1)]);
        [
            mappings.concat(),
            list.clone(),
            packet(1, &[process]),
            sampled,
        ]
        .concat()
    };
    let other = process(7, 1_010_038, "main");
    let stacks = |expect: &str| format!("samples* 1\n{expect}\n{NOTE}");
    // By the id of its user; inlined at line 2, and not at line 7.
    check(
        of(other.clone(), &["system", "base.apk"], 2),
        &stacks(
            "com.other.Page.draw 0\ncom.other.Page.draw;com.other.Page.layout 0\ncom.other.Page.draw;com.other.Page.layout;org.Other.inlined 1",
        ),
    );
    check(
        of(other.clone(), &["system", "base.apk"], 7),
        &stacks("com.other.Page.draw 0\ncom.other.Page.draw;com.other.Page.measure 1"),
    );
    // By its name, and with several methods that it may be.
    check(
        of(
            process(7, 99, "com.app:service"),
            &["system", "base.apk"],
            0,
        ),
        &stacks(
            "com.app.View.draw 0\ncom.app.View.draw;com.app.View.layout | com.app.View.measure | org.Other.inlined 1",
        ),
    );
    // By where it is installed.
    check(
        of(
            other.clone(),
            &["data", "app", "~~x==", "com.app-1==", "base.apk"],
            7,
        ),
        &stacks("com.app.View.draw 0\ncom.app.View.draw;com.app.View.measure 1"),
    );
    // Code of a package without such names.
    check(
        of(process(7, 99, "main"), &["system", "base.apk"], 7),
        &stacks("a.b 0\na.b;a.c 1"),
    );
}

#[test]
fn threads_are_containers_and_what_was_lost_is_told() {
    let other = |parts: &[Vec<u8>]| packet(2, &[field(66, &parts.concat())]);
    check(
        [
            trace(),
            packet(2, &[sample(8, 0)]),
            packet(2, &[sample(8, 9)]),
            other(&[number(2, 7), number(3, 7), number(4, 1), number(16, 2)]),
            other(&[number(17, 5)]),
            other(&[number(2, 7), number(18, 1)]),
            packet(2, &[number(13, 1), sample(7, 1)]),
        ]
        .concat(),
        &format!(
            "samples* 4
             {{/bin/app (7/7)}} 0
             {{/bin/app (7/7)}};main 0
             {{/bin/app (7/7)}};main;[libc.so] 1
             {{/bin/app (7/7)}};main;work 2
             {{worker (7/8)}} 0
             {{worker (7/8)}};[no stack] 1
             note: 1 samples have stacks that the recorder could not unwind completely.
             note: 2 samples are left out: the trace lost their stacks.
             note: 1 samples were left out by the recorder.
             note: 5 records were lost by the kernel.
             {NOTE}"
        ),
    );
}

#[test]
fn chromes_samples_are_of_the_writing_thread() {
    let thread = field(
        44,
        &[number(1, 7), number(2, 70), field(5, b"Compositor")].concat(),
    );
    let streaming = field(
        54,
        &[number(1, 1), number(1, 2), number(2, 1000), number(2, 1000)].concat(),
    );
    let track = field(
        60,
        &[
            number(1, 5),
            field(4, &[number(1, 7), number(2, 7)].concat()),
        ]
        .concat(),
    );
    check(
        [
            packet(4, &[thread]),
            packet(4, &[names(), streaming]),
            packet(5, &[track]),
            packet(5, &[names(), field(54, &field(1, &[2]))]),
        ]
        .concat(),
        &format!(
            "samples* 3
             {{Compositor (7/70)}} 0
             {{Compositor (7/70)}};main 0
             {{Compositor (7/70)}};main;[libc.so] 1
             {{Compositor (7/70)}};main;work 1
             {{thread (7/7)}} 0
             {{thread (7/7)}};main 0
             {{thread (7/7)}};main;[libc.so] 1
             {NOTE}"
        ),
    );
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = ZlibEncoder::new(Vec::new(), Compression::default());
    writer.write_all(bytes).expect("into memory");
    field(1, &field(50, &writer.finish().expect("into memory")))
}

#[test]
fn compressed_packets_are_read_within_limits() {
    let expect = format!("samples* 2\nmain 0\nmain;[libc.so] 1\nmain;work 1\n{NOTE}");
    check(compressed(&trace()), &expect);
    let limits = Limits {
        bytes: 100,
        ratio: 400,
    };
    let error = read_with(compressed(&trace()), "x", limits, &NoSymbols).expect_err("too large");
    let problem = "the compressed packets become larger than 100 bytes, which is not accepted";
    assert_eq!(error.problem, problem);
    let mut damaged = compressed(&trace());
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let error = read_with(damaged, "x", limits, &NoSymbols).expect_err("damaged");
    assert!(error.place.is_some(), "{error}");
}

#[test]
fn a_trace_without_samples_or_cut_is_refused() {
    check_fault(packet(1, &[tree()]), 0, "the trace has no stack samples");
    let whole = trace();
    let left = packet(2, &[sample(7, 2)]).len() - 3;
    let problem = format!(
        "a field claims {} bytes, but {} are left",
        left + 1,
        left - 1
    );
    check_fault(&whole[..whole.len() - 2], 0, &problem);
}

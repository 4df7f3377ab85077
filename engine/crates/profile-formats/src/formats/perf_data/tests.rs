use crate::collect::symbols::{At, Caller, Code, Registers, Symbols};
use crate::testing::{check_fault, text};
use crate::{Limits, read, read_with};

/// Names every byte of a file by its offset divided by ten.
struct Tens;

impl Symbols for Tens {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        let At::Byte(offset) = at else {
            panic!("perf.data knows bytes of files");
        };
        let named = |name| Code {
            name,
            ..Code::default()
        };
        let id = build_id.map_or(String::new(), |id| format!("@{id:?}"));
        match offset / 10 {
            9 => Vec::new(),
            tens => vec![
                named(format!("{file}{id}+{tens}")),
                named(format!("inlined {}", offset % 10)),
            ],
        }
    }
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn halves(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + body.len()).expect("short");
    [
        &kind.to_le_bytes()[..],
        &misc.to_le_bytes(),
        &size.to_le_bytes(),
        body,
    ]
    .concat()
}

/// An event whose samples have address, thread, time, period and call chain.
pub(super) fn attr(kind: u32, config: u64) -> Vec<u8> {
    let sample = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8;
    words(&[
        halves(kind, 64),
        config,
        4000,
        sample,
        0,
        1 << 10 | 1 << 18,
        0,
        0,
    ])
}

pub(super) fn map(pid: u32, time: u64, start: u64, offset: u64, name: &str) -> Vec<u8> {
    let mut body = words(&[halves(pid, pid), start, 100, offset]);
    body.extend(name.as_bytes());
    body.resize(body.len().next_multiple_of(8) + 8, 0);
    body.extend(words(&[halves(pid, pid), time]));
    record(1, 2, &body)
}

pub(super) fn comm(pid: u32, time: u64, name: &str) -> Vec<u8> {
    let mut body = words(&[halves(pid, pid)]);
    body.extend(name.as_bytes());
    body.resize(body.len().next_multiple_of(8) + 8, 0);
    body.extend(words(&[halves(pid, pid), time]));
    record(3, 0, &body)
}

pub(super) fn sample(pid: u32, time: u64, period: u64, chain: &[u64]) -> Vec<u8> {
    let mut body = words(&[chain[0], halves(pid, pid), time, period, chain.len() as u64]);
    body.extend(words(chain));
    record(9, 2, &body)
}

/// Output of `perf record -o -`.
pub(super) fn pipe(records: &[Vec<u8>]) -> Vec<u8> {
    let head = [b"PERFILE2".to_vec(), words(&[16])].concat();
    let attr = record(64, 0, &attr(1, 0));
    [vec![head, attr], records.to_vec()].concat().concat()
}

const USER: u64 = (-512_i64).cast_unsigned();
const KERNEL: u64 = (-128_i64).cast_unsigned();

fn check(bytes: &[u8], expect: &str) {
    let profile = read_with(bytes, "x", Limits::default(), &Tens);
    let profile = profile.unwrap_or_else(|error| panic!("{error}"));
    let expect: Vec<_> = expect.lines().map(str::trim).collect();
    assert_eq!(text(&profile).lines().collect::<Vec<_>>(), expect);
}

#[test]
fn chains_are_named_by_what_was_mapped_at_the_time() {
    check(
        &pipe(&[
            // The sample comes before the map in the file, and after it in time.
            sample(1, 20, 500, &[USER, 1005, 1021]),
            map(1, 10, 1000, 0, "app"),
            map(1, 30, 1000, 50, "lib"),
            sample(1, 40, 700, &[USER, 1005, 1045]),
            sample(1, 50, 900, &[KERNEL, 7, USER, 5]),
        ]),
        "samples 3
         cpu-clock ns* 2100
         [lib] 0 0
         [lib];lib+5 0 0
         [lib];lib+5;inlined 5 1 700
         [unknown] 0 0
         [unknown];[kernel.kallsyms] 1 900
         app+2 0 0
         app+2;inlined 0 0 0
         app+2;inlined 0;app+0 0 0
         app+2;inlined 0;app+0;inlined 5 1 500",
    );
}

#[test]
fn processes_are_containers_and_children_have_their_parents_maps() {
    let fork = record(
        7,
        0,
        &words(&[halves(2, 1), halves(2, 1), 15, halves(2, 2), 15]),
    );
    check(
        &pipe(&[
            comm(1, 5, "sh"),
            map(1, 10, 1000, 0, "sh"),
            fork,
            sample(1, 20, 1, &[USER, 1005]),
            sample(2, 20, 2, &[USER, 1015]),
        ]),
        "samples 2
         cpu-clock ns* 3
         {sh (1/1)} 0 0
         {sh (1/1)};sh+0 0 0
         {sh (1/1)};sh+0;inlined 5 1 1
         {sh (2/2)} 0 0
         {sh (2/2)};sh+1 0 0
         {sh (2/2)};sh+1;inlined 5 1 2",
    );
}

#[test]
fn the_kernel_goes_on_behind_its_map_and_is_counted_from_its_start() {
    let mut body = words(&[halves(u32::MAX, 0), 0x1000, 100, 0xff0]);
    body.extend(b"[kernel.kallsyms]_text\0\0");
    body.extend(words(&[0, 0]));
    check(
        &pipe(&[
            record(1, 1, &body),
            sample(1, 2, 3, &[KERNEL, 0x1005]),
            sample(1, 2, 4, &[KERNEL, 0x1405]),
        ]),
        "samples 2
         cpu-clock ns* 7
         [kernel.kallsyms]+104 0 0
         [kernel.kallsyms]+104;inlined 5 1 4
         [kernel.kallsyms]+2 0 0
         [kernel.kallsyms]+2;inlined 1 1 3",
    );
}

#[test]
fn events_are_told_apart_by_their_numbers_and_those_without_samples_are_left_out() {
    let event = |config: u64, id: u64| {
        let sample = 1 | 1 << 1 | 1 << 6 | 1 << 8;
        let attr = words(&[halves(1, 64), config, 9, sample, 0, 0, 0, 0, id]);
        record(64, 0, &attr)
    };
    let sample = |id: u64, period: u64| record(9, 2, &words(&[1005, halves(1, 1), id, period]));
    let head = [b"PERFILE2".to_vec(), words(&[16])].concat();
    let records = [
        head,
        event(9, 70),
        event(0, 71),
        event(2, 72),
        map(1, 0, 1000, 0, "app"),
        sample(72, 30),
        sample(71, 4),
        sample(72, 50),
    ]
    .concat();
    check(
        &records,
        "samples 3
         cpu-clock ns* 4
         page-faults 80
         app+0 0 0 0
         app+0;inlined 5 3 4 80",
    );
}

#[test]
fn tracepoints_have_the_names_of_the_tracing_data() {
    let block = |text: &str| [words(&[text.len() as u64]), text.as_bytes().to_vec()].concat();
    let count = |number: u32| number.to_le_bytes().to_vec();
    let mut tracing = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
    tracing.extend([block("pages"), b"header_event\0".to_vec(), block("events")].concat());
    tracing.extend([count(1), block("name: function\nID: 1\n")].concat());
    tracing.extend([count(1), b"sched\0".to_vec(), count(1)].concat());
    tracing.extend(block("name: sched_switch\nID: 314\nformat:\n"));
    let recording = |tracing: &[u8]| {
        let head = [b"PERFILE2".to_vec(), words(&[16])].concat();
        let size = halves(tracing.len() as u32, 0);
        let record = [record(66, 0, &words(&[size])), tracing.to_vec()].concat();
        let sample = sample(1, 2, 3, &[1005]);
        [
            head,
            record_attr(2, 314),
            record,
            map(1, 1, 1000, 0, "app"),
            sample,
        ]
        .concat()
    };
    let check = |tracing: &[u8], name: &str| {
        let profile = read(&recording(tracing), "x").expect("whole");
        assert_eq!(profile.value_types()[1].name, name);
    };
    check(&tracing, "sched:sched_switch");
    // Cut short, or of another kind.
    check(&tracing[..tracing.len() - 1], "tracepoint 314");
    check(b"nothing", "tracepoint 314");
}

fn record_attr(kind: u32, config: u64) -> Vec<u8> {
    record(64, 0, &attr(kind, config))
}

#[test]
fn without_symbols_files_have_names() {
    let bytes = pipe(&[
        map(1, 1, 1000, 0, "/bin/app"),
        sample(1, 2, 3, &[USER, 1005, 1021]),
    ]);
    let profile = read(&bytes, "x").expect("whole");
    let expect = "samples 1\ncpu-clock ns* 3\n[app] 0 0\n[app];[app] 1 3\n";
    assert_eq!(text(&profile), expect);
}

/// Output of `perf record -o FILE`: attributes, records, features.
pub(super) fn file(attrs: &[Vec<u8>], records: &[Vec<u8>], length: Option<u64>) -> Vec<u8> {
    let attrs: Vec<_> = attrs
        .iter()
        .map(|attr| [&attr[..], &words(&[0, 0])].concat())
        .collect();
    let (entry, attrs) = (attrs[0].len() as u64, attrs.concat());
    let data = records.concat();
    let start = 104 + attrs.len() as u64;
    let size = length.unwrap_or(data.len() as u64);
    let head = words(&[
        104,
        entry,
        104,
        attrs.len() as u64,
        start,
        size,
        0,
        0,
        0,
        0,
        0,
        0,
    ]);
    [b"PERFILE2".to_vec(), head, attrs, data].concat()
}

#[test]
fn callers_that_are_no_addresses_are_left_out() {
    check(
        &pipe(&[
            map(1, 1, 1000, 0, "app"),
            // What a system-wide recording took from a program without frame pointers.
            sample(1, 2, 3, &[USER, 1005, 3, u64::MAX]),
            sample(1, 3, 4, &[USER, 1005]),
        ]),
        "samples 2
         cpu-clock ns* 7
         [truncated] 0 0
         [truncated];app+0 0 0
         [truncated];app+0;inlined 5 1 3
         app+0 0 0
         app+0;inlined 5 1 4
         note: 1 stacks were cut when they were recorded; their innermost frames are under [truncated].",
    );
}

/// Two events of one group, of which the first takes samples. Each has an id, and samples have address, thread, time, id,
/// period and counters.
fn group(flags: u64) -> Vec<u8> {
    let sample = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8;
    let of = |config, id| {
        let read = 1 << 2 | 1 << 3;
        let attr = words(&[halves(1, 64), config, 4000, sample, read, flags, 0, 0]);
        record(64, 0, &[attr, words(&[id])].concat())
    };
    let head = [b"PERFILE2".to_vec(), words(&[16])].concat();
    [head, of(0, 70), of(2, 71)].concat()
}

fn counted(tid: u32, time: u64, clock: u64, faults: u64) -> Vec<u8> {
    let body = [
        1005,
        halves(1, tid),
        time,
        70,
        9999,
        2,
        clock,
        70,
        faults,
        71,
    ];
    record(9, 2, &words(&body))
}

#[test]
fn events_of_a_group_are_as_much_as_their_counters_grew() {
    let head = group(0);
    let app = map(1, 1, 1000, 0, "app");
    // In the order of time, not of the file.
    let later = counted(1, 30, 900, 12);
    let earlier = counted(1, 20, 500, 5);
    check(
        &[head, app, later, earlier].concat(),
        "samples 2
         cpu-clock ns* 900
         page-faults 12
         app+0 0 0 0
         app+0;inlined 5 2 900 12",
    );
}

#[test]
fn each_thread_has_counters_of_its_own_when_they_are_inherited() {
    let head = group(1 << 1);
    let app = map(1, 1, 1000, 0, "app");
    let samples = [counted(1, 20, 500, 5), counted(2, 30, 300, 1)].concat();
    check(
        &[head, app, samples].concat(),
        "samples 2
         cpu-clock ns* 800
         page-faults 6
         {thread (1/1)} 0 0 0
         {thread (1/1)};app+0 0 0 0
         {thread (1/1)};app+0;inlined 5 1 500 5
         {thread (1/2)} 0 0 0
         {thread (1/2)};app+0 0 0 0
         {thread (1/2)};app+0;inlined 5 1 300 1",
    );
}

#[test]
fn a_recorder_that_was_killed_leaves_what_it_wrote() {
    let records = [
        map(1, 1, 1000, 0, "app"),
        sample(1, 2, 3, &[1005]),
        sample(1, 2, 4, &[1005]),
    ];
    let whole = file(&[attr(1, 0)], &records, Some(0));
    check(
        &whole[..whole.len() - 3],
        "samples 1
         cpu-clock ns* 3
         app+0 0 0
         app+0;inlined 5 1 3
         note: The recording was not closed: it ends with its last whole record, and events are named by their numbers.",
    );
}

#[test]
fn a_pipe_that_was_cut_short_leaves_what_came_through() {
    let records = [
        map(1, 1, 1000, 0, "app"),
        sample(1, 2, 3, &[1005]),
        sample(1, 2, 4, &[1005]),
    ];
    let one = "samples 1
         cpu-clock ns* 3
         app+0 0 0
         app+0;inlined 5 1 3
         note: The recording was cut short: it ends with its last whole record.";
    let whole = pipe(&records);
    for missing in [1, 3, records[2].len() - 1] {
        check(&whole[..whole.len() - missing], one);
    }
    // Also in the data after a record, and in the compressed records.
    let tracing = record(66, 0, &words(&[halves(100, 0)]));
    check(&pipe(&[&records[..2], &[tracing]].concat()), one);
    let inside = records.concat();
    check(
        &pipe(&[open_frame(), block(&inside[..inside.len() - 3])]),
        one,
    );
}

#[test]
fn traces_of_instructions_are_left_out() {
    let trace = [record(71, 0, &words(&[24, 0, 0, 0, 0])), vec![0x02; 24]].concat();
    check(
        &pipe(&[map(1, 1, 1000, 0, "app"), trace, sample(1, 2, 3, &[1005])]),
        "samples 1
         cpu-clock ns* 3
         app+0 0 0
         app+0;inlined 5 1 3
         note: Traces of instructions or memory accesses (Intel PT, CoreSight, SPE) are left out: `perf script --itrace=i100usg > FILE` makes samples of them.",
    );
}

#[test]
fn messages_of_perf_in_a_pipe_are_left_out() {
    let app = map(1, 1, 1000, 0, "app");
    let message = |text: &str| format!("[ perf record: {text} ]").into_bytes();
    let woken = [&message("Woken up 1 times to write data")[..], b"\n"].concat();
    let expect = "samples 2
         cpu-clock ns* 7
         app+0 0 0
         app+0;inlined 5 2 7
         note: Messages of perf are among the recording's records (`2>&1`), and are left out.";
    let (first, second) = (sample(1, 2, 3, &[1005]), sample(1, 2, 4, &[1005]));
    let captured = message("Captured and wrote 0.030 MB -");
    check(&pipe(&[app, first, woken, second, captured]), expect);
}

#[test]
fn files_of_the_first_version_are_read() {
    let records = [map(1, 1, 1000, 0, "app"), sample(1, 2, 3, &[1005])];
    let first = |mut bytes: Vec<u8>| {
        bytes[..8].copy_from_slice(b"PERFFILE");
        bytes
    };
    let expect = "samples 1
         cpu-clock ns* 3
         app+0 0 0
         app+0;inlined 5 1 3";
    check(&first(pipe(&records)), expect);
    check(&first(file(&[attr(1, 0)], &records, None)), expect);
}

/// The beginning of a compressed stream in a record: no checksum, a small window.
fn open_frame() -> Vec<u8> {
    record(81, 0, b"\x28\xb5\x2f\xfd\0\x58")
}

/// A part of the stream in a record: stored bytes, with more blocks to follow.
fn block(bytes: &[u8]) -> Vec<u8> {
    let head = (bytes.len() as u32) << 3;
    record(81, 0, &[&head.to_le_bytes()[..3], bytes].concat())
}

#[test]
fn compressed_records_are_one_stream_through_all_of_them() {
    let app = map(1, 1, 1000, 0, "app");
    let good = sample(1, 2, 3, &[1005]);
    let (head, tail) = good.split_at(13);
    let expect = "samples 2
         cpu-clock ns* 7
         app+0 0 0
         app+0;inlined 5 2 7";
    // The stream never ends, and one of its records is spread over two records of the file.
    check(
        &pipe(&[
            open_frame(),
            block(&[&app, head].concat()),
            sample(1, 3, 4, &[1005]),
            block(tail),
        ]),
        expect,
    );
    // Newer recorders write the size of what they pad; the frame may be ended.
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let whole = ruzstd::encoding::compress_to_vec(&[app, good].concat()[..], level);
    let mut padded = words(&[whole.len() as u64]);
    padded.extend(whole);
    padded.resize(padded.len().next_multiple_of(8), 0);
    check(
        &pipe(&[record(83, 0, &padded), sample(1, 3, 4, &[1005])]),
        expect,
    );
}

#[test]
fn compressed_records_may_not_fill_the_memory() {
    // 128 KiB of the same byte take four.
    let bomb = |blocks: usize| {
        let head = (128_u32 << 10) << 3 | 1 << 1;
        let one = record(81, 0, &head.to_le_bytes());
        pipe(&[vec![open_frame()], vec![one; blocks]].concat())
    };
    let limits = Limits {
        bytes: 1 << 20,
        ratio: 400,
    };
    let error = read_with(bomb(20), "x", limits, &Tens).expect_err("too large");
    assert!(
        error.problem.contains("becomes larger than 1048576 bytes"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let app = map(1, 1, 1000, 0, "app");
    let good = sample(1, 2, 3, &[1005]);
    for (bytes, problem) in [
        (
            file(&[attr(1, 0)], &[app.clone(), good.clone()], Some(1 << 40)),
            "the data is said to be 1099511627776 bytes at byte 184, but the file has 312 bytes",
        ),
        (
            pipe(&[record(81, 0, &[0; 8])]),
            "at byte 0 of the compressed records: expected another zstd frame or the end of the file",
        ),
        (
            pipe(&[record(83, 0, &words(&[9, 0]))]),
            "expected 9 more bytes, but 8 are left",
        ),
        (
            pipe(&[
                open_frame(),
                block(&app),
                block(&record(81, 0, &open_frame())),
            ]),
            "the compressed records hold compressed records",
        ),
        (
            pipe(&[open_frame(), block(&record(9, 2, &words(&[1005, 1])))]),
            "at byte 24 of the compressed records: expected 8 more bytes, but 0 are left",
        ),
        (
            pipe(&[app.clone(), sample(1, 2, u64::MAX, &[1005])]),
            "the period 18446744073709551615 is too large",
        ),
        (
            pipe(&[record(9, 0, &words(&[1005, 1, 2, 3, 1 << 61]))]),
            "expected 18446744073709551615 more bytes, but 0 are left",
        ),
        (
            pipe(std::slice::from_ref(&app)),
            "the profile has no samples",
        ),
        (
            [b"PERFILE2".to_vec(), words(&[16])].concat(),
            "the file names no events",
        ),
    ] {
        check_fault(bytes, 0, problem);
    }
}

/// Frames of `app` are one word, the return address. `start` has no caller. Other files are unknown.
struct Words;

impl Symbols for Words {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        let mut code = Tens.code(file, build_id, at);
        code.truncate(1);
        code
    }

    fn caller(
        &self,
        (file, _): (&str, Option<&[u8]>),
        _: At,
        frame: &Registers,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Caller {
        let mut registers = *frame;
        let stack = frame[7].expect("recorded");
        registers[16] = read(stack);
        registers[7] = Some(stack + 8);
        match (file, registers[16]) {
            ("start", _) => Caller::Outermost,
            ("app", None) => Caller::Lost,
            ("app", Some(_)) => Caller::Frame {
                registers,
                interrupted: false,
            },
            _ => Caller::Unknown,
        }
    }
}

fn check_copies(bytes: &[u8], expect: &str) {
    let profile = read_with(bytes, "x", Limits::default(), &Words);
    let profile = profile.unwrap_or_else(|error| panic!("{error}"));
    let expect: Vec<_> = expect.lines().map(str::trim).collect();
    assert_eq!(text(&profile).lines().collect::<Vec<_>>(), expect);
}

/// An event whose samples have registers and a copy of the stack, after raw data and branches.
fn copying(registers: u64) -> Vec<u8> {
    let sample = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8 | 0b1111 << 10;
    let branches = 1 << 17;
    let words = words(&[
        halves(1, 96),
        0,
        4000,
        sample,
        0,
        1 << 10 | 1 << 18,
        0,
        0,
        0,
        branches,
        registers,
        64,
    ]);
    let head = [b"PERFILE2".to_vec(), self::words(&[16])].concat();
    [head, record(64, 0, &words)].concat()
}

/// Frame pointer, stack pointer, instruction pointer and r15, as the kernel numbers them.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 23;

/// A sample whose stack begins at 5000; `used` words of it were copied.
fn copied(chain: &[u64], (base, at): (u64, u64), stack: &[u64], used: u64) -> Vec<u8> {
    let mut body = words(&[at, halves(1, 1), 20, 3, chain.len() as u64]);
    body.extend(words(chain));
    body.extend([4, 0, 0, 0, 7, 7, 7, 7]);
    // One branch, after its index.
    body.extend(words(&[1, 9, 6, 6, 6]));
    body.extend(words(&[2, base, 5000, at, 15]));
    body.extend(words(&[8 * stack.len() as u64]));
    body.extend(words(stack));
    body.extend(words(&[8 * used]));
    record(9, 2, &body)
}

fn copying_maps() -> Vec<u8> {
    [
        map(1, 1, 1000, 0, "app"),
        map(1, 1, 2000, 0, "start"),
        map(1, 1, 3000, 0, "other"),
    ]
    .concat()
}

#[test]
fn copies_of_stacks_are_walked_to_where_the_thread_began() {
    // The call in app's last byte returns to where the next function begins.
    let stack = [1100, 1031, 2005, 7, 7];
    let expect = "samples 1
         cpu-clock ns* 3
         start+0 0 0
         start+0;app+3 0 0
         start+0;app+3;[app] 0 0
         start+0;app+3;[app];app+0 1 3";
    let sample = copied(&[], (0, 1005), &stack, 5);
    let head = copying(REGISTERS);
    check_copies(&[&head[..], &copying_maps(), &sample].concat(), expect);
    // Also compressed, and after frames of the kernel.
    let sample = copied(&[KERNEL, 9, USER], (0, 1005), &stack, 5);
    let inside = [copying_maps(), sample].concat();
    check_copies(
        &[head, open_frame(), block(&inside)].concat(),
        "samples 1
         cpu-clock ns* 3
         start+0 0 0
         start+0;app+3 0 0
         start+0;app+3;[app] 0 0
         start+0;app+3;[app];app+0 0 0
         start+0;app+3;[app];app+0;[kernel.kallsyms] 1 3",
    );
}

#[test]
fn copies_that_end_early_are_cut_and_said_to_be() {
    let head = copying(REGISTERS);
    let sample = copied(&[], (0, 1005), &[1031, 2005], 1);
    check_copies(
        &[head, copying_maps(), sample].concat(),
        "samples 1
         cpu-clock ns* 3
         [truncated] 0 0
         [truncated];app+3 0 0
         [truncated];app+3;app+0 1 3
         note: 1 stacks are deeper than their copies: `--call-graph dwarf,65528` copies the most.
         note: 1 stacks were cut when they were recorded; their innermost frames are under [truncated].",
    );
}

#[test]
fn code_without_frame_information_may_keep_frame_pointers() {
    let head = copying(REGISTERS);
    // At 5008 are the caller's frame pointer and return address.
    let kept = copied(&[], (5008, 3005), &[7, 0, 2005], 3);
    check_copies(
        &[&head[..], &copying_maps(), &kept].concat(),
        "samples 1
         cpu-clock ns* 3
         start+0 0 0
         start+0;other+0 1 3",
    );
    // Neither a stack nor code.
    for base in [4000, 5008, u64::MAX] {
        let lost = copied(&[], (base, 3005), &[7, 0, 77], 3);
        check_copies(
            &[&head[..], &copying_maps(), &lost].concat(),
            "samples 1
             cpu-clock ns* 3
             [truncated] 0 0
             [truncated];other+0 1 3
             note: 1 stacks end in code whose caller is unknown: the program or library is not here, is another build, or has no call frame information.
             note: 1 stacks were cut when they were recorded; their innermost frames are under [truncated].",
        );
    }
}

#[test]
fn copies_of_other_machines_are_left_alone() {
    // Of 64-bit ARM: 33 registers.
    let arm = copying(1 << 32 | 1 << 31 | 1 << 1 | 1);
    let sample = copied(&[], (0, 1005), &[1031, 2005], 2);
    check_copies(
        &[arm, copying_maps(), sample].concat(),
        "samples 1
         cpu-clock ns* 3
         app+0 1 3
         note: 1 samples have copies of their stacks (--call-graph dwarf) that are empty or not of x86-64: their callers are missing. `perf script` may find them.",
    );
}

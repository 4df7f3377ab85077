//! Errors name the file and the line or byte, for each kind of error in every format that can have it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use fulcrum_profile_formats::{Format, Limits, NoSymbols, read, read_as, read_with};

use fulcrum_model::Place;

use crate::profile_samples::samples;

/// The n-th sample of a format with one part replaced.
fn wrong(format: Format, number: usize, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut of_format = samples().into_iter().filter(|(it, _)| *it == format);
    let (_, bytes) = of_format.nth(number).expect("there is one");
    let at = bytes.windows(from.len()).position(|it| it == from);
    let at = at.unwrap_or_else(|| panic!("{format:?} has no {:?}", String::from_utf8_lossy(from)));
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

/// A part to replace in a sample of a format, and the beginning of the error.
type Case = (Format, usize, &'static [u8], &'static [u8], &'static str);

fn check(cases: &[Case]) {
    let mut others = String::new();
    for &(format, number, from, to, expect) in cases {
        match read(&wrong(format, number, from, to), "x") {
            Ok(_) => others += &format!("{format:?} was read, expected {expect:?}\n"),
            Err(error) if error.to_string().starts_with(expect) && error.place.is_some() => {}
            Err(error) => others += &format!("{format:?}: {error}\nexpected {expect:?}\n"),
        }
    }
    assert!(others.is_empty(), "{others}");
}

#[test]
fn numbers_of_things_that_are_not_there() {
    use Format::*;
    check(&[
        (
            Firefox,
            2,
            b"\"prefixOffset\":[0,1]",
            b"\"prefixOffset\":[0,2]",
            "x:3: in thread t (1/2): the caller of stack 1 should be 2 rows before it",
        ),
        (
            CpuProfile,
            1,
            b"\"samples\":[1,2,2]",
            b"\"samples\":[1,2,7]",
            "x:3: a sample names node 7, which",
        ),
        (
            Safari,
            0,
            b"\"sampleDurations\":[0.001,",
            b"\"sampleDurations\":[",
            "x:7: there are 2 durations for 3 samples",
        ),
        (
            Pprof,
            0,
            b"\x0a\x02\x02\x01",
            b"\x0a\x02\x02\x09",
            "x, byte 12: a sample names location 9, which",
        ),
        (
            Pprof,
            0,
            b"\x22\x02\x08\x03",
            b"\x22\x02\x08\x07",
            "x, byte 52: a location names function 7, which",
        ),
        (
            CpuProfile,
            0,
            b"\"samples\":[1,2,2]",
            b"\"samples\":[1,2,7]",
            "x:3: a sample names node 7, which",
        ),
        (
            CpuProfile,
            0,
            b"\"children\":[2]",
            b"\"children\":[8]",
            "x:1: a node names node 8, which",
        ),
        (
            ChromeTrace,
            1,
            b"\"timeDeltas\":[",
            b"\"timeDeltas\":[1,1,1,",
            "x:1: there are ",
        ),
        (
            Speedscope,
            0,
            b"\"samples\":[[0,1],[0]]",
            b"\"samples\":[[0,6],[0]]",
            "x:4: in profile 2: a stack names frame 6, which",
        ),
        (
            Firefox,
            0,
            b"[[null,0],[0,1]]",
            b"[[null,0],[0,4]]",
            "x:3: in thread t (1/2): a stack names frame 4, which",
        ),
        (
            Firefox,
            1,
            b"\"func\":[0]",
            b"\"func\":[3]",
            "x:2: in thread t (1/2): a frame names function 3, which",
        ),
        (
            Stackprof,
            0,
            b"[1,70,3",
            b"[1,79,3",
            "x:2: a stack names frame 79, which",
        ),
        (
            Callgrind,
            0,
            b"\nfn=(2)\n",
            b"\nfn=(5)\n",
            "x:9: the name (5) is used before it is given",
        ),
        (
            Pstats,
            0,
            b"r\x04\0\0\0",
            b"r\x09\0\0\0",
            "x, byte 24: expected an earlier value, got reference 9",
        ),
        (
            Otlp,
            1,
            b"\"stackIndex\":1",
            b"\"stackIndex\":8",
            "x:4: a sample names stack 8, which",
        ),
    ]);
}

#[test]
fn things_that_are_inside_themselves() {
    use Format::*;
    check(&[
        (
            CpuProfile,
            0,
            b"\"hitCount\":2}",
            b"\"children\":[1]}",
            "x:1: node 0 is its own ancestor",
        ),
        (
            ChromeTrace,
            1,
            b"\"nodes\":[{\"id\":1,",
            b"\"nodes\":[{\"id\":1,\"parent\":2,",
            "x:1: node 0 is its own ancestor",
        ),
        (
            Firefox,
            0,
            b"[[null,0],[0,1]]",
            b"[[1,0],[0,1]]",
            "x:3: in thread t (1/2): node 0 is its own ancestor",
        ),
        (
            Firefox,
            1,
            b"\"prefix\":[null,0]",
            b"\"prefix\":[1,0]",
            "x:2: in thread t (1/2): node 0 is its own ancestor",
        ),
    ]);
}

#[test]
fn claims_of_more_than_there_is() {
    use Format::*;
    check(&[
        (
            Pprof,
            0,
            b"\x12\x08\x0a\x02",
            b"\x12\xff\xff\xff\xff\x0f\x0a\x02",
            "x, byte 12: a field claims 4294967295 bytes, but",
        ),
        (
            Stackprof,
            0,
            b"[1,70,3",
            b"[1000000000,70,3",
            "x:2: entry 0 of raw claims a stack of 1000000000 frames, but",
        ),
        (
            Pstats,
            0,
            b"\xa9\x03",
            b"(\xff\xff\xff\x7f",
            "x, byte 6: a tuple claims 2147483647 values, but",
        ),
        (
            Otlp,
            0,
            b"\x0a\x0cservice.name",
            b"\x0a\x7fservice.name",
            "x, byte 6: a field claims 127 bytes, but",
        ),
        (
            Jfr,
            0,
            b"\x11\x02\x01\x00\x02",
            b"\x11\x7f\x01\x00\x02",
            "x, byte 143: 127 constants are claimed, but 38 bytes are left",
        ),
    ]);
}

#[test]
fn values_that_are_no_numbers_or_below_zero() {
    use Format::*;
    check(&[
        (Folded, 0, b" 3.5\n", b" 1e300\n", "x:3: the value 1"),
        (
            CpuProfile,
            0,
            b"[5,10,20]",
            b"[5,1e999,20]",
            "x:3: the JSON is wrong at column",
        ),
        (
            CpuProfile,
            0,
            b"\"hitCount\":2",
            b"\"hitCount\":-2",
            "x:2: the JSON is wrong at column",
        ),
        (
            ChromeTrace,
            0,
            b"\"dur\":3",
            b"\"dur\":-3",
            "x:1: the JSON is wrong at column",
        ),
        (
            Speedscope,
            0,
            b"\"weights\":[1.5,2]",
            b"\"weights\":[1.5,NaN]",
            "x:4: the JSON is wrong at column",
        ),
        (
            Firefox,
            0,
            b"[[1,5],",
            b"[[1,-5],",
            "x:3: in thread t (1/2): expected a value of at least 0, got -5",
        ),
        (
            Firefox,
            1,
            b"\"weight\":[2,1,9]",
            b"\"weight\":[2,1e300,9]",
            "x:3: in thread t (1/2): the value 1000",
        ),
        (
            Stackprof,
            0,
            b"\"interval\":500",
            b"\"interval\":-500",
            "x:1: expected a value of at least 0, got -500",
        ),
        (
            Stackprof,
            0,
            b"70,71,1]",
            b"70,71,-1]",
            "x:2: the JSON is wrong at column",
        ),
        (
            Pstats,
            0,
            b"\0\0\0\0\0\0\xf8\x3f",
            b"\0\0\0\0\0\0\xf8\xff",
            "x, byte 1: expected a value of at least 0, got NaN",
        ),
        (
            PerfScript,
            0,
            b" 1001 cpu",
            b" 18446744073709551615 cpu",
            "x:1: the period 18446744073709551615 is too large",
        ),
        (
            PerfData,
            0,
            &[0xf4, 1, 0, 0, 0, 0, 0, 0],
            &[0xff; 8],
            "x, byte 152: the period 18446744073709551615 is too large",
        ),
        (
            Otlp,
            1,
            b"[\"4\"]",
            b"[NaN]",
            "x:5: the JSON is wrong at column",
        ),
    ]);
}

#[test]
fn text_that_is_nearly_of_its_format() {
    use Format::*;
    check(&[
        (
            CpuProfile,
            0,
            b"\"timeDeltas\":[5,10,20]",
            b"\"timeDeltas\":[5,10,20",
            "x:3: the JSON",
        ),
        (
            Speedscope,
            0,
            b"\"type\":\"C\",\"frame\":1,\"at\":3",
            b"\"type\":\"C\",\"frame\":0,\"at\":3",
            "x:3: in profile 1: event 2 closes a frame",
        ),
    ]);
}

#[test]
fn single_wrong_lines_of_text_are_left_out_and_told() {
    use Format::*;
    let cases: [Case; 8] = [
        (
            Folded,
            0,
            b" 12\n",
            b" NaN\n",
            "2: expected a number, got NaN",
        ),
        (
            Callgrind,
            0,
            b"16 20 5",
            b"16 NaN 5",
            "5: expected a whole number as cost, got \"NaN\"",
        ),
        (
            Gprof,
            0,
            b"[2]     80.0    0.03",
            b"[2]     80.0     nan",
            "6: expected a value of at least 0, got NaN",
        ),
        (
            Folded,
            0,
            b"main;h 3.5",
            b"main;h3.5",
            "3: expected a stack and a count, as in main;work 12, got",
        ),
        (
            PerfScript,
            0,
            b"\t 789 main (/bin/app)",
            b"\t main (/bin/app)",
            "3: expected an address and a function, got",
        ),
        (
            PerfScript,
            0,
            b"app 61/63 21.5: cycles: ",
            b"app 61/63 cycles: ",
            "5: expected the first line of a sample, got",
        ),
        (
            Callgrind,
            0,
            b"calls=1 50",
            b"call 1 50",
            "7: expected a line of callgrind's format, got",
        ),
        (
            Gprof,
            0,
            b"0.03    0.02       7/9           f(int",
            b"0.03 7/9 f(int",
            "3: expected a line of gprof's call graph, got",
        ),
    ];
    for (format, number, from, to, expect) in cases {
        let profile = read(&wrong(format, number, from, to), "x").expect(expect);
        let expect = format!(" The first is line {expect}");
        let told = profile.notes.iter().any(|note| note.contains(&expect));
        assert!(told, "{format:?}: {:?}", profile.notes);
    }
}

#[test]
fn gzip_that_is_cut_or_damaged_in_every_format() {
    for (format, bytes) in samples() {
        let mut writer = GzEncoder::new(Vec::new(), Compression::default());
        writer.write_all(&bytes).expect("into memory");
        let whole = writer.finish().expect("into memory");
        assert_eq!(read(&whole, "x").expect("whole").format, format);
        for end in [11, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            let error = read(&whole[..end], "x").expect_err("cut").to_string();
            let sentence = format!("x, byte {end}: the gzip data ends too early; ");
            assert!(error.starts_with(&sentence), "{format:?}: {error}");
        }
        let mut damaged = whole.clone();
        let sum = whole.len() - 6;
        damaged[sum] ^= 1;
        let error = read(&damaged, "x").expect_err("damaged").to_string();
        assert!(error.contains(": the gzip data is damaged; "), "{error}");
    }
}

#[test]
fn nothing_is_no_profile_of_any_format() {
    for (format, _) in samples() {
        for nothing in [&b""[..], b"\n", b"{}", b"[]", b"\0"] {
            let read = read_as(format, nothing, "x", Limits::default(), &NoSymbols);
            let error = read.map(|_| ()).expect_err("nothing").to_string();
            assert!(error.starts_with('x') && error.ends_with('.'), "{error}");
        }
    }
}

#[test]
fn what_grows_beyond_its_limit_is_refused_before_it_does() {
    let zeros = vec![b'0'; 1 << 20];
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(&zeros).expect("into memory");
    let bomb = writer.finish().expect("into memory");
    let limits = Limits {
        bytes: 1 << 16,
        ratio: 400,
    };
    let error = read_with(&bomb, "x", limits, &NoSymbols).expect_err("too large");
    assert!(matches!(error.place, Some(Place::Byte(_))));
    let expect = "the gzip data becomes larger than 65536 bytes, which is not accepted";
    assert_eq!(error.problem, expect);
}

//! Reads the corpora of the fuzz targets, as they are and with reproducible damage.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_profile_formats::Format;
use fulcrum_stats::Random;

#[path = "../../../../fuzz/src/check.rs"]
mod check;

/// Every fuzz target, in alphabetical order, and its format; `None` detects it.
pub(crate) const TARGETS: &[(&str, Option<Format>)] = &[
    ("bpftrace", Some(Format::Bpftrace)),
    ("callgrind", Some(Format::Callgrind)),
    ("chrome_trace", Some(Format::ChromeTrace)),
    ("cpuprofile", Some(Format::CpuProfile)),
    ("detection", None),
    ("dhat", Some(Format::Dhat)),
    ("dtrace", Some(Format::DTrace)),
    ("firefox", Some(Format::Firefox)),
    ("folded", Some(Format::Folded)),
    ("gperftools", Some(Format::Gperftools)),
    ("gprof", Some(Format::Gprof)),
    ("gprof2dot", Some(Format::Gprof2dot)),
    ("haskell", Some(Format::Haskell)),
    ("heapprofile", Some(Format::HeapProfile)),
    ("instruments", Some(Format::Instruments)),
    ("jfr", Some(Format::Jfr)),
    ("massif", Some(Format::Massif)),
    ("otlp", Some(Format::Otlp)),
    ("perf_data", Some(Format::PerfData)),
    ("perf_script", Some(Format::PerfScript)),
    ("perfetto", Some(Format::Perfetto)),
    ("pprof", Some(Format::Pprof)),
    ("pprof_text", Some(Format::PprofText)),
    ("pstats", Some(Format::Pstats)),
    ("pyinstrument", Some(Format::Pyinstrument)),
    ("safari", Some(Format::Safari)),
    ("scalene", Some(Format::Scalene)),
    ("simpleperf", Some(Format::Simpleperf)),
    ("speedscope", Some(Format::Speedscope)),
    ("stackprof", Some(Format::Stackprof)),
    ("v8_log", Some(Format::V8Log)),
];

/// Numbers that broke readers before, and syntax of several formats.
const TOKENS: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"NaN",
    b"1e999",
    b"2147483648",
    b"4294967295",
    b"9223372036854775808",
    b"18446744073709551615",
    b"null",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"[[",
    b"\n",
    b";",
];

/// Reads each file of the corpora as it is, and `mutations` damaged copies. Returns the number of damaged copies and the bytes of
/// all files.
pub(crate) fn replay(mutations: u64) -> (u64, usize) {
    let (mut damaged, mut bytes) = (0, 0);
    for (name, format) in TARGETS {
        let run = |input: &[u8]| match format {
            Some(format) => check::reader(*format, input),
            None => check::detection(input),
        };
        let (mut good, mut bad) = (0, 0);
        for file in files(&fuzz().join("corpus").join(name)) {
            let whole = fs::read(&file).expect("it is committed");
            let mut random = Random::of(&[&whole]);
            bytes += whole.len();
            for round in 0..=mutations {
                let mut input = whole.clone();
                if round > 0 {
                    (0..1 + round % 4).for_each(|_| damage(&mut input, &mut random));
                    damaged += 1;
                }
                match run(&input) {
                    true => good += 1,
                    false => bad += 1,
                }
            }
        }
        assert!(
            good >= 3 && bad >= 3,
            "{name}: {good} inputs were read and {bad} refused, damaged copies among them; each must happen three times at least: \
             add a file to engine/fuzz/corpus/{name}"
        );
    }
    (damaged, bytes)
}

pub(crate) fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a corpus");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    files
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.index(bytes.len());
    let end = at + random.index(bytes.len() - at);
    let token = TOKENS[random.index(TOKENS.len())];
    match random.below(8) {
        _ if bytes.is_empty() => bytes.extend(token),
        0 => bytes.truncate(at),
        1 => bytes[at] = random.below(256) as u8,
        2 => bytes[at] ^= 1 << random.below(8),
        3 => drop(bytes.remove(at)),
        4 => drop(bytes.splice(at..at, token.iter().copied())),
        5 => drop(bytes.splice(
            at..(at + token.len()).min(bytes.len()),
            token.iter().copied(),
        )),
        6 => drop(bytes.drain(at..end)),
        _ => {
            let part = bytes[at..end].to_vec();
            let to = random.index(bytes.len());
            bytes.splice(to..to, part);
        }
    }
}

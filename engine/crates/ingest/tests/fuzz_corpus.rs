//! The corpora of the fuzz targets, each file as it is and damaged a fixed number of times: the short run of the fuzzers,
//! without their toolchain. `npm run bench -- fuzz` is the long one.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_ingest::profile::Format;

#[path = "../../../fuzz/src/check.rs"]
mod check;

/// Damaged copies of each file.
const MUTATIONS: u64 = 60;

const TARGETS: [(&str, Option<Format>); 15] = [
    ("callgrind", Some(Format::Callgrind)),
    ("chrome_trace", Some(Format::ChromeTrace)),
    ("cpuprofile", Some(Format::CpuProfile)),
    ("detection", None),
    ("firefox", Some(Format::Firefox)),
    ("folded", Some(Format::Folded)),
    ("gprof", Some(Format::Gprof)),
    ("jfr", Some(Format::Jfr)),
    ("otlp", Some(Format::Otlp)),
    ("perf_data", Some(Format::PerfData)),
    ("perf_script", Some(Format::PerfScript)),
    ("pprof", Some(Format::Pprof)),
    ("pstats", Some(Format::Pstats)),
    ("speedscope", Some(Format::Speedscope)),
    ("stackprof", Some(Format::Stackprof)),
];

/// Numbers that readers have stumbled over, and what holds files together.
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

#[test]
fn every_target_has_a_corpus_and_every_corpus_a_target() {
    let folder = |name: &str| fuzz().join(name);
    let names = |path: PathBuf| {
        let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").path())
            .map(|path| {
                path.file_stem()
                    .expect("named")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    };
    let targets = TARGETS.map(|(name, _)| name.to_owned());
    assert_eq!(names(folder("fuzz_targets")), targets);
    assert_eq!(names(folder("corpus")), targets);
}

#[test]
fn corpora_are_read_or_refused_as_they_are_and_damaged() {
    let (mut bytes, mut damaged) = (0, 0);
    for (name, format) in TARGETS {
        let run = |input: &[u8]| match format {
            Some(format) => check::reader(format, input),
            None => check::detection(input),
        };
        let (mut good, mut bad) = (0, 0);
        for file in files(&fuzz().join("corpus").join(name)) {
            let whole = fs::read(&file).expect("it is committed");
            let mut random = Random(0xcbf2_9ce4_8422_2325);
            for &byte in &whole {
                random.0 = (random.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
            bytes += whole.len();
            for round in 0..=MUTATIONS {
                let mut input = whole.clone();
                if round > 0 {
                    (0..1 + round % 4).for_each(|_| random.damage(&mut input));
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
            "{name}: both ways were tried: {good} {bad}"
        );
    }
    assert!(
        damaged > 1000 && bytes < 300_000,
        "{damaged} of {bytes} bytes"
    );
}

fn fuzz() -> PathBuf {
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

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        let end = at + self.below(bytes.len() - at);
        let token = TOKENS[self.below(TOKENS.len())];
        match self.below(8) {
            _ if bytes.is_empty() => bytes.extend(token),
            0 => bytes.truncate(at),
            1 => bytes[at] = self.below(256) as u8,
            2 => bytes[at] ^= 1 << self.below(8),
            3 => drop(bytes.remove(at)),
            4 => drop(bytes.splice(at..at, token.iter().copied())),
            5 => drop(bytes.splice(
                at..(at + token.len()).min(bytes.len()),
                token.iter().copied(),
            )),
            6 => drop(bytes.drain(at..end)),
            _ => {
                let part = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
}

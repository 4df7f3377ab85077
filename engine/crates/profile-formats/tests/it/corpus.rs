//! Reads the corpora of the fuzz targets, as they are and with reproducible damage.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_profile_formats::Format;
use fulcrum_stats::Random;

#[path = "../../../../fuzz/src/check.rs"]
mod check;
#[path = "damage.rs"]
mod damage;

use damage::damage;

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
    ("go_trace", Some(Format::GoTrace)),
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

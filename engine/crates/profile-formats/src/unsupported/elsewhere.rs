//! Recordings that other tools read, each with the command that converts it.

use std::ops::Range;

use crate::decode::input::Input;
use crate::decode::wire::{Field, Message};

/// A file that no reader reads.
#[derive(Clone, Copy)]
pub(crate) struct ForeignFile {
    /// What it is.
    pub(crate) what: &'static str,
    /// How to get a profile from it; `None` when another file is needed.
    pub(crate) advice: Option<&'static str>,
}

impl ForeignFile {
    const fn new(what: &'static str, advice: &'static str) -> Self {
        ForeignFile {
            what,
            advice: Some(advice),
        }
    }
}

/// Where the first header of a tar archive has its magic number.
const TAR_MAGIC: Range<usize> = 257..262;
/// How many bytes of a compressed recording are searched for its own magic number.
const HEAD: usize = 64;

const MEMRAY: ForeignFile = ForeignFile::new(
    "memray's recording",
    "make JSON of it with `memray transform gprof2dot FILE`, and open that",
);
const NETTRACE: ForeignFile = ForeignFile::new(
    ".NET's trace (.nettrace)",
    "convert it with `dotnet-trace convert --format Speedscope FILE`",
);
const XPLANE: ForeignFile = ForeignFile::new(
    "a trace of TensorFlow or JAX (.xplane.pb)",
    "open the .trace.json.gz that stands beside it, or record with \
     `jax.profiler.start_trace(FOLDER, create_perfetto_trace=True)`, which writes perfetto_trace.json.gz",
);
const GMON: ForeignFile = ForeignFile::new(
    "gprof's counts (gmon.out)",
    "make text of it with `gprof PROGRAM gmon.out > FILE.gprof`",
);
const V8_LOG: ForeignFile = ForeignFile::new(
    "the log of `node --prof`",
    "convert it with `node --prof-process --preprocess FILE > FILE.json`",
);
const HEAPTRACK: ForeignFile = ForeignFile::new(
    "heaptrack's recording",
    "convert it with `heaptrack_print --print-flamegraph FILE.folded FILE`",
);
const PERFPARSER: ForeignFile = ForeignFile::new(
    "hotspot's export (.perfparser)",
    "open the perf.data file that it was made of",
);
const TAR: ForeignFile = ForeignFile::new("a tar archive", "take the profile out of it first");
const SEVEN_ZIP: ForeignFile = ForeignFile::new("a 7z archive", "take the profile out of it first");
const XZ: ForeignFile = ForeignFile::new("data compressed with xz", "decompress it with `xz -d`");
const BZIP2: ForeignFile = ForeignFile::new(
    "data compressed with bzip2",
    "decompress it with `bzip2 -d`",
);
const HASKELL: ForeignFile = ForeignFile::new(
    "the text of GHC's profile",
    "record with `+RTS -pj`, which writes JSON, or convert it with `ghc-prof-flamegraph FILE`",
);

const PMCSTAT: ForeignFile = ForeignFile::new(
    "pmcstat's call graph",
    "convert it with `stackcollapse-pmc.pl FILE > FILE.folded` (of FlameGraph)",
);
const THREADS: ForeignFile = ForeignFile::new(
    "gperftools' list of threads",
    "convert it with `go tool pprof -proto FILE > FILE.pb.gz`",
);
const PAPYRUS: ForeignFile = ForeignFile::new(
    "a log of Papyrus, the language of games' scripts",
    "open it in speedscope and export it there",
);
const ART: ForeignFile = ForeignFile::new(
    "a trace of methods on Android",
    "open it in the Firefox Profiler (profiler.firefox.com) and save it there, or record with simpleperf",
);
const CLEOPATRA: ForeignFile = ForeignFile::new(
    "a profile of Firefox 46 or older",
    "open it in the Firefox Profiler (profiler.firefox.com) and save it there",
);
const VTUNE: ForeignFile = ForeignFile::new(
    "VTune's report in gprof's style, which has no units",
    "write `vtune -report top-down -call-stack-mode all -format csv -csv-delimiter comma -r RESULT > FILE.csv`, and convert \
     that with `stackcollapse-vtune.pl FILE.csv > FILE.folded` (of FlameGraph)",
);
const SYSPROF: ForeignFile = ForeignFile::new(
    "an XML recording of Sysprof before version 3",
    "record with `perf record -g`",
);
const SAMPLE: ForeignFile = ForeignFile::new(
    "a report of macOS's `sample`",
    "convert it with `stackcollapse-sample.awk FILE > FILE.folded` (of FlameGraph)",
);
const XCTRACE: ForeignFile = ForeignFile::new(
    "an export of Instruments (xctrace)",
    "convert it with `inferno-collapse-xctrace FILE > FILE.folded` (of inferno)",
);
const VISUAL_STUDIO: ForeignFile = ForeignFile::new(
    "Visual Studio's call tree (CSV)",
    "convert it with `stackcollapse-vsprof.pl FILE > FILE.folded` (of FlameGraph)",
);
const VTUNE_CSV: ForeignFile = ForeignFile::new(
    "VTune's report (CSV)",
    "convert it with `stackcollapse-vtune.pl FILE > FILE.folded` (of FlameGraph)",
);
const FTRACE: ForeignFile = ForeignFile::new(
    "a trace of the kernel's functions or events (ftrace, systrace)",
    "record stacks with `perf record -g`",
);
const GOROUTINES: ForeignFile = ForeignFile::new(
    "Go's list of goroutines with their arguments",
    "fetch `/debug/pprof/goroutine` without `debug=2`",
);
const PICTURE: ForeignFile =
    ForeignFile::new("a picture (SVG)", "open the stacks from which it was drawn");
const PAGE: ForeignFile = ForeignFile::new(
    "a page (HTML)",
    "open the recording that it shows; async-profiler's pages are converted with `jfrconv -o collapsed FILE FILE.folded`",
);
const RUSTC: ForeignFile = ForeignFile::new(
    "rustc's profile of itself (.mm_profdata)",
    "convert it with `crox FILE` (of measureme)",
);
const XPERF: ForeignFile = ForeignFile::new(
    "xperf's table",
    "record with a profiler whose stacks stay whole, such as `samply record`",
);

/// Recognises a recording that another tool reads.
pub(crate) fn recognise(input: &Input) -> Option<ForeignFile> {
    let bytes = input.bytes;
    let head = &bytes[..bytes.len().min(HEAD)];
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    let kinds = [
        (bytes.starts_with(b"memray\0"), MEMRAY),
        // LZ4 leaves the beginning of the data as it is.
        (
            bytes.starts_with(b"\x04\x22\x4d\x18") && has(b"memray"),
            MEMRAY,
        ),
        (bytes.starts_with(b"Nettrace"), NETTRACE),
        (bytes.starts_with(b"gmon"), GMON),
        (bytes.starts_with(b"SLOW"), ART),
        (bytes.starts_with(b"QPERFSTREAM\0"), PERFPARSER),
        (bytes.starts_with(b"7z\xbc\xaf\x27\x1c"), SEVEN_ZIP),
        (bytes.starts_with(b"\xfd7zXZ\0"), XZ),
        (bytes.starts_with(b"BZh"), BZIP2),
        (bytes.starts_with(b"MMPD"), RUSTC),
        (bytes.get(TAR_MAGIC).is_some_and(|it| it == b"ustar"), TAR),
    ];
    let binary = kinds.into_iter().find(|(is, _)| *is && !input.is_text());
    if let Some((_, kind)) = binary {
        return Some(kind);
    }
    match input.is_text() {
        true => text(input),
        false => is_xplane(bytes).then_some(XPLANE),
    }
}

fn text(input: &Input) -> Option<ForeignFile> {
    if input.has_keys(&["profileJSON", "symbolicationTable"]) {
        return Some(CLEOPATRA);
    }
    let mut lines = input.first_lines().map(|(_, line)| line.trim());
    let first = lines.next()?;
    // Chromium's logs have no version.
    if first.starts_with("v8-version,") || first.starts_with("shared-library,") {
        return Some(V8_LOG);
    }
    if first.ends_with("Time and Allocation Profiling Report  (Final)") {
        return Some(HASKELL);
    }
    let other = other(first, input.text());
    if other.is_some() {
        return other;
    }
    // heaptrack's version, then the command.
    let version = first.strip_prefix("v ").is_some_and(|rest| {
        let digits = |word: &str| word.bytes().all(|it| it.is_ascii_hexdigit());
        rest.split(' ').count() == 2 && rest.split(' ').all(digits)
    });
    let command = lines.next().is_some_and(|line| line.starts_with("X "));
    (version && command).then_some(HEAPTRACK)
}

/// Recognises a recording by its first line.
fn other(first: &str, text: &str) -> Option<ForeignFile> {
    let words = |expected: &[&str]| {
        first
            .split_whitespace()
            .take(expected.len())
            .eq(expected.iter().copied())
    };
    let kinds = [
        (
            first.starts_with("@ ") && first.ends_with(" samples]"),
            PMCSTAT,
        ),
        (first.starts_with("--- threadz "), THREADS),
        (first.ends_with(" log opened (PC)"), PAPYRUS),
        (first == "*version" && text.contains("\n*threads"), ART),
        (words(&["Index", "%", "CPU", "Time:Total"]), VTUNE),
        (first == "<profile>" && text.contains("<objects>"), SYSPROF),
        (first.starts_with("Process Name, Display Name, "), XPERF),
        (first.starts_with("Analysis of sampling "), SAMPLE),
        (
            first.starts_with("<?xml") && text.contains("<trace-query-result>"),
            XCTRACE,
        ),
        (first.starts_with("Level,Function Name,"), VISUAL_STUDIO),
        (first.starts_with("Function Stack,"), VTUNE_CSV),
        (first.starts_with("war:Column filter"), VTUNE_CSV),
        (first.starts_with("# tracer: "), FTRACE),
        (
            first.starts_with("goroutine ") && first.ends_with("]:"),
            GOROUTINES,
        ),
        (first.starts_with("<?xml") && text.contains("<svg"), PICTURE),
        (first.starts_with("<svg"), PICTURE),
        (is_page(first), PAGE),
    ];
    kinds.into_iter().find_map(|(is, kind)| is.then_some(kind))
}

fn is_page(first: &str) -> bool {
    let begins = |tag: &str| {
        first
            .get(..tag.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(tag))
    };
    begins("<!doctype html") || begins("<html")
}

/// Whether the first protobuf field is a plane with the name of a host or a device.
fn is_xplane(bytes: &[u8]) -> bool {
    let Ok(Some((1, Field::Bytes(mut plane)))) = Message::new(bytes).field() else {
        return false;
    };
    while let Ok(Some((number, field))) = plane.field() {
        if let (2, Field::Bytes(name)) = (number, field) {
            let names = [&b"/host:"[..], b"/device:", b"Task Environment"];
            return names.iter().any(|it| name.bytes().starts_with(it));
        }
        if number > 2 {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn what_others_read_is_named_with_their_command() {
        let mut tar = b"perf.data\0".to_vec();
        tar.resize(512, 0);
        tar[257..262].copy_from_slice(b"ustar");
        for (bytes, ForeignFile { what, advice }) in [
            (&b"memray\0\x0b\0\0\0\x01"[..], MEMRAY),
            (b"\x04\x22\x4d\x18\x40\x40\xc0\x4c\x56\0\0\xf9\x05memray\0\x0b\0", MEMRAY),
            (b"Nettrace\x14\0\0\0!FastSerialization.1", NETTRACE),
            (b"gmon\x01\0\0\0", GMON),
            (b"SLOW\x03\0\x20\0", ART),
            (b"QPERFSTREAM\0\x13\0\0\0", PERFPARSER),
            (&tar[..], TAR),
            (b"7z\xbc\xaf\x27\x1c\0\x04", SEVEN_ZIP),
            (b"\xfd7zXZ\0\0\x04", XZ),
            (b"BZh91AY&SY\0", BZIP2),
            (b"MMPD\x09\0\0\0", RUSTC),
            (b"Analysis of sampling rg (pid 7) every 1 millisecond\nProcess:  rg [7]\n", SAMPLE),
            (b"<?xml version=\"1.0\"?>\n<trace-query-result>\n<node>\n", XCTRACE),
            (b"\xef\xbb\xbfLevel,Function Name,Number of Calls,\n0,\"a.exe\",0,\n", VISUAL_STUDIO),
            (b"Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n", VTUNE_CSV),
            (b"war:Column filter is ON.\nFunction Stack,CPU Time:Self,Module\n", VTUNE_CSV),
            (b"# tracer: nop\n#\n", FTRACE),
            (b"goroutine 1 [running]:\nmain.main()\n", GOROUTINES),
            (b"<?xml version=\"1.0\"?>\n<svg version=\"1.1\">\n", PICTURE),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\">\n", PICTURE),
            (b"<!DOCTYPE html>\n<html lang='en'>\n", PAGE),
            (b"shared-library,\"/usr/bin/node\",0x400000,0x500000\n", V8_LOG),
            (b"*version\n3\n*threads\n1\tmain\n", ART),
            (b"@ inst_retired.any [35705 samples]\n\n20.86%  [7447]     f @ /boot/kernel\n", PMCSTAT),
            (b"--- threadz 1 ---\n\n--- Thread 7f (name: main/1) stack: ---\n  PC: 0x4: f\n", THREADS),
            (b"Stack_3185 log opened (PC)\n50002:START:3185\n", PAPYRUS),
            (b"Index  % CPU Time:Total  CPU Time:Self  CPU Time:Children  Name\n", VTUNE),
            (b"<profile>\n  <size>3</size>\n  <objects>\n", SYSPROF),
            (b"Process Name, Display Name, Process, Stack\na.exe, , 1, f\n", XPERF),
            (b"{\"format\":\"x\",\"meta\":{},\"profileJSON\":[],\"symbolicationTable\":{}}", CLEOPATRA),
            (b"\x0a\x0d\x08\x01\x12\x09/host:CPU", XPLANE),
            (b"\x0a\x0f\x12\x0d/device:GPU:0", XPLANE),
            (b"v8-version,11,3,244,8,-node.33,0\nshared-library,/usr/bin/node,0x400000,0x500000,0\n", V8_LOG),
            (b"v 10400 3\nX ./app -v\nI 1000 5\n", HEAPTRACK),
            (b"\tThu Oct 25 10:51 2018 Time and Allocation Profiling Report  (Final)\n\n\t   a +RTS -p\n", HASKELL),
        ] {
            let error = read(bytes, "x").expect_err(what);
            let problem = format!("this is {what}, expected a profile");
            assert_eq!((error.problem, Some(&*error.advice)), (problem, advice));
        }
    }

    #[test]
    fn what_only_begins_so_is_read() {
        for text in [
            "gmon;main 3\n",
            "BZhash;main 3\n",
            "v 10;main 3\n",
            "go 1.22 trace;main 2\n",
            "Nettrace 5\n",
        ] {
            read(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

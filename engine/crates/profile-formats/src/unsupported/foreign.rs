//! Files in formats that no reader reads: how they are recognised, and the advice for them.

use super::elsewhere::{self, ForeignFile};
use crate::decode::fault::{Fault, quote};
use crate::decode::input::Input;

/// Whether a file is in a known format that no reader reads.
pub(crate) fn is_foreign(input: &Input) -> bool {
    recognise(input).is_some()
}

/// Recognises a file in a known format that no reader reads.
fn recognise(input: &Input) -> Option<ForeignFile> {
    const ONCE: Option<&str> = Some("decompress it once");
    const OUT: Option<&str> = Some("take the profile out of it first");
    const RECORD: Option<&str> = Some(
        "record where memory is allocated, with `node --heap-prof` or by allocation sampling in the developer tools, and \
         open the .heapprofile file",
    );
    const COLLAPSE: Option<&str> = Some(
        "convert it with `stackcollapse-hprof FILE > FILE.folded` (of the Python package hprof2flamegraph), or record with \
         JDK Flight Recorder",
    );
    const DUMP: Option<&str> = Some(
        "it says which objects exist, not which calls made them: record allocations with JDK Flight Recorder or \
         async-profiler",
    );
    let kinds = [
        (&b"\x7fELF"[..], "a program or library (ELF)", None),
        (b"PK\x03\x04", "a zip archive", OUT),
        (b"\x1f\x8b", "data that was compressed twice", ONCE),
        (b"\x28\xb5\x2f\xfd", "data that was compressed twice", ONCE),
        (
            b"JAVA PROFILE 1.0.2\0",
            "a dump of Java's heap (hprof)",
            DUMP,
        ),
        (
            b"JAVA PROFILE 1.0.1\0",
            "a dump of Java's heap (hprof)",
            DUMP,
        ),
        (b"JAVA PROFILE ", "text of Java's hprof agent", COLLAPSE),
    ];
    if input.has_keys(&["snapshot", "nodes", "edges"]) {
        return Some(ForeignFile {
            what: "a snapshot of V8's heap (.heapsnapshot)",
            advice: RECORD,
        });
    }
    let kind = kinds
        .into_iter()
        .find(|(magic, ..)| input.bytes.starts_with(magic));
    kind.map(|(_, what, advice)| ForeignFile { what, advice })
        .or_else(|| elsewhere::recognise(input))
}

/// The problem of a file that no reader reads.
pub(crate) fn problem(input: &Input) -> Fault {
    const EXPECTED: &str = "expected a profile";
    const ADVICE: &str = "open pprof, folded stacks, perf.data, `perf script` output, JFR, .cpuprofile, a Chrome trace, speedscope, \
                          Firefox or samply JSON, stackprof JSON, OTLP profiles, callgrind, gprof or pstats output, or another of \
                          the formats that docs/formats.md lists";
    let known = |what: &str, advice: &str| {
        let problem = format!("this is {what}, {EXPECTED}");
        let fault = match input.is_text() {
            true => Fault::line(1, problem),
            false => Fault::byte(0, problem),
        };
        fault.advise(advice)
    };
    if input.bytes.trim_ascii().is_empty() {
        let fault = Fault::whole(format!("the file is empty, {EXPECTED}"));
        return fault.advise("check that the profiler ran to its end, and record again");
    }
    if let Some(ForeignFile { what, advice }) = recognise(input) {
        return known(what, advice.unwrap_or(ADVICE));
    }
    if !input.is_text() {
        return known("binary data of an unknown kind", ADVICE);
    }
    if fulcrum_causal_records::detect(input.bytes, "").is_ok() {
        let fault = Fault::line(1, format!("this is a causal profile, {EXPECTED} of calls"));
        return fault.advise("open it with `fulcrum causal show`");
    }
    if let Some(json) = &input.json {
        let keys: Vec<_> = json.keys.iter().take(5).map(|key| quote(key)).collect();
        let problem = if keys.is_empty() {
            format!("this is JSON without keys, {EXPECTED}")
        } else {
            format!("this is JSON with the keys {}, {EXPECTED}", keys.join(", "))
        };
        return Fault::line(1, problem).advise(ADVICE);
    }
    let (number, line) = input.first_lines().next().unwrap_or((1, ""));
    let first = quote(line.trim());
    Fault::line(number, format!("the first record is {first}, {EXPECTED}")).advise(ADVICE)
}

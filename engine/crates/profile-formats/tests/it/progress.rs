//! Reading reports its progress, and stops when it is cancelled.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

use fulcrum_model::Progress;
use fulcrum_profile_formats::{
    Limits, NoSymbols, OutputFormat, Profile, read, read_with_progress, write,
};

/// Many different folded stacks, in several pieces.
fn folded() -> Vec<u8> {
    let mut text = Vec::new();
    for n in 0..200_000 {
        writeln!(text, "main;caller {};leaf {} 1", n % 100, n % 9973).expect("into memory");
    }
    text
}

/// Functions that call each other, in callgrind's format.
fn callgrind() -> Vec<u8> {
    let mut text = b"events: Ir\n".to_vec();
    for n in 0..20_000 {
        let (caller, callee) = (n % 100, n % 97);
        writeln!(text, "fn=f{caller}\n1 5\ncfn=f{callee}\ncalls=1 1\n1 7").expect("into memory");
    }
    text
}

/// A JFR recording with several chunks, which is valid.
fn jfr() -> Vec<u8> {
    let packed = include_bytes!("../samples/work.jfr.gz");
    let mut chunks = Vec::new();
    let mut reader = flate2::read::GzDecoder::new(&packed[..]);
    reader.read_to_end(&mut chunks).expect("a recording");
    chunks.repeat(6)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("into memory");
    writer.finish().expect("into memory")
}

/// The same, as long as it was.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    writer.write_all(bytes).expect("into memory");
    writer.finish().expect("into memory")
}

/// Reads until that many fractions were reported. Returns the result and the fractions.
fn watched(bytes: &[u8], most: usize) -> (Option<Profile>, Vec<f64>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&heard);
    let token = Progress::default();
    let handle = token.clone();
    let progress = token.with_listener(move |_: &str, fraction: f64| {
        let mut heard = theirs.lock().expect("nobody panics");
        heard.push(fraction);
        if heard.len() == most {
            handle.cancel();
        }
    });
    let read = read_with_progress(bytes, "x.prof", Limits::default(), &NoSymbols, &progress);
    let heard = heard.lock().expect("nobody panics").clone();
    (read.expect("a profile"), heard)
}

#[test]
fn a_reader_says_how_far_it_is_and_stops_when_told() {
    let folded = folded();
    let profile = read(&folded, "x.prof").expect("folded stacks");
    let mut pprof = Vec::new();
    write(&profile, OutputFormat::Pprof, 0, &mut pprof).expect("into memory");
    let stored = stored(&folded.repeat(2));
    assert!(
        stored.len() > 4 << 20,
        "large enough for a thread of its own"
    );
    for bytes in [
        &folded,
        &gzip(&folded),
        &stored,
        &pprof,
        &callgrind(),
        &jfr(),
    ] {
        let expect = read(bytes, "x.prof").expect("a profile");
        let (found, heard) = watched(bytes, usize::MAX);
        assert_eq!(found, Some(expect));
        assert!(heard.len() >= 5 && heard.is_sorted(), "{heard:?}");
        assert!(heard.iter().all(|it| (0.0..=1.0).contains(it)), "{heard:?}");
        for most in [1, 2, heard.len() / 2, heard.len()] {
            let (found, heard) = watched(bytes, most);
            assert_eq!((found, heard.len()), (None, most), "it went on");
        }
    }
}

//! Reads the corpora of the fuzz targets, each file as it is and damaged a few times, without the fuzzers' toolchain.
//! `npm run bench -- campaigns` damages them a hundred times as often; `-- fuzz` looks for new inputs.

use std::fs;
use std::path::PathBuf;

use crate::corpus::{TARGETS, fuzz, replay};

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
    let targets = TARGETS.iter().map(|(name, _)| (*name).to_owned());
    let targets: Vec<_> = targets.collect();
    assert_eq!(names(folder("fuzz_targets")), targets);
    assert_eq!(names(folder("corpus")), targets);
}

#[test]
fn corpora_are_read_or_refused_as_they_are_and_damaged() {
    let (damaged, bytes) = replay(6);
    assert!(
        damaged > 100 && bytes < 300_000,
        "{damaged} of {bytes} bytes"
    );
}

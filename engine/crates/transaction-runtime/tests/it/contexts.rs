//! Spans that SDKs publish for their threads.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fulcrum_test_support::programs::Recipe;
use fulcrum_wire::transactions::Record;

use crate::support::{Lab, Log};

/// The ways in which a library's own code can reach the variable.
const DIALECTS: [&str; 2] = ["gnu", "gnu2"];

fn build(name: &str, arguments: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let path = folder.join("contexts.c");
    let command = [
        "gcc",
        "-g",
        "-O1",
        "-pthread",
        "-D_GNU_SOURCE",
        "-w",
        "-o",
        name,
    ];
    Recipe::new(name)
        .reads(&path)
        .reads(folder.join("common.h"))
        .command(
            command
                .iter()
                .chain(arguments)
                .map(OsStr::new)
                .chain([path.as_os_str(), OsStr::new("-ldl")]),
        )
        .build()
        .join(name)
}

/// A span: the first bytes of its trace, its own first byte, and its attributes.
type Span = ([u8; 3], u8, u8, String);

/// The spans recorded by each thread, with the number of sends after each one and before the next.
fn spans(log: &Log) -> Vec<(u32, Span, usize)> {
    let mut found: Vec<(u32, Span, usize)> = Vec::new();
    for entry in &log.entries {
        match entry.record {
            Record::Span {
                trace,
                span,
                flags,
                attributes,
            } => {
                let [a, b, c, ..] = trace[0].to_le_bytes();
                let text = attributes.escape_ascii().to_string();
                found.push((entry.thread, ([a, b, c], span as u8, flags, text), 0));
            }
            Record::Send { .. } => {
                if let Some((_, _, sends)) = found.last_mut().filter(|it| it.0 == entry.thread) {
                    *sends += 1;
                }
            }
            _ => {}
        }
    }
    found
}

fn check(program: PathBuf, arguments: &[&str]) {
    let ran = Lab::of(program).run(arguments);
    let errors = String::from_utf8_lossy(&ran.output.stderr);
    assert!(ran.output.status.success(), "{arguments:?}: {errors}");
    let log = ran.log();
    let attributes = r"\x00\x04/buy\x01\x03GET";
    let span =
        |number: u8, flags, attributes: &str| ([1, 2, 3], number, flags, attributes.to_owned());
    let none = ([0; 3], 0, 0, String::new());
    let expected = [
        (1, span(4, 1, attributes), 2),
        (1, span(5, 0, ""), 1),
        // First no longer valid, then removed.
        (1, none.clone(), 2),
        (1, span(4, 1, attributes), 1),
        (1, span(6, 1, attributes), 1),
        (1, none.clone(), 0),
        (2, ([9, 0, 0], 9, 0, String::new()), 1),
        (2, none, 0),
    ];
    assert_eq!(spans(log), expected, "{arguments:?}");
    let names = log.each(|it| match it.record {
        Record::Context(bytes) => Some(bytes),
        _ => None,
    });
    assert_eq!(names.len(), 1, "{arguments:?}");
    let has = |text: &[u8]| names[0].windows(text.len()).any(|it| it == text);
    assert!(has(b"threadlocal.attribute_key_map") && has(b"http.request.method"));
}

#[test]
fn spans_of_a_program_are_logged_when_they_change() {
    check(build("contexts", &["-DOWN", "-rdynamic"]), &[]);
}

#[test]
fn spans_of_a_library_that_comes_later_are_logged_too() {
    let program = build("contexts-host", &[]);
    for dialect in DIALECTS {
        let name = format!("libcontexts-{dialect}.so");
        let dialect = format!("-mtls-dialect={dialect}");
        let library = build(&name, &["-DLIBRARY", "-shared", "-fPIC", &dialect]);
        check(program.clone(), &[library.to_str().unwrap()]);
    }
}

/// Without a publisher, nothing is logged.
#[test]
fn programs_without_spans_tell_none() {
    let lab = Lab::build("locks.c");
    let ran = lab.run(&["waits"]);
    assert_eq!(spans(ran.log()), []);
}

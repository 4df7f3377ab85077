//! Functions by their place in a file, from symbol tables alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_names::{SymbolTable, build_id_of_notes};
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _};

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) int leaf(int n) { return n * rand(); }
int twice(int n) { return leaf(n) + leaf(n + 1); }
int alias(int n) __attribute__((weak, alias(\"twice\")));
int main(int argc, char **argv) { return puts(argv[0]) + twice(argc); }
";

fn run(folder: &Path, command: &str, arguments: &[&str]) {
    let run = Command::new(command)
        .args(arguments)
        .current_dir(folder)
        .output();
    let run = run.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

fn build(folder: &Path, flags: &[&str]) -> PathBuf {
    std::fs::write(folder.join("program.c"), PROGRAM).expect("a source");
    let arguments = [&["-O1", "-o", "program", "program.c"], flags].concat();
    run(folder, "gcc", &arguments);
    folder.join("program")
}

/// Where each of these functions is in the file, its first byte and its last.
fn places(program: &Path) -> Vec<(String, u64, u64)> {
    let bytes = std::fs::read(program).expect("a program");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let offset = |address: u64| {
        let inside =
            |it: &object::Segment| (it.address()..it.address() + it.size()).contains(&address);
        let segment = file.segments().find(inside).expect("a segment");
        segment.file_range().0 + address - segment.address()
    };
    let mut places = Vec::new();
    for symbol in file.symbols() {
        let name = symbol.name().expect("a name");
        if ["leaf", "twice", "main"].contains(&name) {
            let first = offset(symbol.address());
            places.push((name.to_owned(), first, first + symbol.size() - 1));
        }
    }
    places
}

fn check(table: &SymbolTable, places: &[(String, u64, u64)]) {
    assert_eq!(places.len(), 3);
    for (name, first, last) in places {
        for offset in [*first, (first + last) / 2, *last] {
            assert_eq!(table.at_offset(offset), Some(&**name), "{offset:x}");
        }
    }
    for outside in [0, u64::MAX] {
        assert_eq!(table.at_offset(outside), None);
    }
}

#[test]
fn every_byte_of_a_function_has_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in [&["-g"][..], &["-g0"], &["-no-pie"], &["-static"]] {
        let program = build(folder.path(), flags);
        let table = SymbolTable::open(&program).expect("symbols");
        check(&table, &places(&program));
    }
}

#[test]
fn symbols_that_were_split_off_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(folder.path(), &["-g", "-Wl,--build-id"]);
    let places = places(&program);
    let objcopy = |arguments: &[&str]| run(folder.path(), "objcopy", arguments);
    objcopy(&["--only-keep-debug", "program", "program.debug"]);
    objcopy(&["--strip-all", "program"]);
    let table = SymbolTable::open(&program).expect("symbols");
    assert!(table.build_id().is_some_and(|id| id.len() == 20));
    check(&table, &places);
    std::fs::remove_file(folder.path().join("program.debug")).expect("it was there");
    let table = SymbolTable::open(&program).expect("a file without symbols is none");
    assert_eq!(table.at_offset(places[0].1), None);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn stubs_have_the_names_of_what_they_call() {
    let folder = tempfile::tempdir().expect("a folder");
    for flags in [
        &["-Wl,-z,lazy"][..],
        &["-fcf-protection=full", "-Wl,-z,now"],
    ] {
        let program = build(folder.path(), flags);
        let table = SymbolTable::open(&program).expect("symbols");
        let bytes = std::fs::metadata(&program).expect("a file").len();
        let stubs = (0..bytes)
            .filter(|&at| table.at_offset(at) == Some("puts@plt"))
            .count();
        assert_eq!(stubs, 16, "{flags:?}");
    }
}

#[test]
fn what_is_no_program_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "text").expect("a file");
    for (path, problem) in [
        (text, "it is not an ELF file"),
        (folder.path().to_owned(), "it is not a regular file"),
        (folder.path().join("none"), "cannot read"),
        // Reading it would wait for a writer.
        (PathBuf::from("/dev/stdin"), ""),
    ] {
        let error = SymbolTable::open(&path).expect_err(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn the_kernel_is_named_by_the_distance_from_its_start() {
    let text = "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81000040 t do_one\n\
                ffffffff81000040 T __do_one\nffffffff81000080 D data\nffffffff81000100 T last\n\
                ffffffffc0000000 t module_code\t[module]\n";
    let table = SymbolTable::kernel(text, Some(vec![1])).expect("addresses");
    let at = |distance| table.at(distance);
    assert_eq!(at(0x3f), Some("_text"));
    assert_eq!((at(0x40), at(0xff)), (Some("__do_one"), Some("__do_one")));
    assert_eq!((at(0x100), at(0x3f00_0000)), (Some("last"), None));
    assert_eq!(table.build_id(), Some(&[1][..]));
    let hidden = text
        .replace("ffffffff", "00000000")
        .replace("81000", "00000");
    assert!(SymbolTable::kernel(&hidden, None).is_none());
}

#[test]
fn the_build_id_is_one_of_the_notes() {
    let note = |kind: u32, name: &[u8; 4], text: &[u8]| {
        let mut note = Vec::new();
        for word in [4, text.len() as u32, kind] {
            note.extend(word.to_ne_bytes());
        }
        note.extend(name);
        note.extend(text);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    };
    let notes = [
        note(1, b"GNU\0", b"abcde"),
        note(3, b"GNU\0", b"12345"),
        note(3, b"x\0\0\0", b""),
    ];
    let notes = notes.concat();
    assert_eq!(build_id_of_notes(&notes), Some(b"12345".to_vec()));
    for end in 0..40 {
        assert_eq!(build_id_of_notes(&notes[..end]), None, "{end}");
    }
}

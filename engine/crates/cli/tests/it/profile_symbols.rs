//! `fulcrum profile` on perf.data, which knows only addresses: names come from the programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::json;
use fulcrum_names::SymbolTable;
use fulcrum_symbols::Inlined;

const PROGRAM: &str = "\
volatile int sink;
extern \"C\" __attribute__((noinline)) void leaf(void) { sink++; }
namespace shop { __attribute__((noinline)) void pay(int n) { while (n--) leaf(); sink++; } }
int main(int argc, char **) { shop::pay(argc); return sink; }
";

const START: u64 = 0x5000_0000;

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + body.len()).expect("short");
    let head = [
        &kind.to_le_bytes()[..],
        &misc.to_le_bytes(),
        &size.to_le_bytes(),
    ]
    .concat();
    [&head, body].concat()
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What `perf record -o -` writes of one sample; the whole program is mapped from `START` on.
fn recording(program: &Path, build_id: &[u8], chain: &[u64]) -> Vec<u8> {
    let user = (-512_i64).cast_unsigned();
    let event = words(&[1 | 64 << 32, 0, 1, 1 | 1 << 1 | 1 << 5 | 1 << 8, 0, 0, 0, 0]);
    let mut map = words(&[1 | 1 << 32, START, 1 << 30, 0]);
    map.extend([build_id.len() as u8, 0, 0, 0]);
    map.extend(build_id);
    map.resize(64, 0);
    map.extend(program.to_str().expect("text").bytes());
    map.resize(map.len().next_multiple_of(8) + 8, 0);
    let chain: Vec<u64> = [user]
        .into_iter()
        .chain(chain.iter().map(|at| START + at))
        .collect();
    let sample = words(&[&[START, 1 | 1 << 32, 12, chain.len() as u64], &*chain].concat());
    [
        [b"PERFILE2".to_vec(), words(&[16])].concat(),
        record(64, 0, &event),
        record(10, 2 | 1 << 14, &map),
        record(9, 2, &sample),
    ]
    .concat()
}

/// Compiles a program in `folder`.
fn compile(folder: &Path, text: &str, options: &[&str]) -> PathBuf {
    let (program, source) = (folder.join("program"), folder.join("program.cpp"));
    std::fs::write(&source, text).expect("a source");
    let mut compiler = Command::new("g++");
    compiler.args(options).args(["-Wl,--build-id", "-o"]);
    compiler.arg(&program).arg(&source);
    assert!(compiler.status().expect("g++").success());
    program
}

#[test]
fn inlined_functions_are_frames_where_the_program_has_debug_information() {
    const INLINED: &str = "\
volatile int sink;
namespace shop { inline __attribute__((always_inline)) void tax() { sink++; sink++; } }
namespace shop { namespace { struct Cart { __attribute__((always_inline)) void total() { tax(); } }; } }
extern \"C\" __attribute__((noinline)) void leaf(void) { shop::Cart().total(); }
int main() { leaf(); return sink; }
";
    let folder = tempfile::tempdir().expect("a folder");
    for (options, expect) in [
        (
            &["-O1", "-g"][..],
            &[
                "\"shop::tax\" 12/12",
                "\"leaf\" 0/12",
                "\"shop::(anonymous namespace)::Cart::total\" 0/12",
            ][..],
        ),
        (&["-O1"], &["\"leaf\" 12/12"]),
    ] {
        let program = compile(folder.path(), INLINED, options);
        let table = SymbolTable::open(&program).expect("symbols");
        let length = std::fs::metadata(&program).expect("a file").len();
        let inlined = Inlined::open(&program);
        let is_inside = |&at: &u64| {
            let address = table.address(at).expect("code");
            inlined.as_ref().is_none_or(|it| it.at(address).len() == 2)
        };
        let mut code = (0..length).filter(|&at| table.at_offset(at) == Some("leaf"));
        let at = code.find(is_inside).expect("inlined code");
        let file = folder.path().join("perf.data");
        let bytes = recording(&program, table.build_id().expect("it has one"), &[at]);
        std::fs::write(&file, bytes).expect("a file");
        let top = json(&["profile", "top", file.to_str().expect("text"), "--json"]);
        let row = |it: &serde_json::Value| format!("{} {}/{}", it["name"], it["base"], it["cum"]);
        let rows = top["functions"].as_array().expect("a list").iter().map(row);
        assert_eq!(rows.collect::<Vec<_>>(), expect, "{options:?}");
    }
}

#[test]
fn addresses_have_the_names_of_the_program_that_was_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(folder.path(), PROGRAM, &["-O1"]);
    let table = SymbolTable::open(&program).expect("symbols");
    let length = std::fs::metadata(&program).expect("a file").len();
    let bytes = |name: &str| {
        let mut bytes = (0..length).filter(|&at| table.at_offset(at) == Some(name));
        let first = bytes.next().expect("it has code");
        (first, bytes.next_back().expect("more than a byte"))
    };
    // Interrupted at its first byte; called from the last instruction of one and the middle of another.
    let chain = [
        bytes("leaf").0,
        bytes("_ZN4shop3payEi").1 + 1,
        bytes("main").0 + 5,
    ];
    let names = |build_id: &[u8]| {
        let file = folder.path().join("perf.data");
        std::fs::write(&file, recording(&program, build_id, &chain)).expect("a file");
        let top = json(&["profile", "top", file.to_str().expect("text"), "--json"]);
        let row = |it: &serde_json::Value| format!("{} {}/{}", it["name"], it["base"], it["cum"]);
        let rows = top["functions"].as_array().expect("a list").iter().map(row);
        rows.collect::<Vec<_>>()
    };
    let id = table.build_id().expect("it has one");
    let search = |build_id: &[u8]| {
        let file = folder.path().join("searched.data");
        std::fs::write(&file, recording(&program, build_id, &chain)).expect("a file");
        json(&["suggest", file.to_str().expect("text"), "--json"])["suggestions"].clone()
    };
    let known = ["\"leaf\" 12/12", "\"main\" 0/12", "\"shop::pay\" 0/12"];
    let mut found = names(id);
    found.sort();
    assert_eq!(found, known);
    // The search knows the same names.
    let paths = search(id);
    let mut paths: Vec<_> = paths
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["path"][0])
        .collect();
    paths.sort_by_key(|name| name.to_string());
    assert_eq!(paths, ["leaf", "main", "shop::pay"]);
    // Another build of the program has other functions there.
    let other: Vec<u8> = id.iter().map(|byte| !byte).collect();
    assert_eq!(names(&other), ["\"[program]\" 12/12"]);
}

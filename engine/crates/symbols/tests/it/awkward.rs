//! Programs whose debug information other profilers lose: split, compressed, moved, folded, linked by every linker.
//!
//! The same source is built in every way and must give the same lines and functions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fulcrum_symbols::{Scope, function_ranges, line_ranges};
use fulcrum_test_support::programs::Recipe;

const SOURCE: &str = "\
volatile int sink;
static inline __attribute__((always_inline)) int twice(int a) {
  return a * 2 + sink;
}
__attribute__((noinline)) int work(int a) {
  for (int i = 0; i < a; i++)
    sink += twice(i);
  return sink;
}
int main(int argc, char** argv) {
  (void)argv;
  return work(argc);
}
";
const CODE: [u32; 4] = [3, 7, 8, 12];

struct Built {
    folder: PathBuf,
    program: PathBuf,
}

/// Runs command lines in a folder with the source; words are separated by spaces.
fn build(lines: &[&str]) -> Built {
    build_of(SOURCE, lines)
}

fn build_of(source: &str, lines: &[&str]) -> Built {
    let recipe = Recipe::new("awkward").file("a.c", source);
    let folder = lines
        .iter()
        .fold(recipe, |it, line| it.command(line.split(' ')))
        .build();
    let program = folder.join("a");
    Built { folder, program }
}

/// The lines with code and the functions are those of the source, in the source's own file.
fn check(lines: &[&str]) {
    let built = build(lines);
    check_program(&built.program, &built.folder.join("a.c"), lines);
}

fn check_program(program: &Path, source: &Path, how: &[&str]) {
    let table =
        line_ranges(program, &Scope::default()).unwrap_or_else(|error| panic!("{how:?}: {error}"));
    assert_eq!(table.notes, Vec::<String>::new(), "{how:?}");
    let source = source.canonicalize().expect("the source is there");
    let mut found = BTreeSet::new();
    for line in &table.lines {
        assert_eq!(Path::new(&line.file), source, "{how:?}");
        found.insert(line.line);
    }
    for line in CODE {
        assert!(found.contains(&line), "{how:?}: line {line} of {found:?}");
    }
    let functions = function_ranges(program, &Scope::default()).expect("functions");
    assert_eq!(functions.notes, Vec::<String>::new(), "{how:?}");
    let names: BTreeSet<&str> = functions.functions.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["main", "twice", "work"].into(), "{how:?}");
    // The loop's line in `work` holds `twice`, inlined.
    let inlined = functions.nodes.iter().any(|it| it.parent != u32::MAX);
    assert!(inlined, "{how:?}");
}

fn installed(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let there = path
        .split(':')
        .any(|folder| Path::new(folder).join(program).exists());
    if !there {
        eprintln!("{program} is not installed: what it makes is not tested");
    }
    there
}

#[test]
fn split_debug_information_is_found_beside_the_object_and_in_a_package() {
    for dwarf in ["-gdwarf-4", "-gdwarf-5"] {
        let compile = format!("gcc {dwarf} -gsplit-dwarf -O2 -c a.c -o a.o");
        let whole = [&*compile, "gcc a.o -o a"];
        check(&whole);
        // On DWARF 5, GNU dwp 2.40 crashes and llvm-dwp 14 never ends.
        if dwarf == "-gdwarf-4" {
            check(&[&whole[..], &["dwp -e a -o a.dwp", "rm a.dwo", "rm a.o"]].concat());
        }
        // The program and its entries moved together.
        let built = build(&[
            "mkdir out",
            &compile,
            "gcc a.o -o a",
            "mv a.dwo out",
            "mv a out",
        ]);
        let folder = built.folder;
        check_program(&folder.join("out/a"), &folder.join("a.c"), &["moved"]);
    }
}

#[test]
fn missing_entries_are_said_and_leave_the_lines() {
    let built = build(&[
        "gcc -g -gsplit-dwarf -O2 -c a.c -o a.o",
        "gcc a.o -o a",
        "rm a.dwo",
    ]);
    let table = line_ranges(&built.program, &Scope::default()).expect("lines");
    assert!(table.lines.iter().any(|it| it.line == 7));
    let functions = function_ranges(&built.program, &Scope::default()).expect("a table");
    assert!(functions.functions.is_empty());
    let note = format!(
        ".dwo files of {} are missing (1), so their functions are not known; \
         keep them beside the objects or compile without -gsplit-dwarf",
        built.program.display()
    );
    assert_eq!(functions.notes, [note]);
}

#[test]
fn compressed_debug_information_is_read() {
    check(&["gcc -g -O2 -gz=zlib a.c -o a"]);
    check(&["gcc -g -O2 -gz=zlib-gnu a.c -o a"]);
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let compress = format!("objcopy --compress-debug-sections={kind} a");
        check(&["gcc -g -O2 a.c -o a", &compress]);
        check(&["gcc -gdwarf-4 -O2 a.c -o a", &compress]);
    }
}

#[test]
fn debug_information_that_was_taken_out_is_found_again() {
    let keep = "objcopy --only-keep-debug a a.debug";
    let whole = "gcc -g -O2 a.c -o a";
    check(&[
        whole,
        keep,
        "strip -g a",
        "objcopy --add-gnu-debuglink=a.debug a",
    ]);
    // Not even symbols are left.
    check(&[
        whole,
        keep,
        "strip a",
        "objcopy --add-gnu-debuglink=a.debug a",
    ]);
    check(&[
        whole,
        keep,
        "strip -g a",
        "objcopy --add-gnu-debuglink=a.debug a",
        "mkdir .debug",
        "mv a.debug .debug",
    ]);
    check(&[
        whole,
        keep,
        "objcopy --compress-debug-sections=zstd a.debug",
        "strip -g a",
        "objcopy --add-gnu-debuglink=a.debug a",
    ]);
    // No link: the build id alone tells that they belong together.
    check(&["gcc -g -O2 -Wl,--build-id a.c -o a", keep, "strip -g a"]);
}

#[test]
fn another_builds_debug_file_is_not_taken() {
    let built = build(&[
        "gcc -g -O1 -Wl,--build-id a.c -o a",
        "objcopy --only-keep-debug a a.debug",
        "gcc -g -O2 -Wl,--build-id a.c -o a",
        "strip -g a",
        "objcopy --add-gnu-debuglink=a.debug a",
    ]);
    let error = line_ranges(&built.program, &Scope::default()).expect_err("no lines");
    assert!(
        error.to_string().contains("has no debug information"),
        "{error}"
    );
}

#[test]
fn every_linker_gives_the_same() {
    for linker in ["bfd", "gold", "lld", "mold"] {
        if !installed(&format!("ld.{linker}")) {
            continue;
        }
        for flags in [
            "",
            " -no-pie",
            " -gz",
            " -ffunction-sections -Wl,--gc-sections",
        ] {
            check(&[&format!("gcc -g -O2 -fuse-ld={linker}{flags} a.c -o a")]);
        }
        check(&[&format!(
            "gcc -g -O2 -fuse-ld={linker} -fPIC -shared a.c -o a"
        )]);
    }
}

#[test]
fn link_time_optimisation_invents_no_files() {
    check(&["gcc -g -O2 -flto a.c -o a"]);
    check(&["gcc -gdwarf-4 -O2 -flto a.c -o a"]);
    check(&[
        "gcc -g -O2 -flto -c a.c -o a.o",
        "gcc -g -O2 -flto a.o -o a",
    ]);
}

const TWINS: &str = "\
volatile int sink;
__attribute__((noinline)) int left(int a) {
  sink = a;
  return a * 3;
}
__attribute__((noinline)) int right(int a) {
  sink = a;
  return a * 3;
}
int main(int argc, char** argv) {
  (void)argv;
  return left(argc) + right(argc);
}
";

#[test]
fn functions_folded_by_the_linker_are_named() {
    for linker in ["lld", "gold", "mold"] {
        if !installed(&format!("ld.{linker}")) {
            continue;
        }
        let line =
            format!("gcc -g -O1 -ffunction-sections -fuse-ld={linker} -Wl,--icf=all a.c -o a");
        let built = build_of(TWINS, &[&line]);
        let table = function_ranges(&built.program, &Scope::default()).expect("functions");
        assert_eq!(table.folded.len(), 1, "{linker}: {:?}", table.functions);
        let (kept, gone) = &table.folded[0];
        let pair: BTreeSet<&str> = [&**kept, &**gone].into();
        assert_eq!(pair, ["left", "right"].into(), "{linker}");
        assert_eq!(table.notes.len(), 1, "{linker}: {:?}", table.notes);
    }
}

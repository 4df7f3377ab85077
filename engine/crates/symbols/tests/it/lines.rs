//! Line ranges of real programs, built here by gcc and g++, against their known sources and against addr2line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_stats::Random;
use fulcrum_symbols::{LineTable, Scope, SymbolsError, line_ranges};
use fulcrum_test_support::programs::{self, Recipe};
use tempfile::TempDir;

/// A program in a folder of its own. `work` is the only loop in `main.cpp`; `twice` is the project's own header;
/// `std::accumulate` is inlined from the system's.
const MAIN: &str = "\
#include <numeric>
#include <vector>
#include \"own.h\"
volatile int sink;
__attribute__((noinline)) void work(const std::vector<int>& v) {
  int sum = std::accumulate(v.begin(), v.end(), 0);
  sink = sum;
  sink = twice(sum);
}
int main(int argc, char**) {
  std::vector<int> v(100, argc);
  work(v);
  return 0;
}
";
const OWN: &str = "\
inline int twice(int x) {
  return x * 3 + sink_of(x);
}
";

fn built(flags: &[&str]) -> PathBuf {
    let own = format!(
        "extern volatile int sink; inline int sink_of(int x) {{ return sink / (x + 1); }}\n{OWN}"
    );
    let command = [&["g++", "-Iinc", "-o", "program", "main.cpp"], flags].concat();
    Recipe::new("lines")
        .file("main.cpp", MAIN)
        .file("inc/own.h", own)
        .command(command)
        .build()
}

/// A copy in a folder of the test's own. Its debug information knows the sources where it was built.
fn build(flags: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    programs::copy(&built(flags), dir.path());
    let program = dir.path().join("program");
    (dir, program)
}

fn lines_of(table: &LineTable, name: &str) -> BTreeSet<u32> {
    table
        .lines
        .iter()
        .filter(|l| l.file.ends_with(name))
        .map(|l| l.line)
        .collect()
}

/// Sorted, disjoint, no empty piece, every index valid, every line used.
fn check_form(table: &LineTable) {
    let mut end = 0;
    for range in &table.ranges {
        assert!(
            range.start >= end && range.end > range.start,
            "{range:x?} after {end:x}"
        );
        end = range.end;
    }
    let used: BTreeSet<u32> = table.ranges.iter().map(|r| r.line).collect();
    assert_eq!(used.len(), table.lines.len());
    assert!(used.iter().all(|&line| (line as usize) < table.lines.len()));
    assert!(table.lines.is_sorted());
}

#[test]
fn known_lines_have_code_in_every_kind_of_build() {
    let builds: &[&[&str]] = &[
        &["-g", "-O1"],
        &["-gdwarf-4", "-O2"],
        &["-gdwarf-5", "-O2"],
        &["-gdwarf-5", "-O2", "-gz"],
        &["-gdwarf-4", "-O2", "-gz"],
        &["-g", "-O2", "-no-pie"],
        &["-g", "-O2", "-static"],
        &["-g", "-O2", "-gsplit-dwarf"],
        &["-g", "-O2", "-flto"],
        &[
            "-g",
            "-O2",
            "-ffunction-sections",
            "-Wl,--gc-sections",
            "-fdebug-types-section",
        ],
    ];
    for flags in builds {
        let dir = built(flags);
        let program = dir.join("program");
        let table = line_ranges(&program, &Scope::default()).expect("lines");
        check_form(&table);
        assert_eq!(table.notes, Vec::<String>::new(), "{flags:?}");
        let main = lines_of(&table, "main.cpp");
        let root = dir.canonicalize().expect("it exists");
        // Line 6 has no loop of its own: the loop is std::accumulate's, inlined from a system header.
        for line in [6, 7, 8, 12] {
            assert!(main.contains(&line), "{flags:?}: line {line} of {main:?}");
        }
        assert!(
            main.iter().all(|line| (5..=14).contains(line)),
            "{flags:?}: {main:?}"
        );
        let own = lines_of(&table, "inc/own.h");
        assert!(
            !own.is_empty() && own.iter().all(|&l| l == 1 || l == 3),
            "{flags:?}: {own:?}"
        );
        for line in &table.lines {
            assert!(
                Path::new(&line.file).starts_with(&root),
                "{flags:?}: {line}"
            );
        }
    }
}

/// An oracle that shares only gimli with us: for every address, the first frame in scope.
#[test]
fn every_address_agrees_with_addr2line() {
    for flags in [
        &["-gdwarf-4", "-O2"],
        &["-gdwarf-5", "-O2"],
        &["-g", "-O3"],
        &["-g", "-O0"],
    ] {
        let (_dir, program) = build(flags);
        let table = line_ranges(&program, &Scope::default()).expect("lines");
        let loader = addr2line::Loader::new(&program).expect("a loader");
        let own = |file: &str| file.ends_with("/main.cpp") || file.ends_with("own.h");
        let first = table.ranges.first().expect("a range").start;
        let last = table.ranges.last().expect("a range").end;
        let mut compared = 0;
        for address in first - 64..last + 64 {
            let mut expected = None;
            let mut frames = loader.find_frames(address).expect("frames");
            while let Some(frame) = frames.next().expect("a frame") {
                let Some(at) = frame.location else { continue };
                if let (Some(file), Some(line @ 1..)) = (at.file, at.line)
                    && own(file)
                {
                    expected = Some(line);
                    break;
                }
            }
            let got = table.lookup(address).map(|at| at.line);
            assert_eq!(got, expected, "{flags:?} {address:#x}");
            compared += usize::from(expected.is_some());
        }
        assert!(compared > 100, "{flags:?}: only {compared} addresses");
    }
}

#[test]
fn the_scope_chooses_files() {
    let (_dir, program) = build(&["-g", "-O2"]);
    let of = |pattern: &str| line_ranges(&program, &Scope::new([pattern])).expect("a table");
    assert!(!lines_of(&of("%"), "stl_numeric.h").is_empty());
    let header = of("%/own.h");
    assert!(header.lines.iter().all(|l| l.file.ends_with("own.h")) && !header.lines.is_empty());
    let nothing = of("/nowhere/%");
    assert!(nothing.ranges.is_empty());
    let note = format!(
        "no source file of {} is in scope: set --source-scope",
        program.display()
    );
    assert_eq!(nothing.notes, [note]);
}

#[test]
fn debug_information_is_found_through_the_debug_link() {
    let (dir, program) = build(&["-g", "-O2"]);
    let whole = line_ranges(&program, &Scope::default()).expect("lines");
    for command in [
        &["--only-keep-debug", "program", "program.debug"][..],
        &[
            "--strip-debug",
            "--add-gnu-debuglink=program.debug",
            "program",
        ],
    ] {
        let done = Command::new("objcopy")
            .current_dir(dir.path())
            .args(command)
            .status();
        assert!(done.expect("objcopy is installed").success());
    }
    assert_eq!(
        line_ranges(&program, &Scope::default()).expect("lines"),
        whole
    );
}

#[test]
fn each_bad_file_gets_its_own_sentence() {
    let (dir, program) = build(&["-O1", "-g0"]);
    let error = |path: &Path| line_ranges(path, &Scope::default()).expect_err("no lines");
    let no_debug = error(&program);
    assert_eq!(
        no_debug,
        SymbolsError::NoDebugInfo(format!(
            "{} has no debug information: compile with -g",
            program.display()
        ))
    );
    let missing = error(&dir.path().join("missing"));
    assert!(
        matches!(&missing, SymbolsError::Unreadable(text) if text.contains("missing: No such file"))
    );
    let source = error(&dir.path().join("main.cpp"));
    assert!(matches!(&source, SymbolsError::NotElf(text) if text.contains("is not an ELF file")));
    assert!(matches!(error(dir.path()), SymbolsError::NotElf(_)));
    let empty = dir.path().join("empty");
    std::fs::write(&empty, "").expect("a file");
    assert!(matches!(error(&empty), SymbolsError::NotElf(_)));
    let short = dir.path().join("short");
    std::fs::write(&short, &std::fs::read(&program).expect("bytes")[..40]).expect("a file");
    assert!(matches!(error(&short), SymbolsError::Damaged(_)));
}

/// Where the named section lies in the file.
fn section(data: &[u8], name: &str) -> std::ops::Range<usize> {
    use object::{Object as _, ObjectSection as _};
    let file = object::File::parse(data).expect("ELF");
    let (offset, size) = file
        .section_by_name(name)
        .and_then(|s| s.file_range())
        .expect("a section");
    offset as usize..(offset + size) as usize
}

#[test]
fn damage_is_named_with_its_place() {
    let (dir, program) = build(&["-g", "-O2"]);
    let mut data = std::fs::read(&program).expect("bytes");
    let info = section(&data, ".debug_info");
    // The length of the first unit leaves the section.
    data[info.start..info.start + 4].copy_from_slice(&0x00ff_ffff_u32.to_le_bytes());
    let damaged = dir.path().join("damaged");
    std::fs::write(&damaged, &data).expect("a file");
    let error = line_ranges(&damaged, &Scope::default()).expect_err("damage");
    let SymbolsError::Damaged(text) = error else {
        panic!("{error:?}")
    };
    assert!(
        text.contains(".debug_info") && text.contains("build it again"),
        "{text}"
    );
}

#[test]
fn garbage_never_panics() {
    let (dir, program) = build(&["-g", "-O2"]);
    let whole = std::fs::read(&program).expect("bytes");
    let places = [
        ".debug_info",
        ".debug_line",
        ".debug_abbrev",
        ".debug_rnglists",
        ".debug_str",
    ];
    let mut ranges: Vec<_> = places.iter().map(|name| section(&whole, name)).collect();
    ranges.push(0..64);
    ranges.push(64..800);
    let shdr = usize::try_from(u64::from_le_bytes(
        whole[40..48].try_into().expect("8 bytes"),
    ))
    .expect("small");
    ranges.push(shdr..whole.len());
    let mutant = dir.path().join("mutant");
    // The same mutants every time.
    let mut random = Random::new(1);
    let mut random = |n| random.index(n);
    let mut read = 0;
    for round in 0..600 {
        let mut data = whole.clone();
        let range = ranges[round % ranges.len()].clone();
        for _ in 0..1 + random(8) {
            data[range.start + random(range.len())] = random(256) as u8;
        }
        if round % 10 == 0 {
            data.truncate(random(data.len()));
        }
        std::fs::write(&mutant, &data).expect("a file");
        if let Ok(table) = line_ranges(&mutant, &Scope::default()) {
            check_form(&table);
            read += 1;
        }
        let _ = fulcrum_symbols::executable_kind(&mutant);
        let _ = fulcrum_symbols::load_bias(
            "1000-2000 r-xp 0 0:0 1 /mutant",
            Path::new("/mutant"),
            &data,
        );
    }
    assert!(
        read > 50,
        "only {read} mutants were readable: the mutations miss their aim"
    );
}

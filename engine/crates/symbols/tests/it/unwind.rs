//! Unwind tables of real programs against `readelf --debug-dump=frames-interp`, row by row.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use fulcrum_symbols::{Base, UnwindRow, UnwindRule, unwind_rows};

/// Nested calls, pushed registers, an `alloca` (rbp-based frame), a call that does not return.
const PROGRAM: &str = "\
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int leaf(int a) { return a * 3 + 1; }
__attribute__((noinline)) int middle(int a, int b, int c) {
  int x = leaf(a), y = leaf(b), z = leaf(c);
  return leaf(x + y + z) + leaf(x ^ y) + leaf(y ^ z) + x;
}
__attribute__((noinline)) int variable(int n) {
  char* buffer = alloca(n * 16 + 1);
  memset(buffer, n, n * 16 + 1);
  return buffer[middle(n, n + 1, n + 2) % (n * 16 + 1)];
}
__attribute__((noinline)) int big(int n) {
  volatile char space[5000];
  for (int i = 0; i < n; i++) space[i % 5000] = variable(i);
  if (space[n] == 99) abort();
  return space[0];
}
int main(int argc, char** argv) {
  printf(\"%d\\n\", big(argc) + (int)strlen(argv[0]));
  return 0;
}
";

fn build(dir: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let source = dir.join("program.c");
    std::fs::write(&source, PROGRAM).expect("a source");
    let program = dir.join(name);
    let output = Command::new("gcc")
        .args([&source, Path::new("-o"), &program])
        .args(flags)
        .output()
        .expect("gcc is installed");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

type Rule = (UnwindRule, Option<i32>);
const END: Rule = (UnwindRule::End, None);

/// What readelf says: pieces `start..end` with their rule; a CFA expression is `Plt` here and checked by the caller.
fn readelf(path: &Path) -> Vec<(u64, u64, Rule)> {
    let output = Command::new("readelf")
        .arg("--debug-dump=frames-interp")
        .arg(path)
        .output()
        .expect("readelf is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    let mut pieces: Vec<(u64, u64, Rule)> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    let mut common: BTreeMap<String, Rule> = BTreeMap::new();
    // The common entry being read, or the range of the function being read.
    let mut entry = String::new();
    let mut range = None;
    for line in text.lines() {
        let fields: Vec<&str> = line
            .split_whitespace()
            // "r3 (rbx)" is one field: the value is in another register.
            .filter(|field| !field.starts_with('('))
            .collect();
        match fields[..] {
            [_, _, _, "FDE", cie, pc] => {
                let (start, end) = pc[3..].split_once("..").expect("a range");
                range = Some((hex(start), hex(end)));
                // A function without instructions of its own has no rows: the common entry's rule holds.
                let rule = common.get(&cie[4..]).copied().unwrap_or(END);
                pieces.push((hex(start), hex(end), rule));
            }
            [offset, _, _, "CIE", ..] => {
                entry = offset.to_owned();
                range = None;
            }
            ["LOC", ..] => columns = fields.iter().map(|it| (*it).to_owned()).collect(),
            [place, _, ..] if place.len() == 16 => {
                let (place, rule) = (hex(place), rule(&columns, &fields));
                let Some((start, end)) = range else {
                    common.insert(entry.clone(), rule);
                    continue;
                };
                if place > start {
                    pieces.last_mut().expect("the piece before").1 = place;
                } else {
                    pieces.pop();
                }
                pieces.push((place, end, rule));
            }
            _ => {}
        }
    }
    pieces.retain(|piece| piece.0 < piece.1 && piece.0 != 0);
    pieces
}

fn rule(columns: &[String], fields: &[&str]) -> Rule {
    let field = |name: &str| Some(fields[columns.iter().position(|it| it == name)?]);
    let cfa = field("CFA").expect("a CFA");
    if cfa == "exp" {
        return (UnwindRule::Plt, None);
    }
    let (register, offset) = cfa.split_at(3);
    let base = match register {
        "rsp" => Base::Rsp,
        "rbp" => Base::Rbp,
        _ => return END,
    };
    if field("ra") != Some("c-8") {
        return END;
    }
    let rbp = match field("rbp") {
        None | Some("u" | "s") => None,
        Some(text) => match text.strip_prefix('c') {
            Some(offset) => Some(offset.parse().expect("an offset")),
            None => return END,
        },
    };
    let offset = offset.parse().expect("an offset");
    (UnwindRule::Cfa { base, offset }, rbp)
}

fn lookup(rows: &[UnwindRow], address: u64) -> Rule {
    let after = rows.partition_point(|row| row.start <= address);
    rows[..after].last().map_or(END, |row| (row.rule, row.rbp))
}

/// Every piece has its rule at both ends, and no row begins anywhere else. Gives the number of pieces.
fn check(path: &Path, plt: std::ops::Range<u64>) -> usize {
    let rows = unwind_rows(path).expect("a table");
    let expected = readelf(path);
    let mut places = BTreeSet::new();
    for &(start, end, rule) in &expected {
        let rule = match rule.0 {
            UnwindRule::Plt if !plt.contains(&start) => END,
            _ => rule,
        };
        for address in [start, end - 1] {
            assert_eq!(lookup(&rows, address), rule, "{address:#x} of {path:?}");
        }
        places.extend([start, end]);
    }
    for pair in rows.windows(2) {
        assert!(pair[0].start < pair[1].start);
        assert!((pair[0].rule, pair[0].rbp) != (pair[1].rule, pair[1].rbp));
    }
    for row in &rows {
        assert!(places.contains(&row.start), "{row:x?}");
    }
    // What no piece covers has no rule, so nothing runs on a neighbour's.
    for &(_, end, _) in &expected {
        let covered = expected.iter().any(|it| it.0 <= end && end < it.1);
        if !covered {
            assert_eq!(lookup(&rows, end), END, "{end:#x}");
        }
    }
    assert_eq!(rows.last().map(|row| row.rule), Some(UnwindRule::End));
    expected.len()
}

fn section(path: &Path, name: &str) -> std::ops::Range<u64> {
    use object::{Object as _, ObjectSection as _};
    let data = std::fs::read(path).expect("bytes");
    let file = object::File::parse(&*data).expect("ELF");
    file.section_by_name(name)
        .map_or(0..0, |it| it.address()..it.address() + it.size())
}

#[test]
fn every_row_agrees_with_readelf() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let builds: &[&[&str]] = &[
        &["-O2", "-fomit-frame-pointer"],
        &["-O2", "-fomit-frame-pointer", "-no-pie"],
        &["-O0"],
        &["-O2", "-g", "-fno-asynchronous-unwind-tables"],
        &["-O2", "-fcf-protection=none", "-Wl,-z,lazy"],
    ];
    for (index, flags) in builds.iter().enumerate() {
        let program = build(dir.path(), &index.to_string(), flags);
        let pieces = check(&program, section(&program, ".plt"));
        assert!(pieces > 20, "{flags:?}: only {pieces} pieces");
    }
}

#[test]
fn the_procedure_linkage_table_has_its_rule() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let program = build(dir.path(), "lazy", &["-O2", "-Wl,-z,lazy"]);
    let plt = section(&program, ".plt");
    let rows = unwind_rows(&program).expect("a table");
    assert_eq!(lookup(&rows, plt.start + 16), (UnwindRule::Plt, None));
    // Its first stub pushes once more.
    let first = UnwindRule::Cfa {
        base: Base::Rsp,
        offset: 16,
    };
    assert_eq!(lookup(&rows, plt.start), (first, None));
    // With `-z ibtplt` the push ends at another offset; the rows say the same without an expression.
    let program = build(
        dir.path(),
        "ibt",
        &["-O2", "-fcf-protection", "-Wl,-z,lazy,-z,ibtplt"],
    );
    let plt = section(&program, ".plt");
    let rows = unwind_rows(&program).expect("a table");
    let cfa = |offset| {
        let base = Base::Rsp;
        (UnwindRule::Cfa { base, offset }, None)
    };
    // endbr64 (4 bytes), push imm32 (5 bytes), jmp.
    assert_eq!(lookup(&rows, plt.start + 16), cfa(8));
    assert_eq!(lookup(&rows, plt.start + 16 + 4), cfa(8));
    assert_eq!(lookup(&rows, plt.start + 16 + 9), cfa(16));
    assert_eq!(lookup(&rows, plt.start + 32), cfa(8));
}

#[test]
fn libc_agrees_with_readelf() {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let libc = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| path.contains("libc.so") || path.contains("libc-"))
        .expect("this test uses libc");
    let path = Path::new(libc);
    let pieces = check(path, section(path, ".plt"));
    assert!(pieces > 10_000, "only {pieces} pieces");
}

#[test]
fn files_without_rules_give_none() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    assert!(unwind_rows(&dir.path().join("missing")).is_err());
    let program = build(dir.path(), "damaged", &["-O2"]);
    let mut data = std::fs::read(&program).expect("bytes");
    data[18..20].copy_from_slice(&object::elf::EM_AARCH64.0.to_le_bytes());
    let foreign = dir.path().join("foreign");
    std::fs::write(&foreign, &data).expect("a file");
    assert_eq!(unwind_rows(&foreign), Ok(Vec::new()));
}

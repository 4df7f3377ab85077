//! What kind of program a file is, and where a running one was loaded.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fulcrum_symbols::{ExecutableKind, executable_kind, load_bias};
use tempfile::TempDir;

/// Prints the address of `main`, then waits for its input to end.
const PROGRAM: &str = "\
#include <stdio.h>
int main(void) { printf(\"%p\\n\", (void*)main); fflush(stdout); return getchar() == 'x'; }
";

fn build(dir: &TempDir, name: &str, flags: &[&str]) -> PathBuf {
    let source = dir.path().join("program.c");
    std::fs::write(&source, PROGRAM).expect("a source");
    let program = dir.path().join(name);
    let output = Command::new("gcc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .args(flags)
        .output()
        .expect("gcc");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

fn write(dir: &TempDir, name: &str, text: &[u8], mode: u32) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

#[test]
fn programs_that_cannot_be_entered_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut foreign = std::fs::read(build(&dir, "native", &["-g"])).expect("bytes");
    foreign[18..20].copy_from_slice(&object::elf::EM_RISCV.0.to_le_bytes());
    let table: Vec<(PathBuf, Option<&str>)> = vec![
        (build(&dir, "pie", &["-g"]), None),
        (build(&dir, "fixed", &["-g", "-no-pie"]), None),
        (
            build(&dir, "plain", &["-g0"]),
            Some("has no debug information: compile with -g"),
        ),
        (
            build(&dir, "static", &["-g", "-static"]),
            Some("it is linked statically"),
        ),
        (
            build(&dir, "static-pie", &["-g", "-static-pie"]),
            Some("it is linked statically"),
        ),
        (
            build(&dir, "lib.so", &["-g", "-shared", "-fPIC"]),
            Some("it is a shared library"),
        ),
        (
            build(&dir, "object.o", &["-g", "-c"]),
            Some("not executable; give an executable file"),
        ),
        (
            write(&dir, "script", b"#!/bin/sh -e\ntrue\n", 0o755),
            Some("a script for /bin/sh -e;"),
        ),
        (
            write(&dir, "text", b"hello\n", 0o755),
            Some("it is not an ELF executable"),
        ),
        (
            write(&dir, "empty", b"", 0o755),
            Some("it is not an ELF executable"),
        ),
        (
            write(&dir, "short", &foreign[..50], 0o755),
            Some("its ELF headers are damaged"),
        ),
        (
            write(&dir, "foreign", &foreign, 0o755),
            Some("it is built for RISC-V, this machine is"),
        ),
        (dir.path().to_owned(), Some("it is a folder")),
    ];
    for (path, expected) in table {
        let refusal = executable_kind(&path)
            .expect("it can be read")
            .refusal(&path);
        match expected {
            None => assert_eq!(refusal, None, "{}", path.display()),
            Some(part) => {
                let text = refusal.unwrap_or_default();
                assert!(text.contains(part), "{}: {text}", path.display());
                assert!(text.contains(&path.display().to_string()), "{text}");
            }
        }
    }
    let script = executable_kind(&dir.path().join("script")).expect("it can be read");
    assert_eq!(script.kind, ExecutableKind::Script("/bin/sh -e".into()));
    assert!(executable_kind(&dir.path().join("missing")).is_err());
}

/// The kernel's own answer, for every way of linking that is installed.
#[test]
fn the_bias_of_a_running_program_maps_main_to_its_symbol() {
    let linkers: &[&[&str]] = &[
        &["-pie"],
        &["-no-pie"],
        &["-pie", "-Wl,-z,noseparate-code"],
        &["-pie", "-Wl,-z,separate-code", "-Wl,-z,max-page-size=65536"],
        &["-pie", "-Wl,-Ttext-segment=0x200000"],
        &["-pie", "-fuse-ld=lld"],
        &["-pie", "-fuse-ld=mold"],
        &["-pie", "-fuse-ld=gold"],
    ];
    let mut checked = 0;
    for flags in linkers {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let linker = flags.iter().find_map(|flag| flag.strip_prefix("-fuse-ld="));
        let path = std::env::var("PATH").unwrap_or_default();
        if let Some(name) = linker
            && !path
                .split(':')
                .any(|p| Path::new(p).join(format!("ld.{name}")).exists())
        {
            eprintln!("ld.{name} is not installed: programs linked by it are not tested");
            continue;
        }
        let program = build(&dir, "my program", flags);
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("maps");
        child.kill().and_then(|()| child.wait()).expect("it ends");
        let address = u64::from_str_radix(line.trim().trim_start_matches("0x"), 16).expect("hex");
        let data = std::fs::read(&program).expect("bytes");
        let bias = load_bias(&maps, &program, &data).expect("a bias");
        assert_eq!(
            address.wrapping_sub(bias),
            symbol(&data, "main"),
            "{flags:?}"
        );
        assert_eq!(load_bias(&maps, Path::new("/other"), &data), None);
        checked += 1;
    }
    assert!(checked >= 5);
}

fn symbol(data: &[u8], name: &str) -> u64 {
    use object::{Object as _, ObjectSymbol as _};
    let file = object::File::parse(data).expect("ELF");
    file.symbols()
        .find(|s| s.name() == Ok(name))
        .expect("the symbol")
        .address()
}

#[test]
fn segments_whose_address_and_offset_differ_are_told_apart() {
    // As lld lays out: code at file offset 0x5c0 lives at 0x15c0, so its page shows offset 0 at 0x1000.
    let mut elf = vec![0_u8; 64 + 2 * 56];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    elf[6] = 1;
    let put = |elf: &mut Vec<u8>, at: usize, value: u64, size: usize| {
        elf[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    };
    put(&mut elf, 32, 64, 8);
    put(&mut elf, 52, 64, 2);
    put(&mut elf, 54, 56, 2);
    put(&mut elf, 56, 2, 2);
    for (index, (flags, offset, address, size)) in [(4, 0, 0, 0x5c0), (5, 0x5c0, 0x15c0, 0x900)]
        .into_iter()
        .enumerate()
    {
        let at = 64 + index * 56;
        put(&mut elf, at, 1, 4);
        put(&mut elf, at + 4, flags, 4);
        put(&mut elf, at + 8, offset, 8);
        put(&mut elf, at + 16, address, 8);
        put(&mut elf, at + 32, size, 8);
        put(&mut elf, at + 40, size, 8);
    }
    let maps = "\
555500000000-555500001000 r--p 00000000 fe:01 7   /a b/c
555500001000-555500002000 r-xp 00000000 fe:01 7   /a b/c (deleted)
7f0000000000-7f0000001000 r-xp 00000000 fe:01 9   /lib/x.so
";
    assert_eq!(
        load_bias(maps, Path::new("/a b/c"), &elf),
        Some(0x5555_0000_0000)
    );
    assert_eq!(load_bias("", Path::new("/a b/c"), &elf), None);
    assert_eq!(load_bias(maps, Path::new("/a b/c"), &elf[..60]), None);
}

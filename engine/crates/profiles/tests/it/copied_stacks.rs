//! `perf.data` with copies of stacks (`--call-graph dwarf`): callers come from the call frame information of the program.

use std::path::Path;
use std::process::Command;

use fulcrum_profile_formats::Calls;
use fulcrum_profiles::read;

/// `leaf` prints its registers and its stack, without frame pointers anywhere.
const PROGRAM: &str = "\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint64_t r[17], stack[256];
__attribute__((noinline)) void leaf(void) {
  __asm__ volatile(
      \"movq %%rbx, 24(%0)\\n movq %%rbp, 48(%0)\\n movq %%rsp, 56(%0)\\n movq %%r12, 96(%0)\\n movq %%r13, 104(%0)\\n\"
      \"movq %%r14, 112(%0)\\n movq %%r15, 120(%0)\\n leaq 0(%%rip), %%rcx\\n movq %%rcx, 128(%0)\\n\"
      :: \"r\"(r) : \"rcx\", \"memory\");
  memcpy(stack, (void*)r[7], sizeof stack);
}
__attribute__((noinline)) int pay(int n) { volatile char room[40]; room[n] = n; leaf(); return room[n] + n; }
__attribute__((noinline)) int shop(int a, int b) { int c = pay(a); return c * b + pay(b); }
int main(int argc, char** argv) {
  volatile char room[4096];
  room[argc] = 1;
  int sum = shop(argc, argc + 1);
  for (int i = 0; i < 17; i++) printf(\"%lx \", r[i]);
  for (int i = 0; i < 256; i++) printf(\"%lx \", stack[i]);
  printf(\"%x\\n\", sum + room[argc]);
  return 0;
}
";

/// Where a program that is not position-independent begins in memory.
const START: u64 = 0x40_0000;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + body.len()).expect("short");
    let head = [
        &kind.to_le_bytes()[..],
        &misc.to_le_bytes(),
        &size.to_le_bytes(),
    ];
    [&head.concat(), body].concat()
}

/// What `perf record --call-graph dwarf -o -` writes of one sample.
fn recording(program: &Path, registers: &[u64], stack: &[u64]) -> Vec<u8> {
    // Registers in the kernel's order: bx, bp, sp, ip, r12 to r15.
    let mask = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 0xf << 20;
    let sample = 1 | 1 << 1 | 1 << 8 | 0b11 << 12;
    let event = words(&[1 | 96 << 32, 0, 1, sample, 0, 0, 0, 0, 0, 0, mask, 2048]);
    let mut map = words(&[1 | 1 << 32, START, 1 << 20, 0]);
    map.extend(program.to_str().expect("text").bytes());
    map.resize(map.len().next_multiple_of(8) + 8, 0);
    let known = [3, 6, 7, 16, 12, 13, 14, 15].map(|number| registers[number]);
    let mut body = words(&[registers[16], 1 | 1 << 32, 12, 2]);
    body.extend(words(&known));
    let bytes = 8 * stack.len() as u64;
    body.extend([words(&[bytes]), words(stack), words(&[bytes])].concat());
    [
        [b"PERFILE2".to_vec(), words(&[16])].concat(),
        record(64, 0, &event),
        record(1, 2, &map),
        record(9, 2, &body),
    ]
    .concat()
}

#[test]
fn callers_are_found_in_the_copy_of_the_stack() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&source, PROGRAM).expect("a source");
    let options = ["-O2", "-fomit-frame-pointer", "-no-pie"];
    let mut compiler = Command::new("gcc");
    compiler.args(options).arg(&source).arg("-o").arg(&program);
    assert!(compiler.status().expect("gcc").success());
    let output = Command::new(&program).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let numbers = text
        .split_whitespace()
        .map(|it| u64::from_str_radix(it, 16).expect("hexadecimal"));
    let numbers: Vec<u64> = numbers.collect();
    let (registers, stack) = (&numbers[..17], &numbers[17..17 + 256]);
    let file = folder.path().join("perf.data");
    std::fs::write(&file, recording(&program, registers, stack)).expect("a file");
    let profile = read(&file, &[]).expect("a profile").profile;
    let Calls::Tree(tree) = &profile.calls else {
        panic!("a tree");
    };
    let innermost = (0..tree.len()).find(|&node| tree.values(0)[node as usize] > 0);
    let stack = tree.stack(innermost.expect("a sample"));
    let names: Vec<&str> = stack.map(|node| &*tree.frame(node).name).collect();
    // main's own frame is larger than the copy.
    assert_eq!(names, ["[truncated]", "main", "shop", "pay", "leaf"]);
    let short =
        "1 stacks are deeper than their copies: `--call-graph dwarf,65528` copies the most.";
    assert!(
        profile.notes.iter().any(|it| it == short),
        "{:?}",
        profile.notes
    );
    // Without the program only its name is known.
    std::fs::remove_file(&program).expect("it was there");
    let profile = read(&file, &[]).expect("a profile").profile;
    let unknown = "1 stacks end in code whose caller is unknown";
    let notes = &profile.notes;
    assert!(notes.iter().any(|it| it.starts_with(unknown)), "{notes:?}");
}

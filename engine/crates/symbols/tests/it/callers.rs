//! Callers of a real program's frames, from its registers and a copy of its stack, against what the program says itself.

use std::process::Command;

use fulcrum_symbols::{CallFrames, Caller, Registers};
use fulcrum_test_support::programs::Recipe;

/// `leaf` is called from `aligned`, whose frame begins at another register and whose description is an expression, from
/// `saved`, which keeps values in registers that its callers need, from `main`. It prints its registers, where it and its
/// callers return to, and its stack.
const PROGRAM: &str = "\
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint64_t registers[17], stack[512], returns[8];
static int depth;
#define MARK returns[depth++] = (uint64_t)__builtin_return_address(0)
__attribute__((noinline)) void leaf(void) {
  MARK;
  __asm__ volatile(
      \"movq %%rbx, 24(%0)\\n movq %%rbp, 48(%0)\\n movq %%rsp, 56(%0)\\n movq %%r12, 96(%0)\\n movq %%r13, 104(%0)\\n\"
      \"movq %%r14, 112(%0)\\n movq %%r15, 120(%0)\\n leaq 0(%%rip), %%rcx\\n movq %%rcx, 128(%0)\\n\"
      :: \"r\"(registers) : \"rcx\", \"memory\");
  memcpy(stack, (void*)registers[7], sizeof stack);
}
__attribute__((noinline)) int aligned(int n) {
  MARK;
  _Alignas(64) volatile char space[64];
  char* more = alloca(n * 16 + 1);
  memset(more, n, n * 16 + 1);
  space[n] = more[0];
  leaf();
  return space[n] + more[n];
}
__attribute__((noinline)) int saved(int a, int b, int c) {
  MARK;
  int x = aligned(a), y = a * b + c, z = b * c - a;
  return x + y + z + a + b + c;
}
int main(int argc, char** argv) {
  volatile char room[8192];
  room[argc] = 1;
  int sum = saved(argc, argc + 1, (int)strlen(argv[0]));
  for (int i = 0; i < 17; i++) printf(\"%lx \", registers[i]);
  puts(\"\");
  while (depth > 0) printf(\"%lx \", returns[--depth]);
  puts(\"\");
  for (int i = 0; i < 512; i++) printf(\"%lx \", stack[i]);
  printf(\"\\n%d\\n\", sum + room[argc]);
  return 0;
}
";

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace()
        .map(|it| u64::from_str_radix(it, 16).expect("hexadecimal"))
        .collect()
}

#[test]
fn callers_of_a_real_program_are_those_that_it_returns_to() {
    for flags in ["-fomit-frame-pointer", "-fno-omit-frame-pointer"] {
        // Without -pie addresses are those in the file.
        let folder = Recipe::new("callers")
            .file("callers.c", PROGRAM)
            .command(["gcc", "-O2", "-no-pie", flags, "callers.c", "-o", "callers"])
            .build();
        let program = folder.join("callers");
        let output = Command::new(&program).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let lines: Vec<_> = text.lines().map(numbers).collect();
        let [recorded, returns, stack, _] = &lines[..] else {
            panic!("{text}");
        };
        let mut registers: Registers = [None; 17];
        for number in [3, 6, 7, 12, 13, 14, 15, 16] {
            registers[number] = Some(recorded[number]);
        }
        let bottom = recorded[7];
        let read = |address: u64| {
            let at = address.checked_sub(bottom)? / 8;
            stack.get(usize::try_from(at).ok()?).copied()
        };
        let frames = CallFrames::open(&program).expect("call frame information");
        let mut found = Vec::new();
        let mut address = recorded[16];
        for _ in 0..returns.len() {
            let Caller::Frame {
                registers: caller,
                interrupted: false,
            } = frames.caller(address, &registers, &read)
            else {
                panic!("{flags}: no caller of {address:x}");
            };
            registers = caller;
            address = caller[16].expect("a return address");
            found.push(address);
            address -= 1;
        }
        assert_eq!(&found, returns, "{flags}");
        // main's own frame is larger than the copy.
        assert_eq!(
            frames.caller(address, &registers, &read),
            Caller::Lost,
            "{flags}"
        );
        assert_eq!(frames.caller(1, &registers, &read), Caller::Unknown);
    }
}

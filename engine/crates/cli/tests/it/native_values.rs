//! `fulcrum trace --values` with native programs: what the log says is what the program prints of itself.

use crate::common::json;
use crate::common::native::{Lab, Traced};

/// Each call, and what it is given and returns.
const VALUES: &str = r#"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
typedef unsigned long size;
enum colour { Red, Green = 5, Blue = -1 };
struct pair { int a; long b; };
static volatile long kept;
#define SAY(...) do { char line[999]; snprintf(line, sizeof line, __VA_ARGS__); puts(line); } while (0)
__attribute__((noipa)) int f_ints(int a, short b, signed char c, long d, unsigned char e, unsigned f, size g) {
  kept++; int sum = a + b + c + (int)d + e + (int)f + (int)g; kept += sum; return sum;
}
__attribute__((noipa)) char f_char(char c, _Bool b) { kept += b; return c + 1; }
__attribute__((noipa)) double f_reals(float a, double b, int c) { kept += c; return a + b; }
__attribute__((noipa)) float f_single(double a) { kept += a > 1; return (float)a; }
__attribute__((noipa)) enum colour f_enum(enum colour c, int d) { kept += d; return c == Red ? Green : Blue; }
__attribute__((noipa)) const char *f_text(const char *a, char *b) { kept += a != 0; return a == 0 ? b : a; }
__attribute__((noipa)) size f_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  kept += a + b + c + d + e + f + g + h + i + j; return (size)kept;
}
__attribute__((noipa)) int f_pair(struct pair p, int x) { kept += p.a; return x + (int)p.b; }
__attribute__((noipa)) void f_none(void) { kept++; }
__attribute__((noipa)) void f_nothing(int a) { kept += a; }
__attribute__((noipa)) int f_array(int n) { char room[32]; memset(room, n, sizeof room); kept += room[n & 7]; return n * 2; }
int main(void) {
  int sum = f_ints(-1, -2, -3, LONG_MIN, 255, UINT_MAX, ULONG_MAX);
  SAY("f_ints(-1, -2, -3, %ld, 255, 4294967295, 18446744073709551615) → %d", LONG_MIN, sum);
  f_char('a', 1); SAY("f_char('a', true) → 'b'");
  f_char('\n', 0); SAY("f_char('\\n', false) → '\\u{b}'");
  f_reals(0.5f, -2.25, 3); SAY("f_reals(0.5, -2.25, 3) → -1.75");
  f_reals(INFINITY, NAN, 0); SAY("f_reals(Infinity, NaN, 0) → NaN");
  f_single(16.0); SAY("f_single(16.0) → 16.0");
  f_enum(Red, 1); SAY("f_enum(Red, 1) → Green");
  f_enum(Blue, 1); SAY("f_enum(Blue, 1) → Blue");
  f_enum((enum colour)77, 1); SAY("f_enum(77, 1) → Blue");
  f_text("plain", 0); SAY("f_text(\"plain\", null) → \"plain\"");
  f_text(0, 0); SAY("f_text(null, null) → null");
  f_text("\xff\"a", "\n"); SAY("f_text(\"\xef\xbf\xbd\\\"a\", \"\\n\") → \"\xef\xbf\xbd\\\"a\"");
  char xs[101]; memset(xs, 'x', 100); xs[100] = 0;
  f_text(xs, ""); SAY("f_text(\"%.64s\"…, \"\") → \"%.64s\"…", xs, xs);
  /* The last page before nothing: a text that ends with it, and one that has no end. */
  char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  memcpy(page + 4092, "end", 4);
  f_text(page + 4092, "b"); SAY("f_text(\"end\", \"b\") → \"end\"");
  page[4095] = '!';
  f_text(page + 4092, "b"); SAY("f_text(\"end!\"…, \"b\") → \"end!\"…");
  f_text((char *)16, "b"); SAY("f_text(0x10, \"b\") → 0x10");
  size many = f_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  SAY("f_many(1, 2, 3, 4, 5, 6, 7, 8, …) → %lu", many);
  f_pair((struct pair){1, 2}, 3); SAY("f_pair(?, 3) → 5");
  f_none(); SAY("f_none");
  f_nothing(3); SAY("f_nothing(3)");
  f_array(4); SAY("f_array(4) → 8");
  return 0;
}
"#;

/// The calls of `f_…` with their values, in the order of their beginnings.
fn calls(run: &Traced) -> Vec<String> {
    let log = run.log().to_str().unwrap();
    let tree = json(&["events", "tree", log, "--json", "--limit", "0"]);
    let calls = tree["threads"][0]["calls"].as_array().unwrap().iter();
    let texts = calls.filter_map(|it| {
        let name = it["name"].as_str().unwrap().strip_prefix("prog.")?;
        let values = it["values"]["text"].as_str().unwrap_or("");
        name.starts_with("f_").then(|| format!("{name}{values}"))
    });
    texts.collect()
}

const OPTIONS: [&str; 2] = ["--values", "prog.f_*"];

#[test]
fn values_are_those_that_the_program_prints() {
    let lab = Lab::new(VALUES, &["-O0", "-lm"]);
    lab.check_same(&OPTIONS, &[]);
    let (output, run) = lab.trace_again(&OPTIONS);
    let printed: Vec<&str> = output.lines().collect();
    assert_eq!(calls(&run), printed);
    assert_eq!(run.stats().notes(), "[]");
}

/// What an optimised program no longer has is a question mark, and nothing else.
#[test]
fn what_is_gone_in_optimised_programs_is_not_guessed() {
    for level in ["-O1", "-O2", "-O3"] {
        let lab = Lab::new(VALUES, &[level, "-lm"]);
        lab.check_same(&OPTIONS, &[]);
        let (output, run) = lab.trace_again(&OPTIONS);
        let (mut told, mut gone) = (0, 0);
        for (logged, printed) in calls(&run).iter().zip(output.lines()) {
            let parts = |text: &str| -> Vec<String> {
                let text = text.replace(" → ", ", → ").replace(['(', ')'], ", ");
                text.split(", ")
                    .map(str::to_owned)
                    .filter(|it| !it.is_empty())
                    .collect()
            };
            let (logged_parts, printed_parts) = (parts(logged), parts(printed));
            assert_eq!(
                logged_parts.len(),
                printed_parts.len(),
                "{level}: {logged} / {printed}"
            );
            for (logged_part, printed_part) in logged_parts.iter().zip(&printed_parts) {
                if matches!(logged_part.as_str(), "?" | "→ ?") {
                    gone += 1;
                } else {
                    assert_eq!(logged_part, printed_part, "{level}: {logged} / {printed}");
                    told += 1;
                }
            }
        }
        assert!(told > 2 * gone, "{level}: {told} told, {gone} gone");
    }
}

#[test]
fn without_debug_information_a_note_says_so() {
    let lab = Lab::new(VALUES, &["-O0", "-g0", "-lm"]);
    let run = lab.check_same(&OPTIONS, &[]);
    assert!(calls(&run).iter().all(|it| !it.contains('(')));
    let notes = run.stats().notes();
    assert!(notes.contains("Some functions have no values"), "{notes}");
}

/// C++: `this` is no argument, references are addresses, and jumps out of calls return nothing.
const CPP: &str = r#"
#include <cstdio>
namespace shop {
struct Cart {
  int sum = 0;
  __attribute__((noinline)) int add(const char *name, int count) { if (count < 0) throw count; sum += count; return sum; }
};
}
int main() {
  shop::Cart cart;
  cart.add("figs", 2);
  try { cart.add("pears", -1); } catch (int) {}
  printf("%d\n", cart.sum);
}
"#;

#[test]
fn methods_of_cpp_have_values_and_those_that_are_left_otherwise_no_result() {
    let lab = Lab::new(CPP, &["-xc++", "-O0"]);
    let run = lab.check_same(&["--values", "shop::Cart.add"], &[]);
    let log = run.log().to_str().unwrap();
    let tree = json(&["events", "tree", log, "--json"]);
    let calls = tree["threads"][0]["calls"].as_array().unwrap().iter();
    let texts: Vec<&str> = calls
        .filter_map(|it| it["values"]["text"].as_str())
        .collect();
    assert_eq!(texts, ["(\"figs\", 2) → 2", "(\"pears\", -1)"]);
}

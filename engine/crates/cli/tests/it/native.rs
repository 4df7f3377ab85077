//! `fulcrum trace`, `events` and `refine` with native programs: every call is there, and the programs do what they do alone.

use crate::common::native::{Lab, Stats};
use crate::common::{fulcrum, json};
use serde_json::Value;

/// Recursion, inlining, `alloca`, mutual recursion, functions without frames.
const CALLS: &str = r#"
#include <alloca.h>
#include <stdio.h>
#include <string.h>
static int n;
int fib(int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }
static inline __attribute__((always_inline)) int inlined(int k) { n += k; return n; }
int host(int k) { return inlined(k) + inlined(k + 1); }
int even(int k);
int odd(int k) { return k == 0 ? 0 : even(k - 1); }
int even(int k) { return k == 0 ? 1 : odd(k - 1); }
void leaf(void) { n++; }
void grows(int k) {
  char *room = alloca(16 + k * 64);
  memset(room, k, 16);
  leaf();
  if (k > 0) grows(k - 1);
  n += room[0];
}
int main(int argc, char **argv) {
  int sum = fib(12) + even(40);
  for (int i = 0; i < 10; i++) sum += host(i);
  for (int i = 0; i < 5; i++) grows(i);
  printf("%d %d %s\n", sum, n, argc > 1 ? argv[1] : "");
  fprintf(stderr, "done\n");
  return 7;
}
"#;

#[test]
fn every_call_of_a_c_program_is_there_and_its_output_is_unchanged() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let lab = Lab::new(CALLS, &[level]);
        let stats = lab.check_same(&[], &["x y"]).stats();
        let calls = |name: &str| stats.calls(&format!("prog.{name}"));
        assert_eq!(stats.notes(), "[]");
        assert_eq!(calls("fib"), (465, 0), "{level}");
        assert_eq!((calls("even").0, calls("odd").0), (21, 20), "{level}");
        assert_eq!((calls("host"), calls("inlined")), ((10, 0), (20, 0)));
        assert_eq!((calls("grows"), calls("leaf")), ((15, 0), (15, 0)));
        assert_eq!(calls("main"), (1, 0), "{level}");
        let main = stats.thread("main");
        assert_eq!(
            (main["parent"].as_u64(), main["group"].as_str()),
            (Some(0), Some(""))
        );
        assert!(main["cpuNs"].as_u64().is_some());
    }
}

#[test]
fn calls_are_inside_those_that_made_them() {
    let source = "void c(void) {} void b(int k) { c(); if (k) b(0); } void a(void) { b(1); c(); }\n\
                  int main(void) { a(); a(); return 0; }";
    for level in ["-O0", "-O2"] {
        let tree = Lab::new(source, &[level, "-fno-ipa-cp", "-fno-partial-inlining"]);
        let tree = tree.check_same(&[], &[]).tree("main");
        let a = [
            "1 prog.a returned",
            "2 prog.b returned",
            "3 prog.c returned",
            "3 prog.b returned",
            "4 prog.c returned",
            "2 prog.c returned",
        ];
        let expect: Vec<&str> = ["0 prog.main returned"]
            .iter()
            .chain(&a)
            .chain(&a)
            .copied()
            .collect();
        assert_eq!(tree, expect, "{level}");
    }
}

/// Jumps over many frames, into the same frame again and again, out of recursion, and from a function that was inlined.
const JUMPS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf outer, inner;
static volatile int n;
void jumps(int depth) { n++; if (depth == 0) longjmp(outer, 1); jumps(depth - 1); }
void after(void) { n++; }
void again(int k) { if (k % 2) longjmp(outer, 2); n++; }
int fact(int k) {
  if (k == 3 && !setjmp(inner)) { fact(2); return 1; }
  if (k == 0) longjmp(inner, 1);
  return k * fact(k - 1);
}
int main(void) {
  for (volatile int i = 0; i < 4; i++) { if (!setjmp(outer)) jumps(3); after(); }
  for (volatile int i = 0; i < 6; i++) { if (!setjmp(outer)) again(i); }
  for (volatile int i = 0; i < 6; i++) { if (!setjmp(outer)) { again(2 * i + 1); } }
  after();
  printf("%d\n", n);
  return 0;
}
"#;

#[test]
fn trees_balance_when_programs_jump() {
    for level in ["-O0", "-O1", "-O2"] {
        let lab = Lab::new(JUMPS, &[level]);
        let run = lab.check_same(&[], &[]);
        let stats = run.stats();
        assert_eq!(stats.calls("prog.jumps"), (16, 16), "{level}");
        assert_eq!(stats.calls("prog.after"), (5, 0), "{level}");
        // Three times in the first loop, always in the second.
        assert_eq!(stats.calls("prog.again"), (12, 9), "{level}");
        let tree = run.tree("main");
        let depths = |name: &str| -> Vec<&str> {
            let rows = tree.iter().filter(|row| row.contains(name));
            rows.map(|row| &row[..1]).collect()
        };
        assert_eq!(depths("prog.after"), ["1"; 5], "{level}: {tree:#?}");
        assert_eq!(depths("prog.again"), ["1"; 12], "{level}: {tree:#?}");
        assert_eq!(
            depths("prog.jumps"),
            ["1", "2", "3", "4"].repeat(4),
            "{level}"
        );
        assert_eq!(tree[0], "0 prog.main returned");
    }
}

/// Exceptions through frames with and without objects, caught far above, thrown again, and inside destructors.
const EXCEPTIONS: &str = r#"
#include <cstdio>
#include <stdexcept>
#include <vector>
namespace shop {
template <typename T> struct Cart {
  std::vector<T> items;
  void add(const T &item) { items.push_back(item); }
  int total() const { int sum = 0; for (auto it : items) sum += it; return sum; }
};
}
namespace {
void swallow() { try { throw 1; } catch (int) {} }
struct Guard { ~Guard() { swallow(); } };
void thrower(int k) { if (k == 0) throw std::runtime_error("deep"); Guard guard; thrower(k - 1); }
void again() { try { thrower(1); } catch (...) { throw; } }
}
int catcher(int k) { try { thrower(k); } catch (const std::exception &) { return 1; } return 0; }
int main() {
  shop::Cart<int> cart;
  for (int i = 0; i < 4; i++) cart.add(i);
  int caught = 0;
  for (int i = 0; i < 3; i++) caught += catcher(i);
  try { again(); } catch (...) { caught++; }
  auto twice = [](int k) { return 2 * k; };
  printf("%d %d %d\n", cart.total(), caught, twice(caught));
}
"#;

#[test]
fn exceptions_end_the_calls_that_they_leave() {
    for level in ["-O0", "-O2"] {
        let lab = Lab::new(EXCEPTIONS, &["-xc++", level]);
        let stats = lab.check_same(&[], &[]).stats();
        // Depths 0, 1, 2, and 1: as many frames and one.
        let hidden = |name: &str| stats.calls(&format!("(anonymous namespace).{name}"));
        assert_eq!(hidden("thrower"), (1 + 2 + 3 + 2, 8), "{level}");
        assert_eq!(hidden("swallow"), (1 + 2 + 1, 0), "{level}");
        assert_eq!(hidden("again"), (1, 1), "{level}");
        assert_eq!(stats.calls("prog.catcher"), (3, 0), "{level}");
        assert_eq!(stats.calls("shop::Cart<int>.add"), (4, 0), "{level}");
        let names = stats.names();
        for name in [
            "(anonymous namespace).thrower(int)",
            "(anonymous namespace)::Guard.~Guard()",
            "main::{lambda(int)#1}.operator()(int) const",
            "prog.catcher(int)",
            "prog.main",
            "shop::Cart<int>.add(int const&)",
            "shop::Cart<int>.total() const",
        ] {
            assert!(names.iter().any(|it| it == name), "{name} in {names:#?}");
        }
        // The standard library's templates are in the program too, and nobody named them.
        assert!(!names.iter().any(|it| it.starts_with("std")), "{names:#?}");
    }
}

#[test]
fn filters_select_functions_by_their_names() {
    let lab = Lab::new(EXCEPTIONS, &["-xc++", "-O1"]);
    let check = |filter: &str, expect: &[&str]| {
        let filter = lab.filter(&format!("observe_method_invocations\n{filter}"));
        let _ = std::fs::remove_dir_all(lab.path("run"));
        let run = lab.check_same(&["--filter", &filter], &[]);
        assert_eq!(run.stats().names(), expect);
    };
    check(
        "includemethod shop::* *",
        &[
            "shop::Cart<int>.Cart()",
            "shop::Cart<int>.add(int const&)",
            "shop::Cart<int>.total() const",
            "shop::Cart<int>.~Cart()",
        ],
    );
    check(
        "includemethod shop::Cart<int> t*",
        &["shop::Cart<int>.total() const"],
    );
    check(
        "includemethod * *er (int)",
        &["(anonymous namespace).thrower(int)", "prog.catcher(int)"],
    );
    check(
        "excludemethod (anonymous*  *\nexcludemethod shop::* *\nexcludemethod main::* *\nexcludemethod * operator*",
        &["prog.catcher(int)", "prog.main"],
    );
    check(
        "includemethod std::vector<int* push_back",
        &["std::vector<int, std::allocator<int>>.push_back(int const&)"],
    );
    check("excludemethod * *", &[]);
}

#[test]
fn calls_below_the_maximum_depth_are_counted_and_not_logged() {
    let lab = Lab::new(CALLS, &["-O1"]);
    let filter = lab.filter("observe_method_invocations\nmaximum_depth 3\n");
    let run = lab.check_same(&["--filter", &filter], &[]);
    let stats = run.stats();
    assert_eq!(stats.calls("prog.fib"), (3, 0));
    assert_eq!(stats.calls("prog.inlined"), (20, 0));
    assert!(run.tree("main").iter().all(|row| row[..1] < *"3"));
}

#[test]
fn a_program_without_instrumented_functions_is_told_so() {
    let lab = Lab::new(
        "int main(void) { return 3; }",
        &["-fno-instrument-functions"],
    );
    let output = fulcrum(&["trace", "--output", "run", "--", "./prog"])
        .current_dir(lab.folder())
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        errors.contains("built with -finstrument-functions"),
        "{errors}"
    );
}

#[test]
fn all_tools_read_the_log() {
    let lab = Lab::new(CALLS, &["-O1"]);
    let run = lab.check_same(&[], &[]);
    let log = run.log().to_str().unwrap();
    let list = fulcrum(&["events", "list", log, "--json"])
        .output()
        .unwrap();
    let lines: Vec<Value> = String::from_utf8_lossy(&list.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let count = |event: &str| lines.iter().filter(|it| it["event"] == event).count();
    assert_eq!(
        (count("enter"), count("exit"), count("thrown")),
        (465 + 41 + 30 + 30 + 1, 567, 0)
    );
    assert_eq!(
        (
            count("threadStart"),
            count("threadEnd"),
            count("vmStart"),
            count("vmEnd")
        ),
        (1, 1, 1, 1)
    );
    let query = "method ~ \"fib\" and depth = 1";
    let found = json(&["events", "query", query, log, "--json"]);
    assert_eq!(found["what"], "prog.fib");
    let _ = Stats::of(run.log());
}

/// A hot function, cheap ones, a recursion whose gate shuts within it, and one that leaves by jumping.
const HOT: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static volatile long n;
static jmp_buf out;
void cheap(void) { n++; }
int deep(int d) { return d == 0 ? 0 : 1 + deep(d - 1); }
void hot(void) { for (int i = 0; i < 400000; i++) n = n * 31 + i; }
void rare(void) { n++; }
void jumper(int i) { if (i % 2 == 0) longjmp(out, 1); }
void unit(int i) { for (int k = 0; k < 200; k++) cheap(); hot(); if (!setjmp(out)) jumper(i); }
int main(void) {
  rare();
  int sum = deep(3000);
  for (int i = 0; i < 600; i++) unit(i);
  printf("%d\n", sum);
  return 0;
}
"#;

#[test]
fn the_refine_loop_keeps_the_hotspots_and_counts_every_call() {
    let lab = Lab::new(HOT, &["-O1"]);
    // By the processor's time, so that it does not matter what else runs on this machine.
    let rule = "inherent cpu >= 100us after 300";
    let output = fulcrum(&[
        "refine",
        "--json",
        "--quiet",
        "--recheck",
        "0",
        "--rule",
        rule,
    ])
    .args([
        "--runs",
        "1",
        "--no-baseline",
        "--output",
        "loop",
        "--unit",
        "prog.unit",
    ])
    .args(["--", "./prog"])
    .current_dir(lab.folder())
    .output()
    .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    let refined: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(refined["stable"], true);
    assert_eq!(refined["hotspots"], serde_json::json!(["prog.hot"]));
    let numbers = |key: &str| -> Vec<u64> {
        let rows = refined["iterations"].as_array().unwrap();
        rows.iter().map(|row| row[key].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers("methods"), [7, 2]);
    assert_eq!(numbers("units"), [600, 600]);
    let (cheap, deep, others) = (200 * 600, 3001, 2 + 3 * 600);
    assert_eq!(numbers("fired"), [cheap + deep + others, 1200]);
    let metered = numbers("metered");
    assert!(
        metered[0] < 300 + deep + 2 + 300 + 2 * 600 + 300 && metered[1] == 1200,
        "{metered:?}"
    );
}

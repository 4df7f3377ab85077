//! Functions of real programs: their names, declarations and inlined activations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fulcrum_symbols::{FunctionTable, Scope, function_ranges, line_ranges};
use fulcrum_test_support::programs::Recipe;

/// The program, beside its source.
fn build(compiler: &str, file: &str, text: &str, flags: &[&str]) -> PathBuf {
    let command = [&[compiler, "-o", "program", file], flags].concat();
    let recipe = Recipe::new(file).file(file, text).command(command);
    recipe.build().join("program")
}

fn functions(program: &Path) -> FunctionTable {
    let table = function_ranges(program, &Scope::default()).expect("functions");
    let mut end = 0;
    for range in &table.ranges {
        assert!(range.start >= end && range.end > range.start, "{range:x?}");
        assert!((range.node as usize) < table.nodes.len());
        end = range.end;
    }
    for (index, node) in table.nodes.iter().enumerate() {
        assert!((node.function as usize) < table.functions.len());
        assert!(node.parent == u32::MAX || (node.parent as usize) < index);
    }
    table
}

/// `name@line` of every function that has code.
fn declared(table: &FunctionTable) -> BTreeSet<String> {
    let line = |it: &fulcrum_symbols::Function| format!("{}@{}", it.name, it.location.line);
    table.functions.iter().map(line).collect()
}

const NESTED: &str = "\
#include <string.h>
volatile int sink;
static inline __attribute__((always_inline)) int inner(int a) {
  sink = a;
  return a * 3 + sink;
}
static inline __attribute__((always_inline)) int outer(int a) {
  int b = inner(a) ^ sink;
  if (b > 77) b += inner(b + 1);
  return b - 5;
}
__attribute__((noinline)) int work(int a) {
  for (int i = 0; i < a; i++) sink += outer(i);
  return sink;
}
__attribute__((noinline)) int other(int a) {
  char space[16];
  memset(space, a, sizeof space);
  return inner(space[a & 15]) + outer(a);
}
int main(int argc, char** argv) {
  (void)argv;
  return work(argc) + other(argc) == 12;
}
";

/// Shares only gimli with us: for every address, the functions of all frames.
#[test]
fn every_address_agrees_with_addr2line() {
    let builds: &[&[&str]] = &[
        &["-gdwarf-4", "-O2"],
        &["-gdwarf-5", "-O2"],
        &["-g", "-O0"],
        &["-g", "-O3", "-flto"],
        &["-gdwarf-5", "-O2", "-gsplit-dwarf"],
        &["-gdwarf-4", "-O2", "-gsplit-dwarf"],
        &["-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"],
    ];
    for flags in builds {
        let program = build("gcc", "nested.c", NESTED, flags);
        let table = functions(&program);
        assert_eq!(table.notes, Vec::<String>::new(), "{flags:?}");
        assert_eq!(
            declared(&table),
            ["inner@3", "main@21", "other@16", "outer@7", "work@12"]
                .map(str::to_owned)
                .into(),
            "{flags:?}"
        );
        let loader = addr2line::Loader::new(&program).expect("a loader");
        let (mut compared, mut nested) = (0, 0);
        for range in &table.ranges {
            for address in [range.start, range.end - 1] {
                let mut expected = Vec::new();
                let mut frames = loader.find_frames(address).expect("frames");
                while let Some(frame) = frames.next().expect("a frame") {
                    let name = frame.function.expect("a function");
                    expected.push(name.raw_name().expect("a name").into_owned());
                }
                expected.retain(|name| name != "memset");
                let node = table.lookup(address).expect("a node");
                let chain: Vec<String> = table.chain(node).map(|it| it.name.clone()).collect();
                assert_eq!(chain, expected, "{flags:?} {address:#x}");
                compared += 1;
                nested += usize::from(chain.len() == 3);
            }
        }
        assert!(compared >= 6, "{flags:?}");
        assert_eq!(
            nested > 0,
            !flags.contains(&"-O0") || nested > 0,
            "{flags:?}"
        );
        // Every piece of a line in scope lies in a function in scope.
        let lines = line_ranges(&program, &Scope::default()).expect("lines");
        for range in &lines.ranges {
            assert!(table.lookup(range.start).is_some(), "{flags:?} {range:x?}");
        }
    }
}

const CLASSES: &str = "\
#include <algorithm>
#include <vector>
volatile int sink;
namespace shop {
template <typename T> struct Queue {
  std::vector<T> items;
  __attribute__((noinline)) T pop();
  __attribute__((noinline)) void push(T item) { items.push_back(item); }
};
template <typename T> T Queue<T>::pop() {
  T last = items.back();
  items.pop_back();
  return last;
}
}
namespace {
__attribute__((noinline)) int hidden(int a) { return a + sink; }
}
static __attribute__((noinline)) int hidden_too(int a) { return a * sink; }
__attribute__((noinline)) int twice(int a) { return a * 2 + sink; }
__attribute__((noinline)) double twice(double a) { return a * 2 + sink; }
int main(int argc, char**) {
  shop::Queue<int> numbers;
  shop::Queue<std::vector<std::vector<int>>> lists;
  for (int i = 0; i < argc; i++) numbers.push(i), lists.push({});
  std::sort(numbers.items.begin(), numbers.items.end(), [](int a, int b) {
    sink = sink + 1;
    return a > b;
  });
  return numbers.pop() + hidden(argc) + hidden_too(argc) + twice(argc) + (int)twice(1.5) + (int)lists.pop().size();
}
";

#[test]
fn names_and_declarations_are_the_programmers() {
    let lists = "shop::Queue<std::vector<std::vector<int, std::allocator<int>>, \
                 std::allocator<std::vector<int, std::allocator<int>>>>>";
    let expected = [
        "main@22".to_owned(),
        "main::{lambda}@26".into(),
        "shop::Queue<int>::pop@10".into(),
        "shop::Queue<int>::push@8".into(),
        format!("{lists}::pop@10"),
        format!("{lists}::push@8"),
        "(anonymous namespace)::hidden@17".into(),
        "hidden_too@19".into(),
        "twice@20".into(),
        "twice@21".into(),
    ];
    for flags in [
        &["-g", "-O0"][..],
        &["-g", "-O2"],
        &["-gdwarf-4", "-O2", "-flto"],
    ] {
        let program = build("g++", "classes.cpp", CLASSES, flags);
        let table = functions(&program);
        let declared = declared(&table);
        for name in &expected {
            assert!(
                declared.contains(name),
                "{flags:?}: {name} of {declared:#?}"
            );
        }
        let root = program
            .parent()
            .expect("a folder")
            .canonicalize()
            .expect("it exists");
        for function in &table.functions {
            assert!(Path::new(&function.location.file).starts_with(&root));
        }
    }
}

const RUST: &str = "\
mod stage {
    #[inline(never)]
    pub fn work<T: std::fmt::Debug>(item: T) -> usize {
        format!(\"{item:?}\").len()
    }
}
struct Counter(u64);
impl Counter {
    #[inline(never)]
    fn add(&mut self, by: u64) {
        self.0 = std::hint::black_box(self.0 + by);
    }
}
fn main() {
    let mut counter = Counter(0);
    counter.add(stage::work(7) as u64 + stage::work(\"x\") as u64);
    std::process::exit(i32::from(counter.0 == 0));
}
";

#[test]
fn rust_functions_have_their_paths() {
    for mangling in ["legacy", "v0"] {
        let mangling = format!("-Csymbol-mangling-version={mangling}");
        let flags = ["-g", "-Copt-level=2", &mangling, "-Zunstable-options"];
        let flags = if mangling.ends_with("v0") {
            &flags[..3]
        } else {
            &flags[..]
        };
        let command = [&["env", "RUSTC_BOOTSTRAP=1", "rustc", "shop.rs"], flags].concat();
        let recipe = Recipe::new("shop").file("shop.rs", RUST).command(command);
        let table = functions(&recipe.build().join("shop"));
        let declared = declared(&table);
        for name in ["shop::main@14", "shop::Counter::add@10"] {
            assert!(
                declared.contains(name)
                    || declared.contains(&name.replace("shop::Counter", "<shop::Counter>")),
                "{mangling}: {name} of {declared:#?}"
            );
        }
        let work = declared
            .iter()
            .filter(|name| name.starts_with("shop::stage::work"));
        assert!(work.count() >= 1, "{mangling}: {declared:#?}");
    }
}

//! The example under a profiler of ten lines, and without one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Serves `_coz_get_counter` and prints what was counted when the program ends.
const PROFILER: &str = r#"
#include <stdio.h>
#include <string.h>
struct counter { size_t count, backoff; };
static struct { int kind; char name[200]; struct counter counter; } known[16];
struct counter *_coz_get_counter(int kind, const char *name) {
  for (int n = 0; n < 16; n++) {
    if (!known[n].kind) { known[n].kind = kind; strncpy(known[n].name, name, 199); }
    if (known[n].kind == kind && !strcmp(known[n].name, name)) return &known[n].counter;
  }
  return 0;
}
__attribute__((destructor)) static void print(void) {
  for (int n = 0; n < 16 && known[n].kind; n++)
    fprintf(stderr, "%d %s %zu\n", known[n].kind, known[n].name, known[n].counter.count);
}
"#;

/// Cargo builds examples beside the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let profile = test.ancestors().nth(2).expect("target/debug/deps/test");
    profile.join("examples/requests")
}

fn profiler(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("profiler.c"), folder.join("profiler.so"));
    std::fs::write(&source, PROFILER).expect("a writable folder");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler");
    assert!(status.success());
    library
}

#[test]
fn every_kind_is_counted_under_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Command::new(example())
        .arg("50")
        .env("LD_PRELOAD", profiler(folder.path()))
        .output()
        .expect("it runs");
    assert!(run.status.success());
    let errors = String::from_utf8(run.stderr).expect("text");
    let mut counted: Vec<&str> = errors.lines().collect();
    counted.sort_unstable();
    let [answered, line, begin_answer, begin, end_answer, end] = counted.as_slice() else {
        panic!("six counters: {errors}")
    };
    assert_eq!(*answered, "1 answered 50");
    let place = line
        .strip_prefix("1 ")
        .and_then(|it| it.strip_suffix(" 50"));
    let (file, number) = place.and_then(|it| it.rsplit_once(':')).expect(line);
    assert!(
        file.ends_with("examples/requests.rs") && number.parse::<u32>().is_ok(),
        "{line}"
    );
    assert_eq!((*begin_answer, *begin), ("2 answer 50", "2 request 50"));
    assert_eq!((*end_answer, *end), ("3 answer 50", "3 request 50"));
}

#[test]
fn without_a_profiler_nothing_happens() {
    let run = Command::new(example()).arg("50").output().expect("it runs");
    assert!(run.status.success());
    assert_eq!((run.stdout, run.stderr), (vec![], vec![]));
}

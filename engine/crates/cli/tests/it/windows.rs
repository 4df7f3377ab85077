//! `fulcrum transactions run` pauses when recording costs a busy program too much, and what it shows then is right.

use std::process::Stdio;

use fulcrum_test_support::libraries;
use fulcrum_test_support::programs::Recipe;
use serde_json::Value;

use crate::common::{fulcrum, json};

/// Two processes that send each other bytes, as fast as they can: every tenth time, a larger request. They end when recording has paused
/// and gone on again, and at most two minutes after their start.
const BUSY: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char bytes[1000];

#define SEND(fd, count) if (write(fd, bytes, count) != (count)) exit(9)
#define TAKE(fd, count, otherwise)                     \
  for (int left = (count); left > 0;) {                \
    ssize_t more = read(fd, bytes + (count) - left, left); \
    if (more <= 0) otherwise;                          \
    left -= more;                                      \
  }

static void work(void) { for (volatile int n = 0; n < 400000; n++) {} }

__attribute__((noinline)) void answer(int fd) {
  for (;;) {
    TAKE(fd, 10, return)
    if (bytes[0] == 'l') TAKE(fd, 890, return)
    work();
    SEND(fd, 5);
  }
}

__attribute__((noinline)) void ask_little(int fd) {
  bytes[0] = 's';
  SEND(fd, 10);
  TAKE(fd, 5, exit(9))
}

__attribute__((noinline)) void ask_much(int fd) {
  bytes[0] = 'l';
  SEND(fd, 900);
  TAKE(fd, 5, exit(9))
}

int main(void) {
  char windows[4096];
  snprintf(windows, sizeof windows, "%s/windows", getenv("FULCRUM_TRANSACTIONS"));
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  if (fork() == 0) {
    close(ends[0]);
    answer(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  time_t start = time(0);
  struct stat found = {0};
  for (long n = 1; found.st_size < 16 && time(0) < start + 120; n++) {
    if (n % 10) ask_little(ends[0]); else ask_much(ends[0]);
    if (n % 100 == 0) stat(windows, &found);
  }
  for (int n = 0; n < 990; n++) if (n % 10) ask_little(ends[0]); else ask_much(ends[0]);
  close(ends[0]);
  wait(0);
  return found.st_size < 16;
}
"#;

#[test]
fn a_busy_program_is_recorded_in_windows_and_nothing_is_mixed_up() {
    libraries::all();
    let built = Recipe::new("busy")
        .file("busy.c", BUSY)
        .command("gcc -O1 -g busy.c -o busy".split(' '))
        .build();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let program = built.join("busy").display().to_string();
    // The pause is short then.
    let allowed = ["--max-overhead", "90%"];
    let status = fulcrum(&["transactions", "run", "--quiet", "-o", &run])
        .args(allowed)
        .args(["--", &program])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the command starts");
    assert_eq!(status.code(), Some(0), "recording paused and went on");
    let shown = json(&["transactions", "show", &run, "--json"]);
    let notes: Vec<&str> = shown["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        matches!(notes[..], [note] if note.contains("were recorded, in 2 windows")),
        "{notes:?}"
    );
    let manifest = std::fs::read_to_string(folder.path().join("run/run.json")).expect("a manifest");
    assert!(
        manifest.contains("while it went on, the program needed"),
        "{manifest}"
    );
    let flows: Vec<(String, u64)> = shown["flows"]
        .as_array()
        .expect("flows")
        .iter()
        .filter(|it| it["kind"] == "message")
        .map(|it| {
            let name = |side: &str| it[side].as_str().expect("a name").to_owned();
            let count = it["count"].as_u64().expect("a count");
            (format!("{} → {}", name("from"), name("to")), count)
        })
        .collect();
    let count = |name: &str| {
        let flow = flows.iter().find(|(it, _)| it == name);
        flow.unwrap_or_else(|| panic!("{name}: {flows:?}")).1
    };
    for (asks, of) in [("ask_little", 9.0), ("ask_much", 1.0)] {
        let (asked, answered) = (
            count(&format!("{asks} → answer")),
            count(&format!("answer → {asks}")),
        );
        // A request that is on its way at the edge of a window has only one of them.
        assert!(asked.abs_diff(answered) <= 4, "{flows:?}");
        let share =
            asked as f64 / (count("ask_little → answer") + count("ask_much → answer")) as f64;
        assert!((share - of / 10.0).abs() < 0.05, "{flows:?}");
    }
}

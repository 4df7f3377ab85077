//! Native programs under the agent that fork, are killed, handle signals, close everything, and load libraries.

use std::process::Command;

use crate::common::native::{Lab, Stats};
use crate::common::{fulcrum, json};

#[test]
fn a_killed_program_leaves_every_event_up_to_the_kill() {
    let source = r#"
#include <signal.h>
#include <stdlib.h>
void step(void) {}
void work(int k) { for (int i = 0; i < k; i++) step(); kill(0 * getpid() + getpid(), SIGKILL); }
int main(int argc, char **argv) { work(atoi(argv[1])); return 0; }
"#;
    let lab = Lab::new(source, &["-O0", "-include", "unistd.h"]);
    for count in ["0", "1", "777", "100000"] {
        let _ = std::fs::remove_dir_all(lab.path("run"));
        let run = lab.check_same(&[], &[count]);
        let stats = run.stats();
        assert!(stats.notes().contains("was killed"), "{}", stats.notes());
        let expect: u64 = count.parse().unwrap();
        assert_eq!(stats.calls("prog.step"), (expect, 0));
        assert_eq!(
            (stats.calls("prog.work"), stats.calls("prog.main")),
            ((1, 0), (1, 0))
        );
    }
}

#[test]
fn forked_children_have_logs_of_their_own() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
void in_parent(void) {}
void in_child(void) {}
void waits(int pid) { int status; waitpid(pid, &status, 0); printf("%d\n", WEXITSTATUS(status)); fflush(stdout); }
int main(void) {
  in_parent();
  int pid = fork();
  if (pid == 0) { for (int i = 0; i < 5; i++) in_child(); exit(3); }
  waits(pid);
  pid = fork();
  if (pid == 0) { in_child(); _exit(4); }
  waits(pid);
  /* As no handler sees it. */
  pid = syscall(SYS_fork);
  if (pid == 0) { in_child(); in_child(); syscall(SYS_exit_group, 5); }
  waits(pid);
  /* Without any call. */
  pid = fork();
  if (pid == 0) { execl("/bin/sh", "sh", "-c", "exit 6", (char *)0); _exit(1); }
  waits(pid);
  pid = vfork();
  if (pid == 0) { in_child(); execl("/bin/sh", "sh", "-c", "exit 7", (char *)0); _exit(1); }
  waits(pid);
  pid = vfork();
  if (pid == 0) { in_child(); _exit(8); }
  waits(pid);
  in_parent();
  return 0;
}
"#;
    let run = Lab::new(source, &["-O0"]);
    let run = run.check_same(&[], &[]);
    let mut stats: Vec<Stats> = run.logs.iter().map(|log| Stats::of(log)).collect();
    let at = stats.iter().position(|it| it.calls("prog.waits").0 > 0);
    let parent = stats.remove(at.expect("the parent's log"));
    assert_eq!(
        (parent.calls("prog.main"), parent.calls("prog.in_parent")),
        ((1, 0), (2, 0))
    );
    assert_eq!(parent.calls("prog.waits"), (6, 0));
    // Children made by `vfork` are their parent's thread until they are another program.
    assert_eq!(parent.calls("prog.in_child"), (2, 0));
    let mut calls: Vec<u64> = stats.iter().map(|it| it.calls("prog.in_child").0).collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 2, 5]);
    assert!(stats.iter().all(|it| it.calls("prog.main").0 == 0));
}

#[test]
fn threads_have_names_parents_and_ends_however_they_end() {
    let source = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void step(void) {}
static void leaves(int how) {
  step();
  if (how == 1) pthread_exit(0);
  if (how == 2) { pthread_cancel(pthread_self()); pthread_testcancel(); }
}
static void *inner(void *it) { step(); return it; }
static void *plain(void *it) { leaves(0); return it; }
static void *exits(void *it) { leaves(1); return it; }
static void *cancelled(void *it) { leaves(2); return it; }
static void *makes(void *it) {
  pthread_t thread;
  pthread_create(&thread, 0, inner, 0);
  pthread_join(thread, 0);
  return it;
}
int main(void) {
  void *(*all[])(void *) = {plain, exits, cancelled, makes};
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, all[i], 0);
    pthread_join(thread, 0);
  }
  puts("all");
  return 0;
}
"#;
    for level in ["-O0", "-O2"] {
        let lab = Lab::new(source, &[level, "-fno-inline"]);
        let run = lab.check_same(&[], &[]);
        let stats = run.stats();
        let parent = |name: &str| stats.thread(name)["parent"].as_u64().unwrap();
        let id = |name: &str| stats.thread(name)["id"].as_u64().unwrap();
        for name in ["plain", "exits", "cancelled", "makes"] {
            assert_eq!(parent(name), id("main"), "{name}");
        }
        assert_eq!(parent("inner"), id("makes"));
        assert_eq!(stats.calls("prog.leaves"), (3, 2), "{level}");
        assert_eq!(stats.calls("prog.step"), (4, 0), "{level}");
        let log = run.log().to_str().unwrap();
        let list = fulcrum(&["events", "list", log, "--json"])
            .output()
            .unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let ends = list.lines().filter(|line| line.contains("\"threadEnd\""));
        assert_eq!(ends.count(), 6, "{level}");
    }
}

#[test]
fn a_function_with_arguments_on_the_stack_returns() {
    let source = r#"
#include <stdio.h>
static int many(int a, int b, int c, int d, int e, int f, int g, int h) { return a + b * c - d + e * f - g + h; }
static int wrap(int a) { return many(a, 1, 2, 3, 4, 5, 6, 7) + 1; }
static int deep(int n) { return n == 0 ? 0 : many(n, 1, 2, 3, 4, 5, 6, deep(n - 1)) + many(n, 1, 2, 3, 4, 5, 6, n); }
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += wrap(i) + deep(argc + 9);
  printf("%d\n", sum);
  return 0;
}
"#;
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let lab = Lab::new(source, &[level, "-fno-inline"]);
        let stats = lab.check_same(&[], &[]).stats();
        for (function, calls) in [("main", 1), ("wrap", 100), ("deep", 1100), ("many", 2100)] {
            let counts = stats.calls(&format!("prog.{function}"));
            assert_eq!(counts, (calls, 0), "{function} at {level}");
        }
    }
}

#[test]
fn handlers_of_signals_are_observed_on_any_stack_and_may_jump() {
    let source = r#"
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static sigjmp_buf out;
static volatile int rings, handled;
static void step(void) {}
static void handler(int s) { handled++; step(); }
static void jumper(int s) { step(); siglongjmp(out, 1); }
static void ring(int s) { rings++; step(); }
static void jumping_ring(int s) { if (rings < 50) { rings++; siglongjmp(out, 1); } }
static void on(int s, void (*f)(int), int flags) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = f;
  a.sa_flags = flags;
  sigaction(s, &a, 0);
}
static void timer(int us) { struct itimerval t = {{0, us}, {0, us}}; setitimer(ITIMER_REAL, &t, 0); }
static void spin(int k) { if (k) { step(); spin(k - 1); } }
int main(void) {
  static char room[65536];
  stack_t stack = {room, 0, sizeof room};
  sigaltstack(&stack, 0);
  on(SIGUSR1, handler, 0);
  on(SIGUSR2, handler, SA_ONSTACK);
  for (int i = 0; i < 10; i++) { raise(SIGUSR1); raise(SIGUSR2); }
  on(SIGUSR1, jumper, 0);
  on(SIGUSR2, jumper, SA_ONSTACK);
  for (volatile int i = 0; i < 10; i++) { if (!sigsetjmp(out, 1)) raise(i % 2 ? SIGUSR1 : SIGUSR2); step(); }
  printf("%d\n", handled);
  /* Whatever they interrupt, probes among it. */
  on(SIGALRM, ring, SA_ONSTACK);
  timer(300);
  while (rings < 50) spin(50);
  rings = 0;
  /* The first ring may come before the loop has begun. */
  if (!sigsetjmp(out, 1)) on(SIGALRM, jumping_ring, 0);
  while (rings < 50) { if (!sigsetjmp(out, 1)) for (;;) spin(50); }
  timer(0);
  puts("done");
  return 0;
}
"#;
    for level in ["-O0", "-O2"] {
        let lab = Lab::new(source, &[level, "-fno-inline"]);
        let run = lab.check_same(&[], &[]);
        let stats = run.stats();
        assert_eq!(stats.calls("prog.handler"), (20, 0), "{level}");
        assert_eq!(stats.calls("prog.jumper"), (10, 10), "{level}");
        assert_eq!(stats.calls("prog.main"), (1, 0), "{level}");
        // One that interrupts a probe is not logged.
        assert!(stats.calls("prog.ring").0 <= 50, "{level}");
        assert_eq!(stats.calls("prog.timer"), (2, 0), "{level}");
        // Jumping out of a probe does not end what is observed.
        let tree = run.tree("main");
        assert_eq!(tree.last().unwrap(), "1 prog.timer returned", "{level}");
    }
}

#[test]
fn programs_that_close_everything_keep_their_files_and_their_log() {
    let source = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void step(void) {}
int main(void) {
  step();
  for (int fd = 3; fd < 1100; fd++) close(fd);
  int first = open("mine", O_CREAT | O_RDWR | O_TRUNC, 0600);
  write(first, "mine", 4);
  for (int fd = 1000; fd < 1010; fd++) dup2(first, fd);
  /* More than the log has reserved so far. */
  for (int i = 0; i < 600000; i++) step();
  char text[8] = {0};
  pread(1000, text, 7, 0);
  printf("%d %s %d\n", first, text, (int)lseek(first, 0, SEEK_END));
  return 0;
}
"#;
    let lab = Lab::new(source, &["-O1", "-fno-inline"]);
    let run = lab.check_same(&[], &[]);
    assert_eq!(run.stats().calls("prog.step"), (600_001, 0));
}

#[test]
fn an_instrumented_allocator_and_constructors_do_no_harm() {
    let source = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static char room[1 << 24];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *bump(size_t size) { void *p = room + used; used += (size + 31) & ~(size_t)15; return p; }
void *malloc(size_t size) {
  pthread_mutex_lock(&lock);
  void *p = bump(size);
  pthread_mutex_unlock(&lock);
  return p;
}
void free(void *p) {}
void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
void *realloc(void *old, size_t size) { void *p = malloc(size); if (old) memcpy(p, old, size); return p; }
__attribute__((constructor)) static void begins(void) {}
__attribute__((destructor)) static void ends(void) {}
static void *body(void *it) { for (int i = 0; i < 100; i++) malloc(10); return it; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, body, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  puts("done");
  return 0;
}
"#;
    let lab = Lab::new(source, &["-O1", "-fno-builtin"]);
    let stats = lab.check_same(&[], &[]).stats();
    assert_eq!(stats.calls("prog.body"), (4, 0));
    assert_eq!(
        (stats.calls("prog.begins"), stats.calls("prog.ends")),
        ((1, 0), (1, 0))
    );
    let (mallocs, bumps) = (stats.calls("prog.malloc").0, stats.calls("prog.bump").0);
    assert!(mallocs >= 400 && bumps <= mallocs, "{mallocs} {bumps}");
}

#[test]
fn libraries_come_and_go() {
    let source = r#"
#include <dlfcn.h>
#include <stdio.h>
static int call(const char *path, const char *name) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library) { puts(dlerror()); return 0; }
  int (*f)(int) = (int (*)(int))dlsym(library, name);
  int result = f(3) + f(4);
  dlclose(library);
  return result;
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) { sum += call("./one.so", "first"); sum += call("./two.so", "second"); }
  printf("%d\n", sum);
  return 0;
}
"#;
    let lab = Lab::new(source, &["-O1", "-ldl"]);
    let library = ["-shared", "-fPIC", "-O1"];
    lab.compile("int first(int k) { return k; }", "one.so", &library);
    lab.compile("int second(int k) { return k * k; }", "two.so", &library);
    let stats = lab.check_same(&[], &[]).stats();
    // Wherever they were loaded, also both at the same address.
    assert_eq!(stats.calls("one.so.first"), (6, 0));
    assert_eq!(stats.calls("two.so.second"), (6, 0));
    assert_eq!(stats.calls("prog.call"), (6, 0));
}

#[test]
fn a_full_log_ends_and_the_program_goes_on() {
    let source = r#"
#include <stdio.h>
static volatile int n;
static void step(void) { n++; }
int main(void) { for (int i = 0; i < 300000; i++) step(); printf("%d\n", n); return 9; }
"#;
    let lab = Lab::new(source, &["-O1", "-fno-inline"]);
    let run = lab.check_same(&["--limit", "1M"], &[]);
    let length = run.log().metadata().unwrap().len();
    assert!(length <= 1 << 20, "{length}");
    let stats = json(&["events", "stats", run.log().to_str().unwrap(), "--json"]);
    let notes = stats["notes"].to_string();
    assert!(notes.contains("size limit"), "{notes}");
    assert_eq!(stats["unbalanced"], 0);
}

#[test]
fn scripts_start_native_programs_too() {
    let lab = Lab::new(
        "void step(void) {} int main(void) { step(); return 5; }",
        &["-O0"],
    );
    std::fs::write(lab.path("go"), "#!/bin/sh\n./prog\nexec ./prog\n").unwrap();
    let chmod = Command::new("chmod")
        .args(["+x", "go"])
        .current_dir(lab.folder())
        .status();
    assert!(chmod.unwrap().success());
    let output = fulcrum(&["trace", "--quiet", "--output", "run", "--", "./go"])
        .current_dir(lab.folder())
        .env_remove("JAVA_TOOL_OPTIONS")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    let logs = std::fs::read_dir(lab.path("run")).unwrap().flatten();
    let logs = logs.filter(|it| it.path().extension().is_some_and(|it| it == "log"));
    let stats: Vec<_> = logs
        .map(|it| Stats::of(&it.path()).calls("prog.step"))
        .collect();
    assert_eq!(stats, [(1, 0), (1, 0)]);
}

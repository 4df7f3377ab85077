//! `fulcrum transactions`: a shop of two processes, whose requests are told apart at both, and wait for each other at a lock.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use fulcrum_test_support::libraries;
use fulcrum_test_support::programs::Recipe;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{check_bad, fulcrum, json};

/// `shop`: a front that speaks HTTP, a thread for each connection, and passes each request to a back, another process, by a
/// connection that the two threads have for themselves. The back burns three units for `/buy` and one for `/list`; `/report`
/// holds a lock until a `/checkout` waits for it, and ten more milliseconds. It says how much CPU time it had for each.
const SHOP: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t cart_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long result;
static int to_back[8];
static long long cpu_ns[2];

static long long own_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}
__attribute__((noinline)) static void burn(int units) {
  unsigned long x = 1;
  for (long i = 0; i < units * 2000000l; i++) x = x * 6364136223846793005u + 1;
  result = x;
}
__attribute__((noinline)) static void report(void) {
  pthread_mutex_lock(&cart_lock);
  while (__atomic_load_n(&cart_lock.__data.__lock, __ATOMIC_ACQUIRE) != 2) usleep(100);
  usleep(10000);
  pthread_mutex_unlock(&cart_lock);
}
__attribute__((noinline)) static void checkout(void) {
  while (__atomic_load_n(&cart_lock.__data.__lock, __ATOMIC_ACQUIRE) == 0) usleep(100);
  pthread_mutex_lock(&cart_lock);
  pthread_mutex_unlock(&cart_lock);
}
static void *serve_back(void *at) {
  int fd = (int)(long)at;
  char what[16];
  while (read(fd, what, sizeof what) > 0) {
    long long before = own_cpu();
    if (!strcmp(what, "buy")) burn(3), __atomic_fetch_add(&cpu_ns[0], own_cpu() - before, __ATOMIC_RELAXED);
    if (!strcmp(what, "list")) burn(1), __atomic_fetch_add(&cpu_ns[1], own_cpu() - before, __ATOMIC_RELAXED);
    if (!strcmp(what, "report")) report();
    if (!strcmp(what, "checkout")) checkout();
    if (write(fd, "ok", 2) != 2) exit(3);
  }
  return 0;
}
static void back(int *fds) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, serve_back, (void *)(long)fds[i]);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
  printf("{\"buy\": %lld, \"list\": %lld}\n", cpu_ns[0], cpu_ns[1]);
  exit(0);
}
struct job { int connection, back; };
__attribute__((noinline)) static void ask_back(int fd, const char *what) {
  char message[16] = {0}, answer[2];
  snprintf(message, sizeof message, "%s", what);
  if (write(fd, message, sizeof message) != sizeof message || read(fd, answer, 2) != 2) exit(4);
}
static void *serve_front(void *at) {
  struct job *job = at;
  char request[512];
  ssize_t length;
  while ((length = read(job->connection, request, sizeof request - 1)) > 0) {
    char what[16];
    request[length] = 0;
    if (sscanf(request, "GET /%15[a-z]", what) != 1) break;
    ask_back(job->back, what);
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    if (write(job->connection, answer, sizeof answer - 1) < 0) break;
  }
  close(job->connection);
  return 0;
}
int main(int argc, char **argv) {
  int connections = atoi(argv[1]), fds[8];
  for (int i = 0; i < 8; i++) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    to_back[i] = pair[0];
    fds[i] = pair[1];
  }
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 8; i++) close(to_back[i]);
    back(fds);
  }
  for (int i = 0; i < 8; i++) close(fds[i]);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&at, sizeof at);
  listen(listener, 16);
  getsockname(listener, (struct sockaddr *)&at, &length);
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  pthread_t threads[8];
  for (int i = 0; i < connections; i++) {
    struct job *job = malloc(sizeof *job);
    job->connection = accept(listener, 0, 0);
    job->back = to_back[i];
    pthread_create(&threads[i], 0, serve_front, job);
  }
  for (int i = 0; i < connections; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < 8; i++) close(to_back[i]);
  waitpid(child, 0, 0);
  return 5;
}
"#;

/// Requests of each kind.
const BUY: usize = 40;
const LIST: usize = 40;
const WAITS: usize = 5;

struct Recorded {
    _folder: TempDir,
    run: String,
    /// What the back measured itself, nanoseconds.
    buy_ns: f64,
    list_ns: f64,
}

/// Records the shop while it serves; whoever asks is not recorded.
fn recorded() -> Recorded {
    libraries::all();
    let built = Recipe::new("shop")
        .file("shop.c", SHOP)
        .command("gcc -O1 -g -pthread shop.c -o shop".split(' '))
        .build();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run").display().to_string();
    let shop = built.join("shop").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args([
            "transactions",
            "run",
            "--quiet",
            "-o",
            &run,
            "--",
            &shop,
            "4",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the port");
    let port: u16 = line.trim().parse().unwrap_or_else(|_| failed(&mut child));
    let mut asking: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).expect("the shop listens"))
        .collect();
    for n in 0..BUY.max(LIST) {
        if n < BUY {
            ask(&mut asking[0], "buy");
        }
        if n < LIST {
            ask(&mut asking[1], "list");
        }
    }
    let (last, rest) = asking.split_last_mut().expect("four");
    for _ in 0..WAITS {
        send(last, "report");
        ask(&mut rest[2], "checkout");
        answered(last);
    }
    drop(asking);
    let mut more = String::new();
    out.read_to_string(&mut more).expect("text");
    let mut errors = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut errors).expect("text");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(5), "the program's own status\n{errors}");
    let own: Value = serde_json::from_str(more.trim()).expect("what the back measured");
    Recorded {
        _folder: folder,
        run,
        buy_ns: own["buy"].as_f64().expect("a number"),
        list_ns: own["list"].as_f64().expect("a number"),
    }
}

fn failed(child: &mut Child) -> u16 {
    let mut errors = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut errors).expect("text");
    panic!("the shop did not start: {errors}");
}

fn send(to: &mut TcpStream, what: &str) {
    let request = format!("GET /{what}?id=77 HTTP/1.1\r\nHost: shop\r\n\r\n");
    to.write_all(request.as_bytes()).expect("sent");
}

fn answered(from: &mut TcpStream) {
    let mut answer = [0; 40];
    from.read_exact(&mut answer).expect("an answer");
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
}

fn ask(whom: &mut TcpStream, what: &str) {
    send(whom, what);
    answered(whom);
}

fn of<'a>(all: &'a Value, name: &str) -> &'a Value {
    let all = all.as_array().expect("a list");
    let names: Vec<&Value> = all.iter().map(|it| &it["name"]).collect();
    let found = all.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn requests_are_told_apart_at_both_processes_and_wait_for_each_other() {
    let shop = recorded();
    let shown = json(&["transactions", "show", &shop.run, "--json"]);
    for (name, count) in [
        ("GET /buy", BUY),
        ("GET /list", LIST),
        ("GET /report", WAITS),
        ("GET /checkout", WAITS),
    ] {
        let found = of(&shown["types"], name);
        assert_eq!(found["count"], count, "{name}: {shown:#}");
        assert_eq!(found["unreplied"], 0, "{name}");
    }
    check_cpu(&shop, &shown);
    check_flows(&shown);
    let found = json(&["transactions", "crosstalk", &shop.run, "--json"]);
    let pairs = found["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 1, "{found:#}");
    let pair = &pairs[0];
    assert_eq!(
        (&pair["waiter"], &pair["holder"]),
        (&"GET /checkout".into(), &"GET /report".into())
    );
    assert_eq!(
        (&pair["lock"], &pair["kind"]),
        (&"cart_lock".into(), &"mutex".into())
    );
    assert_eq!(pair["count"], WAITS);
    // Each holds it for ten milliseconds after it sees that somebody waits.
    assert!(
        pair["waitNs"].as_f64() > Some(WAITS as f64 * 10e6),
        "{pair:#}"
    );
    let paths = &pair["paths"][0];
    assert!(
        paths["waiter"]
            .as_str()
            .is_some_and(|it| it.ends_with("checkout")),
        "{paths:#}"
    );
    assert!(
        paths["holder"]
            .as_str()
            .is_some_and(|it| it.ends_with("report")),
        "{paths:#}"
    );

    let show = ["transactions", "show", &shop.run];
    let text = fulcrum(&show).output().expect("it runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("GET /buy"), "{text}");
    let folded = format!("{}/buy.folded", shop.run);
    let only = ["--only", "GET /buy", "--into", &folded];
    let export = ["transactions", "export", &shop.run];
    let exported = fulcrum(&[&export[..], &only[..]].concat()).output();
    assert!(exported.expect("it runs").status.success());
    let folded = std::fs::read_to_string(folded).expect("a profile");
    assert!(folded.contains("serve_back;burn "), "{folded}");
    let unknown = ["--only", "GET /nothing", "--into", "x"];
    check_bad(
        &[&export[..], &unknown[..]].concat(),
        1,
        "there is no type GET /nothing; there are GET /",
    );
}

/// Two shops that were recorded apart are one run when they are stitched.
#[test]
fn runs_that_were_recorded_apart_are_stitched() {
    let shop = recorded();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("whole").display().to_string();
    let once = ["transactions", "stitch", &shop.run, "-o", &output];
    let status = fulcrum(&once).output().expect("it runs").status;
    assert_eq!(status.code(), Some(2), "one run is nothing to stitch");
    let nothing = folder.path().display().to_string();
    check_bad(
        &["transactions", "stitch", &shop.run, &nothing, "-o", &output],
        3,
        &nothing,
    );
    assert!(!std::path::Path::new(&output).exists());
    let other = recorded();
    let both = [
        "transactions",
        "stitch",
        &shop.run,
        &other.run,
        "-o",
        &output,
    ];
    assert!(fulcrum(&both).status().expect("it runs").success());
    let at_once = json(&["transactions", "show", &shop.run, &other.run, "--json"]);
    let stitched = json(&["transactions", "show", &output, "--json"]);
    assert_eq!(at_once["types"], stitched["types"]);
    assert_eq!(of(&stitched["types"], "GET /buy")["count"], 2 * BUY);
    let runs = fulcrum_runs::RunFolder::open(output.as_ref()).expect("a run");
    assert_eq!(
        runs.read_manifest().expect("a manifest").kind,
        "transactions"
    );
}

/// CPU time by type, against what the back measured itself. Where samples are not allowed, that is said.
fn check_cpu(shop: &Recorded, shown: &Value) {
    let notes = shown["notes"].to_string();
    if notes.contains("There are no CPU samples") {
        return;
    }
    let cpu = |name: &str| {
        of(&shown["types"], name)["cpuNs"]
            .as_f64()
            .expect("a number")
    };
    let (buy, list) = (cpu("GET /buy"), cpu("GET /list"));
    assert!(
        buy > list,
        "{buy} {list}, measured {} {}",
        shop.buy_ns,
        shop.list_ns
    );
    let stages = of(&shown["types"], "GET /buy")["stages"]
        .as_array()
        .expect("a list");
    assert!(
        stages.iter().all(|it| it["process"] == "shop"),
        "{stages:?}"
    );
}

fn check_flows(shown: &Value) {
    let flows = shown["flows"].as_array().expect("a list");
    let to_back = flows
        .iter()
        .find(|it| it["kind"] == "message" && it["from"] == "ask_back" && it["to"] == "serve_back");
    let all = BUY + LIST + 2 * WAITS;
    assert_eq!(
        to_back.map(|it| &it["count"]),
        Some(&all.into()),
        "{flows:#?}"
    );
}

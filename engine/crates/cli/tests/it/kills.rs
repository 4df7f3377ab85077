//! Servers under transactional profiling, and whoever records them, are killed at random moments: what was recorded opens.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fulcrum_stats::Random;
use fulcrum_test_support::programs::Recipe;
use fulcrum_test_support::{engine_folder, libraries};

use crate::common::json;

/// Whom to kill.
#[derive(Clone, Copy, Debug)]
enum Whom {
    Front,
    Back,
    Recorder,
}

/// Kills each of them at so many random moments. How many requests were answered, all of which stand in the runs.
pub(crate) fn check(moments: u64) -> u64 {
    libraries::all();
    let source = engine_folder().join("../test/fixtures/shop.c");
    let built = Recipe::new("shop")
        .file("shop.c", std::fs::read(source).expect("it is there"))
        .command("gcc -O1 -g -pthread shop.c -o shop".split(' '))
        .build();
    let mut random = Random::new(19);
    let mut answered = 0;
    for _ in 0..moments {
        for whom in [Whom::Front, Whom::Back, Whom::Recorder] {
            let wait = Duration::from_micros(random.below(150_000));
            answered += killed(&built.join("shop"), whom, wait);
        }
    }
    answered
}

/// One recording that is killed after that time of serving.
fn killed(shop: &Path, whom: Whom, after: Duration) -> u64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_fulcrum"))
        .args(["transactions", "run", "--quiet", "--no-pauses", "-o"])
        .arg(&run)
        .arg("--")
        .arg(shop)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut line = String::new();
    let mut out = BufReader::new(recorder.stdout.take().expect("piped"));
    out.read_line(&mut line).expect("the port");
    let port: u16 = line.trim().parse().expect("a port");
    let asking: Vec<_> = (0..4)
        .map(|n| {
            let to = TcpStream::connect(("127.0.0.1", port)).expect("the shop listens");
            std::thread::spawn(move || ask_until_it_ends(to, ["buy", "list"][n % 2]))
        })
        .collect();
    std::thread::sleep(after);
    let pids = processes(&run);
    match whom {
        Whom::Front => kill(pids.first().copied()),
        Whom::Back => kill(pids.last().copied()),
        Whom::Recorder => kill(Some(recorder.id())),
    }
    if matches!(whom, Whom::Recorder) {
        // The programs go on alone, which is not what is looked at here.
        recorder.wait().expect("it was killed");
        pids.iter().for_each(|pid| kill(Some(*pid)));
    }
    let answers = asking
        .into_iter()
        .map(|it| it.join().expect("no panic"))
        .sum();
    // Its programs end when they miss each other.
    recorder.wait().expect("it ends");
    opens(&run, whom, answers);
    answers
}

fn ask_until_it_ends(mut to: TcpStream, what: &str) -> u64 {
    let request = format!("GET /{what}?id=77 HTTP/1.1\r\nHost: shop\r\n\r\n");
    let mut answer = [0; 40];
    let mut answered = 0;
    while to.write_all(request.as_bytes()).is_ok() && to.read_exact(&mut answer).is_ok() {
        answered += 1;
    }
    answered
}

/// The processes that have logs, in the order in which they were made.
fn processes(run: &Path) -> BTreeSet<u32> {
    let files = std::fs::read_dir(run).expect("a run");
    let names = files.map(|it| it.expect("a file").file_name());
    names
        .filter_map(|it| it.to_str()?.strip_suffix("-0.txlog")?.parse().ok())
        .collect()
}

fn kill(pid: Option<u32>) {
    let pid = pid.expect("it has a log").to_string();
    let status = Command::new("kill").args(["-9", &pid]).status();
    status.expect("kill is there");
}

/// What was answered is in the run, but for what was under way.
fn opens(run: &Path, whom: Whom, answered: u64) {
    let run = run.display().to_string();
    let shown = json(&["transactions", "show", &run, "--json"]);
    let types = shown["types"].as_array().expect("a list");
    let of = |name: &str| {
        let found = types.iter().find(|it| it["name"] == name);
        found.and_then(|it| it["count"].as_u64()).unwrap_or(0)
    };
    let found = of("GET /buy") + of("GET /list");
    assert!(
        found >= answered,
        "{whom:?}: {found} requests found, {answered} answered\n{shown:#}"
    );
}

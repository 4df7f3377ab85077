//! Run folders: the addresses that need names, what is missing, and single transactions.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use fulcrum_model::Progress;
use fulcrum_transaction_records::names::{FILE, Frame, NameFile, NamesOf, ProcessKey};
use fulcrum_transaction_records::run::{
    self, ModuleMap, Options, RunError, SymbolsNeeded, is_run, symbols_needed,
};
use fulcrum_transaction_records::samples::{self, Module};
use fulcrum_wire::transactions::{LockKind, Record, SETTINGS_FILE, Via, setting, state, word};

use crate::support::script::{MS, Script, Thread};

/// Maps each process's code from `/usr/bin/web`, at 0x1000 to 0x9000.
fn with_code(script: &mut Script, thread: Thread) {
    script.say(
        thread,
        "",
        Record::Module {
            start: 0x1000,
            end: 0x9000,
            offset: 0x400,
            file: b"/usr/bin/web",
        },
    );
}

/// Functions: `recv` at 0x1000, `main` at 0x2000, `on_timer` at 0x3000, `fork` at 0x4000.
fn small() -> Script {
    let mut script = Script::default();
    let web = script.process(10, "web");
    with_code(&mut script, web);
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.receive(web, "main > recv", 1, 10, "");
    script.handler(web, 0, "on_timer");
    script.wait(web, "main > recv", LockKind::Mutex, 0, 0);
    let child = script.fork(web, "main > fork", 11, "web");
    script.sample(child, "main > recv", 2);
    script.sample(web, "main > on_timer", 1);
    script
}

const KEYS: [ProcessKey; 2] = [
    ProcessKey { pid: 10, turn: 0 },
    ProcessKey { pid: 11, turn: 0 },
];

#[test]
fn the_addresses_of_forked_processes_are_asked_for_once() {
    let mut script = small();
    let samples = script.samples();
    let library = Module {
        start: 0x100,
        end: 0x200,
        offset: 0,
        file: b"/lib/libc.so",
    };
    samples.process(99, b"/bin/static").unwrap();
    samples.module(99, &library).unwrap();
    let stack = [0x150, 0x160];
    let sample = samples::Sample {
        pid: 99,
        tid: 99,
        time_ns: 1,
        weight_ns: 5 * MS,
        thread: b"",
        stack: &stack,
    };
    samples.sample(&sample).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let functions = script.write_to(folder.path(), &[]);
    let module = |start, end, offset, file: &str| ModuleMap {
        start,
        end,
        offset,
        file: file.into(),
    };
    let unlogged = SymbolsNeeded {
        processes: vec![ProcessKey { pid: 99, turn: 0 }],
        program: "/bin/static".into(),
        modules: vec![module(0x100, 0x200, 0, "/lib/libc.so")],
        code: vec![0x150, 0x15f],
        data: vec![],
    };
    // Callers are looked up one byte before the return address, which is 5; the interrupted address, 3, as it is.
    let logged = SymbolsNeeded {
        processes: KEYS.to_vec(),
        program: "/usr/bin/web".into(),
        modules: vec![module(0x1000, 0x9000, 0x400, "/usr/bin/web")],
        code: vec![0x1003, 0x1004, 0x2002, 0x2004, 0x3000, 0x3003, 0x4004],
        data: vec![0xcafe],
    };
    let needed = symbols_needed(folder.path()).unwrap();
    assert_eq!(needed, [unlogged, logged]);
    assert_eq!(needed[1].module_of(0x1000), Some(&needed[1].modules[0]));
    assert_eq!(
        (needed[1].module_of(0xfff), needed[1].module_of(0x9000)),
        (None, None)
    );
    let run = run::open_with(folder.path(), &Options::default(), &functions).unwrap();
    let note = "static could not be instrumented, being static, privileged or started in another way: its CPU time is shown without transactions.";
    assert!(run.notes.iter().any(|it| it == note), "{:?}", run.notes);
    let stages = run.stitched.stages();
    assert_eq!(
        (&*stages[0].process, stages[0].cpu.cpu_ns),
        ("static", 5 * MS)
    );
}

#[test]
fn names_are_kept_in_the_run_and_without_them_there_are_places() {
    let folder = tempfile::tempdir().unwrap();
    small().write_to(folder.path(), &[]);
    let names = |run: &run::Run| -> Vec<String> {
        let types = run.stitched.types().into_iter();
        let mut names: Vec<String> = types.map(|it| it.name).collect();
        names.sort();
        names
    };
    let run = run::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(
        names(&run),
        ["no transaction", "web+0x1404 > web+0x404", "web+0x2400"]
    );
    let frame = |name: &str| Frame {
        name: name.into(),
        file: Some("web.c".into()),
        line: Some(7),
    };
    let inlined = vec![frame("do_recv"), frame("recv")];
    let file = NameFile {
        processes: vec![NamesOf {
            processes: KEYS.to_vec(),
            code: BTreeMap::from([
                (0x1004, inlined),
                (0x2004, vec![frame("main")]),
                (0x3000, vec![frame("on_timer")]),
            ]),
            data: BTreeMap::from([(0xcafe, "cart_lock".into())]),
        }],
        ..NameFile::default()
    };
    file.write(folder.path()).unwrap();
    assert_eq!(NameFile::read(folder.path()).unwrap(), Some(file));
    let run = run::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(
        names(&run),
        ["main > recv > do_recv", "no transaction", "on_timer"]
    );
    assert_eq!(run.stitched.crosstalk()[0].lock, "cart_lock");
}

#[test]
fn what_is_no_run_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let open = || run::open(folder.path(), &Options::default());
    assert!(matches!(open(), Err(RunError::NoLogs(path)) if path == folder.path()));
    assert!(!is_run(folder.path()));
    small().write_to(folder.path(), &[]);
    assert!(is_run(folder.path()) && open().is_ok());
    fs::write(folder.path().join(FILE), "{").unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains(FILE) && error.contains("EOF"), "{error}");
    fs::write(
        folder.path().join(FILE),
        r#"{"version": 9, "processes": []}"#,
    )
    .unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.ends_with("it has version 9, expected 1"), "{error}");
    fs::remove_file(folder.path().join(FILE)).unwrap();
    fs::write(folder.path().join(samples::FILE), "no samples at all").unwrap();
    assert!(matches!(open(), Err(RunError::Samples { .. })));
    assert!(run::open(&folder.path().join("nowhere"), &Options::default()).is_err());
}

#[test]
fn everything_that_is_missing_is_told() {
    let mut script = small();
    script.set(0, word::STATE, state::FULL);
    script.set(0, word::DROPPED, 12);
    script.set(0, word::PATHS_LOST, 1);
    script.set(0, word::UNSEEN_OPERATIONS, 3);
    let web = Thread {
        process: 0,
        number: 1,
    };
    script.say(web, "", Record::Note(b"Half of it was refused."));
    script.say(web, "", Record::Note(b"Half of it was refused."));
    script.samples().lost(4).unwrap();
    script.samples().note("Sampling was slow.").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let functions = script.write_to(folder.path(), &[]);
    fs::write(folder.path().join("12-0.txlog"), [0; 5000]).unwrap();
    let run = run::open_with(folder.path(), &Options::default(), &functions).unwrap();
    assert_eq!(
        run.notes,
        [
            "The record of web (10) is cut off: the rest is missing.",
            "In web (10), 1 wait had an unknown holder.",
            "The log 12-0.txlog cannot be read, so its process is missing: its process ended before it began to write.",
            "The log of web (10) reached its limit. A larger limit can be set.",
            "The log of web (10) had no room for 12 records.",
            "1 call path of web (10) could not be kept: its table of call paths was full.",
            "3 operations of web (10) through io_uring are not followed.",
            "web: Half of it was refused.",
            "Sampling was slow.",
            "The recorder lost 4 samples: CPU times are too low by these.",
        ]
    );
    fs::remove_file(folder.path().join(samples::FILE)).unwrap();
    let run = run::open_with(folder.path(), &Options::default(), &functions).unwrap();
    let name = folder.path().file_name().unwrap().to_string_lossy();
    let note = format!("{name} has no CPU samples, so its programs show no CPU time.");
    assert_eq!(run.notes.last(), Some(&note));
    assert_eq!(run.stitched.total_cpu_ns(), 0);
}

/// Of 300 transactions, the slowest 20 and 80 others are kept.
#[test]
fn the_slowest_and_others_are_kept_with_their_ways() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let db = script.process(20, "db");
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.tcp(web, "", 2, Via::Connected, (5000, 90));
    script.tcp(db, "", 1, Via::Accepted, (90, 5000));
    for n in 0..300_u64 {
        script.receive(web, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
        script.send(web, "main > ask", 2, 10);
        script.receive(db, "serve", 1, 10, "");
        // The longest takes 7 + 99 ms.
        script.rest(n * 7 % 100);
        script.send(db, "serve > reply", 1, 10);
        script.receive(web, "main > ask", 2, 10, "");
        script.send(web, "main > reply", 1, 10);
    }
    let ways = script.open().0.ways;
    assert_eq!(ways.len(), 100);
    let mut walls: Vec<u64> = ways.iter().map(|it| it.wall_ns / MS).collect();
    walls.sort_unstable();
    assert_eq!(
        walls[80..],
        [
            98, 98, 99, 99, 99, 100, 100, 100, 101, 101, 101, 102, 102, 102, 103, 103, 103, 104,
            104, 104
        ]
    );
    // The others are not slower, and of all kinds.
    assert!(
        walls[0] < 20 && walls[40] > 30 && walls[40] < 75,
        "{walls:?}"
    );
    let way = &ways[0];
    assert!(way.replied);
    let stays: Vec<_> = way
        .stays
        .iter()
        .map(|it| (&*it.program, it.tid, &*it.stage, it.from_ns - way.began_ns))
        .collect();
    assert_eq!(
        stays,
        [("web", 101, "GET /a", 0), ("db", 201, "request", 2 * MS)]
    );
}

/// The front end is on one machine and the database on another. The clock of the latter starts at another time, and its
/// processes and sockets have the same numbers.
#[test]
fn runs_of_two_machines_are_stitched_by_their_connections() {
    let (mut front, mut back) = (Script::default(), Script::default());
    let web = front.process(10, "web");
    let db = back.process(10, "db");
    // It was started 50 s later, so the same date has a smaller time.
    let behind = 50_000 * MS;
    for script in [&mut front, &mut back] {
        script.now_ns += 2 * behind;
    }
    back.skew(db.process, -(behind as i64));
    let begin = back.now_ns;
    back.set(db.process, word::START_NS, begin - behind);
    back.set(
        db.process,
        word::START_UNIX_NS,
        begin + 1_700_000_000_000_000_000,
    );
    // On both machines, another process uses the same ports locally.
    for (script, thread) in [(&mut front, web), (&mut back, db)] {
        script.tcp(thread, "", 8, Via::Accepted, (80, 4000));
    }
    front.remote_tcp(
        web,
        1,
        Via::Connected,
        ([10, 0, 0, 1], 5000),
        ([10, 0, 0, 2], 3306),
    );
    back.remote_tcp(
        db,
        1,
        Via::Accepted,
        ([10, 0, 0, 2], 3306),
        ([10, 0, 0, 1], 5000),
    );
    for (path, ms) in [("foo", 3), ("bar", 5)] {
        let path = format!("main > {path}");
        front.send(web, &path, 1, 10);
        back.now_ns = front.now_ns;
        back.receive(db, "serve", 1, 10, "");
        back.sample(db, "serve > sort", ms);
        back.send(db, "serve > reply", 1, 10);
        front.now_ns = back.now_ns;
        front.receive(web, &path, 1, 10, "");
    }
    // With its own ports, each machine is separate.
    front.send(web, "main > front", 8, 10);
    back.receive(db, "main > back", 8, 10, "");
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (script, folder) in [front, back].into_iter().zip(&folders) {
        let names = script.names();
        script.write_to(folder.path(), &[]);
        names.write(folder.path()).unwrap();
    }
    let paths = folders.each_ref().map(|it| it.path());
    let run = run::open_all(&paths, &Options::default(), &Progress::default()).unwrap();
    let types = run.stitched.types();
    let costs: Vec<_> = types
        .iter()
        .map(|it| (&*it.name, it.cpu.cpu_ns / MS))
        .filter(|it| it.1 > 0)
        .collect();
    assert_eq!(costs, [("web: main > bar", 5), ("web: main > foo", 3)]);
    assert!(
        types.iter().any(|it| it.name == "db: main > back"),
        "{types:#?}"
    );
    let way = run
        .ways
        .iter()
        .find(|it| it.stays[0].program == "db")
        .unwrap();
    assert_eq!(way.process.to_string(), "10 of run 2");
    assert_eq!(way.began_ns, begin + 4 * MS);
    let note = "On timelines, the times of db (10 of run 2) are shifted to the clock of another machine, by the dates of both.";
    assert_eq!(run.notes, [note]);
}

/// How long threads work, by stage. Waiting for an answer counts, and waiting for a request does not.
#[test]
fn wall_time_is_told_by_stage() {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let db = script.process(20, "db");
    script.tcp(web, "", 1, Via::Accepted, (80, 4000));
    script.tcp(web, "", 2, Via::Connected, (5000, 90));
    script.tcp(db, "", 1, Via::Accepted, (90, 5000));
    for _ in 0..2 {
        script.rest(1000);
        script.receive(web, "main > recv", 1, 10, "GET /a HTTP/1.1\r\n");
        script.send(web, "main > ask", 2, 10);
        script.receive(db, "serve", 1, 10, "");
        script.send(db, "serve > reply", 1, 10);
        script.idle(db, "serve > poll");
        script.receive(web, "main > ask", 2, 10, "");
        script.send(web, "main > reply", 1, 10);
        script.idle(web, "main > poll");
    }
    let types = script.open().0.stitched.types();
    let a = types.iter().find(|it| it.name == "GET /a").unwrap();
    let stages: Vec<_> = a
        .stages
        .iter()
        .map(|it| (&*it.process, it.wall_ns / MS))
        .collect();
    assert_eq!(stages, [("web", 2 * 6), ("db", 2)]);
}

/// A front end that asks a back end, each a process with one thread, with the client's request. Streams are 1 and 2.
fn front_and_back(script: &mut Script) -> [Thread; 2] {
    let (front, back) = (script.process(10, "shop"), script.process(20, "db"));
    script.tcp(front, "serve > accept", 1, Via::Accepted, (80, 4000));
    script.tcp(front, "serve > dial", 2, Via::Connected, (5000, 3306));
    script.tcp(back, "serve_back", 2, Via::Accepted, (3306, 5000));
    [front, back]
}

/// One message there and one back.
fn ask(script: &mut Script, [front, back]: [Thread; 2], path: &str) {
    script.send(front, path, 2, 10);
    script.receive(back, "serve_back", 2, 10, "");
    script.send(back, "serve_back > reply", 2, 10);
    script.receive(front, path, 2, 10, "");
}

#[test]
fn opening_says_how_far_it_is_and_can_be_cancelled_midway() {
    let mut script = Script::default();
    let both = front_and_back(&mut script);
    script.receive(both[0], "serve > recv", 1, 10, "GET /buy HTTP/1.1\r\n");
    for _ in 0..3000 {
        ask(&mut script, both, "serve > ask");
    }
    script.sample(both[1], "serve_back > sort", 2);
    let folder = tempfile::tempdir().unwrap();
    script.write_to(folder.path(), &[]);
    let open = |stop: &'static str, after: f64| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let token = Progress::default();
        let (cancelling, hearing) = (token.clone(), Arc::clone(&heard));
        let progress = token.with_listener(move |phase: &str, fraction: f64| {
            hearing.lock().unwrap().push((phase.to_owned(), fraction));
            if phase == stop && fraction >= after {
                cancelling.cancel();
            }
        });
        let opened = run::open_all(&[folder.path()], &Options::default(), &progress);
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        (opened, heard)
    };
    let phases = [
        "reading the run",
        "replaying",
        "assigning samples",
        "stitching",
    ];
    for phase in phases {
        let (opened, heard) = open(phase, 0.0);
        assert!(matches!(opened, Err(RunError::Cancelled)), "{phase}");
        assert_eq!(heard.last().unwrap().0, phase);
    }
    let (opened, heard) = open("replaying", 0.3);
    assert!(matches!(opened, Err(RunError::Cancelled)));
    let (phase, fraction) = heard.last().unwrap();
    assert_eq!(phase, "replaying");
    assert!((0.3..0.8).contains(fraction), "{fraction}");
    let (opened, mut heard) = open("never", 0.0);
    assert!(opened.is_ok());
    heard.dedup_by(|a, b| a.0 == b.0);
    let told: Vec<&str> = heard.iter().map(|it| &*it.0).collect();
    assert_eq!(told, phases);
}

/// The first stays of a transaction are kept, and later ones are counted.
#[test]
fn what_is_cut_off_a_way_is_counted() {
    let mut script = Script::default();
    let both = front_and_back(&mut script);
    script.receive(both[0], "serve > recv", 1, 10, "GET /buy HTTP/1.1\r\n");
    for n in 0..2100 {
        // The back end changes its context each time.
        let path = ["serve > ask", "serve > tell"][n % 2];
        ask(&mut script, both, path);
    }
    script.send(both[0], "serve > send", 1, 10);
    let run = script.open().0;
    let [way] = run.ways.as_slice() else {
        panic!("{:?}", run.ways.len());
    };
    assert_eq!(way.stays.len(), 2000);
    assert!((100..=2300).contains(&way.left_out), "{}", way.left_out);
}

/// Samples tell the single transaction in which they were taken, in the front end and the back end.
#[test]
fn what_single_transactions_cost_is_known_in_all_processes() {
    let mut script = Script::default();
    let both = front_and_back(&mut script);
    for (front, back) in [(1, 4), (2, 0), (0, 0)] {
        script.receive(both[0], "serve > recv", 1, 10, "GET /buy HTTP/1.1\r\n");
        if front > 0 {
            script.sample(both[0], "serve > parse", front);
        }
        script.send(both[0], "serve > ask", 2, 10);
        script.receive(both[1], "serve_back", 2, 10, "");
        if back > 0 {
            script.sample(both[1], "serve_back > sort", back);
        }
        script.send(both[1], "serve_back > reply", 2, 10);
        script.receive(both[0], "serve > ask", 2, 10, "");
        script.send(both[0], "serve > send", 1, 10);
    }
    let run = script.open().0;
    let types = run.stitched.types();
    let buy = types.iter().find(|it| it.name == "GET /buy").unwrap();
    let cost = run.stitched.type_cost(buy);
    assert_eq!((cost.transactions, cost.left_out_ns), (3, 0));
    let cpu = cost.cpu.unwrap();
    assert!((cpu.mean - 7.0 / 3.0 * MS as f64).abs() < 1.0, "{cpu:?}");
    let observed = run.stitched.observed(buy.id).unwrap();
    let mut by_instance: BTreeMap<u32, i64> = BTreeMap::new();
    for it in &observed.costs {
        *by_instance.entry(it.instance).or_default() += it.cpu_ns / MS as i64;
    }
    let mut costs: Vec<i64> = by_instance.into_values().collect();
    costs.sort_unstable();
    assert_eq!(costs, [2, 5]);
}

/// Source locations come from the run's table of names: one place for each file, at the first known line.
#[test]
fn functions_are_found_in_the_source() {
    let folder = tempfile::tempdir().unwrap();
    small().write_to(folder.path(), &[]);
    let frame = |name: &str, file: &str, line: u32| Frame {
        name: name.into(),
        file: Some(file.into()),
        line: Some(line),
    };
    let nameless = Frame {
        file: None,
        line: None,
        ..frame("main", "", 0)
    };
    let file = NameFile {
        processes: vec![NamesOf {
            processes: KEYS.to_vec(),
            code: BTreeMap::from([
                (0x1003, vec![frame("recv", "net.c", 12)]),
                (
                    0x1004,
                    vec![frame("recv", "net.c", 9), frame("recv", "net.h", 3)],
                ),
                (0x2004, vec![nameless]),
            ]),
            data: BTreeMap::new(),
        }],
        ..NameFile::default()
    };
    file.write(folder.path()).unwrap();
    let run = run::open(folder.path(), &Options::default()).unwrap();
    let places = |name: &str| -> Vec<(String, u32)> {
        let places = run.functions.places(name);
        places.map(|it| (it.file.clone(), it.line)).collect()
    };
    assert_eq!(places("recv"), [("net.c".into(), 9), ("net.h".into(), 3)]);
    assert!(places("main").is_empty() && places("nothing").is_empty());
}

/// A run can be opened while it is recorded. If the recorder is gone, the logs count as cut off.
#[test]
fn a_run_that_is_being_recorded_is_no_run_that_was_cut_off() {
    let going_on = "run is still being recorded: this is its state so far.";
    let cut_off = "The record of web (10) is cut off: the rest is missing.";
    for (engine, expect) in [
        (std::process::id(), going_on),
        // Process numbers are smaller.
        (u32::MAX, cut_off),
        (0, cut_off),
    ] {
        let mut script = small();
        script.is_killed(0);
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        let functions = script.write_to(&run, &[]);
        let mut settings = [0_u64; setting::COUNT];
        settings[setting::ENGINE] = engine.into();
        let settings: Vec<u8> = settings.iter().flat_map(|it| it.to_le_bytes()).collect();
        fs::write(run.join(SETTINGS_FILE), settings).unwrap();
        let notes = run::open_with(&run, &Options::default(), &functions)
            .unwrap()
            .notes;
        let told = |it: &str| notes.iter().any(|note| note == it);
        assert!(told(expect), "{engine}: {notes:?}");
        assert!(!told(if expect == cut_off { going_on } else { cut_off }));
    }
}

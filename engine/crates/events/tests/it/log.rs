//! What is written into a log is read from it, whole, in parts, and damaged.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::common::{create, define, now, open, payload_event, random_event, start, whats};
use fulcrum_events::{Bound, End, OpenError, Trace, What};
use fulcrum_stats::Random;
use fulcrum_wire::log::{Body, PayloadBuffer, kind};

const ROOMY: u64 = 1 << 30;

#[test]
fn every_event_of_every_thread_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let dictionary = define(&log, 3);
    let written: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (2..10)
            .map(|thread| {
                let log = Arc::clone(&log);
                scope.spawn(move || {
                    let mut stream = log.stream(thread);
                    let mut random = Random::new(u64::from(thread));
                    start(&mut stream, &format!("worker-{thread}"));
                    let count = 1 << thread << thread;
                    (0..count)
                        .map(|_| random_event(&mut stream, &mut random))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        writers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    drop(dictionary);
    log.finish();
    let trace = open(&path);
    assert_eq!(
        (trace.pid, trace.end, &trace.notes[..]),
        (4711, End::Ended, &[][..])
    );
    assert_eq!(trace.methods.len(), 3);
    assert_eq!(
        (&*trace.methods[&2].name, trace.methods[&2].line),
        ("m2", 3)
    );
    let names: Vec<_> = trace
        .threads
        .iter()
        .map(|it| (it.id, &*it.name, &*it.group))
        .collect();
    assert_eq!(names[7], (9, "worker-9", "main"));
    let mut all = 0;
    for (thread, written) in (2..).zip(&written) {
        let mut events = trace.thread_events(thread);
        let mut read = whats(events.by_ref());
        assert!(matches!(
            read.remove(0).0,
            What::ThreadStart { daemon: true, .. }
        ));
        assert!(read == *written, "thread {thread}");
        assert!(events.problems().is_empty());
        all += read.len() + 1;
    }
    // Merged, nothing is lost, and time does not go back.
    let mut last = 0;
    let mut events = trace.events();
    let merged = events.by_ref().map(|event| {
        assert!(event.wall_ns >= last);
        last = event.wall_ns;
    });
    assert_eq!(merged.count(), all);
    assert!(events.problems().is_empty());
}

#[test]
fn times_are_nanoseconds_and_cpu_time_goes_on_between_readings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let begin = now().ticks;
    let mut stream = log.stream(2);
    start(&mut stream, "main");
    let cpu = 5_000_000;
    stream.write(kind::ENTER, begin + 2000, Some(cpu), 0, Body::Method(1));
    stream.write(kind::ENTER, begin + 4000, None, 0, Body::Method(2));
    stream.write(kind::EXIT, begin + 10_000, None, 0, Body::Method(2));
    // It slept here.
    stream.write(
        kind::EXIT,
        begin + 100_000,
        Some(cpu + 5000),
        0,
        Body::Method(1),
    );
    log.finish();
    let events: Vec<_> = open(&path).thread_events(2).collect();
    let first = events[1].wall_ns;
    let seen: Vec<_> = events[1..]
        .iter()
        .map(|it| (it.wall_ns - first, it.cpu_ns.unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            (0, cpu),
            (1000, cpu + 1000),
            (4000, cpu + 4000),
            (49_000, cpu + 5000)
        ]
    );
}

/// A small log of three threads, each with some chunks, and what each thread wrote.
fn small_log() -> (Vec<u8>, Vec<Vec<(What, u64)>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let dictionary = define(&log, 5);
    let mut random = Random::new(42);
    let mut written = Vec::new();
    for thread in 2..5 {
        let mut stream = log.stream(thread);
        start(&mut stream, "small");
        written.push(
            (0..40)
                .map(|_| random_event(&mut stream, &mut random))
                .collect(),
        );
    }
    drop(dictionary);
    log.finish();
    (fs::read(&path).unwrap(), written)
}

#[test]
fn a_log_that_is_cut_anywhere_is_read_up_to_there() {
    let (bytes, written) = small_log();
    let whole = Trace::from_bytes(bytes.clone()).unwrap();
    assert_eq!(whole.events().count(), 3 * 41);
    let mut most = 0;
    for cut in 0..=bytes.len() {
        let trace = match Trace::from_bytes(bytes[..cut].to_vec()) {
            Ok(trace) => trace,
            Err(OpenError::NotALog) if cut < 16 => continue,
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        let mut read = 0;
        for (thread, written) in (2..).zip(&written) {
            let events = whats(trace.thread_events(thread).skip(1));
            assert!(
                written.starts_with(&events),
                "thread {thread}, cut at {cut}"
            );
            read += events.len();
        }
        assert!(read >= most, "cut at {cut}: {read} after {most}");
        most = read;
        let complete = read == 120;
        let told = trace.notes.iter().any(|note| note.contains("cut"));
        assert!(
            complete || told || cut >= 4096,
            "cut at {cut}: nothing is said"
        );
    }
    assert_eq!(most, 120);
}

#[test]
fn flipped_bits_and_scrambled_blocks_never_crash_a_reader() {
    let (bytes, _) = small_log();
    let mut random = Random::new(7);
    // Every bit of the headers; some of the rest.
    let headers = (0..4096_usize.min(bytes.len()) * 8)
        .step_by(5)
        .chain(4096 * 8..4096 * 8 + 600);
    let rest: Vec<_> = (0..4000)
        .map(|_| 4096 * 8 + random.below((bytes.len() as u64 - 4096) * 8) as usize)
        .collect();
    for bit in headers.chain(rest) {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        read_all(damaged);
    }
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        let from = random.below(bytes.len() as u64 - 300) as usize;
        damaged[from..from + 300].fill_with(|| random.bits() as u8);
        read_all(damaged);
    }
}

/// What is read makes a tree, whatever it is; and there is never more of it than the file has bytes.
fn read_all(bytes: Vec<u8>) {
    let most = bytes.len();
    let Ok(trace) = Trace::from_bytes(bytes) else {
        return;
    };
    assert!(trace.events().count() <= most);
    let stats = fulcrum_events::stats(&trace, |_| true);
    assert!(stats.threads.len() < most && trace.notes.len() < most);
}

#[test]
fn a_lost_chunk_costs_its_own_events_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let mut stream = log.stream(2);
    start(&mut stream, "main");
    for method in 0..20_000 {
        stream.write(kind::ENTER, now().ticks, None, 0, Body::Method(method));
    }
    drop(stream);
    log.finish();
    let mut bytes = fs::read(&path).unwrap();
    // The second chunk's header: the first one has the smallest size.
    bytes[4096 + 4096 + 8] ^= 1;
    let trace = Trace::from_bytes(bytes).unwrap();
    let mut events = trace.thread_events(2);
    let methods: Vec<_> = events
        .by_ref()
        .filter_map(|event| event.what.method())
        .collect();
    assert!(methods.len() > 10_000 && methods.len() < 20_000);
    assert_eq!((methods[0], methods.last()), (0, Some(&19_999)));
    let [problem] = events.problems() else {
        panic!("{:?}", events.problems())
    };
    assert!(
        problem.contains("damaged: 1 chunk of thread 2 before byte"),
        "{problem}"
    );
}

#[test]
fn a_log_ends_at_its_limit_for_all_threads_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let limit = 4096 + 10 * 4096;
    let log = create(&path, limit);
    let (mut busy, mut idle) = (log.stream(2), log.stream(3));
    start(&mut busy, "busy");
    start(&mut idle, "idle");
    let mut written: u32 = 0;
    while busy.write(kind::ENTER, now().ticks, None, 0, Body::Method(written)) {
        written += 1;
    }
    assert!(log.is_closed());
    for _ in 0..9 {
        assert!(!busy.write(kind::EXIT, now().ticks, None, 0, Body::Method(0)));
    }
    // It still has place of its own; what it writes did happen after the end.
    assert!(idle.write(kind::ENTER, now().ticks, None, 0, Body::Method(0)));
    drop((busy, idle));
    log.finish();
    assert!(fs::metadata(&path).unwrap().len() <= limit);
    let trace = open(&path);
    let End::Full {
        at_ns,
        dropped: 10,
        by: Bound::Limit,
    } = trace.end
    else {
        panic!("{:?}", trace.end)
    };
    let last = trace.events().last().unwrap();
    assert!(
        last.wall_ns <= at_ns
            && last.what
                == What::Enter {
                    method: written - 1
                }
    );
    assert_eq!(trace.thread_events(3).count(), 1);
}

#[test]
fn threads_that_end_leave_the_rest_of_their_chunk_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let mut big = log.stream(2);
    for _ in 0..200_000 {
        big.write(kind::ENTER, now().ticks, None, 0, Body::Method(1));
    }
    drop(big);
    let length = fs::metadata(&path).unwrap().len();
    for thread in 3..30 {
        start(&mut log.stream(thread), "short");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), length);
    log.finish();
    let trace = open(&path);
    assert_eq!(trace.threads.len(), 28);
    assert_eq!(trace.events().count(), 200_027);
    assert!(trace.notes.is_empty());
}

#[test]
fn files_that_are_no_logs_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let is_a =
        |error: OpenError, expect: &str| assert!(error.to_string().contains(expect), "{error}");
    is_a(Trace::open(folder.path()).unwrap_err(), "not an event log");
    is_a(
        Trace::from_bytes(b"FULCELO".to_vec()).unwrap_err(),
        "FULCELOG was expected",
    );
    let (mut bytes, _) = small_log();
    bytes[8] = 9;
    is_a(Trace::from_bytes(bytes).unwrap_err(), "version 9");
}

/// Not a test of its own: what [`whatever_kills_the_program_its_events_are_there`] starts and kills.
#[test]
fn writer_that_is_killed() {
    let Some(path) = std::env::var_os("FULCRUM_TEST_LOG") else {
        return;
    };
    let log = create(path.as_ref(), ROOMY);
    let mut streams = [log.stream(2), log.stream(3)];
    for stream in &mut streams {
        start(stream, "victim");
    }
    for n in 0.. {
        for stream in &mut streams {
            stream.write(kind::ENTER, now().ticks, None, 0, Body::Method(n));
        }
        if n % 500 == 0 {
            println!("written {n}");
        }
    }
}

#[test]
fn whatever_kills_the_program_its_events_are_there() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("events-{round}.log"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "log::writer_that_is_killed", "--nocapture"])
            .env("FULCRUM_TEST_LOG", &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // At least this was written when it is killed, and it goes on meanwhile.
        let wanted = 1 + round * 7;
        let said: Vec<u64> = lines
            .by_ref()
            .filter_map(|line| line.unwrap().strip_prefix("written ")?.parse().ok())
            .take(wanted)
            .collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let trace = open(&path);
        assert_eq!(trace.end, End::Open);
        for thread in [2, 3] {
            let mut events = trace.thread_events(thread);
            let methods: Vec<_> = events
                .by_ref()
                .filter_map(|event| event.what.method())
                .collect();
            assert!(
                methods.len() as u64 >= said[wanted - 1],
                "{} events",
                methods.len()
            );
            assert!(methods.iter().copied().eq(0..methods.len() as u32));
            assert!(events.problems().is_empty(), "{:?}", events.problems());
        }
    }
}

#[test]
fn long_names_are_cut_and_events_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events-1.log");
    let log = create(&path, ROOMY);
    let mut dictionary = log.stream(0);
    let long = "x".repeat(70_000);
    let payload = PayloadBuffer::default()
        .number(1)
        .text(&long)
        .text(&long)
        .text("()V")
        .text("")
        .number(3);
    assert!(payload_event(
        &mut dictionary,
        kind::DEFINE_METHOD,
        &payload
    ));
    log.finish();
    let trace = open(&path);
    let method = &trace.methods[&1];
    assert_eq!(
        (method.class.len(), &*method.descriptor, method.line),
        (950, "()V", 3)
    );
}

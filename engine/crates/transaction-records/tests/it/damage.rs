//! Any logs, however damaged, give a profile, and no CPU time is lost.

use fulcrum_stats::Random;
use fulcrum_transaction_records::run::{Options, Run, open_bytes};
use fulcrum_wire::transactions::{
    Address, CHUNK_HEADER, Calling, HEADER, Head, Interest, LockKind, Record, StreamKind, Via, word,
};

use crate::support::file::LogFile;
use crate::support::script::{Functions, Logs, MS, Script};

fn open(logs: &[(String, Vec<u8>)], samples: &[u8], functions: &Functions) -> Run {
    let samples = Some(samples.to_vec());
    open_bytes(logs.to_vec(), samples, &Options::default(), functions).unwrap()
}

/// A little of everything.
fn small() -> Script {
    let mut script = Script::default();
    let web = script.process(10, "web");
    let worker = script.spawn(web, "main > start", 2, "worker");
    script.idle(web, "main > loop");
    script.event(web, 3);
    script.tcp(web, "main > loop > accept", 1, Via::Accepted, (80, 4000));
    script.receive(web, "main > loop > read", 1, 40, "GET /a HTTP/1.1\r\n");
    script.produce(web, "main > loop > push", 1);
    script.consume(worker, "work > pop", 1);
    script.tcp(worker, "work > connect", 2, Via::Connected, (5000, 90));
    script.send(worker, "work > ask", 2, 10);
    let db = script.fork(web, "main > fork", 20, "db");
    script.tcp(db, "serve > accept", 1, Via::Accepted, (90, 5000));
    script.receive(db, "serve > read", 1, 10, "");
    script.sample(db, "serve > sort", 7);
    script.release(web, "main > unlock", LockKind::Mutex);
    script.send(db, "serve > reply", 1, 10);
    script.receive(worker, "work > ask", 2, 10, "");
    let holder = web.tid(&script);
    script.wait(worker, "work > lock", LockKind::Mutex, 2, holder);
    script.send(worker, "work > reply", 1, 10);
    script.handler(worker, 1, "on_timer");
    script.sample(worker, "work > end", 3);
    script.close(worker, 1);
    script.say(worker, "", Record::End);
    script
}

#[test]
fn every_seventh_damaged_bit_of_a_log_leaves_a_profile_with_all_samples() {
    let (logs, samples, functions) = small().bytes();
    let whole = open(&logs, &samples, &functions);
    assert_eq!(whole.stitched.total_cpu_ns(), 10 * MS);
    let mut refused = 0;
    for row in 0..logs.len() {
        let bytes = &logs[row].1;
        let header = 0..word::COUNT * 8;
        let chunks = (HEADER as usize..bytes.len()).step_by(32 << 10);
        let used = chunks.flat_map(|at| at..at + CHUNK_HEADER + 1300);
        for bit in header
            .chain(used)
            .flat_map(|it| it * 8..it * 8 + 8)
            .step_by(7)
        {
            if bytes[bit / 8] == 0 && bit / 8 > HEADER as usize && !bit.is_multiple_of(5) {
                continue;
            }
            let mut damaged = logs.clone();
            damaged[row].1[bit / 8] ^= 1 << (bit % 8);
            let run = open(&damaged, &samples, &functions);
            assert_eq!(run.stitched.total_cpu_ns(), 10 * MS, "{row} {bit}");
            refused += u32::from(run.notes.iter().any(|it| it.contains("cannot be read")));
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn logs_that_end_anywhere_leave_a_profile() {
    let (logs, samples, functions) = small().bytes();
    for row in 0..logs.len() {
        for end in (0..logs[row].1.len()).step_by(331) {
            let mut cut = logs.clone();
            cut[row].1.truncate(end);
            let run = open(&cut, &samples, &functions);
            assert_eq!(run.stitched.total_cpu_ns(), 10 * MS);
        }
    }
}

/// Random records that make no sense together, so that every rule meets unexpected input.
#[test]
fn records_without_sense_leave_a_profile_that_is_the_same_each_time() {
    for seed in 0..300 {
        let (logs, samples) = nonsense(&mut Random::new(seed));
        let functions = Functions::default();
        let run = open(&logs, &samples, &functions);
        assert_eq!(run.stitched.total_cpu_ns(), 60 * MS, "{seed}");
        let again = open(&logs, &samples, &functions);
        assert_eq!(
            (&run.notes, &run.ways),
            (&again.notes, &again.ways),
            "{seed}"
        );
        assert_eq!(run.stitched.types(), again.stitched.types(), "{seed}");
        for way in &run.ways {
            assert!(way.stays.iter().all(|it| it.from_ns < it.to_ns), "{seed}");
        }
    }
}

fn nonsense(random: &mut Random) -> (Logs, Vec<u8>) {
    use fulcrum_transaction_records::samples::{Sample, SampleWriter};
    let mut samples = SampleWriter::new(Vec::new()).unwrap();
    let mut logs = Vec::new();
    for pid in 1..=3_u32 {
        let turn = (random.below(2) * random.below(2)) as u32;
        let mut log = LogFile::new(pid, turn);
        log.set(word::STATE, random.below(4));
        log.set(word::PARENT, random.below(4));
        log.set(word::START_UNIX_NS, random.below(3) * 1_000_000_000);
        for thread in 1..=3 {
            log.chunk(thread, pid * 10 + thread, "thread", 0);
            let mut time_ns = random.below(1000);
            for _ in 0..40 {
                time_ns += random.below(100);
                let path = random.below(4) as u32;
                log.write(thread, Head { time_ns, path }, record(random));
            }
        }
        logs.push((format!("{pid}-{turn}.txlog"), log.bytes().to_vec()));
        for n in 0..20 {
            let sample = Sample {
                pid,
                tid: pid * 10 + random.below(4) as u32,
                time_ns: n * 100,
                weight_ns: MS,
                thread: b"",
                stack: &[1, 0, u64::MAX],
            };
            samples.sample(&sample).unwrap();
        }
    }
    (logs, samples.finish().unwrap())
}

fn record(random: &mut Random) -> Record<'static> {
    let small = |random: &mut Random| random.below(4);
    let stream = small(random) as u32;
    let item = small(random);
    // Usually near each other, sometimes at the end of the range.
    let offset = |random: &mut Random| match random.below(12) {
        0 => u64::MAX - random.below(20),
        _ => random.below(60),
    };
    let kind = [
        LockKind::Mutex,
        LockKind::ReadWrite,
        LockKind::Condition,
        LockKind::Futex,
        LockKind::Semaphore,
    ][random.index(5)];
    let lock = small(random);
    match random.below(19) {
        0 => open_record(random, stream),
        1 => Record::Close { stream },
        2 | 3 => Record::Send {
            stream,
            offset: offset(random),
            length: offset(random),
            began_ns: random.below(3000),
        },
        4 | 5 => Record::Receive {
            stream,
            offset: offset(random),
            length: offset(random),
            began_ns: random.below(3000),
            head: [&b"GET /a HTTP/1.1\r\n"[..], b"", b"x"][random.index(3)],
        },
        6 => Record::Idle {
            began_ns: random.below(3000),
        },
        7 => Record::Event { stream, data: item },
        8 => Record::Wait {
            lock,
            kind,
            began_ns: random.below(4000),
            holder: random.below(40) as u32,
            timed_out: random.below(5) == 0,
        },
        9 => Record::Release { lock, kind },
        10 => Record::Produce { item },
        11 => Record::Consume {
            item,
            list: random.below(3) as u32,
        },
        12 => Record::Handler {
            item,
            function: random.below(9),
            stream,
            depth: [random.below(4) as u32, u32::MAX][usize::from(random.below(20) == 0)],
            how: [Calling::First, Calling::Again, Calling::Onward][random.index(3)],
        },
        13 => Record::Spawn { thread: stream },
        14 => Record::Fork { child: stream },
        15 => Record::Demote {
            list: random.below(3) as u32,
        },
        16 => Record::Returned {
            depth: random.below(4) as u32,
        },
        17 => Record::Register {
            stream,
            interest: [Interest::Nothing, Interest::Read, Interest::Write][random.index(3)],
        },
        _ => Record::Path {
            id: stream,
            addresses: [&[1; 8][..], &[], &[255; 24]][random.index(3)],
        },
    }
}

fn open_record(random: &mut Random, stream: u32) -> Record<'static> {
    let kinds = [
        StreamKind::Tcp,
        StreamKind::Unix,
        StreamKind::Pipe,
        StreamKind::Other,
    ];
    let vias = [
        Via::Found,
        Via::Accepted,
        Via::Connected,
        Via::Made,
        Via::Inherited,
    ];
    let mut address = || Address {
        ip: [0; 16],
        port: random.below(3) as u16,
    };
    let (local, peer) = (address(), address());
    Record::Open {
        stream,
        kind: kinds[random.index(4)],
        via: vias[random.index(5)],
        inode: random.below(4),
        peer_inode: random.below(4),
        local,
        peer,
    }
}

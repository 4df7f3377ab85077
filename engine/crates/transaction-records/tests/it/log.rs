//! A log is read as far as it is valid.

use fulcrum_transaction_records::{Log, LogError, Lost, Parent, Place, State};
use fulcrum_wire::transactions::{
    CHUNK, CHUNK_HEADER, Damage, HEADER, Head, OLDEST_VERSION, Record, VERSION, state, word,
};

use crate::support::file::LogFile;

fn head(time_ns: u64) -> Head {
    Head { time_ns, path: 0 }
}

/// Thread 1 writes into two chunks, and thread 2 into one between them.
fn small() -> LogFile {
    let mut file = LogFile::new(77, 1);
    file.set(word::PARENT, 70);
    file.set(word::PARENT_THREAD, 4);
    file.chunk(1, 101, "main", 5);
    file.write(1, head(10), Record::Program(b"/bin/server"));
    file.write(1, head(11), Record::Spawn { thread: 2 });
    file.chunk(2, 102, "a worker", 6);
    file.write(2, head(12), Record::Begin { by: 1 });
    file.chunk(1, 101, "listener", 7);
    file.write(1, head(13), Record::Idle { began_ns: 12 });
    file.write(1, head(14), Record::End);
    file
}

/// The time and kind of each thread's records.
fn kinds(log: &Log<'_>) -> Vec<(u32, Vec<String>)> {
    let text = |(head, record): (Head, Record<'_>)| format!("{} {:?}", head.time_ns, record.kind());
    let threads = log.threads().iter().enumerate();
    threads
        .map(|(row, it)| (it.number, log.records(row).map(text).collect()))
        .collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&it| it.into()).collect()
}

#[test]
fn each_thread_has_its_records_in_order() {
    let file = small();
    let log = Log::read(file.bytes()).unwrap();
    let first = texts(&["10 Program", "11 Spawn", "13 Idle", "14 End"]);
    let second = texts(&["12 Begin"]);
    assert_eq!(kinds(&log), [(1, first), (2, second)]);
    let header = log.header();
    let parent = Parent {
        pid: 70,
        turn: 0,
        thread: 4,
    };
    assert_eq!(
        (header.pid, header.turn, header.parent, header.state),
        (77, 1, Some(parent), State::Ended)
    );
    let [main, worker] = log.threads() else {
        panic!("two threads");
    };
    assert_eq!((main.tid, worker.tid), (101, 102));
    let names = [(5, "main".to_owned()), (7, "listener".to_owned())];
    assert_eq!(main.names, names);
    assert_eq!(worker.names[0].1, "a worker");
    assert_eq!((log.lost(), log.lost().text()), (&Lost::default(), None));
}

#[test]
fn threads_that_ended_leave_room_to_others() {
    let mut file = small();
    file.chunk_behind(1, 3, 103, 20);
    file.write(3, head(21), Record::Begin { by: 1 });
    file.write(3, head(22), Record::End);
    file.chunk_behind(3, 4, 104, 30);
    file.write(4, head(31), Record::Begin { by: 1 });
    let log = Log::read(file.bytes()).unwrap();
    let found = kinds(&log);
    assert_eq!(found[..2], kinds(&Log::read(small().bytes()).unwrap()));
    let third = (3, texts(&["21 Begin", "22 End"]));
    assert_eq!(found[2..], [third.clone(), (4, texts(&["31 Begin"]))]);
    assert_eq!(log.lost(), &Lost::default());
    // The fourth thread was killed before it had finished its chunk, which counts for nothing.
    let at = HEADER as usize + 2 * CHUNK as usize + CHUNK_HEADER;
    let mut bytes = file.bytes().to_vec();
    let fourth = (at..bytes.len())
        .step_by(CHUNK_HEADER)
        .filter(|at| bytes[*at..].starts_with(b"FTCH"))
        .nth(1)
        .unwrap();
    bytes[fourth..fourth + 8].fill(0);
    let log = Log::read(&bytes).unwrap();
    assert_eq!(kinds(&log)[2..], [third]);
    assert_eq!(log.lost(), &Lost::default());
}

#[test]
fn holes_and_damaged_chunks_are_skipped_and_counted() {
    let mut bytes = small().bytes().to_vec();
    let (header, chunk) = (HEADER as usize, CHUNK as usize);
    // Thread 2's chunk was taken, but not begun.
    bytes[header + chunk..header + 2 * chunk].fill(0);
    // The first chunk of thread 1 has another thread's number.
    bytes[header + 4] ^= 1;
    let log = Log::read(&bytes).unwrap();
    assert_eq!(kinds(&log), [(1, texts(&["13 Idle", "14 End"]))]);
    let lost = Lost {
        chunks: 1,
        holes: 1,
        missing_chunks: 1,
        ..Lost::default()
    };
    assert_eq!(log.lost(), &lost);
    let text = "1 block is damaged, 1 block is empty, 1 block is missing";
    assert_eq!(log.lost().text().as_deref(), Some(text));
}

#[test]
fn a_damaged_record_ends_its_chunk_and_is_told_with_its_place() {
    let mut bytes = small().bytes().to_vec();
    let last = HEADER as usize + 2 * CHUNK as usize + CHUNK_HEADER + 24;
    bytes[last] = 99;
    let log = Log::read(&bytes).unwrap();
    assert_eq!(kinds(&log)[0].1.len(), 3);
    let first = Place {
        offset: last as u64,
        damage: Damage::Kind(99),
    };
    let lost = Lost {
        cut_chunks: 1,
        first: Some(first),
        ..Lost::default()
    };
    assert_eq!(log.lost(), &lost);
}

#[test]
fn a_chunk_that_repeats_another_counts_once() {
    let mut bytes = small().bytes().to_vec();
    let whole = bytes.clone();
    // A copy says that it is at another place.
    bytes.extend(&whole[HEADER as usize..HEADER as usize + CHUNK as usize]);
    let log = Log::read(&bytes).unwrap();
    assert_eq!(log.lost().chunks, 1);
    assert_eq!(kinds(&log), kinds(&Log::read(&whole).unwrap()));
}

#[test]
fn what_is_no_log_is_refused_with_the_reason() {
    let whole = small().bytes().to_vec();
    let with = |word: usize, value: u64| {
        let mut bytes = whole.clone();
        bytes[word * 8..word * 8 + 8].copy_from_slice(&value.to_le_bytes());
        Log::read(&bytes).map(|_| ()).unwrap_err()
    };
    assert_eq!(with(word::MAGIC, 0), LogError::Magic(0));
    assert_eq!(with(word::VERSION, 7), LogError::Version(7));
    let (before, after) = (OLDEST_VERSION - 1, VERSION + 1);
    assert_eq!(with(word::VERSION, before), LogError::Version(before));
    assert_eq!(with(word::VERSION, after), LogError::Version(after));
    let value = 1 << 40;
    let expect = LogError::Word {
        word: word::PID,
        value,
    };
    assert_eq!(with(word::PID, value), expect);
    let word = word::STATE;
    let expect = LogError::Word { word, value: 9 };
    assert_eq!(with(word, 9), expect);
    assert_eq!(with(word, 9).to_string(), "invalid value 0x9 at byte 80");
    assert_eq!(Log::read(&[]).unwrap_err(), LogError::Short(0));
    for state in [state::OPEN, state::EXECUTED, state::FULL] {
        let mut bytes = whole.clone();
        bytes[word::STATE * 8] = state as u8;
        assert!(Log::read(&bytes).is_ok());
    }
}

/// The previous version differs only in that it has fewer kinds of records.
#[test]
fn a_log_of_the_previous_version_is_read() {
    let file = small();
    let mut bytes = file.bytes().to_vec();
    bytes[word::VERSION * 8..][..8].copy_from_slice(&OLDEST_VERSION.to_le_bytes());
    let log = Log::read(&bytes).unwrap();
    assert_eq!(kinds(&log), kinds(&Log::read(file.bytes()).unwrap()));
}

/// Every record of a truncated log is one of the whole log, and none before the cut is lost.
#[test]
fn every_prefix_of_a_log_is_read_as_far_as_it_goes() {
    let file = small();
    let whole = kinds(&Log::read(file.bytes()).unwrap());
    let chunk = CHUNK as usize;
    let near_chunks = (0..3).flat_map(|n| {
        let at = HEADER as usize + n * chunk;
        at - 8..at + 200
    });
    for end in (0..100).chain(near_chunks) {
        match Log::read(&file.bytes()[..end]) {
            Err(error) => {
                assert!(end < HEADER as usize);
                assert_eq!(error, LogError::Short(end as u64));
            }
            Ok(log) => {
                for (number, records) in kinds(&log) {
                    let all = &whole.iter().find(|it| it.0 == number).unwrap().1;
                    assert_eq!(records, all[..records.len()], "{end}");
                }
            }
        }
    }
}

/// A single wrong bit never adds records.
#[test]
fn no_single_damaged_bit_makes_more_records() {
    let file = small();
    let count = |log: &Log<'_>| -> usize { kinds(log).iter().map(|it| it.1.len()).sum() };
    let whole = count(&Log::read(file.bytes()).unwrap());
    let chunk = CHUNK as usize;
    let chunks = (0..3).map(|n| HEADER as usize + n * chunk);
    let places = (0..160).chain(chunks.flat_map(|at| at..at + CHUNK_HEADER + 120));
    let mut refused = 0;
    for bit in places.flat_map(|byte| byte * 8..byte * 8 + 8) {
        let mut bytes = file.bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        match Log::read(&bytes) {
            Ok(log) => assert!(count(&log) <= whole, "{bit}"),
            Err(_) => refused += 1,
        }
    }
    // The magic, the version, the upper halves of numbers, and the state.
    assert!((128..500).contains(&refused), "{refused}");
}

//! Samples are read as they were written.

use fulcrum_transaction_records::samples::{
    MAGIC, MAX_STACK, Module, Sample, SampleWriter, Samples, SamplesError, VERSION,
};

const LIBRARY: Module<'_> = Module {
    start: 0x1000,
    end: 0x2000,
    offset: 0x40,
    file: b"/lib/libc.so.6",
};

fn sample<'a>(tid: u32, time_ns: u64, thread: &'a [u8], stack: &'a [u64]) -> Sample<'a> {
    Sample {
        pid: 7,
        tid,
        time_ns,
        weight_ns: 1_000_000,
        thread,
        stack,
    }
}

fn small() -> Vec<u8> {
    let mut writer = SampleWriter::new(Vec::new()).unwrap();
    writer
        .sample(&sample(8, 100, b"worker", &[0x1234, 0x5678]))
        .unwrap();
    writer.process(9, b"/bin/static").unwrap();
    writer.sample(&sample(8, 200, b"worker", &[])).unwrap();
    writer.module(9, &LIBRARY).unwrap();
    writer.sample(&sample(9, 300, b"", &[1])).unwrap();
    writer.lost(3).unwrap();
    writer
        .sample(&sample(8, 400, b"a name that is too long", &[2]))
        .unwrap();
    writer.note("Half of the sampling was refused.").unwrap();
    writer.sample(&sample(8, 500, b"", &[2])).unwrap();
    writer.lost(2).unwrap();
    writer.finish().unwrap()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    Samples::read(bytes).unwrap().each(|it| {
        let name = String::from_utf8_lossy(it.thread);
        let line = format!(
            "{} {} {} {} {name} {:x?}",
            it.pid, it.tid, it.time_ns, it.weight_ns, it.stack
        );
        lines.push(line);
    });
    lines
}

#[test]
fn what_was_written_is_read_and_names_stay() {
    let bytes = small();
    let expect = [
        "7 8 100 1000000 worker [1234, 5678]",
        "7 8 200 1000000 worker []",
        "7 9 300 1000000  [1]",
        "7 8 400 1000000 a name that is t [2]",
        "7 8 500 1000000 a name that is t [2]",
    ];
    assert_eq!(lines(&bytes), expect);
    let samples = Samples::read(&bytes).unwrap();
    assert_eq!(samples.program(9), Some(&b"/bin/static"[..]));
    assert_eq!(samples.program(7), None);
    assert_eq!(
        (samples.modules(9), samples.modules(7)),
        (&[LIBRARY][..], &[][..])
    );
    assert_eq!(samples.lost(), 5);
    assert_eq!(samples.notes(), ["Half of the sampling was refused."]);
}

/// A name is written once: the second sample of a thread does not repeat it.
#[test]
fn a_name_takes_place_only_when_it_changed() {
    let length = |names: [&[u8]; 2]| {
        let mut writer = SampleWriter::new(Vec::new()).unwrap();
        for name in names {
            writer.sample(&sample(1, 1, name, &[])).unwrap();
        }
        writer.finish().unwrap().len()
    };
    assert_eq!(length([b"a", b"a"]) + 8, length([b"a", b"b"]));
}

#[test]
fn of_a_deep_stack_the_innermost_addresses_stay() {
    let deep: Vec<u64> = (0..2000).collect();
    let mut writer = SampleWriter::new(Vec::new()).unwrap();
    writer.sample(&sample(1, 1, b"", &deep)).unwrap();
    let bytes = writer.finish().unwrap();
    let mut found: Vec<u64> = Vec::new();
    Samples::read(&bytes)
        .unwrap()
        .each(|it| found.extend(it.stack));
    assert_eq!(found, deep[..MAX_STACK]);
}

#[test]
fn every_prefix_is_read_as_far_as_it_goes_and_says_so() {
    let bytes = small();
    let all = lines(&bytes);
    for end in 0..bytes.len() {
        if end < 16 {
            let error = Samples::read(&bytes[..end]).unwrap_err();
            assert_eq!(error, SamplesError::Short(end as u64));
            continue;
        }
        let found = lines(&bytes[..end]);
        assert_eq!(found, all[..found.len()]);
        let is_cut = |it: &String| it.contains("damaged or cut off");
        let notes = Samples::read(&bytes[..end]).unwrap().notes().to_vec();
        assert_eq!(notes.iter().any(is_cut), !is_between_records(&bytes, end));
    }
}

fn is_between_records(bytes: &[u8], end: usize) -> bool {
    let mut at = 16;
    while at < end {
        let words = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        at += words as usize * 8;
    }
    at == end
}

#[test]
fn whatever_bit_is_wrong_no_sample_is_made_of_nothing() {
    let bytes = small();
    let all = lines(&bytes).len();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match Samples::read(&damaged) {
            Ok(mut samples) => {
                let mut count = 0;
                samples.each(|_| count += 1);
                assert!(count <= all, "{bit}");
            }
            Err(SamplesError::Magic(word)) => assert_ne!(word, MAGIC),
            Err(SamplesError::Version(version)) => assert_ne!(version, VERSION),
            Err(SamplesError::Short(_)) => panic!("{bit}"),
        }
    }
}

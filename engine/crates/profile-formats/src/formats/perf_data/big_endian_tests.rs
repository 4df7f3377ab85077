//! Recordings of big-endian machines. They are made of little-endian ones: the bytes of each number are turned, and the bits of an
//! event's flags.

use super::tests::{attr, comm, file, map, pipe, sample};
use crate::decode::cursor::Cursor;
use crate::testing::text;
use crate::{Format, read};

// Kinds of records.
const MMAP: u32 = 1;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const ATTR: u32 = 64;
// Features.
const HOSTNAME: u64 = 3;
const EVENT_DESC: u64 = 12;

// Fields of samples that are two halves, a word, or a chain.
const TID: u64 = 1 << 1;
const CPU: u64 = 1 << 7;
const CALLCHAIN: u64 = 1 << 5;
/// In the order of samples.
const FIELDS: [u64; 10] = [
    1 << 16,
    1,
    TID,
    1 << 2,
    1 << 3,
    1 << 6,
    1 << 9,
    CPU,
    1 << 8,
    CALLCHAIN,
];
/// In the order of the ends of other records: thread, time, id, stream, processor, identifier.
const ENDS: [u64; 6] = [TID, 1 << 2, 1 << 6, 1 << 9, CPU, 1 << 16];

/// A part of a recording while it is turned.
struct Turned<'a> {
    from: Cursor<'a>,
    to: Vec<u8>,
}

impl<'a> Turned<'a> {
    fn of(from: Cursor<'a>) -> Self {
        let to = Vec::new();
        Turned { from, to }
    }

    fn u16(&mut self) -> u16 {
        let number = self.from.u16().expect("there are more");
        self.to.extend(number.to_be_bytes());
        number
    }

    fn u32(&mut self) -> u32 {
        let number = self.from.u32().expect("there are more");
        self.to.extend(number.to_be_bytes());
        number
    }

    fn u64(&mut self) -> u64 {
        let number = self.from.u64().expect("there are more");
        self.to.extend(number.to_be_bytes());
        number
    }

    fn halves(&mut self, count: usize) {
        for _ in 0..count {
            self.u32();
        }
    }

    fn words(&mut self, count: usize) {
        for _ in 0..count {
            self.u64();
        }
    }

    fn field(&mut self, field: u64) {
        match field {
            TID | CPU => self.halves(2),
            CALLCHAIN => {
                let count = self.u64();
                self.words(count as usize);
            }
            _ => self.words(1),
        }
    }

    fn bytes(&mut self, count: usize) {
        let bytes = self.from.take(count).expect("there are more").bytes();
        self.to.extend(bytes);
    }

    fn left(&self) -> usize {
        self.from.bytes().len()
    }

    /// An event, without its ids. Returns the fields of samples.
    fn event(&mut self) -> u64 {
        let end = self.left();
        self.u32();
        let size = self.u32() as usize;
        self.words(2);
        let fields = self.u64();
        self.words(1);
        let flags = self.from.u64().expect("there are more");
        self.to.extend(flags.reverse_bits().to_be_bytes());
        if end - self.left() < size {
            self.halves(2);
        }
        self.words((size - (end - self.left())).min(32) / 8);
        // Stack size and clock; later ones are of no interest.
        let rest = size - (end - self.left());
        self.halves(rest / 4);
        fields
    }

    /// The contents of a record.
    fn body(&mut self, kind: u32, fields: u64) {
        let after = ENDS.iter().filter(|&&it| fields & it != 0);
        match kind {
            ATTR => {
                self.event();
                self.words(self.left() / 8);
                return;
            }
            SAMPLE => {
                let fields = FIELDS.iter().filter(|&&it| fields & it != 0);
                fields.for_each(|&field| self.field(field));
                return;
            }
            MMAP => {
                self.halves(2);
                self.words(3);
            }
            MMAP2 => {
                self.halves(2);
                self.words(3);
                self.halves(2);
                self.words(2);
                self.halves(2);
            }
            COMM => self.halves(2),
            FORK | EXIT => {
                self.halves(4);
                self.words(1);
            }
            kind => panic!("a record of kind {kind}"),
        }
        self.bytes(self.left() - 8 * after.clone().count());
        after.for_each(|&field| self.field(field));
    }
}

/// Turns records. Those that perf adds for itself are left out.
fn records(bytes: &[u8], fields: u64) -> Vec<u8> {
    const KNOWN: [u32; 7] = [MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, ATTR];
    let mut from = Cursor::new(bytes);
    let mut all = Vec::new();
    while !from.is_empty() {
        let mut record = Turned::of(from);
        let (kind, misc, size) = (record.u32(), record.u16(), record.u16());
        record.from = record.from.take(usize::from(size) - 8).expect("whole");
        // A map with a build id has it where others have numbers.
        assert!(kind != MMAP2 || misc & (1 << 14) == 0, "a build id");
        if KNOWN.contains(&kind) {
            record.body(kind, fields);
            all.extend(record.to);
        }
        from.take(size.into()).expect("whole");
    }
    all
}

/// Turns a recording that went into a pipe.
fn turned_pipe(bytes: &[u8], fields: u64) -> Vec<u8> {
    let head = [b"2ELIFREP".to_vec(), 16_u64.to_be_bytes().to_vec()];
    [head.concat(), records(&bytes[16..], fields)].concat()
}

/// Turns a file with a single event. `half` is how a machine of 32 bits writes the bits of features.
fn turned_file(bytes: &[u8], half: bool) -> Vec<u8> {
    let number = |at: usize| {
        let word = bytes[at..at + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(word) as usize
    };
    let [entry, attrs, size, data, length] = [16, 24, 32, 40, 48].map(number);
    assert_eq!(size, entry, "one event");
    let mut event = Turned::of(Cursor::new(&bytes[attrs..attrs + entry]));
    let fields = event.event();
    // No ids.
    event.to.extend([0; 16]);
    let records = records(&bytes[data..data + length], fields);
    // The host's name, and the event's: its size, its ids, its name.
    let host = [&2_u32.to_be_bytes()[..], b"a\0"].concat();
    let size = event.to.len() - 16;
    let mut names = Vec::new();
    for number in [1, size as u32] {
        names.extend(number.to_be_bytes());
    }
    names.extend(&event.to[..size]);
    for number in [0, 4_u32] {
        names.extend(number.to_be_bytes());
    }
    names.extend(b"own\0");
    let start = 104 + event.to.len();
    let table = start + records.len();
    let bits = 1 << HOSTNAME | 1 << EVENT_DESC;
    let bits = if half { bits << 32 } else { bits };
    let from = table + 32;
    let all = |numbers: &[usize]| -> Vec<u8> {
        let words = numbers.iter().map(|&it| it as u64);
        words.flat_map(u64::to_be_bytes).collect()
    };
    let head = [
        104,
        size + 16,
        104,
        event.to.len(),
        start,
        records.len(),
        0,
        0,
    ];
    [
        b"2ELIFREP".to_vec(),
        all(&head),
        all(&[bits, 0, 0, 0]),
        event.to,
        records,
        all(&[from, host.len(), from + host.len(), names.len()]),
        host,
        names,
    ]
    .concat()
}

/// The profile as text.
fn profile(bytes: &[u8]) -> String {
    let profile = read(bytes, "x").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(profile.format, Format::PerfData);
    text(&profile)
}

/// The fields of `attr`: address, thread, time, period and call chain.
const OF_ATTR: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8;

#[test]
fn pipes_of_big_endian_machines_are_read() {
    let whole = pipe(&[
        comm(1, 5, "sh"),
        // The sample is before the map, which is earlier.
        sample(1, 20, 500, &[1005, 1021]),
        map(1, 10, 1000, 0, "/bin/app"),
        sample(1 << 20, 30, 7, &[1005]),
    ]);
    let turned = turned_pipe(&whole, OF_ATTR);
    assert_ne!(turned[16..], whole[16..]);
    let expect = "samples 2
         cpu-clock ns* 507
         {sh (1/1)} 0 0
         {sh (1/1)};[app] 0 0
         {sh (1/1)};[app];[app] 1 500
         {thread (1048576/1048576)} 0 0
         {thread (1048576/1048576)};[unknown] 1 7
";
    let lines = |text: &str| {
        text.lines()
            .map(|it| it.trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&profile(&turned)), lines(expect));
    // Cut short, it has what is whole.
    let cut = profile(&turned[..turned.len() - 3]);
    assert!(cut.starts_with("samples 1\ncpu-clock ns* 500\n"), "{cut}");
}

#[test]
fn files_of_big_endian_machines_are_read_with_their_features() {
    let records = [map(1, 1, 1000, 0, "/bin/app"), sample(1, 2, 3, &[1005])];
    let whole = file(&[attr(1, 0)], &records, None);
    for half in [false, true] {
        let expect = "samples 1\nown ns* 3\n[app] 1 3\n";
        assert_eq!(profile(&turned_file(&whole, half)), expect, "{half}");
    }
    // Without any.
    let mut bare = turned_file(&whole, false);
    bare[72..80].fill(0);
    assert_eq!(profile(&bare), "samples 1\ncpu-clock ns* 3\n[app] 1 3\n");
}

#[test]
fn what_was_recorded_on_either_kind_of_machine_is_the_same() {
    for bytes in [
        &include_bytes!("../../../tests/samples/shop.perf.data")[..],
        include_bytes!("../../../tests/samples/work.perf.data"),
    ] {
        let turned = turned_file(bytes, false);
        let expect = profile(bytes).replace("cpu-clock", "own");
        assert!(expect.lines().count() > 3);
        assert_eq!(profile(&turned), expect);
    }
}

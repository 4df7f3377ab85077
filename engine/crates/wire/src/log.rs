//! The event log (JPMT §4.2): a file of chunks, each written by one thread. docs/formats.md describes it.
//!
//! One page of header, then chunks one behind another. A chunk is a header and records; only its thread writes into it,
//! and `used` grows after each whole record, so that a killed program leaves whole records.

/// Changes whenever the layout of the log does.
pub const LOG_VERSION: u64 = 1;
/// First word of the file.
pub const LOG_MAGIC: u64 = u64::from_le_bytes(*b"FULCELOG");
/// First half of a chunk's first word.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"FCHK");
/// Bytes before the first chunk.
pub const LOG_HEADER: u64 = 4096;
/// Bytes of a chunk's header. Chunks begin at multiples of it.
pub const CHUNK_HEADER: usize = 64;
/// Chunks are no smaller than this: any record fits into an empty one.
pub const MIN_CHUNK: u32 = 4096;
/// Chunks are no larger than this.
pub const MAX_CHUNK: u32 = 256 << 10;
/// Longest payload of a record: with the rest of a record it fits into the smallest chunk.
pub const MAX_PAYLOAD: usize = MIN_CHUNK as usize - CHUNK_HEADER - RECORD_HEAD;
/// A record without its payload is no longer than this.
pub const RECORD_HEAD: usize = 48;

/// Which 64-bit word of the file's header is what; all little-endian.
pub mod word {
    /// [`super::LOG_MAGIC`].
    pub const MAGIC: usize = 0;
    /// [`super::LOG_VERSION`].
    pub const VERSION: usize = 1;
    /// The process.
    pub const PID: usize = 2;
    /// When it began: nanoseconds since 1970.
    pub const START_UNIX_NS: usize = 3;
    /// When it began: ticks.
    pub const START_TICKS: usize = 4;
    /// When it began: `CLOCK_MONOTONIC`, nanoseconds.
    pub const START_NS: usize = 5;
    /// The file grows no larger than this, bytes.
    pub const LIMIT: usize = 6;
    /// One of [`super::log_state`].
    pub const STATE: usize = 7;
    /// When it ended or was full: ticks.
    pub const END_TICKS: usize = 8;
    /// When it ended or was full: `CLOCK_MONOTONIC`, nanoseconds.
    pub const END_NS: usize = 9;
    /// Events that had no place any more.
    pub const DROPPED: usize = 10;
    /// Of a logged call's probes, the part that its own wall time contains, picoseconds.
    pub const COST_INSIDE: usize = 11;
    /// The part that only its caller's wall time contains, picoseconds.
    pub const COST_OUTSIDE: usize = 12;
    /// What a call costs whose probes fire without being logged, picoseconds.
    pub const COST_SKIPPED: usize = 13;
    /// One of [`super::cpu_clock`].
    pub const CPU_CLOCK: usize = 14;
    /// How many words are in use.
    pub const COUNT: usize = 15;
}

/// How a log stands.
pub mod log_state {
    /// It is being written, or its program was killed.
    pub const OPEN: u64 = 0;
    /// It ended in order.
    pub const ENDED: u64 = 1;
    /// It reached its limit; what happened afterwards is missing.
    pub const FULL: u64 = 2;
}

/// How threads' CPU time is known.
pub mod cpu_clock {
    /// It is not.
    pub const NONE: u64 = 0;
    /// Between two records with a CPU time, a thread ran without interruption.
    pub const RUNS: u64 = 1;
    /// Every record has one.
    pub const EACH: u64 = 2;
}

/// Which word of a chunk's header is what.
pub mod chunk_word {
    /// [`super::CHUNK_MAGIC`], and the thread in the upper half.
    pub const THREAD: usize = 0;
    /// Where in the file the chunk begins.
    pub const OFFSET: usize = 1;
    /// The number of this chunk among its thread's from 0, and a checksum of the other words but `SIZE` in the upper half.
    pub const SEQUENCE: usize = 2;
    /// A moment: ticks.
    pub const TICKS: usize = 3;
    /// The same moment: `CLOCK_MONOTONIC`, nanoseconds.
    pub const NS: usize = 4;
    /// The same moment: the thread's CPU time, nanoseconds.
    pub const CPU_NS: usize = 5;
    /// The ticks that the first record counts from.
    pub const BASE: usize = 6;
    /// Bytes of the chunk with its header, and bytes of records in the upper half. It changes while the chunk is written.
    pub const SIZE: usize = 7;
}

/// A chunk's header as words.
pub type ChunkWords = [u64; CHUNK_HEADER / 8];

/// The checksum of a chunk's header, for the upper half of [`chunk_word::SEQUENCE`].
pub fn chunk_check(words: &ChunkWords) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (at, word) in words.iter().enumerate() {
        let word = match at {
            chunk_word::SIZE => 0,
            chunk_word::SEQUENCE => word & 0xffff_ffff,
            _ => *word,
        };
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    }
    (hash ^ (hash >> 32)) as u32
}

/// What a record tells: the lower five bits of its first byte.
pub mod kind {
    /// A method was entered.
    pub const ENTER: u8 = 1;
    /// A method returned.
    pub const EXIT: u8 = 2;
    /// A method was left by an exception.
    pub const THROWN: u8 = 3;
    /// A thread began: parent (0 unknown), flags ([`super::thread_flag`]), name, group.
    pub const THREAD_START: u8 = 4;
    /// A thread ended.
    pub const THREAD_END: u8 = 5;
    /// A thread begins to wait for a monitor that another one owns: object, class.
    pub const CONTENDED_ENTER: u8 = 6;
    /// It has got that monitor: object, class.
    pub const CONTENDED_ENTERED: u8 = 7;
    /// `Object.wait` begins: object, class, time limit in milliseconds (0 none).
    pub const WAIT: u8 = 8;
    /// `Object.wait` is over: object, class, 1 when the time limit ended it.
    pub const WAITED: u8 = 9;
    /// An object was made: object, class, bytes.
    pub const ALLOCATION: u8 = 10;
    /// An object was released: object.
    pub const RELEASE: u8 = 11;
    /// A garbage collection begins.
    pub const GC_START: u8 = 12;
    /// A garbage collection is over.
    pub const GC_END: u8 = 13;
    /// A class was loaded: class, methods with probes.
    pub const CLASS_LOAD: u8 = 14;
    /// A class was unloaded: class.
    pub const CLASS_UNLOAD: u8 = 15;
    /// The virtual machine's part of the life of the log begins: name and version of the machine.
    pub const VM_START: u8 = 16;
    /// The virtual machine ends.
    pub const VM_END: u8 = 17;
    /// A method gets its number: number, class, name, descriptor, source file, first line (0 unknown).
    pub const DEFINE_METHOD: u8 = 24;
    /// A class gets its number: number, name.
    pub const DEFINE_CLASS: u8 = 25;
    /// What a reader should know: text.
    pub const NOTE: u8 = 26;

    /// The bits of a record's first byte that are its kind.
    pub const MASK: u8 = 0x1f;
    /// In a record's first byte: a CPU time follows the ticks.
    pub const CPU: u8 = 0x20;
    /// In a record's first byte: a number of calls follows whose probes fired and were not logged, since the last record.
    pub const SKIPPED: u8 = 0x40;

    /// Whether records of this kind have a method's number instead of a payload.
    pub const fn is_method(kind: u8) -> bool {
        matches!(kind, ENTER | EXIT | THROWN)
    }
}

/// Flags of [`kind::THREAD_START`].
pub mod thread_flag {
    /// It does not keep the virtual machine alive.
    pub const DAEMON: u64 = 1;
    /// A virtual thread.
    pub const VIRTUAL: u64 = 2;
    /// It was there before the log.
    pub const EARLIER: u64 = 4;
}

/// The thread number of chunks that define methods and classes.
pub const DICTIONARY: u32 = 0;
/// The thread number of what the virtual machine itself does.
pub const MACHINE: u32 = 1;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// One of [`kind`]; readers skip kinds that they do not know.
    pub kind: u8,
    /// Ticks since the record before it in the chunk, or since the chunk's base.
    pub ticks: u64,
    /// The thread's CPU time less that of the chunk's header, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Calls since the last record whose probes fired and were not logged.
    pub skipped: u64,
    /// What the kind says.
    pub body: Body<'a>,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A method's number.
    Method(u32),
    /// Numbers and texts: see [`Payload`].
    Payload(&'a [u8]),
}

impl Record<'_> {
    /// Writes the record to the beginning of `into` and gives its length. `None` when it does not fit.
    pub fn write(&self, into: &mut [u8]) -> Option<usize> {
        let mut out = Out { into, at: 1 };
        let mut first = self.kind & kind::MASK;
        out.number(self.ticks)?;
        if let Some(cpu) = self.cpu_ns {
            first |= kind::CPU;
            out.number(cpu)?;
        }
        if self.skipped > 0 {
            first |= kind::SKIPPED;
            out.number(self.skipped)?;
        }
        match self.body {
            Body::Method(method) => out.number(u64::from(method))?,
            Body::Payload(payload) => {
                out.number(payload.len() as u64)?;
                let end = out.at.checked_add(payload.len())?;
                out.into.get_mut(out.at..end)?.copy_from_slice(payload);
                out.at = end;
            }
        }
        *out.into.first_mut()? = first;
        Some(out.at)
    }
}

struct Out<'a> {
    into: &'a mut [u8],
    at: usize,
}

impl Out<'_> {
    #[inline]
    fn number(&mut self, mut value: u64) -> Option<()> {
        while value >= 0x80 {
            *self.into.get_mut(self.at)? = value as u8 | 0x80;
            self.at += 1;
            value >>= 7;
        }
        *self.into.get_mut(self.at)? = value as u8;
        self.at += 1;
        Some(())
    }
}

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// They end within it.
    Short,
    /// They cannot be one.
    Bad,
}

impl<'a> Record<'a> {
    /// Reads the record at the beginning of `bytes`, and its length.
    pub fn read(bytes: &'a [u8]) -> Result<(Record<'a>, usize), Damage> {
        let mut fields = Payload(bytes);
        let [first] = *fields.bytes(1)? else {
            return Err(Damage::Short);
        };
        let kind = first & kind::MASK;
        if kind == 0 || first & 0x80 != 0 {
            return Err(Damage::Bad);
        }
        let ticks = fields.number()?;
        let cpu_ns = match first & kind::CPU {
            0 => None,
            _ => Some(fields.number()?),
        };
        let skipped = match first & kind::SKIPPED {
            0 => 0,
            _ => fields.number()?,
        };
        let body = if kind::is_method(kind) {
            Body::Method(u32::try_from(fields.number()?).map_err(|_| Damage::Bad)?)
        } else {
            let length = usize::try_from(fields.number()?).map_err(|_| Damage::Bad)?;
            if length > MAX_PAYLOAD {
                return Err(Damage::Bad);
            }
            Body::Payload(fields.bytes(length)?)
        };
        let record = Record {
            kind,
            ticks,
            cpu_ns,
            skipped,
            body,
        };
        Ok((record, bytes.len() - fields.0.len()))
    }
}

/// Reads a payload: numbers in LEB128, texts as their length and their bytes (UTF-8).
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a>(pub &'a [u8]);

impl<'a> Payload<'a> {
    /// The next number.
    pub fn number(&mut self) -> Result<u64, Damage> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.bytes(1)? else {
                return Err(Damage::Short);
            };
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Damage::Bad);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damage::Bad)
    }

    /// The next text's bytes.
    pub fn text(&mut self) -> Result<&'a [u8], Damage> {
        let length = usize::try_from(self.number()?).map_err(|_| Damage::Bad)?;
        self.bytes(length)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damage::Short)?;
        self.0 = rest;
        Ok(taken)
    }
}

/// Writes a payload. Texts that have no place any more are cut, numbers are kept.
pub struct PayloadBuffer {
    bytes: [u8; MAX_PAYLOAD],
    length: usize,
}

impl Default for PayloadBuffer {
    fn default() -> Self {
        PayloadBuffer {
            bytes: [0; MAX_PAYLOAD],
            length: 0,
        }
    }
}

impl PayloadBuffer {
    /// No text is longer than this, so that four and some numbers fit.
    pub const MAX_TEXT: usize = 950;

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, value: u64) -> Self {
        let mut out = Out {
            into: &mut self.bytes,
            at: self.length,
        };
        if out.number(value).is_some() {
            self.length = out.at;
        }
        self
    }

    /// Adds a text, cut to [`Self::MAX_TEXT`] bytes between two characters.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let text = &text[..text.floor_char_boundary_at(Self::MAX_TEXT)];
        self = self.number(text.len() as u64);
        let end = self.length + text.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(text.as_bytes());
            self.length = end;
        }
        self
    }

    /// What was added.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

trait Boundary {
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl Boundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        let mut at = at.min(self.len());
        while !self.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(record: &Record<'_>, length: usize) {
        let mut bytes = [0; 128];
        assert_eq!(record.write(&mut bytes), Some(length), "{record:?}");
        assert_eq!(Record::read(&bytes), Ok((*record, length)));
        for cut in 0..length {
            assert_eq!(
                Record::read(&bytes[..cut]),
                Err(Damage::Short),
                "{record:?}"
            );
            assert_eq!(record.write(&mut bytes[..cut]), None, "{record:?}");
        }
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let plain = Record {
            kind: kind::ENTER,
            ticks: 100,
            cpu_ns: None,
            skipped: 0,
            body: Body::Method(7),
        };
        check(&plain, 3);
        let most = Record {
            kind: kind::THROWN,
            ticks: u64::MAX,
            cpu_ns: Some(u64::MAX),
            skipped: u64::MAX,
            body: Body::Method(u32::MAX),
        };
        check(&most, 36);
        let payload = PayloadBuffer::default().number(300).text("mañana");
        let texts = Record {
            kind: kind::NOTE,
            body: Body::Payload(payload.as_bytes()),
            ..plain
        };
        check(&texts, 13);
        let mut fields = Payload(payload.as_bytes());
        assert_eq!(fields.number(), Ok(300));
        assert_eq!(fields.text(), Ok("mañana".as_bytes()));
        assert_eq!(fields.number(), Err(Damage::Short));
    }

    #[test]
    fn what_cannot_be_a_record_is_none() {
        for bytes in [
            &[0, 0, 0][..],
            &[0x81, 0, 0],
            &[
                1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0,
            ],
            &[1, 0, 0xff, 0xff, 0xff, 0xff, 0x1f],
            &[4, 0, 0xff, 0x7f],
        ] {
            assert_eq!(Record::read(bytes), Err(Damage::Bad), "{bytes:?}");
        }
    }

    #[test]
    fn the_largest_payload_fits_into_the_smallest_chunk() {
        let long = "ä".repeat(3000);
        let mut payload = PayloadBuffer::default();
        for _ in 0..4 {
            payload = payload.text(&long);
        }
        for _ in 0..8 {
            payload = payload.number(u64::MAX);
        }
        assert_eq!(payload.as_bytes().len(), 4 * 952 + 80);
        let record = Record {
            kind: kind::DEFINE_METHOD,
            ticks: u64::MAX,
            cpu_ns: Some(u64::MAX),
            skipped: u64::MAX,
            body: Body::Payload(&[7; MAX_PAYLOAD]),
        };
        let mut room = [0; MIN_CHUNK as usize - CHUNK_HEADER];
        assert!(record.write(&mut room).is_some());
    }

    #[test]
    fn a_chunks_checksum_covers_all_that_does_not_change() {
        let words: ChunkWords = core::array::from_fn(|at| at as u64 * 0x1234_5678_9abc);
        let check = chunk_check(&words);
        for at in 0..words.len() {
            for bit in 0..64 {
                let mut other = words;
                other[at] ^= 1 << bit;
                let changes = at != chunk_word::SIZE && (at != chunk_word::SEQUENCE || bit < 32);
                assert_eq!(chunk_check(&other) != check, changes, "word {at} bit {bit}");
            }
        }
    }
}

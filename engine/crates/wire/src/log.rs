//! The event log (JPMT §4.2): a file of chunks, each written by one thread. docs/formats.md describes it.
//!
//! A header of one page is followed by chunks. A chunk is a header and records; only its thread writes into it, and its size of
//! records grows after each whole record, so that a killed program leaves whole records.

mod record;
mod value;
pub use record::{Body, Damage, Payload, PayloadBuffer, Record, short_record};
pub use value::{LONGEST_TEXT, MOST_VALUES, Value};

/// The newest version of the log. Readers read all versions from 1 on.
pub const LOG_VERSION: u64 = VALUES_VERSION;
/// The version of a log without values of calls, which older versions of Fulcrum can read.
pub const PLAIN_VERSION: u64 = 1;
/// The version of a log that may contain [`kind::ARGUMENTS`] and [`kind::RETURNED`].
pub const VALUES_VERSION: u64 = 2;
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
    /// [`super::PLAIN_VERSION`] or [`super::VALUES_VERSION`].
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
    /// Events that did not fit.
    pub const DROPPED: usize = 10;
    /// The cost of a logged call's probes that its own wall time includes, picoseconds.
    pub const COST_INSIDE: usize = 11;
    /// The cost that only its caller's wall time includes, picoseconds.
    pub const COST_OUTSIDE: usize = 12;
    /// The cost of a call whose probes fire without being logged, picoseconds.
    pub const COST_SKIPPED: usize = 13;
    /// One of [`super::cpu_clock`].
    pub const CPU_CLOCK: usize = 14;
    /// How many words are in use.
    pub const COUNT: usize = 15;
}

/// The state of a log.
pub mod log_state {
    /// It is being written, or its program was killed.
    pub const OPEN: u64 = 0;
    /// It ended normally.
    pub const ENDED: u64 = 1;
    /// It reached its limit; what happened afterwards is missing.
    pub const FULL: u64 = 2;
    /// The disk was full; what happened afterwards is missing.
    pub const DISK_FULL: u64 = 3;
    /// The system refused to write more; what happened afterwards is missing.
    pub const REFUSED: u64 = 4;
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

/// The kinds of record: the lower five bits of the first byte.
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
    /// An object was allocated: object, class, bytes, and for how many bytes it is the sample (0: every object is logged).
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
    /// The virtual machine starts: its name and version.
    pub const VM_START: u8 = 16;
    /// The virtual machine ends.
    pub const VM_END: u8 = 17;
    /// The objects of the call that was entered just before: method, receiver, and the first object among its arguments (0:
    /// `null`, or there is none).
    pub const OBJECTS: u8 = 18;
    /// The result of the call that ends next: method, one of [`super::result`], its value.
    pub const RESULT: u8 = 19;
    /// The arguments of the call that was entered just before: method, how many arguments it has, how many of them follow, and
    /// those ([`super::Value`]), from the first one on.
    pub const ARGUMENTS: u8 = 20;
    /// The result of the call that ends next: method, a [`super::Value`].
    pub const RETURNED: u8 = 21;
    /// A method gets its number: number, class, name, descriptor, source file, first line (0 unknown).
    pub const DEFINE_METHOD: u8 = 24;
    /// A class gets its number: number, name.
    pub const DEFINE_CLASS: u8 = 25;
    /// What a reader should know: text.
    pub const NOTE: u8 = 26;
    /// The state of a method with a gate: number, calls that were measured, calls that passed its shut gate, the cost of the
    /// measured ones by the rule in thousandths, 1 when the gate is shut. The last record of a method counts.
    pub const COUNTS: u8 = 27;
    /// The rule that shuts gates: text.
    pub const RULE: u8 = 28;

    /// The bits of a record's first byte that are its kind.
    pub const MASK: u8 = 0x1f;
    /// In a record's first byte: a CPU time follows the ticks.
    pub const CPU: u8 = 0x20;
    /// In a record's first byte: the number of calls follows whose probes fired since the last record without being logged.
    pub const SKIPPED: u8 = 0x40;

    /// Whether records of this kind have a method's number instead of a payload.
    pub const fn is_method(kind: u8) -> bool {
        matches!(kind, ENTER | EXIT | THROWN)
    }
}

/// What the value of a [`kind::RESULT`] is.
pub mod result {
    /// An object (0: `null`).
    pub const OBJECT: u64 = 0;
    /// 1 for true, 0 for false.
    pub const BOOLEAN: u64 = 1;
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

#[cfg(test)]
mod tests {
    use super::*;

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

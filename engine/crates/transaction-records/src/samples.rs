//! The recorder's CPU samples, in a file of the run folder.
//!
//! The file starts with two words, [`MAGIC`] and [`VERSION`], followed by records. All words are little-endian. The first
//! word of a record has its kind in the lowest byte, [`MARK`] in the next, the length of its text in bytes in the following
//! two, and the length of the whole record in words in the upper half. The second word has the process in the lower half
//! and the thread in the upper half. Then come the words of the kind, and the text, padded with zeros to a whole word.
//!
//! | kind | words | text |
//! | --- | --- | --- |
//! | 1 sample | time, weight, then the stack, innermost address first | the thread's name, when it is another than before |
//! | 2 process | | the program's path |
//! | 4 module | start, end, offset in the file | the file's path |
//! | 7 lost | how many samples | |
//! | 8 note | | a sentence |
//!
//! The format is our own. `linux-perf-data` only reads what `perf record` writes, and encodings such as `postcard` have
//! neither record marks nor lengths, by which a reader finds damage and the end of the last whole record.

mod read;
mod write;

pub use read::{Samples, SamplesError};
pub use write::SampleWriter;

/// The name of the file in the run folder.
pub const FILE: &str = "samples.bin";
/// The file's first word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"FULCSMPL");
/// The version of the format.
pub const VERSION: u64 = 1;
/// The second byte of each record.
pub const MARK: u8 = 0xa5;
/// The most addresses kept of a stack, the innermost ones.
pub const MAX_STACK: usize = 512;
/// The most bytes kept of a thread's name.
pub const MAX_NAME: usize = 16;
/// The most bytes kept of any other text.
pub const MAX_TEXT: usize = 4096;

/// The length of [`MAGIC`] and [`VERSION`] in bytes.
const HEAD: usize = 16;

/// The kind of a record. Any two differ in two bits, so that no single-bit error turns one into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Sample = 1,
    Process = 2,
    Module = 4,
    Lost = 7,
    Note = 8,
}

/// A CPU sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The process.
    pub pid: u32,
    /// The kernel's thread number.
    pub tid: u32,
    /// When it was taken, in `CLOCK_MONOTONIC` nanoseconds.
    pub time_ns: u64,
    /// The CPU time that it stands for, in nanoseconds.
    pub weight_ns: u64,
    /// The thread's name, of which [`MAX_NAME`] bytes are kept. Empty if unknown or unchanged.
    pub thread: &'a [u8],
    /// The stack, innermost first: where the thread was, then return addresses. Empty if unknown.
    pub stack: &'a [u64],
}

/// Code mapped in a process without a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// The address of its first byte.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The file.
    pub file: &'a [u8],
}

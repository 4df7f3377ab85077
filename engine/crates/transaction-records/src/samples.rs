//! The recorder's CPU samples: a file of their own in the run folder.
//!
//! Two words, [`MAGIC`] and [`VERSION`], then records one behind another; all words are little-endian. A record begins with a
//! word: its kind in the lowest byte, [`MARK`] in the next one, the bytes of its text in the two after it, and the length of
//! the whole record in words in the upper half. The second word is the process in the lower half and the thread in the
//! upper one. Then come the kind's words, and the text, with zeros up to the next word.
//!
//! | kind | words | text |
//! | --- | --- | --- |
//! | 1 sample | time, weight, then the stack, innermost address first | the thread's name, when it is another than before |
//! | 2 process | | the program's path |
//! | 4 module | start, end, offset in the file | the file's path |
//! | 7 lost | how many samples | |
//! | 8 note | | a sentence |

mod read;
mod write;

pub use read::{Samples, SamplesError};
pub use write::SampleWriter;

/// The file's name in the run folder.
pub const FILE: &str = "samples.bin";
/// The file's first word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"FULCSMPL");
/// Changes whenever the format does.
pub const VERSION: u64 = 1;
/// The second byte of each record.
pub const MARK: u8 = 0xa5;
/// Addresses that are kept of a stack, the innermost.
pub const MAX_STACK: usize = 512;
/// Bytes that are kept of a thread's name.
pub const MAX_NAME: usize = 16;
/// Bytes that are kept of any other text.
pub const MAX_TEXT: usize = 4096;

/// The bytes of [`MAGIC`] and [`VERSION`].
const HEAD: usize = 16;

/// What a record is. Any two differ in two bits, so that no single wrong bit makes one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Sample = 1,
    Process = 2,
    Module = 4,
    Lost = 7,
    Note = 8,
}

/// A sample to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The process.
    pub pid: u32,
    /// The kernel's number of the thread.
    pub tid: u32,
    /// When it was taken: `CLOCK_MONOTONIC`, nanoseconds.
    pub time_ns: u64,
    /// The CPU time that it stands for, nanoseconds.
    pub weight_ns: u64,
    /// The thread's name, of which [`MAX_NAME`] bytes are kept. Empty: not known, or as before.
    pub thread: &'a [u8],
    /// Innermost first: where the thread was, and return addresses as they stand on the stack. Empty: not known.
    pub stack: &'a [u64],
}

/// Code that is mapped in a process without a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// Address of its first byte.
    pub start: u64,
    /// Address behind its last byte.
    pub end: u64,
    /// Its place in the file.
    pub offset: u64,
    /// The file.
    pub file: &'a [u8],
}

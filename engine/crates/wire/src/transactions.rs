//! The log of a process under transactional profiling (Whodunit §7): what its threads did, from which contexts follow.
//!
//! The preloaded library only says what happened; the engine makes contexts of it after the run, or while it goes on. One
//! page of header, then spaces of [`CHUNK`] bytes, one behind another, each with one chunk or several. A chunk is a header and
//! records; only its thread writes into it, and `used` grows after each whole record, so that a killed program leaves whole
//! records. When its thread has ended, another thread's chunk may follow in the same space, behind what was used, at the next
//! multiple of [`CHUNK_HEADER`]; otherwise zeros do, or what was left unfinished.
//!
//! The file is as long as it may become from the beginning, and sparse. Its process maps it once and keeps no descriptor.

mod encoding;
mod kinds;
mod record;

pub use encoding::Damage;
pub use kinds::{Calling, Interest, LockKind, RecordKind, StreamKind, Via};
pub use record::{Address, Head, NAMED_FUNCTIONS, Record};

/// Changes whenever the layout of the log does.
pub const VERSION: u64 = 5;
/// The oldest version that is still read. Up to 4, everything was recorded; in 3, there was no [`Record::Register`].
pub const OLDEST_VERSION: u64 = 3;
/// First word of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"FULCTLOG");
/// First half of a chunk's first word.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"FTCH");
/// Bytes before the first chunk.
pub const HEADER: u64 = 4096;
/// Bytes of a chunk's header. Chunks begin at multiples of it.
pub const CHUNK_HEADER: usize = 64;
/// Bytes of a space; a chunk, with its header, has no more.
pub const CHUNK: u64 = 32 << 10;
/// Longest record, bytes: any record fits into an empty chunk.
pub const MAX_RECORD: usize = 4096;
/// Of a message that was received, no more bytes are kept than this.
pub const MAX_HEAD: usize = 1024;
/// Most addresses of a call path.
pub const MAX_PATH: usize = 96;
/// Most bytes of a span's attributes.
pub const MAX_ATTRIBUTES: usize = 1024;
/// Most bytes of what a process publishes of itself.
pub const MAX_CONTEXT: usize = 4000;

/// Environment variable that carries the absolute path of the session's folder.
pub const SESSION_VARIABLE: &str = "FULCRUM_TRANSACTIONS";
/// A process's log is `<pid>-<turn>.txlog` in that folder; each program that a process executes is a turn, from 0.
pub const LOG_SUFFIX: &str = ".txlog";
/// The unwind table that the engine makes for a process is `<pid>-<turn>.<generation>.unwind`, generations from 1.
pub const UNWIND_SUFFIX: &str = ".unwind";
/// Where translated copies of critical sections come from: `<pid>-<turn>.copies`, see [`copies`].
pub const COPIES_SUFFIX: &str = ".copies";
/// The file name under which the memory of translated copies is logged.
pub const COPIES_MODULE: &str = "[watching critical sections]";
/// File name of the times at which recording paused and went on, in turn: 64-bit words, little-endian, `CLOCK_MONOTONIC`,
/// nanoseconds. It is missing if recording never paused. The times between a pause and the next are a window.
pub const WINDOWS_FILE: &str = "windows";
/// File name of the session's settings in the folder: [`setting`] words.
pub const SETTINGS_FILE: &str = "settings";
/// Files that are virtual machines: what threads pass to each other under their locks is the machine's own work.
pub const VIRTUAL_MACHINES: [&str; 1] = ["libjvm.so"];

/// Which 64-bit word of the settings is what; all little-endian. The engine writes them before the program starts, and changes
/// [`setting::WINDOW`] meanwhile.
pub mod setting {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// [`super::VERSION`].
    pub const VERSION: usize = 1;
    /// A log grows no larger than this, bytes.
    pub const LIMIT: usize = 2;
    /// First bytes of messages that are kept to name requests: 0 (none) to [`super::MAX_HEAD`].
    pub const HEAD: usize = 3;
    /// The engine's process. If it is 0, or the process is gone, there are no more answers.
    pub const ENGINE: usize = 4;
    /// Not 0: critical sections are watched for flow through shared memory.
    pub const SHARED_MEMORY: usize = 5;
    /// How often recording has paused and gone on: it pauses while this is odd. Then only records that [last](super::Record::lasts)
    /// are written.
    pub const WINDOW: usize = 6;
    /// How many words are in use.
    pub const COUNT: usize = 7;
}

/// Which 64-bit word of the log's header is what; all little-endian.
pub mod word {
    /// [`super::MAGIC`], written last.
    pub const MAGIC: usize = 0;
    /// [`super::VERSION`].
    pub const VERSION: usize = 1;
    /// The process.
    pub const PID: usize = 2;
    /// How many programs the process has executed before under Fulcrum.
    pub const TURN: usize = 3;
    /// The process that forked this one; 0 after `exec`.
    pub const PARENT: usize = 4;
    /// The turn of that process.
    pub const PARENT_TURN: usize = 5;
    /// The number of the parent's thread that called `fork`.
    pub const PARENT_THREAD: usize = 6;
    /// When it began: nanoseconds since 1970.
    pub const START_UNIX_NS: usize = 7;
    /// When it began: `CLOCK_MONOTONIC`, nanoseconds.
    pub const START_NS: usize = 8;
    /// The file's length, bytes.
    pub const LIMIT: usize = 9;
    /// One of [`super::state`].
    pub const STATE: usize = 10;
    /// When it ended or was full: `CLOCK_MONOTONIC`, nanoseconds.
    pub const END_NS: usize = 11;
    /// Records that did not fit.
    pub const DROPPED: usize = 12;
    /// Where the next space begins. Grows by [`super::CHUNK`].
    pub const NEXT: usize = 13;
    /// The generation of the unwind table that the process asks for: 1 at its beginning, one more when libraries are loaded. The
    /// lower half is a futex word that the engine waits on.
    pub const UNWIND_WANTED: usize = 14;
    /// The newest generation that the engine has written. The lower half is a futex word that the process waits on.
    pub const UNWIND_READY: usize = 15;
    /// Call paths that did not fit into the process's table.
    pub const PATHS_LOST: usize = 16;
    /// Operations that were submitted through io_uring, whose effects are not seen.
    pub const UNSEEN_OPERATIONS: usize = 17;
    /// Not 0: the process has a file of [`super::copies`].
    pub const COPIES: usize = 18;
    /// How often the process has sent something into a stream, in pauses too.
    pub const MESSAGES: usize = 19;
    /// How many words are in use.
    pub const COUNT: usize = 20;
}

/// Which 64-bit word of a file of copies is what; all little-endian. A page of header, then an entry of two words for each
/// translated instruction, ascending: where its translation begins, and the program's instruction; the latter is 0 where
/// translations end. A forked process has the copies of its parent below the first of its own.
///
/// The file is as long as it may become, and sparse; the engine removes it when the run has ended.
pub mod copies {
    /// How many entries there are. Grows when they are written.
    pub const COUNT: usize = 0;
    /// Where the entries begin, bytes.
    pub const HEADER: usize = 4096;
    /// Bytes of an entry.
    pub const ENTRY: usize = 16;
    /// The file's length, bytes.
    pub const LENGTH: usize = 64 << 20;
}

/// The state of a log.
pub mod state {
    /// It is being written, or its process was killed.
    pub const OPEN: u64 = 0;
    /// It ended with its process.
    pub const ENDED: u64 = 1;
    /// Its process executes another program.
    pub const EXECUTED: u64 = 2;
    /// It reached its limit, or the disk was full; what happened afterwards is missing.
    pub const FULL: u64 = 3;
}

/// Which 64-bit word of a chunk's header is what.
pub mod chunk_word {
    /// [`super::CHUNK_MAGIC`], and the number of the thread in the process, from 1, in the upper half.
    pub const THREAD: usize = 0;
    /// The number of this chunk among its thread's from 0, and the kernel's number of the thread in the upper half.
    pub const SEQUENCE: usize = 1;
    /// The thread's name, 16 bytes with the next word, zeros behind it: as it was when the chunk was taken.
    pub const NAME: usize = 2;
    /// Where in the file the chunk begins.
    pub const OFFSET: usize = 4;
    /// `CLOCK_MONOTONIC` when the chunk was taken, nanoseconds.
    pub const TIME: usize = 5;
    /// [`super::chunk_check`] of all other words but `USED`.
    pub const CHECK: usize = 6;
    /// Bytes of records. It changes while the chunk is written.
    pub const USED: usize = 7;
}

/// A chunk's header as words.
pub type ChunkWords = [u64; CHUNK_HEADER / 8];

/// The checksum of a chunk's header, for [`chunk_word::CHECK`].
pub fn chunk_check(words: &ChunkWords) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for word in &words[..chunk_word::CHECK] {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    }
    hash
}

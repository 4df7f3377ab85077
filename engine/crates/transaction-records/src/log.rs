//! Reading the log of one process.
//!
//! The format is `fulcrum_wire::transactions`, which also decodes records; here they are put in order and checked.

mod chunks;
mod place;

use std::collections::BTreeMap;
use std::fmt;

use fulcrum_model::text::counted;
use fulcrum_wire::transactions::{
    CHUNK, HEADER, Head, MAGIC, OLDEST_VERSION, Record, VERSION, state, word,
};

use chunks::{At, Chunk, chunk_at};
pub use place::Place;

/// The log of one process: its header, and what each thread wrote, in order.
///
/// Everything is checked on reading. Damaged parts are left out and reported by [`Log::lost`].
#[derive(Clone, Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
    header: Header,
    threads: Vec<ThreadLog>,
    lost: Lost,
}

/// The header of a log. Times are `CLOCK_MONOTONIC` in nanoseconds, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The process.
    pub pid: u32,
    /// The number of programs that the process had executed before this one while recorded.
    pub turn: u32,
    /// The process that forked it, or `None` if it was started by `exec`.
    pub parent: Option<Parent>,
    /// Its start, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Its start.
    pub start_ns: u64,
    /// The state of the log.
    pub state: State,
    /// When the log ended or became full, 0 while it is open.
    pub end_ns: u64,
    /// Records that did not fit.
    pub dropped: u64,
    /// Call paths that did not fit.
    pub paths_lost: u64,
    /// Operations submitted through io_uring.
    pub unseen_operations: u64,
}

/// The process and the thread that called `fork`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The process.
    pub pid: u32,
    /// Its turn.
    pub turn: u32,
    /// The number of the thread.
    pub thread: u32,
}

/// The state of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being written, or its process was killed.
    Open,
    /// It ended with its process.
    Ended,
    /// Its process executes another program.
    Executed,
    /// The log reached its limit. What happened afterwards is missing.
    Full,
}

/// The records of one thread.
#[derive(Clone, Debug)]
pub struct ThreadLog {
    /// Its number in the process, from 1.
    pub number: u32,
    /// The kernel's thread number.
    pub tid: u32,
    /// Its names, each with the time at which it was first seen. At least one.
    pub names: Vec<(u64, String)>,
    chunks: Vec<Chunk>,
}

/// A position among a thread's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    chunk: usize,
    at: usize,
}

/// The unreadable parts of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Chunks that are damaged or duplicated.
    pub chunks: u64,
    /// Zeroed chunks followed by others: allocated, but not started.
    pub holes: u64,
    /// Missing chunks that precede chunks which are there.
    pub missing_chunks: u64,
    /// Chunks whose rest was left out because of a damaged record.
    pub cut_chunks: u64,
    /// The first damaged record.
    pub first: Option<Place>,
}

/// Why bytes are not a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogError {
    /// They end within the header.
    Short(u64),
    /// They begin with another word. 0 if the process ended before it had started its log.
    Magic(u64),
    /// They have another version.
    Version(u64),
    /// A word of the header is invalid.
    Word {
        /// The index of the word.
        word: usize,
        /// Its value.
        value: u64,
    },
}

impl<'a> Log<'a> {
    /// Reads a log. Bytes beyond what the process used may be missing.
    ///
    /// # Errors
    /// [`LogError`], if the header is damaged.
    pub fn read(bytes: &'a [u8]) -> Result<Self, LogError> {
        let (header, next) = header(bytes)?;
        let mut log = Log {
            bytes,
            header,
            threads: Vec::new(),
            lost: Lost::default(),
        };
        let mut threads: BTreeMap<u32, Vec<Chunk>> = BTreeMap::new();
        let mut at = HEADER as usize;
        while at < bytes.len() {
            match chunk_at(bytes, at) {
                At::Chunk(chunk) => {
                    let mut last = Some(chunk);
                    while let Some(chunk) = last {
                        last = chunk.next(bytes, at + CHUNK as usize);
                        threads.entry(chunk.thread).or_default().push(chunk);
                    }
                }
                // The rest of the file is zeros beyond what the header gives as used.
                At::Nothing if at as u64 >= next => break,
                At::Nothing => log.lost.holes += 1,
                At::Damaged => log.lost.chunks += 1,
            }
            at += CHUNK as usize;
        }
        for (number, chunks) in threads {
            let thread = log.thread(number, chunks);
            log.threads.push(thread);
        }
        Ok(log)
    }

    fn thread(&mut self, number: u32, mut chunks: Vec<Chunk>) -> ThreadLog {
        chunks.sort_by_key(|it| it.sequence);
        let all = chunks.len();
        chunks.dedup_by_key(|it| it.sequence);
        self.lost.chunks += (all - chunks.len()) as u64;
        let last = chunks.last().map_or(0, |it| u64::from(it.sequence) + 1);
        self.lost.missing_chunks += last - chunks.len() as u64;
        for chunk in &mut chunks {
            if let Some(place) = chunk.check(self.bytes) {
                self.lost.cut_chunks += 1;
                self.lost.first.get_or_insert(place);
            }
        }
        let mut names: Vec<(u64, String)> = Vec::new();
        for chunk in &chunks {
            let name = chunk.name(self.bytes);
            if names.last().is_none_or(|(_, last)| *last != name) {
                names.push((chunk.time_ns, name));
            }
        }
        ThreadLog {
            number,
            tid: chunks.first().map_or(0, |it| it.tid),
            names,
            chunks,
        }
    }

    /// The log's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The threads, by number.
    pub fn threads(&self) -> &[ThreadLog] {
        &self.threads
    }

    /// The unreadable parts.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// The record at a position of the thread in this row of [`Log::threads`], and the next position. `None` after the last
    /// record.
    pub fn record_at(
        &self,
        thread: usize,
        position: Position,
    ) -> Option<(Head, Record<'a>, Position)> {
        let chunks = &self.threads.get(thread)?.chunks;
        let mut position = position;
        loop {
            let chunk = chunks.get(position.chunk)?;
            let rest = chunk.records(self.bytes).get(position.at..);
            match rest.map(Record::read) {
                Some(Ok((head, record, length))) => {
                    position.at += length;
                    return Some((head, record, position));
                }
                _ => {
                    position = Position {
                        chunk: position.chunk + 1,
                        at: 0,
                    };
                }
            }
        }
    }

    /// All records of the thread in this row of [`Log::threads`], in order.
    pub fn records(&self, thread: usize) -> impl Iterator<Item = (Head, Record<'a>)> {
        let mut position = Position::default();
        std::iter::from_fn(move || {
            let (head, record, next) = self.record_at(thread, position)?;
            position = next;
            Some((head, record))
        })
    }
}

/// The header, and where the next chunk would begin.
fn header(bytes: &[u8]) -> Result<(Header, u64), LogError> {
    let short = LogError::Short(bytes.len() as u64);
    let page = bytes.get(..HEADER as usize).ok_or(short)?;
    let value = |word: usize| chunks::word_at(page, word * 8).unwrap_or(0);
    if value(word::MAGIC) != MAGIC {
        return Err(LogError::Magic(value(word::MAGIC)));
    }
    if !(OLDEST_VERSION..=VERSION).contains(&value(word::VERSION)) {
        return Err(LogError::Version(value(word::VERSION)));
    }
    let small = |word: usize| {
        let value = value(word);
        u32::try_from(value).map_err(|_| LogError::Word { word, value })
    };
    let parent = match small(word::PARENT)? {
        0 => None,
        pid => Some(Parent {
            pid,
            turn: small(word::PARENT_TURN)?,
            thread: small(word::PARENT_THREAD)?,
        }),
    };
    let header = Header {
        pid: small(word::PID)?,
        turn: small(word::TURN)?,
        parent,
        start_unix_ns: value(word::START_UNIX_NS),
        start_ns: value(word::START_NS),
        state: match value(word::STATE) {
            state::OPEN => State::Open,
            state::ENDED => State::Ended,
            state::EXECUTED => State::Executed,
            state::FULL => State::Full,
            value => {
                let word = word::STATE;
                return Err(LogError::Word { word, value });
            }
        },
        end_ns: value(word::END_NS),
        dropped: value(word::DROPPED),
        paths_lost: value(word::PATHS_LOST),
        unseen_operations: value(word::UNSEEN_OPERATIONS),
    };
    Ok((header, value(word::NEXT)))
}

impl Lost {
    /// The losses as one sentence fragment, or `None` if there are none.
    pub fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.chunks > 0 {
            parts.push(counted(
                self.chunks,
                "block is damaged",
                "blocks are damaged",
            ));
        }
        if self.holes > 0 {
            parts.push(counted(self.holes, "block is empty", "blocks are empty"));
        }
        if self.missing_chunks > 0 {
            parts.push(counted(
                self.missing_chunks,
                "block is missing",
                "blocks are missing",
            ));
        }
        if let Some(place) = self.first {
            let cut = counted(self.cut_chunks, "block has", "blocks have");
            parts.push(format!("{cut} damaged records, first {place}"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Short(length) => {
                write!(f, "it has {length} bytes, expected a header of {HEADER}")
            }
            LogError::Magic(0) => f.write_str("its process ended before it began to write"),
            LogError::Magic(word) => {
                write!(f, "it begins with {word:#x}, expected {MAGIC:#x}")
            }
            LogError::Version(version) => write!(
                f,
                "it has version {version}, expected {OLDEST_VERSION} to {VERSION}: another version of Fulcrum wrote it"
            ),
            LogError::Word { word, value } => {
                write!(f, "invalid value {value:#x} at byte {}", word * 8)
            }
        }
    }
}

impl std::error::Error for LogError {}

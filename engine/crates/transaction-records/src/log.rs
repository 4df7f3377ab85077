//! Reading the log of one process.

mod chunks;
mod place;

use std::collections::BTreeMap;
use std::fmt;

use fulcrum_wire::transactions::{CHUNK, HEADER, Head, MAGIC, Record, VERSION, state, word};

use chunks::{At, Chunk, chunk_at};
pub use place::Place;

/// The log of one process: whose it is, and what each thread wrote, in order.
///
/// Everything is checked when it is read. What is damaged is left out and told by [`Log::lost`].
#[derive(Clone, Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
    header: Header,
    threads: Vec<ThreadLog>,
    lost: Lost,
}

/// What the log says of its process. Times are `CLOCK_MONOTONIC`, nanoseconds, unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The process.
    pub pid: u32,
    /// Programs that it had executed before under us.
    pub turn: u32,
    /// Who made it by `fork`; `None` when it executes a program anew.
    pub parent: Option<Parent>,
    /// When it began: nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// How the log stands.
    pub state: State,
    /// When it ended or was full; 0 while it is open.
    pub end_ns: u64,
    /// Records that had no place.
    pub dropped: u64,
    /// Call paths that had no place.
    pub paths_lost: u64,
    /// Operations that were submitted through io_uring.
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

/// How a log stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being written, or its process was killed.
    Open,
    /// It ended with its process.
    Ended,
    /// Its process executes another program.
    Executed,
    /// It reached its limit; what happened afterwards is missing.
    Full,
}

/// What one thread wrote.
#[derive(Clone, Debug)]
pub struct ThreadLog {
    /// Its number in the process, from 1.
    pub number: u32,
    /// The kernel's number.
    pub tid: u32,
    /// Its names, each with the time from which it was seen; at least one.
    pub names: Vec<(u64, String)>,
    chunks: Vec<Chunk>,
}

/// How far a thread's records were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    chunk: usize,
    at: usize,
}

/// What of a log could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Chunks that are damaged, or repeat others.
    pub chunks: u64,
    /// Chunks that are zeros where others follow: taken, and not begun.
    pub holes: u64,
    /// Chunks that threads wrote before others that are there.
    pub missing_chunks: u64,
    /// Chunks of which the rest was left out because of a damaged record.
    pub cut_chunks: u64,
    /// The first damaged record.
    pub first: Option<Place>,
}

/// Why bytes are no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogError {
    /// They end within the header.
    Short(u64),
    /// They begin with another word; 0 when the process ended before it had begun its log.
    Magic(u64),
    /// They are of another version.
    Version(u64),
    /// A word of the header is not what it can be.
    Word {
        /// Which word.
        word: usize,
        /// What it is.
        value: u64,
    },
}

impl<'a> Log<'a> {
    /// Reads a log. Bytes beyond what the process used may be missing.
    ///
    /// # Errors
    /// [`LogError`], when the header is damaged.
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
                // Beyond what the header says that was used, the file is zeros up to its end.
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

    /// What the log says of its process.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The threads, by number.
    pub fn threads(&self) -> &[ThreadLog] {
        &self.threads
    }

    /// What could not be read.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// The record at a position of the thread in this row of [`Log::threads`], and the position after it. `None` after the
    /// last.
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

/// The header, and where the next chunk was to begin.
fn header(bytes: &[u8]) -> Result<(Header, u64), LogError> {
    let short = LogError::Short(bytes.len() as u64);
    let page = bytes.get(..HEADER as usize).ok_or(short)?;
    let value = |word: usize| chunks::word_at(page, word * 8).unwrap_or(0);
    if value(word::MAGIC) != MAGIC {
        return Err(LogError::Magic(value(word::MAGIC)));
    }
    if value(word::VERSION) != VERSION {
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
    /// What is lost, one sentence; `None` when nothing is.
    pub fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.chunks > 0 {
            parts.push(format!("{} blocks are damaged", self.chunks));
        }
        if self.holes > 0 {
            parts.push(format!("{} blocks are empty", self.holes));
        }
        if self.missing_chunks > 0 {
            parts.push(format!("{} blocks are missing", self.missing_chunks));
        }
        if let Some(place) = self.first {
            let cut = self.cut_chunks;
            parts.push(format!("{cut} blocks have damaged records, first {place}"));
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
            LogError::Magic(0) => f.write_str("its process ended before it had begun to write"),
            LogError::Magic(word) => {
                write!(f, "it begins with {word:#x}, expected {MAGIC:#x}")
            }
            LogError::Version(version) => write!(
                f,
                "it has version {version}, expected {VERSION}: another version of Fulcrum wrote it"
            ),
            LogError::Word { word, value } => {
                write!(f, "the value {value:#x} at byte {} cannot be", word * 8)
            }
        }
    }
}

impl std::error::Error for LogError {}

//! The bytes of a log.

use std::collections::BTreeMap;

use fulcrum_wire::transactions::{
    CHUNK, CHUNK_HEADER, CHUNK_MAGIC, Head, MAGIC, MAX_RECORD, Record, VERSION, chunk_check,
    chunk_word, state, word,
};
use fulcrum_wire::transactions::{ChunkWords, HEADER};

/// A log that grows record by record.
pub(crate) struct LogFile {
    bytes: Vec<u8>,
    threads: BTreeMap<u32, Writing>,
}

struct Writing {
    tid: u32,
    name: String,
    /// Where its current chunk begins.
    chunk: usize,
    used: usize,
    sequence: u32,
}

impl LogFile {
    pub(crate) fn new(pid: u32, turn: u32) -> Self {
        let mut file = LogFile {
            bytes: vec![0; HEADER as usize],
            threads: BTreeMap::new(),
        };
        file.set(word::MAGIC, MAGIC);
        file.set(word::VERSION, VERSION);
        file.set(word::PID, u64::from(pid));
        file.set(word::TURN, u64::from(turn));
        file.set(word::STATE, state::ENDED);
        file.set(word::NEXT, HEADER);
        file
    }

    /// Sets a word of the header.
    pub(crate) fn set(&mut self, word: usize, value: u64) {
        self.bytes[word * 8..word * 8 + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// The thread writes into a new chunk from here on.
    pub(crate) fn chunk(&mut self, thread: u32, tid: u32, name: &str, time_ns: u64) {
        let at = self.bytes.len();
        self.bytes.resize(at + CHUNK as usize, 0);
        self.set(word::NEXT, (at as u64) + CHUNK);
        self.chunk_at(at, thread, (tid, name), time_ns);
    }

    /// The thread writes into the space that an ended thread has left.
    pub(crate) fn chunk_behind(&mut self, ended: u32, thread: u32, tid: u32, time_ns: u64) {
        let before = &self.threads[&ended];
        let at = (before.chunk + CHUNK_HEADER + before.used).next_multiple_of(CHUNK_HEADER);
        self.chunk_at(at, thread, (tid, "behind"), time_ns);
    }

    fn chunk_at(&mut self, at: usize, thread: u32, (tid, name): (u32, &str), time_ns: u64) {
        let sequence = self.threads.get(&thread).map_or(0, |it| it.sequence + 1);
        let mut words: ChunkWords = [0; CHUNK_HEADER / 8];
        words[chunk_word::THREAD] = u64::from(CHUNK_MAGIC) | u64::from(thread) << 32;
        words[chunk_word::SEQUENCE] = u64::from(sequence) | u64::from(tid) << 32;
        let mut text = [0; 16];
        text[..name.len()].copy_from_slice(name.as_bytes());
        let text = u128::from_le_bytes(text);
        words[chunk_word::NAME] = text as u64;
        words[chunk_word::NAME + 1] = (text >> 64) as u64;
        words[chunk_word::OFFSET] = at as u64;
        words[chunk_word::TIME] = time_ns;
        words[chunk_word::CHECK] = chunk_check(&words);
        let header: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        self.bytes[at..at + CHUNK_HEADER].copy_from_slice(&header);
        let writing = Writing {
            tid,
            name: name.to_owned(),
            chunk: at,
            used: 0,
            sequence,
        };
        self.threads.insert(thread, writing);
    }

    /// The thread, which has a chunk, writes a record.
    pub(crate) fn write(&mut self, thread: u32, head: Head, record: Record<'_>) {
        let mut place = [0; MAX_RECORD];
        let length = record.write(head, &mut place).unwrap();
        let writing = &self.threads[&thread];
        if writing.used + length > CHUNK as usize - CHUNK_HEADER {
            let (tid, name) = (writing.tid, writing.name.clone());
            self.chunk(thread, tid, &name, head.time_ns);
        }
        let writing = self.threads.get_mut(&thread).unwrap();
        let at = writing.chunk + CHUNK_HEADER + writing.used;
        self.bytes[at..at + length].copy_from_slice(&place[..length]);
        writing.used += length;
        let used_at = writing.chunk + chunk_word::USED * 8;
        self.bytes[used_at..used_at + 8].copy_from_slice(&(writing.used as u64).to_le_bytes());
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

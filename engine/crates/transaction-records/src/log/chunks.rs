//! Chunks: pieces of a log, each written by one thread.

use fulcrum_wire::transactions::{
    CHUNK, CHUNK_HEADER, CHUNK_MAGIC, ChunkWords, Record, chunk_check, chunk_word,
};

use super::place::Place;

/// A chunk with a valid header.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Where its records begin in the file.
    begin: usize,
    /// Bytes of records.
    used: usize,
    pub(crate) thread: u32,
    pub(crate) tid: u32,
    pub(crate) sequence: u32,
    pub(crate) time_ns: u64,
}

/// What was found where a chunk may be.
pub(super) enum At {
    Chunk(Chunk),
    /// Zeros: nothing was written yet.
    Nothing,
    Damaged,
}

/// The word at a byte, little-endian.
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

pub(super) fn chunk_at(bytes: &[u8], at: usize) -> At {
    let mut words: ChunkWords = [0; CHUNK_HEADER / 8];
    for (n, word) in words.iter_mut().enumerate() {
        // A truncated header reads as zeros, whose checksum is wrong.
        *word = word_at(bytes, at + 8 * n).unwrap_or(0);
    }
    if words == [0; CHUNK_HEADER / 8] {
        return At::Nothing;
    }
    let used = words[chunk_word::USED];
    let is_right = words[chunk_word::THREAD] as u32 == CHUNK_MAGIC
        && words[chunk_word::OFFSET] == at as u64
        && words[chunk_word::CHECK] == chunk_check(&words)
        && used <= CHUNK - CHUNK_HEADER as u64;
    if !is_right {
        return At::Damaged;
    }
    let begin = (at + CHUNK_HEADER).min(bytes.len());
    At::Chunk(Chunk {
        begin,
        used: (used as usize).min(bytes.len() - begin),
        thread: (words[chunk_word::THREAD] >> 32) as u32,
        tid: (words[chunk_word::SEQUENCE] >> 32) as u32,
        sequence: words[chunk_word::SEQUENCE] as u32,
        time_ns: words[chunk_word::TIME],
    })
}

impl Chunk {
    /// The next chunk, of another thread, within the space that ends at `end`. Threads that end leave unused space to
    /// others.
    pub(crate) fn next(&self, bytes: &[u8], end: usize) -> Option<Chunk> {
        let at = (self.begin + self.used).next_multiple_of(CHUNK_HEADER);
        if at + CHUNK_HEADER > end {
            return None;
        }
        match chunk_at(bytes, at) {
            At::Chunk(mut chunk) => {
                chunk.used = chunk.used.min(end - chunk.begin);
                Some(chunk)
            }
            // The unfinished chunk of a killed thread.
            At::Nothing | At::Damaged => None,
        }
    }

    /// Drops everything from the first damaged record on. Returns where that is.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Option<Place> {
        let mut at = 0;
        while at < self.used {
            match Record::read(&self.records(bytes)[at..]) {
                Ok((_, _, length)) => at += length,
                Err(damage) => {
                    self.used = at;
                    let offset = (self.begin + at) as u64;
                    return Some(Place { offset, damage });
                }
            }
        }
        None
    }

    /// The bytes of its records.
    pub(crate) fn records<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.begin..self.begin + self.used)
            .unwrap_or_default()
    }

    /// The thread's name.
    pub(crate) fn name(&self, bytes: &[u8]) -> String {
        let at = self.begin + chunk_word::NAME * 8 - CHUNK_HEADER;
        let name = bytes.get(at..at + 16).unwrap_or_default();
        let end = name.iter().position(|&byte| byte == 0);
        String::from_utf8_lossy(&name[..end.unwrap_or(name.len())]).into_owned()
    }
}

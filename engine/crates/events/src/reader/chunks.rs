//! Finds a log's chunks.

use std::io;

use fulcrum_wire::log::{CHUNK_HEADER, CHUNK_MAGIC, LOG_HEADER, chunk_check, chunk_word};

use crate::reader::bytes::{LogBytes, words};

/// The checked header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) thread: u32,
    pub(crate) sequence: u32,
    /// The offset of its records in the file.
    pub(crate) data: u64,
    /// The size of its records, in bytes, as far as the file has them.
    pub(crate) used: u32,
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) base: u64,
}

/// All chunks of a log, sorted by thread and sequence, and the damage.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    pub(crate) chunks: Vec<Chunk>,
    /// Bytes of records that should be in the file but are not.
    pub(crate) cut: u64,
}

/// The number of bytes that are searched at once.
const BLOCK: usize = 64 << 10;

/// Goes from chunk to chunk. Where there is none, searches the file for the next one.
pub(crate) fn find(source: &LogBytes, length: u64) -> io::Result<Chunks> {
    let mut found = Chunks::default();
    let mut block = vec![0; BLOCK];
    let (mut from, mut filled) = (0, 0);
    let mut at = LOG_HEADER;
    while at + CHUNK_HEADER as u64 <= length {
        if at < from || at + CHUNK_HEADER as u64 > from + filled as u64 {
            from = at;
            filled = source.read(from, &mut block)?;
            if filled < CHUNK_HEADER {
                break;
            }
        }
        let header = &block[(at - from) as usize..][..CHUNK_HEADER];
        match chunk(header, at, length) {
            Some((chunk, size, cut)) => {
                found.chunks.push(chunk);
                found.cut += cut;
                at += u64::from(size);
            }
            None => at += CHUNK_HEADER as u64,
        }
    }
    found.chunks.sort_by_key(|it| (it.thread, it.sequence));
    Ok(found)
}

/// Reads the header of the chunk at `at`. Returns the chunk, its size, and how many bytes of its records are missing.
fn chunk(header: &[u8], at: u64, length: u64) -> Option<(Chunk, u32, u64)> {
    let words = words::<{ CHUNK_HEADER / 8 }>(header);
    let [low, high] = halves(words[chunk_word::THREAD]);
    let [sequence, check] = halves(words[chunk_word::SEQUENCE]);
    let valid =
        low == CHUNK_MAGIC && words[chunk_word::OFFSET] == at && chunk_check(&words) == check;
    let [size, used] = halves(words[chunk_word::SIZE]);
    // The checksum does not include the size, because that changes.
    let whole = (size as usize).is_multiple_of(CHUNK_HEADER)
        && size as usize >= CHUNK_HEADER
        && used as usize <= size as usize - CHUNK_HEADER;
    if !valid || !whole {
        return None;
    }
    let data = at + CHUNK_HEADER as u64;
    let there = (length - data).min(u64::from(used)) as u32;
    let chunk = Chunk {
        thread: high,
        sequence,
        data,
        used: there,
        ticks: words[chunk_word::TICKS],
        ns: words[chunk_word::NS],
        cpu_ns: words[chunk_word::CPU_NS],
        base: words[chunk_word::BASE],
    };
    Some((chunk, size, u64::from(used - there)))
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

//! Writes the events of one thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fulcrum_wire::log::{
    Body, CHUNK_HEADER, CHUNK_MAGIC, ChunkWords, MAX_CHUNK, MIN_CHUNK, Record, chunk_check,
    chunk_word, short_record,
};

use crate::log::Log;
use crate::places::Place;

/// Writes the events of one thread. Dropping it gives back the rest of its chunk.
pub struct ThreadWriter {
    /// Before the log, which keeps it mapped.
    chunk: Option<Chunk>,
    log: Arc<Log>,
    thread: u32,
    /// The number of chunks so far.
    sequence: u32,
    /// The size of the next chunk. Threads that write little get small chunks.
    next_size: u32,
    /// An offset that is added to CPU times.
    cpu_offset: i64,
}

struct Chunk {
    place: Place,
    /// The size of the records, in bytes.
    used: usize,
    /// The last record's ticks.
    ticks: u64,
    /// The header's CPU time.
    cpu_ns: u64,
}

impl Log {
    /// A writer for a thread. `thread` must be used by one writer at a time.
    pub fn stream(self: &Arc<Self>, thread: u32) -> ThreadWriter {
        ThreadWriter::new(Arc::clone(self), thread, MIN_CHUNK)
    }

    /// A writer for a thread that writes much at once: its first chunk has the maximum size.
    pub fn wide_stream(self: &Arc<Self>, thread: u32) -> ThreadWriter {
        ThreadWriter::new(Arc::clone(self), thread, MAX_CHUNK)
    }
}

impl ThreadWriter {
    fn new(log: Arc<Log>, thread: u32, first_size: u32) -> ThreadWriter {
        ThreadWriter {
            log,
            thread,
            chunk: None,
            sequence: 0,
            next_size: first_size,
            cpu_offset: 0,
        }
    }

    /// From now on CPU times, nanoseconds, are those of the operating system's thread plus this: a thread that runs on
    /// several of them in turn has a CPU time of its own.
    pub fn set_cpu_offset(&mut self, offset: i64) {
        self.cpu_offset = offset;
    }

    /// See [`Self::set_cpu_offset`].
    pub fn cpu_offset(&self) -> i64 {
        self.cpu_offset
    }

    /// The records of the current chunk.
    pub fn written(&self) -> &[u8] {
        let chunk = self.chunk.as_ref();
        chunk.map_or(&[], |chunk| &chunk.place.data[..chunk.used])
    }

    /// Bytes that events may take before the next one needs another chunk, which takes a lock and system calls.
    #[inline]
    pub fn room(&self) -> usize {
        let chunk = self.chunk.as_ref();
        chunk.map_or(0, |chunk| chunk.place.data.len() - chunk.used)
    }

    /// Changes with every event that is written.
    #[inline]
    pub fn position(&self) -> u64 {
        let used = self.chunk.as_ref().map_or(0, |chunk| chunk.used);
        u64::from(self.sequence) << 32 | used as u64
    }

    /// Writes an event. `false` when it found no place, which the log counts.
    ///
    /// `skipped` is the number of calls since the last event whose probes fired and were not logged.
    #[inline]
    pub fn write(
        &mut self,
        kind: u8,
        ticks: u64,
        cpu_ns: Option<u64>,
        skipped: u64,
        body: Body<'_>,
    ) -> bool {
        let cpu_ns = cpu_ns.map(|cpu| cpu.saturating_add_signed(self.cpu_offset));
        if let Some(chunk) = &mut self.chunk
            && chunk.write(kind, ticks, cpu_ns, skipped, body)
        {
            return true;
        }
        self.write_next(kind, ticks, cpu_ns, skipped, body)
    }

    /// Writes an event of a method that needs no CPU time and has nothing skipped. `false` when it found no place.
    ///
    /// It is what [`Self::write`] does, in a tenth of its instructions: nearly all events come this way.
    #[inline]
    pub fn write_method(&mut self, kind: u8, ticks: u64, method: u32) -> bool {
        if let Some(chunk) = &mut self.chunk
            && chunk.write_short(kind, ticks, method)
        {
            return true;
        }
        self.write_long(kind, ticks, method)
    }

    #[cold]
    #[inline(never)]
    fn write_long(&mut self, kind: u8, ticks: u64, method: u32) -> bool {
        self.write(kind, ticks, None, 0, Body::Method(method))
    }

    #[cold]
    fn write_next(
        &mut self,
        kind: u8,
        ticks: u64,
        cpu_ns: Option<u64>,
        skipped: u64,
        body: Body<'_>,
    ) -> bool {
        self.chunk = None;
        // SAFETY: this writer keeps the log as long as the place: the chunk is dropped first.
        let place = unsafe { self.log.take(self.next_size) };
        let Some(place) = place else {
            self.log.drop_event();
            return false;
        };
        let mut now = self.log.now();
        now.cpu_ns = now.cpu_ns.saturating_add_signed(self.cpu_offset);
        let size = place.data.len() + CHUNK_HEADER;
        let mut words: ChunkWords = [0; CHUNK_HEADER / 8];
        words[chunk_word::THREAD] = u64::from(CHUNK_MAGIC) | u64::from(self.thread) << 32;
        words[chunk_word::OFFSET] = place.offset;
        words[chunk_word::SEQUENCE] = u64::from(self.sequence);
        words[chunk_word::TICKS] = now.ticks;
        words[chunk_word::NS] = now.ns;
        words[chunk_word::CPU_NS] = now.cpu_ns;
        words[chunk_word::BASE] = ticks;
        words[chunk_word::SIZE] = size as u64;
        words[chunk_word::SEQUENCE] |= u64::from(chunk_check(&words)) << 32;
        for (at, value) in words.iter().enumerate().rev() {
            place.words[at].store(value.to_le(), Ordering::Release);
        }
        self.sequence += 1;
        self.next_size = self.next_size.saturating_mul(4).min(MAX_CHUNK);
        let mut chunk = Chunk {
            place,
            used: 0,
            ticks,
            cpu_ns: now.cpu_ns,
        };
        let written = chunk.write(kind, ticks, cpu_ns, skipped, body);
        self.chunk = Some(chunk);
        written
    }
}

impl Chunk {
    #[inline]
    fn write(
        &mut self,
        kind: u8,
        ticks: u64,
        cpu_ns: Option<u64>,
        skipped: u64,
        body: Body<'_>,
    ) -> bool {
        let record = Record {
            kind,
            ticks: ticks.saturating_sub(self.ticks),
            cpu_ns: cpu_ns.map(|cpu| cpu.saturating_sub(self.cpu_ns)),
            skipped,
            body,
        };
        let Some(length) = record.write(&mut self.place.data[self.used..]) else {
            return false;
        };
        self.used += length;
        self.ticks = self.ticks.max(ticks);
        self.publish(self.place.data.len() + CHUNK_HEADER);
        true
    }

    /// Writes a record that fits into a word, if there is room for a word.
    #[inline(always)]
    fn write_short(&mut self, kind: u8, ticks: u64, method: u32) -> bool {
        let Some((word, length)) = short_record(kind, ticks.saturating_sub(self.ticks), method)
        else {
            return false;
        };
        let rest = self.place.data.get_mut(self.used..);
        let Some(place) = rest.and_then(|rest| rest.first_chunk_mut()) else {
            return false;
        };
        // The bytes after the record are not in use yet.
        *place = word.to_le_bytes();
        self.used += length;
        self.ticks = self.ticks.max(ticks);
        self.publish(self.place.data.len() + CHUNK_HEADER);
        true
    }

    /// Publishes the records that were written.
    #[inline]
    fn publish(&self, size: usize) {
        let word = size as u64 | (self.used as u64) << 32;
        self.place.words[chunk_word::SIZE].store(word.to_le(), Ordering::Release);
    }
}

impl Drop for ThreadWriter {
    fn drop(&mut self) {
        let Some(chunk) = self.chunk.take() else {
            return;
        };
        let all = chunk.place.data.len() + CHUNK_HEADER;
        let kept = (chunk.used + CHUNK_HEADER).next_multiple_of(CHUNK_HEADER);
        if all - kept >= MIN_CHUNK as usize {
            chunk.publish(kept);
            let rest = chunk.place.offset + kept as u64;
            // SAFETY: the rest was ours, and the chunk with the references to it is not used again.
            unsafe { self.log.give_back(rest, (all - kept) as u32) };
        }
    }
}

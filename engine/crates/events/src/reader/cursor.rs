//! Reads one thread's records and events in order.

use std::io;

use fulcrum_model::text::counted;
use fulcrum_wire::log::{Body, CHUNK_HEADER, MIN_CHUNK, Record, cpu_clock};

use crate::reader::bytes::LogBytes;
use crate::reader::chunks::Chunk;
use crate::reader::clock::Clock;
use crate::reader::event::{Event, What, what};
use crate::reader::selection::Selection;

/// The part of a chunk that is in memory, in bytes: several times the longest record.
const BUFFER: usize = 4 * MIN_CHUNK as usize;
const _: () = assert!(BUFFER > MIN_CHUNK as usize + CHUNK_HEADER);

/// A position of a cursor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    begun: u32,
    at: u64,
    left: u32,
    ticks: u64,
}

/// Reads the records of some chunks.
pub(crate) struct Cursor<'a> {
    source: &'a LogBytes,
    chunks: &'a [Chunk],
    /// The number of chunks that were begun.
    begun: usize,
    chunk: Option<Chunk>,
    buffer: Vec<u8>,
    /// The part of the buffer that is not read yet.
    from: usize,
    to: usize,
    /// The bytes of the chunk that are not in the buffer yet.
    left: u64,
    next: u64,
    ticks: u64,
    sequence: u32,
    problems: Vec<String>,
}

/// A record with its time.
pub(crate) struct Moment<'a> {
    pub(crate) record: Record<'a>,
    pub(crate) ticks: u64,
    pub(crate) chunk: Chunk,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(source: &'a LogBytes, chunks: &'a [Chunk]) -> Cursor<'a> {
        Cursor {
            source,
            chunks,
            begun: 0,
            chunk: None,
            buffer: Vec::new(),
            from: 0,
            to: 0,
            left: 0,
            next: 0,
            ticks: 0,
            sequence: 0,
            problems: Vec::new(),
        }
    }

    /// The next record. After damage, continues with the next chunk and adds to [`Self::problems`].
    pub(crate) fn next(&mut self) -> Option<Moment<'_>> {
        let (length, ticks, chunk) = loop {
            if let Some(chunk) = self.chunk {
                match Record::read(&self.buffer[self.from..self.to]) {
                    Ok((record, length)) => {
                        break (length, self.ticks.saturating_add(record.ticks), chunk);
                    }
                    Err(_) if self.left > 0 && self.to - self.from < BUFFER / 2 => {
                        if let Err(error) = self.fill() {
                            self.problem(&format!("the file cannot be read: {error}"));
                        }
                        continue;
                    }
                    Err(_) => {
                        if self.from < self.to || self.left > 0 {
                            self.problem("a record is malformed");
                        }
                    }
                }
            }
            self.open_next()?;
        };
        let at = self.from;
        self.from += length;
        self.ticks = ticks;
        let (record, _) = Record::read(&self.buffer[at..]).ok()?;
        Some(Moment {
            record,
            ticks,
            chunk,
        })
    }

    /// What was left out so far, in whole sentences.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The position of the next record.
    fn place(&self) -> Place {
        let unread = (self.to - self.from) as u64;
        Place {
            begun: self.begun as u32,
            at: self.next - unread,
            left: (self.left + unread) as u32,
            ticks: self.ticks,
        }
    }

    /// Goes to a position of a cursor over the same chunks.
    fn go_to(&mut self, place: Place) {
        self.begun = place.begun as usize;
        self.chunk = self.begun.checked_sub(1).map(|last| self.chunks[last]);
        self.sequence = self.chunk.map_or(0, |it| it.sequence.wrapping_add(1));
        (self.from, self.to) = (0, 0);
        (self.left, self.next) = (u64::from(place.left), place.at);
        self.ticks = place.ticks;
    }

    fn open_next(&mut self) -> Option<()> {
        let chunk = *self.chunks.get(self.begun)?;
        self.begun += 1;
        if chunk.sequence != self.sequence {
            let missing = chunk.sequence.abs_diff(self.sequence);
            self.problems.push(format!(
                "Missing or damaged: {} of thread {} before byte {}; its events there are lost.",
                counted(missing.into(), "chunk", "chunks"),
                chunk.thread,
                chunk.data
            ));
        }
        self.sequence = chunk.sequence.wrapping_add(1);
        self.chunk = Some(chunk);
        (self.from, self.to) = (0, 0);
        (self.left, self.next) = (u64::from(chunk.used), chunk.data);
        self.ticks = chunk.base;
        Some(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.resize(BUFFER, 0);
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        let room = BUFFER - self.to;
        let wanted = self.left.min(room as u64) as usize;
        let read = self
            .source
            .read(self.next, &mut self.buffer[self.to..self.to + wanted])?;
        self.to += read;
        self.next += read as u64;
        // A file that has been truncated has no more bytes.
        self.left = if read < wanted {
            0
        } else {
            self.left - read as u64
        };
        Ok(())
    }

    fn problem(&mut self, what: &str) {
        let lost = (self.to - self.from) as u64 + self.left;
        let at = self.next - (self.to - self.from) as u64;
        let thread = self.chunk.map_or(0, |chunk| chunk.thread);
        self.problems.push(format!(
            "at byte {at} {what}: {} of events of thread {thread} left out.",
            counted(lost, "byte", "bytes")
        ));
        self.from = self.to;
        self.left = 0;
        self.chunk = None;
    }
}

/// A position in a thread's events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    place: Place,
    sync: (Option<u64>, u64, u64),
    last: (u64, u64),
    /// The number of events before it.
    pub(crate) ordinal: u64,
}

/// The events of a thread, in order.
pub struct ThreadEvents<'a> {
    cursor: Cursor<'a>,
    clock: Clock,
    selection: Option<&'a Selection>,
    has_cpu: bool,
    /// Later events are not complete for all threads.
    until: u64,
    /// When the CPU time was last read: the offset of the chunk, ticks, nanoseconds.
    sync: (Option<u64>, u64, u64),
    last: (u64, u64),
    /// The number of events so far, including those that the selection leaves out.
    ordinal: u64,
    filtered: u64,
    skipped: u64,
}

impl<'a> ThreadEvents<'a> {
    pub(crate) fn new(
        cursor: Cursor<'a>,
        clock: Clock,
        selection: Option<&'a Selection>,
        cpu: u64,
        until: u64,
    ) -> ThreadEvents<'a> {
        ThreadEvents {
            cursor,
            clock,
            selection,
            has_cpu: cpu != cpu_clock::NONE,
            until,
            sync: (None, 0, 0),
            last: (0, 0),
            ordinal: 0,
            filtered: 0,
            skipped: 0,
        }
    }

    /// What had to be left out so far, in whole sentences.
    pub fn problems(&self) -> &[String] {
        self.cursor.problems()
    }

    /// The number of the last event in its thread, from 0. Events that a filter leaves out count.
    pub fn number(&self) -> u64 {
        self.ordinal.wrapping_sub(1)
    }

    /// The position of the next event.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            place: self.cursor.place(),
            sync: self.sync,
            last: self.last,
            ordinal: self.ordinal,
        }
    }

    /// Goes to a position in the same thread's events.
    pub(crate) fn go_to(&mut self, mark: Mark) {
        self.cursor.go_to(mark.place);
        (self.sync, self.last, self.ordinal) = (mark.sync, mark.last, mark.ordinal);
        (self.filtered, self.skipped) = (0, 0);
    }
}

impl Iterator for ThreadEvents<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let Moment {
                record,
                ticks,
                chunk,
            } = self.cursor.next()?;
            if ticks > self.until {
                return None;
            }
            if self.sync.0 != Some(chunk.data) {
                self.sync = (Some(chunk.data), chunk.ticks, chunk.cpu_ns);
            }
            if let Some(cpu) = record.cpu_ns {
                self.sync = (Some(chunk.data), ticks, chunk.cpu_ns.saturating_add(cpu));
            }
            // Clocks of different processors may differ by some ticks, but time must not go back in a thread.
            let wall_ns = self.clock.ns(ticks).max(self.last.0);
            let ran = self.clock.span(self.sync.1, ticks);
            let cpu = self.sync.2.saturating_add_signed(ran).max(self.last.1);
            self.last = (wall_ns, cpu);
            let thread = chunk.thread;
            let known = match (what(&record), record.body) {
                (Ok(known), _) => known,
                (Err(_), Body::Method(_) | Body::Payload(_)) => {
                    self.cursor.problem("an event is malformed");
                    continue;
                }
            };
            let Some(what) = known else { continue };
            let skipped = record.skipped;
            self.ordinal += 1;
            if let Some(selection) = self.selection
                && !selection.has(&what)
            {
                self.filtered += u64::from(matches!(what, What::Enter { .. }));
                self.skipped = self.skipped.saturating_add(skipped);
                continue;
            }
            return Some(Event {
                thread,
                wall_ns,
                cpu_ns: self.has_cpu.then_some(cpu),
                skipped: std::mem::take(&mut self.skipped).saturating_add(skipped),
                filtered: std::mem::take(&mut self.filtered),
                what,
            });
        }
    }
}

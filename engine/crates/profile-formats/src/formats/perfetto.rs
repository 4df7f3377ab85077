//! Perfetto's traces: the stack samples of `traced_perf` (`PerfSample`) and of Chrome (`StreamingProfilePacket`).
//!
//! Libraries: perfetto_protos generates code for all of Perfetto's messages when it is built. A trace is mostly packets
//! that are skipped here; generated types would copy them all.

mod deobfuscated;
mod interned;
mod packets;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use self::deobfuscated::Package;
use self::interned::{Added, Sequence};
use self::packets::{Packet, Trace};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::Stacks;
use crate::collect::units::value;
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::wire::Message;

/// Detects packets with a writer or a time.
pub(crate) fn detect(input: &Input) -> bool {
    input.is_binary() && packets::is_trace(input.bytes)
}

/// A process and a thread of it.
type Thread = (u64, u64);

/// What holds for the whole trace, wherever it is in the file.
#[derive(Default)]
struct Tables {
    added: Added,
    /// By process: its user id and its own name.
    processes: HashMap<u64, (Option<u64>, Option<String>)>,
    /// Names by thread. A process's first thread has the process's name.
    names: HashMap<u64, String>,
    /// The thread of each writer that is one.
    writers: HashMap<u64, Thread>,
    /// Threads that have samples.
    sampled: BTreeSet<Thread>,
    /// The number of packets with heap samples.
    heap: u64,
}

/// Reads the samples of a trace.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let trace = Trace::new(input)?;
    let mut tables = Tables::default();
    trace.each(input, 0.0, &mut |packet| tables.packet(packet))?;
    if tables.sampled.is_empty() {
        let fault = Fault::whole("the trace has no stack samples");
        return Err(fault.advise(match tables.heap {
            0 => "record with the data source linux.perf, or make JSON of its spans with `traceconv json TRACE OUT.json`",
            _ => "extract its heap samples with `traceconv profile --alloc TRACE`, which writes pprof",
        }));
    }
    let mut reader = Reader {
        input,
        tables: &tables,
        sequences: HashMap::new(),
        stacks: Stacks::new(vec![value("samples", "count")], 0)?,
        broken: 0,
        missing: 0,
        skipped: 0,
        lost: 0,
    };
    trace.each(input, 0.5, &mut |packet| reader.packet(packet))?;
    reader.finish()
}

impl Tables {
    fn packet(&mut self, packet: &Packet) -> Result<(), Fault> {
        if let Some(tree) = packet.process_tree {
            self.process_tree(tree)?;
        }
        if let Some(thread) = packet.thread {
            self.writer(packet.sequence, thread)?;
        }
        if let Some(symbols) = packet.symbols {
            self.added.modules.add(symbols)?;
        }
        if let Some(mapping) = packet.deobfuscation {
            self.added.deobfuscated.add(mapping)?;
        }
        if let Some(list) = packet.packages {
            self.added.deobfuscated.add_packages(list)?;
        }
        self.heap += u64::from(packet.heap);
        if let Some(sample) = packet.sample {
            let sample = Sample::of(sample)?;
            if sample.is_sample() {
                self.sampled.insert((sample.process, sample.thread));
            }
        }
        if packet.streaming.is_some() {
            let thread = self.writers.get(&packet.sequence).copied();
            self.sampled.insert(thread.unwrap_or((0, packet.sequence)));
        }
        Ok(())
    }

    fn process_tree(&mut self, mut tree: Message) -> Result<(), Fault> {
        while let Some((number, field)) = tree.field()? {
            let Some(mut part) = field.message() else {
                continue;
            };
            // Processes and threads have their id in field 1, and their names in fields 3 and 2.
            let name_is = match number {
                1 => 3,
                2 => 2,
                _ => continue,
            };
            let (mut id, mut name, mut user) = (0, None, None);
            while let Some((number, field)) = part.field()? {
                match field.message() {
                    None if number == 1 => id = field.number(),
                    None if number == 5 => user = Some(field.number()),
                    Some(text) if number == name_is && name.is_none() => name = Some(text.text()),
                    _ => {}
                }
            }
            if number == 1 {
                self.processes.insert(id, (user, name.clone()));
            }
            if let Some(name) = name.filter(|it| !it.is_empty()) {
                match number {
                    1 => drop(self.names.entry(id).or_insert(name)),
                    _ => drop(self.names.insert(id, name)),
                }
            }
        }
        Ok(())
    }

    /// Reads the thread of a writer.
    fn writer(&mut self, sequence: u64, mut thread: Message) -> Result<(), Fault> {
        let (mut process, mut id, mut name) = (0, 0, String::new());
        while let Some((number, field)) = thread.field()? {
            match (number, field.message()) {
                (1, None) => process = field.number(),
                (2, None) => id = field.number(),
                (5, Some(text)) => name = text.text(),
                _ => {}
            }
        }
        if !name.is_empty() {
            self.names.insert(id, name);
        }
        self.writers.insert(sequence, (process, id));
        Ok(())
    }

    /// The package that a process runs, if the trace has names of its source.
    fn package(&self, process: u64) -> Option<Package> {
        let names = &self.added.deobfuscated;
        if names.is_empty() {
            return None;
        }
        let (user, name) = self.processes.get(&process)?;
        names.of_process(*user, name.as_deref())
    }

    fn label(&self, (process, thread): Thread) -> String {
        let name = self.names.get(&thread).or_else(|| self.names.get(&process));
        let name = name.map_or("thread", |it| it);
        format!("{name} ({process}/{thread})")
    }
}

/// A sample of `traced_perf`, or a report about missing ones.
#[derive(Default)]
struct Sample {
    process: u64,
    thread: u64,
    stack: u64,
    /// The stack was not unwound to its end.
    broken: bool,
    skipped: bool,
    lost: u64,
    /// It is about the recorder itself.
    other: bool,
}

impl Sample {
    fn of(mut message: Message) -> Result<Self, Fault> {
        /// No error.
        const NONE: u64 = 1;
        let mut sample = Sample::default();
        while let Some((number, field)) = message.field()? {
            match number {
                2 => sample.process = field.number(),
                3 => sample.thread = field.number(),
                4 => sample.stack = field.number(),
                16 => sample.broken = field.number() != NONE,
                17 => sample.lost = field.number(),
                18 => sample.skipped = true,
                19 => sample.other = true,
                _ => {}
            }
        }
        Ok(sample)
    }

    fn is_sample(&self) -> bool {
        !self.skipped && !self.other && self.lost == 0
    }
}

struct Reader<'r, 'i, 'a> {
    input: &'i Input<'a>,
    tables: &'r Tables,
    /// By writer, because each numbers its names itself.
    sequences: HashMap<u64, Sequence<'r>>,
    stacks: Stacks,
    broken: u64,
    missing: u64,
    skipped: u64,
    lost: u64,
}

impl<'r> Reader<'r, '_, '_> {
    fn packet(&mut self, packet: &Packet<'r>) -> Result<(), Fault> {
        let sequence = self.sequences.entry(packet.sequence).or_default();
        if packet.cleared {
            *sequence = Sequence::default();
        }
        if let Some(interned) = packet.interned {
            sequence.add(interned)?;
        }
        if let Some(sample) = packet.sample {
            let sample = Sample::of(sample)?;
            self.lost = self.lost.saturating_add(sample.lost);
            self.skipped += u64::from(sample.skipped);
            if sample.is_sample() {
                self.broken += u64::from(sample.broken);
                self.add(
                    packet.sequence,
                    (sample.process, sample.thread),
                    sample.stack,
                )?;
            }
        }
        if let Some(mut streaming) = packet.streaming {
            let thread = self.tables.writers.get(&packet.sequence).copied();
            let thread = thread.unwrap_or((0, packet.sequence));
            let mut stacks = Vec::new();
            while let Some((number, field)) = streaming.field()? {
                if number == 1 {
                    field.numbers(&mut stacks)?;
                }
            }
            for stack in stacks {
                self.add(packet.sequence, thread, stack)?;
            }
        }
        Ok(())
    }

    /// Adds a sample. Stack 0 means no stack.
    fn add(&mut self, sequence: u64, thread: Thread, stack: u64) -> Result<(), Fault> {
        let Some(sequence) = self.sequences.get_mut(&sequence) else {
            return Ok(());
        };
        let Tables { added, .. } = self.tables;
        let package = self.tables.package(thread.0);
        let frames = match stack {
            0 => Some(Vec::new()),
            stack => sequence.stack((stack, package), added, self.input, &mut self.stacks)?,
        };
        let Some(frames) = frames else {
            self.missing += 1;
            return Ok(());
        };
        let container = match self.tables.sampled.len() > 1 {
            true => Some(self.stacks.container(&self.tables.label(thread))?),
            false => None,
        };
        self.stacks.add_in(container, &frames, &[1])
    }

    fn finish(mut self) -> Result<Collected, Fault> {
        for (count, what) in [
            (
                self.broken,
                "samples have stacks that the recorder could not unwind completely.",
            ),
            (
                self.missing,
                "samples are left out: the trace lost their stacks.",
            ),
            (self.skipped, "samples were left out by the recorder."),
            (self.lost, "records were lost by the kernel."),
        ] {
            if count > 0 {
                self.stacks.note(format!("{count} {what}"));
            }
        }
        if self.tables.heap > 0 {
            self.stacks.note(
                "Heap samples are left out: `traceconv profile --alloc TRACE` extracts them.",
            );
        }
        self.stacks
            .note("Only the trace's samples are read, not its spans, counters and times.");
        self.stacks.finish(Format::Perfetto)
    }
}

//! `perf.data`, which `perf record` writes to a file or into a pipe: call chains of addresses, named by their files.
//!
//! Libraries: linux-perf-data reads the records, but takes the length of the data from the header, which is 0 when the
//! recorder was killed; its records leave out the counters of event groups, and it links the C library of zstd.

#[cfg(test)]
mod big_endian_tests;
mod event_names;
mod events;
mod header;
mod maps;
mod records;
#[cfg(test)]
mod tests;
mod tracepoints;
mod walk;

use std::collections::{BTreeSet, HashMap};

use self::events::{Address, Sample, User};
use self::header::Header;
use self::maps::{Place, Processes};
use self::records::Record;
use self::walk::{End, walk};
use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::{FrameId, Recorded, Stacks};
use crate::collect::symbols::{At, Code, bracketed};
use crate::collect::units::value;
use crate::decode::cursor::Order;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// Detects the magic number, in either byte order.
pub(crate) fn detect(input: &Input) -> bool {
    let mut magics = header::MAGICS.iter().chain(&header::SWAPPED);
    magics.any(|magic| input.bytes.starts_with(magic))
}

/// Records between two progress reports.
const PROGRESS_STEP: usize = 1 << 10;

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut header = Header::read(input.bytes)?;
    let records::Records {
        mut records,
        unpacked,
        notes,
    } = records::read(input.bytes, &mut header, input.limits)?;
    // Each processor has its own buffer, so records are not in order.
    records.sort_by_key(|record| record.time);
    let samples = || records.iter().filter_map(Record::sample);
    let threads: BTreeSet<(u32, u32)> = samples().map(|it| (it.pid, it.tid)).collect();
    // perf adds its own events, which have no samples.
    let counted = |sample: &Sample| {
        let rows = sample
            .counters
            .iter()
            .filter_map(|it| header.rows.get(&it.id));
        rows.copied().collect::<Vec<_>>()
    };
    let sampled: BTreeSet<usize> = samples()
        .flat_map(|it| counted(it).into_iter().chain([it.event]))
        .collect();
    let mut types = vec![value("samples", "count")];
    let mut columns = vec![0; header.events.len()];
    for &row in &sampled {
        let event = &header.events[row];
        columns[row] = types.len();
        types.push(value(&event.name, event.unit()));
    }
    let default_value = usize::from(!sampled.is_empty());
    let mut reader = Reader {
        stacks: Stacks::new(types, default_value)?,
        columns,
        rows: std::mem::take(&mut header.rows),
        counted: HashMap::new(),
        processes: Processes::default(),
        places: HashMap::new(),
        named: Vec::new(),
        input,
        several: threads.len() > 1,
        unpacked: &unpacked,
        unwinds: header.order == Order::Little
            && header.machine.as_deref().is_none_or(|it| it == "x86_64"),
        copies: Copies::default(),
    };
    for (n, record) in records.iter().enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / records.len() as f64)?;
        }
        reader
            .record(record)
            .map_err(|fault| fault.at_byte(record.at))?;
    }
    reader.finish(&notes)
}

/// The key of an address's frames: file and offset.
type Key = (u32, u64);

struct Reader<'i, 'a> {
    stacks: Stacks,
    /// The value type of each event.
    columns: Vec<usize>,
    /// Rows of events by id.
    rows: HashMap<u64, usize>,
    /// The last value of each counter, by the event's id and the thread.
    counted: HashMap<(u64, u32), u64>,
    processes: Processes,
    /// The range in `named` of each place's frames.
    places: HashMap<Key, (usize, usize)>,
    /// Frames, innermost first in each place.
    named: Vec<FrameId>,
    input: &'i Input<'a>,
    several: bool,
    /// The decompressed records.
    unpacked: &'i [u8],
    /// Whether copies of stacks can be unwound: the machine is x86-64.
    unwinds: bool,
    copies: Copies,
}

/// How many samples with a copy of the stack could not be unwound completely, by the reason.
#[derive(Clone, Copy, Debug, Default)]
struct Copies {
    /// The copy could not be unwound at all.
    unread: u64,
    /// The copy ends before the outermost frame.
    short: u64,
    /// The caller of some code is unknown.
    unknown: u64,
}

impl Reader<'_, '_> {
    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        match &record.body {
            records::Body::Map(map) => self.processes.map(map)?,
            records::Body::Name {
                pid,
                tid,
                name,
                exec,
            } => {
                self.processes.name(*pid, *tid, name, *exec);
            }
            records::Body::Fork {
                pid,
                tid,
                parent,
                parent_tid,
                maps,
            } => {
                self.processes
                    .fork((*pid, *tid), (*parent, *parent_tid), *maps);
            }
            records::Body::Sample(sample) => self.sample(sample)?,
        }
        Ok(())
    }

    fn sample(&mut self, sample: &Sample) -> Result<(), Fault> {
        let (chain, recorded) = self.chain(sample);
        let mut stack = Vec::new();
        for address in &chain {
            let (from, to) = self.frames_of(sample.pid, address)?;
            stack.extend_from_slice(&self.named[from..to]);
        }
        stack.reverse();
        let container = match self.several {
            true => {
                let comm = self.processes.name_of(sample.pid, sample.tid);
                let name = format!("{comm} ({}/{})", sample.pid, sample.tid);
                Some(self.stacks.container(&name)?)
            }
            false => None,
        };
        let mut values = vec![0; self.stacks.width()];
        values[0] = 1;
        if !self.growth(sample, &mut values)? {
            values[self.columns[sample.event]] = whole(sample.period)?;
        }
        self.stacks
            .add_recorded(container, &stack, recorded, &values)
    }

    /// The addresses of a sample's frames, innermost first, and whether they are all.
    fn chain(&mut self, sample: &Sample) -> (Vec<Address>, Recorded) {
        let recorded = (sample.chain.clone(), Recorded::from_cut(sample.broken));
        let Some(user) = &sample.user else {
            return recorded;
        };
        let copy = self.copy(user);
        let walked = copy.and_then(|copy| {
            walk(
                &user.registers,
                copy,
                sample.pid,
                &self.processes,
                self.input.symbols,
            )
        });
        let Some((callers, end)) = walked else {
            self.copies.unread += 1;
            return recorded;
        };
        self.copies.short += u64::from(end == End::Short);
        self.copies.unknown += u64::from(end == End::Unknown);
        let mut chain = recorded.0;
        chain.retain(|address| address.kernel);
        chain.extend(callers);
        let cut = sample.broken || end != End::Outermost;
        (chain, Recorded::from_cut(cut))
    }

    fn copy(&self, user: &User) -> Option<&[u8]> {
        let bytes = match user.unpacked {
            true => self.unpacked,
            false => self.input.bytes,
        };
        bytes
            .get(user.at..user.at + user.length)
            .filter(|copy| self.unwinds && !copy.is_empty())
    }

    /// Adds how much a sample's counters grew since the previous sample. `perf` records groups (`{a,b}:S`) this way, of
    /// which only the first event takes samples. Returns false when the sample has no counters.
    fn growth(&mut self, sample: &Sample, values: &mut [i64]) -> Result<bool, Fault> {
        let mut known = false;
        for counter in &sample.counters {
            let Some(&row) = self.rows.get(&counter.id) else {
                continue;
            };
            known = true;
            let before = self.counted.entry((counter.id, counter.tid)).or_default();
            let grown = whole(counter.value.saturating_sub(*before))?;
            *before = counter.value;
            let value = &mut values[self.columns[row]];
            *value = value.checked_add(grown).ok_or_else(too_large)?;
        }
        Ok(known)
    }

    /// The range in `named` of an address's frames.
    fn frames_of(&mut self, pid: u32, address: &Address) -> Result<(usize, usize), Fault> {
        let place = self.processes.place(pid, *address);
        let key = match place {
            Place::File { file, offset } => (file, offset),
            // All code without a file shares one frame.
            Place::Kernel => (u32::MAX, 0),
            Place::Unknown => (u32::MAX, 1),
        };
        if let Some(&range) = self.places.get(&key) {
            return Ok(range);
        }
        let from = self.named.len();
        match place {
            Place::File { file, offset } => {
                let file = self.processes.file(file);
                let symbols = self.input.symbols;
                let mut code = symbols.code(&file.name, file.build_id(), At::Byte(offset));
                if code.is_empty() {
                    code.push(Code {
                        name: bracketed(&file.name),
                        ..Code::default()
                    });
                }
                for it in code.iter().rev() {
                    let (source, line) = match self.input.lines() {
                        true => (&*it.file, it.line),
                        false => ("", 0),
                    };
                    let frame = self.stacks.frame_in(&it.name, source, line, &file.name)?;
                    self.named.push(frame);
                }
            }
            Place::Kernel => self.named.push(self.stacks.frame_in(
                records::KERNEL_FILE,
                "",
                0,
                records::KERNEL_FILE,
            )?),
            Place::Unknown => self.named.push(self.stacks.frame("[unknown]", "", 0)?),
        }
        let range = (from, self.named.len());
        self.places.insert(key, range);
        Ok(range)
    }

    fn finish(mut self, notes: &[&str]) -> Result<Collected, Fault> {
        for &note in notes {
            self.stacks.note(note);
        }
        let Copies {
            unread,
            short,
            unknown,
        } = self.copies;
        if unread > 0 {
            self.stacks.note(format!(
                "{unread} samples have copies of their stacks (--call-graph dwarf) that are empty or not of x86-64: their callers \
                 are missing. `perf script` may find them.",
            ));
        }
        if short > 0 {
            self.stacks.note(format!(
                "{short} stacks are deeper than their copies: `--call-graph dwarf,65528` copies the most.",
            ));
        }
        if unknown > 0 {
            self.stacks.note(format!(
                "{unknown} stacks end in code whose caller is unknown: the program or library is not here, is another build, or has \
                 no call frame information.",
            ));
        }
        self.stacks.finish(Format::PerfData)
    }
}

fn whole(period: u64) -> Result<i64, Fault> {
    i64::try_from(period).map_err(|_| Fault::whole(format!("the period {period} is too large")))
}

//! The counted events and their samples. An event's bits decide which fields its records have.

use std::collections::HashMap;

use super::event_names::{TRACEPOINT, name};
use crate::collect::symbols::Registers;
use crate::decode::cursor::{Cursor, Order};
use crate::decode::fault::Fault;

// The fields of a sample, in order.
const IDENTIFIER: u64 = 1 << 16;
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const ID: u64 = 1 << 6;
const STREAM_ID: u64 = 1 << 9;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const RAW: u64 = 1 << 10;
const BRANCH_STACK: u64 = 1 << 11;
const REGS_USER: u64 = 1 << 12;
const STACK_USER: u64 = 1 << 13;

// Which fields branch records have.
const BRANCH_INDEX: u64 = 1 << 17;
const BRANCH_COUNTERS: u64 = 1 << 19;

/// The registers are those of a 64-bit program.
const ABI_64: u64 = 2;
/// The DWARF numbers of x86-64's registers, in the kernel's order. Flags and segments have none.
const X86: [Option<u8>; 24] = [
    Some(0),
    Some(3),
    Some(2),
    Some(1),
    Some(4),
    Some(5),
    Some(6),
    Some(7),
    Some(16),
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    Some(8),
    Some(9),
    Some(10),
    Some(11),
    Some(12),
    Some(13),
    Some(14),
    Some(15),
];

/// Flags of an event.
const INHERIT: u64 = 1 << 1;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const FREQUENCY: u64 = 1 << 10;

/// Addresses from here on are context marks: the kernel's code follows, the user's, …
const MARKS: u64 = u64::MAX - 4094;
const MARK_KERNEL: u64 = (-128_i64).cast_unsigned();
/// Hypervisor, user, guest, guest's kernel and guest's user.
const OTHER_MARKS: [i64; 5] = [-32, -512, -2048, -2176, -2560];

/// A counted event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// As the recorder named it.
    pub(crate) name: String,
    kind: u32,
    config: u64,
    /// The period, unless samples have their own.
    period: u64,
    sample: u64,
    read: u64,
    /// Records other than samples have their time too.
    all: bool,
    /// Threads that start later are counted too, each with its own counter.
    inherit: bool,
    /// Which fields branch records have.
    branches: u64,
    /// Which registers are recorded.
    registers: u64,
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) time: u64,
    /// The row of the event.
    pub(crate) event: usize,
    pub(crate) period: u64,
    /// Innermost first.
    pub(crate) chain: Vec<Address>,
    /// The callers are left out, because the chain is not one of addresses.
    pub(crate) broken: bool,
    /// The thread's state in user mode, with a copy of its stack.
    pub(crate) user: Option<Box<User>>,
    /// The counters of all events of the group. Their growth is the sample's weight.
    pub(crate) counters: Vec<Counter>,
}

/// A thread in user mode. Its callers are in the copy of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// All unknown for machines other than x86-64 and for 32-bit programs.
    pub(crate) registers: Registers,
    /// Where the copy begins, in the bytes of the records.
    pub(crate) at: usize,
    /// The length of the copy, from the stack pointer on.
    pub(crate) length: usize,
    /// The copy is in the decompressed records.
    pub(crate) unpacked: bool,
}

/// The value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// The event's id for one processor or thread.
    pub(crate) id: u64,
    /// The thread, when each thread has its own counter under one id; else 0.
    pub(crate) tid: u32,
    pub(crate) value: u64,
}

/// An address of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) address: u64,
    pub(crate) kernel: bool,
}

impl Address {
    /// An address in user mode.
    pub(crate) fn user(address: u64) -> Self {
        Address {
            address,
            kernel: false,
        }
    }
}

impl Event {
    /// Reads a `perf_event_attr`.
    pub(crate) fn read(mut attr: Cursor, order: Order) -> Result<Self, Fault> {
        let kind = attr.u32()?;
        attr.u32()?;
        let config = attr.u64()?;
        let period = attr.u64()?;
        let sample = attr.u64()?;
        let read = attr.u64()?;
        // Big-endian compilers give out the bits of a word from its highest one on.
        let flags = match order {
            Order::Little => attr.u64()?,
            Order::Big => attr.u64()?.reverse_bits(),
        };
        // Older recorders wrote fewer fields, and did not record what these are for.
        let mut rest = [0; 5];
        for word in &mut rest {
            *word = attr.u64().unwrap_or(0);
        }
        let [_, _, _, branches, registers] = rest;
        Ok(Event {
            name: name(kind, config),
            kind,
            config,
            // With a frequency, the period is unknown.
            period: if flags & FREQUENCY == 0 { period } else { 1 },
            sample,
            read,
            all: flags & SAMPLE_ID_ALL != 0,
            inherit: flags & INHERIT != 0,
            branches,
            registers,
        })
    }

    /// Gives a tracepoint its name, unless the recorder named it already.
    pub(crate) fn name_tracepoint(&mut self, names: &HashMap<u64, String>) {
        if self.kind == TRACEPOINT
            && self.name == name(self.kind, self.config)
            && let Some(name) = names.get(&self.config)
        {
            self.name.clone_from(name);
        }
    }

    /// Clocks count nanoseconds.
    pub(crate) fn unit(&self) -> &'static str {
        match (self.kind, self.config) {
            (1, 0 | 1) => "ns",
            _ => "count",
        }
    }

    /// The time in a record other than a sample. It is near the record's end.
    pub(crate) fn time(&self, mut record: Cursor) -> Option<u64> {
        if !self.all || self.sample & TIME == 0 {
            return None;
        }
        // In this order: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER.
        let after = [ID, STREAM_ID, CPU, IDENTIFIER];
        let after = after
            .iter()
            .filter(|&&part| self.sample & part != 0)
            .count();
        let before = record.bytes().len().checked_sub(8 * (after + 1))?;
        record.take(before).ok()?;
        record.u64().ok()
    }

    /// Reads a sample of this event. `kernel`: it was taken in the kernel.
    fn sample(&self, row: usize, mut record: Cursor, kernel: bool) -> Result<Sample, Fault> {
        let has = |part: u64| self.sample & part != 0;
        let mut number = |part: u64| if has(part) { record.u64() } else { Ok(0) };
        number(IDENTIFIER)?;
        let ip = number(IP)?;
        let (pid, tid) = match has(TID) {
            true => (record.u32()?, record.u32()?),
            false => (0, 0),
        };
        let mut number = |part: u64| if has(part) { record.u64() } else { Ok(0) };
        let time = number(TIME)?;
        for part in [ADDR, ID, STREAM_ID, CPU] {
            number(part)?;
        }
        let period = if has(PERIOD) {
            number(PERIOD)?
        } else {
            self.period
        };
        let counters = match has(READ) {
            true => self.counters(tid, &mut record)?,
            false => Vec::new(),
        };
        let mut chain = Vec::new();
        let mut broken = false;
        if has(CALLCHAIN) {
            broken = !read_chain(&mut record, kernel, &mut chain)?;
        }
        if broken {
            // Without frame pointers, the recorder takes anything for callers. Only the interrupted address is certain.
            chain.truncate(1);
        }
        if chain.is_empty() && has(IP) {
            chain.push(Address {
                address: ip,
                kernel,
            });
        }
        Ok(Sample {
            pid,
            tid,
            time,
            event: row,
            period,
            chain,
            broken,
            user: self.user(&mut record)?.map(Box::new),
            counters,
        })
    }

    /// Reads the fields after the call chain, for the registers and the copy of the stack.
    fn user(&self, record: &mut Cursor) -> Result<Option<User>, Fault> {
        let has = |part: u64| self.sample & part != 0;
        if !has(STACK_USER) || !has(REGS_USER) {
            return Ok(None);
        }
        let bytes = |count: u64, each: u64| {
            usize::try_from(count.saturating_mul(each)).unwrap_or(usize::MAX)
        };
        if has(RAW) {
            let size = record.u32()?;
            record.take(bytes(size.into(), 1))?;
        }
        if has(BRANCH_STACK) {
            let count = record.u64()?;
            if self.branches & BRANCH_INDEX != 0 {
                record.u64()?;
            }
            record.take(bytes(count, 24))?;
            if self.branches & BRANCH_COUNTERS != 0 {
                record.take(bytes(count, 8))?;
            }
        }
        let registers = self.registers(record)?;
        let size = record.u64()?;
        let copy = record.take(bytes(size, 1))?;
        let used = if size > 0 { record.u64()? } else { 0 };
        Ok(registers.map(|registers| User {
            registers,
            at: copy.at(),
            length: copy.bytes().len().min(bytes(used, 1)),
            unpacked: false,
        }))
    }

    /// The registers in user mode. Returns `None` for a kernel thread, which is never in user mode.
    fn registers(&self, record: &mut Cursor) -> Result<Option<Registers>, Fault> {
        let mut registers = [None; 17];
        let abi = record.u64()?;
        if abi == 0 {
            return Ok(None);
        }
        for bit in (0..64).filter(|bit| self.registers >> bit & 1 == 1) {
            let value = record.u64()?;
            if let Some(Some(number)) = X86.get(bit) {
                registers[usize::from(*number)] = Some(value);
            }
        }
        // Other machines have registers with numbers beyond x86-64's.
        let x86 = abi == ABI_64 && self.registers >> X86.len() == 0;
        Ok(Some(if x86 { registers } else { [None; 17] }))
    }

    /// Reads the counters of this event, or of each event of its group. Empty when they have no ids.
    fn counters(&self, tid: u32, record: &mut Cursor) -> Result<Vec<Counter>, Fault> {
        let has = |bit: u32| usize::from(self.read >> bit & 1 == 1);
        let (times, id, group, lost) = (has(0) + has(1), has(2), has(3), has(4));
        let words = |count: u64, each: usize| {
            let bytes = count.saturating_mul(8 * each as u64);
            usize::try_from(bytes).unwrap_or(usize::MAX)
        };
        let tid = if self.inherit { tid } else { 0 };
        let mut counters = Vec::new();
        let mut read = |mut counter: Cursor, between: usize| -> Result<(), Fault> {
            let value = counter.u64()?;
            counter.take(8 * between)?;
            if id == 1 {
                let id = counter.u64()?;
                counters.push(Counter { id, tid, value });
            }
            Ok(())
        };
        if group == 0 {
            read(record.take(words(1, 1 + times + id + lost))?, times)?;
        } else {
            let count = record.u64()?;
            record.take(words(1, times))?;
            let mut all = record.take(words(count, 1 + id + lost))?;
            while !all.is_empty() {
                read(all.take(words(1, 1 + id + lost))?, 0)?;
            }
        }
        Ok(counters)
    }
}

/// Reads addresses, innermost first, with context marks between them. Returns false at an unknown mark: these are not
/// addresses.
fn read_chain(record: &mut Cursor, kernel: bool, chain: &mut Vec<Address>) -> Result<bool, Fault> {
    let count = record.u64()?;
    let bytes = usize::try_from(count.saturating_mul(8)).unwrap_or(usize::MAX);
    let mut addresses = record.take(bytes)?;
    let mut kernel = kernel;
    let mut first = true;
    while !addresses.is_empty() {
        let address = addresses.u64()?;
        if address >= MARKS {
            kernel = address == MARK_KERNEL;
            if !kernel && !OTHER_MARKS.contains(&address.cast_signed()) {
                return Ok(false);
            }
            first = true;
            continue;
        }
        // The first address was interrupted. The others are return addresses, which may be after the function's end.
        let back = u64::from(!std::mem::take(&mut first));
        chain.push(Address {
            address: address.saturating_sub(back),
            kernel,
        });
    }
    Ok(true)
}

/// Finds the event of a sample, and reads the sample.
pub(crate) fn sample(
    events: &[Event],
    rows: &HashMap<u64, usize>,
    record: Cursor,
    kernel: bool,
) -> Result<Sample, Fault> {
    let row = match events {
        [] => {
            return Err(Fault::byte(
                record.at(),
                "a sample comes before the first event",
            ));
        }
        [_] => 0,
        events => row(events, rows, record)?,
    };
    events[row].sample(row, record, kernel)
}

/// The row of the event that a sample belongs to.
fn row(events: &[Event], rows: &HashMap<u64, usize>, mut record: Cursor) -> Result<usize, Fault> {
    let at = record.at();
    let sample = events[0].sample;
    // With several events, perf puts the id first, or at the same place for all events.
    if sample & IDENTIFIER == 0 {
        if sample & ID == 0 {
            return Ok(0);
        }
        for part in [IP, TID, TIME, ADDR] {
            if sample & part != 0 {
                record.u64()?;
            }
        }
    }
    let id = record.u64()?;
    rows.get(&id).copied().ok_or_else(|| {
        Fault::byte(
            at,
            format!("a sample names event {id}, which the file does not have"),
        )
    })
}
